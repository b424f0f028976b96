#!/usr/bin/env python3
"""Run commands, several at once, and print at the end which failed.

usage: test/steps.py [-j N] [--alone COMMAND]... [--write FILE] [--only WORDS] COMMAND...

Commands are lines for the shell. Those of --alone run first, one after another. The rest start in
the given order, at most N at once. All of them run, also after a failure. Their output goes into
files of a new folder; the end of it is shown if a command fails. --write writes a summary to a
Markdown file. --only runs the commands that contain one of the words WORDS, and keeps the lines of
the rest in the summary. The exit code is 1 if a command failed.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

SHOWN = 80  # lines of the output of a command that failed


def run(command: str, folder: pathlib.Path) -> tuple[str, bool, float]:
    """Run one command, and print the end of its output if it fails."""
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
    parser.add_argument("--only", type=str.split)
    parser.add_argument("commands", nargs="+")
    asked = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="idxport-steps-"))
    print(f"the output is in {folder}", flush=True)
    began = time.monotonic()
    all_commands = asked.alone + asked.commands
    chosen = [c for c in all_commands if not asked.only or set(c.split()) & set(asked.only)]
    ended: list[tuple[str, bool, float]] = []

    def step(command: str) -> None:
        ended.append(run(command, folder))
        if asked.write:  # after each, as the others may take hours
            with writing:
                asked.write.write_text(summary(all_commands, ended, asked.write))

    writing = threading.Lock()
    for command in asked.alone:
        if command in chosen:
            step(command)
    with ThreadPoolExecutor(asked.j) as pool:
        list(pool.map(step, [c for c in asked.commands if c in chosen]))
    minutes = (time.monotonic() - began) / 60
    failed = [command for command, good, _ in ended if not good]
    print(f"{len(ended)} steps in {minutes:.1f} minutes")
    for command in failed:
        print(f"failed: {command}")
    print(f"{len(ended) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def summary(commands: list[str], ended: list[tuple[str, bool, float]], page: pathlib.Path) -> str:
    """The page of --write: the last run of each command."""
    commit = subprocess.run(["git", "log", "-1", "--format=%h of %cs"], capture_output=True, text=True, check=True).stdout.strip()
    lines = page.read_text().splitlines() if page.exists() else []
    rows = {line.split("`")[1]: line for line in lines if line.startswith("| `")}
    for command, good, took in ended:
        rows[command] = f"| `{command}` | {'passed' if good else '**failed**'} | {took / 60:.1f} | {commit} |"
    table = "".join(rows.get(command, f"| `{command}` | not run | | |") + "\n" for command in commands)
    return f"# Nightly\n\nThe last run of each step of `make nightly`.\n\n| step | result | minutes | commit |\n|---|---|---|---|\n{table}"


if __name__ == "__main__":
    sys.exit(main())
