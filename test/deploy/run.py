#!/usr/bin/env python3
"""Check what is in deploy/: the manifest by Kubernetes' own validation, the calls of AWS Batch by AWS's command line, the scripts on a Slurm of one node.

usage: $(test/interop/venv ../deploy) test/deploy/run.py --binary PATH [--strict] [--install]

Prints a line per check, what was not run and why, and the totals; exits with 1 if a check failed, or with --strict if one was not run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aws
import pods
import slurm
from stage import Failure, NotRun, Stage

CHECKS = [*pods.CHECKS, *aws.CHECKS, *slurm.CHECKS]


def install() -> None:
    """Install Slurm where that can be done, without starting its services."""
    if os.geteuid() == 0 and shutil.which("apt-get") and not all(map(shutil.which, slurm.PROGRAMS)):
        command = ["apt-get", "install", "--yes", "--no-install-recommends", "slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins"]
        subprocess.run(command, env=os.environ | {"RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}, stdout=subprocess.DEVNULL, check=False)


def main() -> int:
    """Run all checks; 0 if none failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--strict", action="store_true", help="what cannot be run is a failure")
    parser.add_argument("--install", action="store_true", help="let apt-get install Slurm")
    arguments = parser.parse_args()
    if arguments.install:
        install()
    passed = failed = not_run = 0
    for name, check in CHECKS:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="idxport-deploy-") as scratch:
            try:
                check(Stage(Path(scratch), arguments.binary.resolve()))
                passed, verdict = passed + 1, "passed"
            except NotRun as why:
                not_run, verdict = not_run + 1, f"NOT RUN: {why}"
            except Failure as why:
                failed, verdict = failed + 1, f"FAILED: {why}"
        print(f"{name}: {verdict} ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed, {not_run} not run")
    return 1 if failed or arguments.strict and not_run else 0


if __name__ == "__main__":
    sys.exit(main())
