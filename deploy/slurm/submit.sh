#!/bin/sh
# Submit what is missing of a plan to Slurm, and the commit after it.
#
#   submit.sh PLAN [options of sbatch for both jobs]
#
# After failures run it again: only the missing parts are submitted. AT_ONCE says how many run at a time. Slurm takes indices below its MaxArraySize
# (1001 where nobody set it); make larger parts, or ask for more.
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
