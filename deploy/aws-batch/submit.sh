#!/bin/sh
# Submit the parts of a plan as an array to AWS Batch, and the commit as a job after it.
#
#   submit.sh QUEUE PLAN PARTS        PLAN as the containers see it; PARTS: idxport status --plan FILE --json says it, .plan.parts
#
# Parts that are there already end at once, so to submit again is to make the missing ones. What ends with 64, 65, 66, 70, 73 or 77 is not tried again
# (job-definition.json); all else is, with what AWS stops itself: Batch tries again what no condition of evaluateOnExit matches.
set -eu
queue=$1 plan=$2 parts=$3
cd "$(dirname "$0")"

definition=$(aws batch register-job-definition --cli-input-json file://job-definition.json --query jobDefinitionArn --output text)
if test "$parts" -gt 1; then
	array=$(aws batch submit-job --job-name idxport-parts --job-queue "$queue" --job-definition "$definition" \
		--parameters "plan=$plan" --array-properties "size=$parts" --query jobId --output text)
else # an array has two jobs at least
	array=$(aws batch submit-job --job-name idxport-parts --job-queue "$queue" --job-definition "$definition" \
		--parameters "plan=$plan" --container-overrides 'command=convert,--plan,Ref::plan,--part,0' --query jobId --output text)
fi
aws batch submit-job --job-name idxport-commit --job-queue "$queue" --job-definition "$definition" --depends-on "jobId=$array" \
	--parameters "plan=$plan" --container-overrides 'command=commit,--plan,Ref::plan,--log-format,json' --query jobId --output text
