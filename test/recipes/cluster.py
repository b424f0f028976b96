"""Stand in for sbatch and kubectl: run the tasks of an array one after another, with the variable that tells its index.

usage: cluster.py sbatch --wait FILE
       cluster.py kubectl apply -f FILE | kubectl wait …

The first word is the program that this stands in for. Exits with 1 if a task failed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path


def sbatch(script):
    """Run the script once for each index of its line #SBATCH --array=FIRST-LAST."""
    first, last = map(int, re.search(r"^#SBATCH .*--array=(\d+)-(\d+)", script.read_text(), re.MULTILINE).groups())
    for index in range(first, last + 1):
        yield "SLURM_ARRAY_TASK_ID", index, ["sh", script]


def kubectl(manifest):
    """Run the command of the only container of an Indexed Job for each completion."""
    import yaml

    job = yaml.safe_load(manifest.read_text())
    spec, (container,) = job["spec"], job["spec"]["template"]["spec"]["containers"]
    assert (job["apiVersion"], job["kind"], spec["completionMode"]) == ("batch/v1", "Job", "Indexed"), job
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == [container["workingDir"]], container
    for index in range(spec["completions"]):
        yield "JOB_COMPLETION_INDEX", index, container["command"]


def main():
    """Run all tasks."""
    program, *arguments = sys.argv[1:]
    if program == "kubectl" and arguments[0] == "wait":
        return 0
    tasks = {"sbatch": sbatch, "kubectl": kubectl}[program](Path(arguments[-1]))
    failed = [index for name, index, command in tasks if subprocess.run(command, env=os.environ | {name: str(index)}).returncode]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
