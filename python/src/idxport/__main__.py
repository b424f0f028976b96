"""python -m idxport: the program."""

import os
import subprocess
import sys

from ._program import find_program

if os.name == "nt":
    sys.exit(subprocess.run([find_program(), *sys.argv[1:]]).returncode)
os.execv(find_program(), ["idxport", *sys.argv[1:]])
