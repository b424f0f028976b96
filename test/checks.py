"""The loop over the checks of a suite, and the installation of missing programs."""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

PASSED, FAILED, NOT_RUN = "passed", "FAILED", "NOT RUN"


class Place(NamedTuple):
    """An empty folder, and the path of the program."""

    folder: Path
    binary: Path


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


def main(usage: str, checks: list[tuple[str, Callable[[Stage], None]]], stage: Callable[[Path, Path], Stage], packages: dict[str, str]) -> int:
    """Run named checks, each with a stage of its own, and print a line for each and the totals. packages are Debian's
    packages by the programs that the checks need.

    Returns 1 if a check failed or, with --strict, could not be run, otherwise 0.
    """
    parser = argparse.ArgumentParser(description=usage.partition("\n\n")[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="checks whose names have one of these")
    parser.add_argument("--strict", action="store_true", help="checks that cannot be run are failures")
    parser.add_argument("--install", action="store_true", help="let apt-get install the programs that checks need")
    arguments = parser.parse_args()
    if arguments.install:
        install(packages)
    counts: collections.Counter[str] = collections.Counter()
    for name, check in [(name, check) for name, check in checks if any(word in name for word in arguments.only)]:
        start = time.monotonic()
        verdict, why = attempt(check, stage, arguments.binary.resolve())
        counts[verdict] += 1
        print(f"{name}: {verdict}{why} ({time.monotonic() - start:.1f} s)", flush=True)
    lacking = arguments.strict and counts[NOT_RUN] > 0
    failure = ", a failure with --strict" if lacking else ""
    print(f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[NOT_RUN]} not run{failure}")
    return 1 if counts[FAILED] or lacking or not counts else 0


def attempt(check: Callable[[Stage], None], stage: Callable[[Path, Path], Stage], binary: Path) -> tuple[str, str]:
    """Run one check in a folder of its own; returns the verdict and, unless it passed, a colon and why."""
    with tempfile.TemporaryDirectory(prefix="idxport-checks-") as scratch:
        try:
            check(stage(Path(scratch), binary))
        except NotRun as why:
            return NOT_RUN, f": {why}"
        except Failure as why:
            return FAILED, f": {why}"
        except Exception:  # readers raise exceptions of any type
            return FAILED, f":\n{traceback.format_exc()}"
    return PASSED, ""


def install(packages: dict[str, str]) -> None:
    """Let apt-get install the packages of missing programs. Errors are only printed: checks without their programs are not run."""
    missing = sorted({package for program, package in packages.items() if shutil.which(program) is None})
    if not missing:
        return
    if os.geteuid() or shutil.which("apt-get") is None:
        print(f"not installed, which needs root and apt-get: {', '.join(missing)}", flush=True)
        return
    # In runlevel 1 invoke-rc.d starts no services.
    options = {"env": os.environ | {"RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}, "stdin": subprocess.DEVNULL}
    # The list of packages may be missing or old.
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *missing]):
        command = ["apt-get", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        if done.returncode:
            print(f"apt-get {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}", flush=True)
