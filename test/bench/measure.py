"""Whole processes that take turns, measured by wait4.

The programs that measure import nothing large: the kernel counts the memory of a process from before its exec, when it
still shares its parent's.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Contender:
    """One way to do a job. {out} in its command is the output, which does not exist before."""

    name: str
    command: list[str]
    note: str = ""  # in what its output differs from the others'


@dataclass(frozen=True)
class Job:
    """The same work by several contenders, of which the first is idxport or, in reading, idxport's file."""

    name: str
    kind: str  # how check.py of peers compares outputs; none: it does not
    contenders: list[Contender]
    inputs: list[str] = field(default_factory=list)
    aim: float = 1  # what the fastest peer's time is to be, in idxport's; of a limit, the most that idxport may take


@dataclass(frozen=True)
class Figures:
    """One process, or the medians of several."""

    wall: float  # seconds, from before the fork to after the wait
    inside: float | None  # seconds that a script says it took after its imports; None for the binary
    cpu: float  # seconds, user and system, with the children it waited for
    peak: float  # MB of 10⁶ bytes, of the largest process


@dataclass(frozen=True)
class Line:
    """A contender's result in a job."""

    contender: Contender
    figures: Figures | None  # None if it failed
    runs: list[Figures]
    problem: str = ""
    size: float | None = None  # MB of 10⁶ bytes, of the output; None where there is none


class Failed(Exception):
    """A contender ended with an exit code other than 0, or was stopped."""


def megabytes(maxrss: int) -> float:
    """A peak as the kernel tells it, in MB of 10⁶ bytes."""
    return maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


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
        lines = stdout.read().decode(errors="replace").splitlines()
    said = [line.split()[1] for line in lines if line.startswith("inside ")]
    cpu = usage.ru_utime + usage.ru_stime
    return Figures(wall, float(said[0]) if said else None, cpu, megabytes(usage.ru_maxrss))


def output_size(out: Path) -> float | None:
    """MB of a file, or of the files in a folder. find lists 60,000 of them, as this process must stay small."""
    listed = subprocess.run(["find", out, "-type", "f", "-printf", "%s "], capture_output=True, check=False).stdout
    return sum(map(int, listed.split())) / 1e6 if listed else None


def remove(out: Path) -> None:
    """Empty the folder of an output: the file or folder itself, and idxport's hidden lock beside it."""
    subprocess.run(["rm", "-rf", out.parent], check=True)
    out.parent.mkdir()


def medians(runs: list[Figures]) -> Figures:
    """The medians of each column."""
    insides = [figures.inside for figures in runs if figures.inside is not None]
    return Figures(
        median(figures.wall for figures in runs),
        median(insides) if insides else None,
        median(figures.cpu for figures in runs),
        median(figures.peak for figures in runs),
    )


def hold(job: Job, scratch: Path, runs: int, slow: float = float("inf"), check: Callable[[Job, Contender, Path], str] = lambda *_: "") -> list[Line]:
    """Run the contenders of a job in turn; each round begins with the next.

    A first round warms the caches and is checked, not counted, except for a peer that takes more than slow seconds in
    it: its figures are those of that round alone. (The first contender has warmed the inputs.) One that fails, or whose
    values are wrong, has none.
    """
    out = scratch / "out" / "x"
    out.parent.mkdir(exist_ok=True)
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
    return [line(each, results[each.name], problems.get(each.name, ""), sizes.get(each.name)) for each in job.contenders]


def line(contender: Contender, runs: list[Figures], problem: str, size: float | None) -> Line:
    """The medians of what was found, unless there was a problem."""
    return Line(contender, medians(runs) if runs and not problem else None, runs, problem, size)


@contextlib.contextmanager
def place(folder: Path) -> Iterator[Path]:
    """A new folder in this one, which is removed at the end, also after SIGTERM: files on a tmpfs are memory."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scratch = Path(tempfile.mkdtemp(prefix="idxport-bench-", dir=folder))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def machine(binary: Path) -> str:
    """The program and the machine, for a reader of the figures."""
    said = subprocess.run([binary, "version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    info = Path("/proc/cpuinfo")
    named = info.exists() and [line for line in info.read_text().splitlines() if line.startswith("model name")]
    processor = named[0].partition(": ")[2] if named else platform.processor() or "unknown"
    return (
        f"{said}; {datetime.date.today()}, {platform.system()} {platform.release()} {platform.machine()}, "
        f"{os.cpu_count()} cores ({processor}), load before the run {os.getloadavg()[0]:.1f}. Peaks below "
        f"{megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss):.0f} MB cannot be measured."
    )


def grid(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
