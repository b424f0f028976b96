"""Stand in for sbatch: run the tasks of an array one after another, with the variable that tells its index.

usage: cluster.py --wait FILE
Exits with 1 if a task failed.
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


def main():
    """Run all tasks."""
    tasks = sbatch(Path(sys.argv[-1]))
    failed = [index for name, index, command in tasks if subprocess.run(command, env=os.environ | {name: str(index)}).returncode]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
