#!/usr/bin/env python3
"""Check the files of deploy/: the manifest by Kubernetes' own validation, the calls of AWS Batch by AWS's command
line, the scripts on a Slurm of one node.

usage: $(test/interop/venv ../deploy) test/deploy/run.py --binary PATH [--strict] [--install]

Prints a line per check, what was not run and why, and the totals; exits with 1 if a check failed, or with --strict if
one was not run.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import aws  # noqa: E402
import checks  # noqa: E402
import pods  # noqa: E402
import slurm  # noqa: E402
from stage import Stage  # noqa: E402

if __name__ == "__main__":
    sys.exit(checks.main(__doc__, [*pods.CHECKS, *aws.CHECKS, *slurm.CHECKS], Stage, slurm.PACKAGES))
