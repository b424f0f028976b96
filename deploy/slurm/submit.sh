#!/bin/sh
# Submit the missing parts of a plan to Slurm, and a commit that runs after them.
#
#   submit.sh PLAN [options of sbatch for both jobs]
#
# After failures run it again: only the missing parts are submitted. The environment variable AT_ONCE sets how many run at a time (default 32). Slurm
# accepts only indices below its MaxArraySize (default 1001): if the plan has more parts, make larger ones, or ask the administrator to raise it.
set -eu
plan=$1
shift
here=$(dirname "$0")

missing=$(idxport status --plan "$plan" --quiet)
if test -n "$missing"; then
	array=$(sbatch --parsable --array="$missing%${AT_ONCE:-32}" "$@" "$here/parts.sbatch" "$plan")
	sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes "$@" "$here/commit.sbatch" "$plan"
else
	sbatch --parsable "$@" "$here/commit.sbatch" "$plan"
fi
