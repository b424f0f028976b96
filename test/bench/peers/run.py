#!/usr/bin/env python3
"""Measure idxport beside the scripts that one would write with today's tools, on the same files, in turn.

usage: $(test/interop/venv ../bench/peers) test/bench/peers/run.py --binary bin/idxport

Whole processes from fork to exit, caches warm, outputs on a tmpfs; medians. A peer's start-up of Python and imports is part of its wall
time; the column inside leaves it out. Every output of the first, uncounted round is compared with the IDX files value by value.
"""

from __future__ import annotations

import argparse
import platform
import random
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import table  # noqa: E402
from jobs import HERE, Inputs, conversions, readings, script  # noqa: E402
from measure import Contender, Job, Line, grid, hold, machine, once, place  # noqa: E402

FLOAT_BYTES = 128 << 20  # of the float32 file's payload


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to measure")
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "data", help="folder with mnist/ (raw) and fashion-mnist/ (.gz); see test/data/fetch")
    parser.add_argument("--tmp", type=Path, default=Path("/dev/shm"), help="where outputs go: a tmpfs with 4 GB free")
    parser.add_argument("--runs", type=int, default=7, help="runs of each that count")
    parser.add_argument("--slow", type=float, default=5, help="a contender that takes more seconds than this runs once only")
    parser.add_argument("--quick", action="store_true", help="3 runs, and --slow 2")
    parser.add_argument("--only", default="", help="only the jobs whose names contain this")
    parser.add_argument("--write", action="store_true", help=f"write the tables to {HERE.name}/RESULTS.md")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write is for all jobs, --only for some")
    if options.quick:
        options.runs, options.slow = 3, 2
    return options


def floats(path: Path) -> None:
    """Make an IDX file of float32 records of 28×28: random signs and mantissas, magnitudes from 1/8 to 2, nothing that repeats.

    The bits are set in integers of a megabyte, which takes no numpy and less than a second.
    """
    chunk, rows = 1 << 20, FLOAT_BYTES // (4 * 28 * 28)
    source, left = random.Random(1), rows * 4 * 28 * 28
    free, exponent = (int.from_bytes(bytes.fromhex(word) * (chunk // 4), "big") for word in ("81ffffff", "3e000000"))
    with open(path, "wb") as file:
        file.write(struct.pack(">2xBB3I", 0x0D, 3, rows, 28, 28))
        while left:
            bits = source.getrandbits(8 * chunk) & free | exponent
            left -= file.write(bits.to_bytes(chunk, "big")[:left])


def check(job: Job, contender: Contender, out: Path) -> str:
    """Compare an output with the job's inputs; what differs, in one line."""
    if job.kind == "none":
        return ""
    command = [sys.executable, str(HERE / "check.py"), job.kind, str(out), *job.inputs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return "could not be compared: " + (done.stderr.strip().splitlines() or ["?"])[-1][:300]
    return " ".join(done.stdout.split("\n")).strip()


def parquet_files(binary: Path, inputs: Inputs, folder: Path) -> dict[str, Path]:
    """The files that are read: MNIST as zstd Parquet by idxport and by each tool, at the levels that jobs.py gives it."""
    folder.mkdir()
    commands = {"idxport": [str(binary), "convert", *inputs.mnist, "-o", "parquet={out}", "--quiet"]}
    commands |= {tool: script(tool, "parquet", inputs.mnist) for tool in ("pyarrow", "polars", "duckdb")}
    files = {}
    for name, command in commands.items():
        files[name] = folder / f"{name}.parquet"
        once(command, files[name])
    return files


def preamble(options: argparse.Namespace) -> str:
    """What a reader of the tables must know."""
    pins = [line for line in (HERE / "requirements.txt").read_text().splitlines() if "==" in line]
    return f"""# Peers

{machine(options.binary)}
Python {platform.python_version()}, {', '.join(pins)}.

Whole processes that take turns, with warm caches and outputs on a tmpfs; medians of {options.runs} runs, or one run if it took longer than {options.slow:g} s.
**whole** is a process from its start to its exit, with the start of Python and its imports. **without imports** is the same script from after its imports
to its complete output; it is compared with idxport's *whole* run, including its start, which favours the script. In *reading*, where the same script reads
two files, both are without imports. All outputs were compared with the IDX files, value by value, but pixels of JPEG files may differ by 2 on average.
"""


def measured(options: argparse.Namespace, scratch: Path) -> list[tuple[Job, list[Line]]]:
    """Run every job that was asked for, and print each when it is done."""
    floats_path, photos = scratch / "floats-idx3-float", scratch / "photos"
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
    inputs = Inputs([str(options.data / "mnist" / n) for n in names], [str(options.data / "fashion-mnist" / f"{n}.gz") for n in names], [str(floats_path)], [str(photos)])
    jobs = [job for job in conversions(options.binary, inputs) if options.only in job.name]
    if any(job.inputs == inputs.floats for job in jobs):
        floats(floats_path)
    if any(job.inputs == inputs.photos for job in jobs):
        subprocess.run([sys.executable, HERE / "scripts/photos.py", photos], check=True)
    reads = readings({name: scratch / "files" / f"{name}.parquet" for name in ("idxport", "pyarrow", "polars", "duckdb")})
    reads = [job for job in reads if options.only in job.name]
    if reads:
        parquet_files(options.binary, inputs, scratch / "files")
    results = []
    for job in jobs + reads:
        lines = hold(job, scratch, options.runs, options.slow, check)
        print(grid([job.name, *table.HEAD[1:]], [table.cells(line, lines) for line in lines]), flush=True)
        results.append((job, lines))
    return results


def main() -> int:
    """Measure, print, and write what was asked for; 1 if a contender failed."""
    options = arguments()
    options.binary = options.binary.resolve()
    with place(options.tmp) as scratch:
        head = preamble(options)
        print(head)
        results = measured(options, scratch)
    print(table.summary(results))
    if options.write:
        (HERE / "RESULTS.md").write_text(table.markdown(results, head))
    return 1 if any(line.problem for _, lines in results for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
