#!/usr/bin/env python3
"""Time one, two and four processes at once that make the parts of a plan of MNIST repeated to a given size, beside
one plain run.

usage: python3 test/scale/speed.py --binary PATH [--bytes 6e9] [--repetitions 2] [--scratch DIR]

Variants run interleaved; the medians of ratios are printed: to one process of the same --workers, and to `convert
--rows-per-file`. Every variant must make the same bytes. It needs only the standard library, to stay small: the
memory of a process is counted from before its exec.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEMORY = Path("/dev/shm")
LIMIT = 150e6  # bytes of resident memory that a process may have
PIECE = 1 << 22
HEADERS = {"train-images-idx3-ubyte": 16, "train-labels-idx1-ubyte": 8}  # bytes
PARTS, PROCESSES, WORKERS = 24, (1, 2, 4), ("1", "default")


@dataclass
class Sum:
    """The cost of the processes of one run."""

    wall: float = 0  # s, of the parts
    commit: float = 0  # s
    cpu: float = 0  # s, user and system, of the parts
    peak: int = 0  # bytes, of the largest process
    hashes: dict[str, str] = field(default_factory=dict)  # by file name


def repeat(data: Path, folder: Path, size: float) -> int:
    """Write MNIST's training images and labels repeated to about size bytes; returns the rows."""
    times = max(1, round(size / sum((data / name).stat().st_size for name in HEADERS)))
    for name, header in HEADERS.items():
        with (data / name).open("rb") as source, (folder / name).open("wb") as out:
            head = source.read(header)
            rows = times * int.from_bytes(head[4:8], "big")
            out.write(head[:4] + rows.to_bytes(4, "big") + head[8:])
            for _ in range(times):
                source.seek(header)
                shutil.copyfileobj(source, out, PIECE)
    return rows


