#!/usr/bin/env python3
"""Run the examples of docs/unattended.md: the crontab, the units of systemd, the Makefile rule, the scripts.

usage: $(test/interop/venv ../unattended) test/unattended/run.py --binary PATH [--strict] [--install]

Prints a line per check, what was not run and why, and the totals; exits with 1 if a check failed, or with --strict if
one was not run.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checks  # noqa: E402
import jobs  # noqa: E402
import programs  # noqa: E402
import systemd  # noqa: E402
from stage import Stage  # noqa: E402

# Debian's packages of the programs without which a check is not run.
PACKAGES = {"systemd-analyze": "systemd", "unshare": "util-linux", "make": "make", "jq": "jq"}

if __name__ == "__main__":
    sys.exit(checks.main(__doc__, [*jobs.CHECKS, *systemd.CHECKS, *programs.CHECKS], Stage, PACKAGES))
