"""Whole processes, measured by wait4, taking turns.

The harness imports nothing large: the kernel counts the memory of a process from before its exec, when it shares its
parent's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from jobs import Contender, Job


@dataclass(frozen=True)
class Figures:
    """One process, or the medians of several."""

    wall: float  # seconds, from before the fork to after the wait
    inside: float | None  # seconds of a script after its imports, which it prints; None for the binary
    cpu: float  # seconds, user and system, with the children it waited for
    peak: float  # MB of 10⁶ bytes, of the largest process


@dataclass(frozen=True)
class Line:
    """A contender's result in a job."""

    contender: Contender
    figures: Figures | None  # None if it failed
    runs: int
    problem: str = ""
    size: float | None = None  # MB of 10⁶ bytes, of the output; None where there is none


class Failed(Exception):
    """A contender ended with an exit code other than 0, or was stopped."""


def once(command: list[str], out: Path) -> Figures:
    """Run a command whose output is out, and measure it."""
    command = [part.replace("{out}", str(out)) for part in command]
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            stderr.seek(0)
            last = stderr.read().decode(errors="replace").strip().splitlines()[-1:]
            raise Failed(f"exit code {process.returncode}: {' '.join(last)[:300]}")
        stdout.seek(0)
        said = [line.split()[1] for line in stdout.read().decode(errors="replace").splitlines() if line.startswith("inside ")]
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    return Figures(wall, float(said[0]) if said else None, usage.ru_utime + usage.ru_stime, peak)


def output_size(out: Path) -> float | None:
    """MB of a file, or of the files in a folder."""
    if not out.exists():
        return None
    files = (path for path in out.rglob("*") if path.is_file()) if out.is_dir() else [out]
    return sum(path.stat().st_size for path in files) / 1e6


def remove(out: Path) -> None:
    """Empty the folder of an output: the file or folder itself, and idxport's hidden lock beside it."""
    shutil.rmtree(out.parent)
    out.parent.mkdir()


def medians(all_figures: list[Figures]) -> Figures:
    """The medians of each column."""
    insides = [figures.inside for figures in all_figures if figures.inside is not None]
    return Figures(
        median(figures.wall for figures in all_figures),
        median(insides) if insides else None,
        median(figures.cpu for figures in all_figures),
        median(figures.peak for figures in all_figures),
    )


def hold(job: Job, scratch: Path, runs: int, slow: float, check: Callable[[Job, Contender, Path], str]) -> list[Line]:
    """Run the contenders of a job in turn; each round begins with the next.

    A first round warms the caches and is checked, but not counted, except for a peer that takes more than slow
    seconds in it: its figures are those of that round alone. One that fails, or whose values are wrong, has none.
    """
    folder = scratch / "out"
    folder.mkdir(exist_ok=True)
    out = folder / "x"
    problems: dict[str, str] = {}
    results: dict[str, list[Figures]] = {contender.name: [] for contender in job.contenders}
    sizes: dict[str, float | None] = {}
    turns: list[Contender] = []
    for contender in job.contenders:
        try:
            warming = once(contender.command, out)
            sizes[contender.name] = output_size(out)
            if problem := check(job, contender, out):
                problems[contender.name] = problem
            elif warming.wall > slow and contender is not job.contenders[0]:
                results[contender.name].append(warming)
            else:
                turns.append(contender)
        except Failed as failure:
            problems[contender.name] = str(failure)
        remove(out)
    for i in range(runs):
        first = i % max(len(turns), 1)
        for contender in turns[first:] + turns[:first]:
            try:
                results[contender.name].append(once(contender.command, out))
            except Failed as failure:
                problems[contender.name] = str(failure)
            remove(out)
    return [line(contender, results[contender.name], problems.get(contender.name, ""), sizes.get(contender.name)) for contender in job.contenders]


def line(contender: Contender, found: list[Figures], problem: str, size: float | None) -> Line:
    """The medians of what was found, unless there was a problem."""
    return Line(contender, medians(found) if found and not problem else None, len(found), problem, size)