def run(*command: object) -> tuple[float, int]:
    """Run a command to its end; returns its processor time in seconds and its peak memory in bytes."""
    process = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of each part."""
    found = {}
    for path in sorted(folder.glob("part-*")):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def parts(binary: Path, plan: Path, count: int, processes: int, workers: list[str]) -> Sum:
    """Make all parts, so many processes at a time: each thread takes the next part."""
    left, lock, total = iter(range(count)), threading.Lock(), Sum()

    def work() -> None:
        while True:
            with lock:
                part = next(left, None)
            if part is None:
                return
            cpu, peak = run(binary, "convert", "--plan", plan, "--part", part, "--quiet", *workers)
            with lock:
                total.cpu, total.peak = total.cpu + cpu, max(total.peak, peak)

    threads = [threading.Thread(target=work) for _ in range(processes)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total.wall = time.monotonic() - start
    start = time.monotonic()
    _, peak = run(binary, "commit", "--plan", plan, "--quiet")
    total.commit, total.peak = time.monotonic() - start, max(total.peak, peak)
    return total


class Contest:
    """The variants, interleaved."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.binary, self.folder, self.options = options.binary.resolve(), folder, options
        self.inputs, self.out, self.plan = folder / "mnist8m", folder / "out", folder / "plan.json"
        self.inputs.mkdir()
        self.rows = repeat(options.data, self.inputs, options.bytes)
        self.per_part = -(-self.rows // PARTS)
        start = time.monotonic()
        run(self.binary, "plan", self.inputs, "-o", f"{self.out}/", "--rows-per-part", self.per_part, "--plan", self.plan, "--quiet")
        self.planning = time.monotonic() - start
        target = json.loads(self.plan.read_text())["targets"][0]
        self.target, self.count = Path(target["path"]), len(target["parts"])
        self.results: dict[tuple[str, int], list[Sum]] = {}
        self.expected: dict[str, str] = {}

    def single(self, workers: list[str]) -> Sum:
        """One plain run."""
        start, path = time.monotonic(), self.folder / "single"
        cpu, peak = run(self.binary, "convert", self.inputs, "-o", f"{path}/", "--rows-per-file", self.per_part, "--quiet", *workers)
        wall = time.monotonic() - start
        sizes = [file.stat().st_size for file in sorted(path.rglob("part-*"))]
        shutil.rmtree(path)
        return Sum(wall, 0, cpu, peak, {"sizes": str(sizes)})

    def repetition(self) -> None:
        """Each variant once. Their outputs are removed before the next begins."""
        for name in WORKERS:
            workers = [] if name == "default" else ["--workers", name]
            self.results.setdefault((name, 0), []).append(self.single(workers))
            for processes in PROCESSES:
                made = parts(self.binary, self.plan, self.count, processes, workers)
                found = hashes(self.target)
                if not self.expected:
                    self.expected = found
                    run(self.binary, "verify", self.target, self.inputs, "--quiet")
                if found != self.expected or len(found) != self.count:
                    sys.exit(f"{processes} processes, --workers {name}: other bytes")
                shutil.rmtree(self.target)
                self.results.setdefault((name, processes), []).append(made)
                print(f"--workers {name}, {processes} processes: {made.wall:.1f} s and {made.commit:.1f} s for the commit; {made.cpu:.1f} s of processors", file=sys.stderr, flush=True)

    def table(self) -> str:
        """The medians as a table in Markdown."""
        heads = ["`--workers`", "processes", "wall, to 1 process", "wall, to one plain run", "the same with commit", "processor time, to one plain run", "peak of a process"]
        lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        for (name, processes), sums in self.results.items():
            if not processes:
                lines.append(f"| {name} | plain run | | 1 | 1 | 1 | {max(entry.peak for entry in sums) / 1e6:.0f} MB |")
                continue
            plain, one = self.results[name, 0], self.results[name, PROCESSES[0]]
            ratios = [statistics.median(values) for values in (
                [mine.wall / other.wall for mine, other in zip(sums, one)],
                [mine.wall / other.wall for mine, other in zip(sums, plain)],
                [(mine.wall + mine.commit) / other.wall for mine, other in zip(sums, plain)],
                [mine.cpu / other.cpu for mine, other in zip(sums, plain)],
            )]  # fmt: skip
            lines.append(f"| {name} | {processes} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} | {max(entry.peak for entry in sums) / 1e6:.0f} MB |")
        return "\n".join(lines)


def main() -> int:
    """Run the contest; 1 if a process had too much memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--bytes", type=float, default=6e9, help="of the input")
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--data", type=Path, default=ROOT / "data/mnist")
    parser.add_argument("--scratch", type=Path, help="where the files are (default: /dev/shm if it is there)")
    options = parser.parse_args()
    scratch = options.scratch or (MEMORY if MEMORY.is_dir() else Path(tempfile.gettempdir()))
    needed, free = 1.6 * options.bytes + 1e8, shutil.disk_usage(scratch).free  # the parts of MNIST are a quarter of it
    if free < needed:
        print(f"speed.py: {scratch} has {free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB are needed", file=sys.stderr)
        return 74
    with tempfile.TemporaryDirectory(prefix="idxport-speed-", dir=scratch) as folder:
        load = os.getloadavg()[0]
        contest = Contest(options, Path(folder))
        for _ in range(options.repetitions):
            contest.repetition()
        size = sum(path.stat().st_size for path in contest.inputs.iterdir())
        words = ["test/scale/speed.py", *(word for word in sys.argv[1:] if not word.startswith("/"))]
        planning = contest.planning / contest.results[WORKERS[-1], 0][0].wall
        text = (
            f"`{' '.join(words)}`, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors ({platform.machine()}), "
            f"load {load:.1f} before and {os.getloadavg()[0]:.1f} after: {size / 1e9:.2f} GB, {contest.rows:,} rows, {contest.count} parts; "
            f"interleaved repetitions: {options.repetitions}; medians. The parts' bytes were the same in all of them, and `verify` found every row. "
            f"Planning, which hashes the inputs once, took {planning:.2f} of a plain run.\n\n{contest.table()}\n"
        )
    print(text)
    peak = max(entry.peak for sums in contest.results.values() for entry in sums)
    if peak > LIMIT:
        print(f"speed.py: a process had {peak / 1e6:.0f} MB, expected less than {LIMIT / 1e6:.0f}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the files are removed
    sys.exit(main())
