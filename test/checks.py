"""The loop over the checks of a suite, and the installation of missing programs."""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

PASSED, FAILED, NOT_RUN = "passed", "FAILED", "NOT RUN"

# The argument of a check, made from an empty folder and the path of the program.
Stage = TypeVar("Stage")


class Failure(Exception):
    """A check failed, for this reason."""


class NotRun(Exception):
    """A check cannot be run on this machine, for this reason."""


def demand(condition: object, message: str) -> None:
    """Fail with message unless condition is true."""
    if not condition:
        raise Failure(message)


def main(
    usage: str,
    checks: list[tuple[str, Callable[[Stage], None]]],
    stage: Callable[[Path, Path], Stage],
    packages: dict[str, str],
) -> int:
    """Run named checks, each with a stage of its own, and print a line for each and the totals. packages are Debian's
    packages by the programs that the checks need.

    Returns 1 if a check failed or, with --strict, could not be run, otherwise 0.
    """
    parser = argparse.ArgumentParser(description=usage.partition("\n\n")[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--strict", action="store_true", help="checks that cannot be run are failures")
    parser.add_argument("--install", action="store_true", help=f"let apt-get install missing packages of {', '.join(sorted(set(packages.values())))}")
    arguments = parser.parse_args()
    if arguments.install:
        install(packages)
    counts: collections.Counter[str] = collections.Counter()
    for name, check in checks:
        start = time.monotonic()
        verdict, why = attempt(check, stage, arguments.binary.resolve())
        counts[verdict] += 1
        print(f"{name}: {verdict}{why} ({time.monotonic() - start:.1f} s)", flush=True)
    lacking = arguments.strict and counts[NOT_RUN] > 0
    print(f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[NOT_RUN]} not run{', a failure with --strict' if lacking else ''}")
    return 1 if counts[FAILED] or lacking else 0


def attempt(check: Callable[[Stage], None], stage: Callable[[Path, Path], Stage], binary: Path) -> tuple[str, str]:
    """Run one check in a folder of its own; returns the verdict and, unless it passed, a colon and why."""
    with tempfile.TemporaryDirectory(prefix="idxport-checks-") as scratch:
        try:
            check(stage(Path(scratch), binary))
        except NotRun as why:
            return NOT_RUN, f": {why}"
        except Failure as why:
            return FAILED, f": {why}"
    return PASSED, ""


def install(packages: dict[str, str]) -> None:
    """Let apt-get install the packages of missing programs. Errors are only printed: checks without their programs
    are not run."""
    missing = sorted({package for program, package in packages.items() if shutil.which(program) is None})
    if not missing:
        return
    if os.geteuid() or shutil.which("apt-get") is None:
        print(f"not installed, which needs root and apt-get: {', '.join(missing)}", flush=True)
        return
    environ = os.environ | {"RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}  # in runlevel 1 invoke-rc.d starts no services
    # The list of packages may be missing or old.
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *missing]):
        done = subprocess.run(["apt-get", *arguments], env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            print(f"apt-get {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}", flush=True)
