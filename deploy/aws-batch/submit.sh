#!/bin/sh
# Submit the parts of a plan as an array to AWS Batch, and the commit as a job after it.
#
#   submit.sh QUEUE PLAN PARTS        PLAN: its path in the containers; PARTS: their number, the field .plan.parts of idxport status --plan FILE --json
#
# Parts that exist already end at once, so submit again to make the missing ones. Jobs that end with 1, 64, 65, 66, 70, 73 or 77 are not retried
# (job-definition.json). All others are, also those that AWS itself stops: Batch retries what no condition of evaluateOnExit matches.
set -eu
queue=$1 plan=$2 parts=$3
cd "$(dirname "$0")"

definition=$(aws batch register-job-definition --cli-input-json file://job-definition.json --query jobDefinitionArn --output text)
if test "$parts" -gt 1; then
	array=$(aws batch submit-job --job-name idxport-parts --job-queue "$queue" --job-definition "$definition" \
		--parameters "plan=$plan" --array-properties "size=$parts" --query jobId --output text)
else # an array has at least two jobs
	array=$(aws batch submit-job --job-name idxport-parts --job-queue "$queue" --job-definition "$definition" \
		--parameters "plan=$plan" --container-overrides 'command=convert,--plan,Ref::plan,--part,0' --query jobId --output text)
fi
aws batch submit-job --job-name idxport-commit --job-queue "$queue" --job-definition "$definition" --depends-on "jobId=$array" \
	--parameters "plan=$plan" --container-overrides 'command=commit,--plan,Ref::plan,--log-format,json' --query jobId --output text
