"""Stand in for sbatch: run the tasks of an array one after another, with the variable that tells its index.

usage: cluster.py --wait FILE
Exits with 1 if a task failed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path


def main():
    """Run the script once for each index of its line #SBATCH --array=FIRST-LAST."""
    script = Path(sys.argv[-1])
    first, last = map(int, re.search(r"^#SBATCH .*--array=(\d+)-(\d+)", script.read_text(), re.MULTILINE).groups())
    failed = False
    for index in range(first, last + 1):
        failed |= subprocess.run(["sh", script], env=os.environ | {"SLURM_ARRAY_TASK_ID": str(index)}).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
