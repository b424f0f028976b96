#!/usr/bin/env python3
"""Compare whole runs of idxport with the limits of the machine, measured in the same session.

usage: test/bench/run.py --binary bin/idxport [--runs N] [--only WORD] [--gib SIZE] [--write]

A limit is a process that does the least work that any program needs for the same result: copy the bytes, write them,
compress them, inflate them, or create the files. Runs and limits take turns, so that a machine whose speed drifts slows
both; medians and the median of the ratios of neighbours are printed. Outputs go to a tmpfs, where fsync costs nothing;
those of the durable contests go to a disk. The start-up is compared with an empty Go program, the size of the program
with the project's aim. --gib 0.1 --runs 1 is a quick trial.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

import measure
from measure import ROOT, Contender, Job, grid

sys.path.insert(0, str(ROOT / "test"))
import idx_stream  # noqa: E402

RESULTS = ROOT / "test" / "bench" / "RESULTS.md"
START_AIM = 5  # milliseconds of `idxport version`
SIZE_AIM = 16  # MB of the stripped program
STARTS = 15  # runs of the start-up for each run of a contest: they are short, and easily disturbed

# Words of the commands.
IMAGES, LABELS = "{data}/mnist/train-images-idx3-ubyte", "{data}/mnist/train-labels-idx1-ubyte"
PACKED = "{data}/fashion-mnist/train-images-idx3-ubyte.gz"
FLOATS, OCTETS = "{scratch}/float32.idx", "{scratch}/uint8.idx"
PLAIN = "-o parquet={out} --compression none"
TABLE, CSV_BYTES = f"{IMAGES} {LABELS} -o csv={{out}} --layout pjreddie", 109575994

# For each contest its name, the ratio that the project promises, the arguments of the program, and the limit.
CONTESTS = [
    ("arrow, MNIST train / cp", 1.35, f"{IMAGES} -o arrow={{out}}", f"cp {IMAGES} {{out}}"),
    ("parquet uncompressed, MNIST train / cp", 1.4, f"{IMAGES} {PLAIN}", f"cp {IMAGES} {{out}}"),
    ("parquet zstd, MNIST train / read and compress", 0.7,
     f"{IMAGES} -o parquet={{out}}", f"{{limits}} compress {IMAGES} {{out}}"),
    ("csv, MNIST train / write loop", 1.8, TABLE, f"{{limits}} write {CSV_BYTES} {{out}}"),
    ("png, MNIST train / create files", 1.3, f"{IMAGES} {LABELS} -o png={{out}}", "{limits} create 60000 {out}"),
    ("arrow, Fashion train .gz / inflate alone", 1.1, f"{PACKED} -o arrow={{out}}", f"{{limits}} inflate {PACKED}"),
    ("parquet zstd, Fashion train .gz / inflate alone", 1.5,
     f"{PACKED} -o parquet={{out}}", f"{{limits}} inflate {PACKED}"),
    ("durable arrow, MNIST train / write and fsync", 1.2,
     f"{IMAGES} -o arrow={{out}}", "{limits} sync 47040016 {out}"),
    ("durable csv, MNIST train / write and fsync", 1.2, TABLE, f"{{limits}} sync {CSV_BYTES} {{out}}"),
    ("arrow, large float32 ({gib} GiB) / cp", 1.35, f"{FLOATS} -o arrow={{out}}", f"cp {FLOATS} {{out}}"),
    ("parquet uncompressed, large float32 ({gib} GiB) / cp", 1.4, f"{FLOATS} {PLAIN}", f"cp {FLOATS} {{out}}"),
    ("arrow, large uint8 ({gib} GiB) / cp", 1.35, f"{OCTETS} -o arrow={{out}}", f"cp {OCTETS} {{out}}"),
    ("parquet uncompressed, large uint8 ({gib} GiB) / cp", 1.4, f"{OCTETS} {PLAIN}", f"cp {OCTETS} {{out}}"),
]  # fmt: skip


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to measure")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder with mnist/ and fashion-mnist/")
    parser.add_argument("--tmp", type=Path, default=Path("/dev/shm"), help="where outputs go: a tmpfs")
    parser.add_argument("--disk", type=Path, default=Path(), help="where outputs of durable contests go: a disk")
    parser.add_argument("--runs", type=int, default=7, help="runs of each that count")
    parser.add_argument("--gib", type=float, default=2, help="size of the large inputs in GiB")
    parser.add_argument("--only", default="", help="only the contests whose names contain this")
    parser.add_argument("--write", action="store_true", help="write the table to RESULTS.md, and keep its notes")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write is for all contests, --only for some")
    return options


def make(path: Path, rows: int) -> None:
    """Make a large input, whose name begins with its element type."""
    with path.open("wb") as file:
        file.writelines(idx_stream.stream(path.stem, rows))


def contest(options: argparse.Namespace, scratch: Path, name: str, aim: float, run: str, limit: str) -> list[str]:
    """Hold one contest; its row in the table."""
    for dtype, size in idx_stream.SIZES.items():  # in a process of its own, as this one must stay small
        path = scratch / f"{dtype}.idx"
        if path.name not in run:
            path.unlink(missing_ok=True)  # only one fits
        elif not path.exists():
            rows = int(options.gib * 2**30) // size
            maker = multiprocessing.get_context("fork").Process(target=make, args=(path, rows))
            maker.start()
            maker.join()
            if maker.exitcode:
                sys.exit(f"run.py: {path} could not be made")
    places = {"{data}": options.data, "{scratch}": scratch, "{limits}": scratch / "limits"}
    commands = {"run": [str(options.binary), "convert", *run.split(), "--quiet"], "limit": limit.split()}
    for word, value in places.items():
        commands = {who: [part.replace(word, str(value)) for part in parts] for who, parts in commands.items()}
    contenders = [Contender(*command) for command in commands.items()]
    if name.startswith("durable"):
        with measure.place(options.disk.resolve()) as disk:
            return row(name, aim, *measure.hold(Job(name, "none", contenders), disk, options.runs))
    return row(name, aim, *measure.hold(Job(name, "none", contenders), scratch, options.runs))


def row(name: str, aim: float, run: measure.Line, limit: measure.Line) -> list[str]:
    """The cells of a contest."""
    if not run.figures or not limit.figures:
        sys.exit(f"run.py: {name}: {run.problem or limit.problem}")
    ratio = median(a.wall / b.wall for a, b in zip(run.runs, limit.runs, strict=True))
    ours, least = run.figures, limit.figures
    numbers = [f"{ours.wall * 1e3:.1f}", f"{ours.cpu * 1e3:.1f}", f"{ours.peak:.1f}", f"{least.wall * 1e3:.1f}"]
    cells = [name, *numbers, f"{ratio:.2f}", f"{aim:.2f}"]
    print(" | ".join(cells), flush=True)
    return cells


def start(options: argparse.Namespace, scratch: Path) -> list[str]:
    """Measure `idxport version` and a Go program that does nothing: the difference is the work of packages before main,
    page faults, and the command line."""
    (scratch / "empty.go").write_text("package main\n\nfunc main() {}\n")
    build(scratch / "empty", scratch / "empty.go")
    pair = [Contender("version", [str(options.binary), "version"]), Contender("empty", [str(scratch / "empty")])]
    found = measure.hold(Job("start-up", "none", pair), scratch, STARTS * options.runs)
    numbers = [f"{seconds * 1e3:.1f}" for line in found for seconds in (line.figures.wall, line.figures.cpu)]
    return ["`idxport version`", *numbers, f"{START_AIM}.0"]


def build(program: Path, source: Path | str) -> None:
    """Build a Go program as the real one is built."""
    command = ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, source]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"CGO_ENABLED": "0"}, check=True)


def main() -> None:
    """Measure, print, and write what was asked for."""
    options = arguments()
    options.binary, options.data = options.binary.resolve(), options.data.resolve()
    session = measure.machine(options.binary)
    with measure.place(options.tmp) as scratch:
        build(scratch / "limits", "./test/bench")
        rows = []
        for name, *rest in CONTESTS:
            name = name.replace("{gib}", f"{options.gib:g}")
            if options.only in name:
                rows.append(contest(options, scratch, name, *rest))
        if options.only:
            return
        starts = start(options, scratch)
    size = f"{options.binary.stat().st_size / 1e6:.2f}"
    head = ["contest", "idxport, ms", "user+sys, ms", "peak, MB", "limit, ms", "ratio", "aim"]
    text = f"{session}\nMedians of {options.runs} runs, of {STARTS * options.runs} for the start-up.\n\n{grid(head, rows)}\n"
    text += grid(["start-up", "ms", "user+sys, ms", "empty program, ms", "its user+sys, ms", "aim, ms"], [starts])
    text += "\n" + grid(["size", "MB", "aim, MB"], [["the program, static and stripped", size, f"{SIZE_AIM}.0"]])
    print(text)
    if options.write:
        begin, end = "<!-- begin contests -->\n", "<!-- end contests -->\n"
        page = re.sub(f"(?s)(?<={begin}).*(?={end})", lambda _: text, RESULTS.read_text())
        RESULTS.write_text(page)


if __name__ == "__main__":
    main()
