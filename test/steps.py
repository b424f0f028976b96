#!/usr/bin/env python3
"""Run commands, some of them at once, and say at the end how each went.

usage: test/steps.py [-j N] [--alone COMMAND]... [--write FILE] COMMAND...

Commands are lines for the shell. Those of --alone run first, one after another. The others start in
the order given, at most N at once. All of them run, whatever fails. What they print goes into files
of a new folder; of one that fails, the end is shown. --write puts the summary into a Markdown file.
The exit code is 1 if a command failed.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

SHOWN = 80  # lines of the output of a command that failed


def run(command: str, folder: pathlib.Path) -> tuple[str, bool, float]:
    """Run one command, and show its end if it fails."""
    log = folder / (re.sub(r"\W+", "-", command).strip("-")[:80] + ".log")
    began = time.monotonic()
    with log.open("wb") as output:
        code = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT).returncode
    took = time.monotonic() - began
    end = "" if code == 0 else "\n".join(log.read_text(errors="replace").splitlines()[-SHOWN:]) + "\n"
    print(f"{'ok    ' if code == 0 else 'FAILED'} {took:6.0f} s  {command}\n{end}", end="", flush=True)
    return command, code == 0, took


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--alone", action="append", default=[])
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("commands", nargs="+")
    asked = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="idxport-steps-"))
    print(f"what they print is in {folder}", flush=True)
    began = time.monotonic()
    ended = [run(command, folder) for command in asked.alone]
    with ThreadPoolExecutor(asked.j) as pool:
        ended += pool.map(lambda command: run(command, folder), asked.commands)
    minutes = (time.monotonic() - began) / 60
    failed = [command for command, good, _ in ended if not good]
    if asked.write:
        asked.write.write_text(summary(ended, minutes))
    print(f"{len(ended)} steps in {minutes:.1f} minutes")
    for command in failed:
        print(f"failed: {command}")
    print(f"{len(ended) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def summary(ended: list[tuple[str, bool, float]], minutes: float) -> str:
    """The page of --write."""
    commit = subprocess.run(["git", "log", "-1", "--format=%h of %cs"], capture_output=True, text=True, check=True).stdout.strip()
    rows = "".join(f"| `{command}` | {'passed' if good else '**failed**'} | {took / 60:.1f} |\n" for command, good, took in ended)
    return f"# Nightly\n\nThe last run of `make nightly`: commit {commit}, {minutes:.0f} minutes.\n\n| step | result | minutes |\n|---|---|---|\n{rows}"


if __name__ == "__main__":
    sys.exit(main())
