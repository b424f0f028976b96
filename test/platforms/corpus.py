"""A corpus of conversions: every format, layout, type, codec and style, the way back, and inputs that must be refused."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import hashlib
import itertools
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

TESTDATA = Path(__file__).resolve().parents[2] / "testdata"
SOURCE = TESTDATA.parent / "source"
FASHION = TESTDATA / "fashion-mnist"
IMAGES = FASHION / "t10k-images-idx3-ubyte.gz"
LABELS = FASHION / "t10k-labels-idx1-ubyte.gz"

LAYOUTS = "list nested tensor fixed-binary binary huggingface columns".split()
STYLES = "kaggle kaggle1 rowxcol pjreddie matrix".split()
SECONDS = 300

# The compressor of Snappy is in assembly on amd64 and arm64, and in Go elsewhere: files differ there, but not their
# contents.
SNAPPY = ["convert", str(IMAGES), "--compression", "parquet=snappy"]


@dataclasses.dataclass
class Result:
    """How a run ended, and the sha256 of each file that it made."""

    command: list[str]
    code: int
    messages: str
    files: dict[str, str]

    def text(self, other: Result) -> str:
        """The differences from other."""
        files = {name: digest[:12] for name, digest in self.files.items() if other.files.get(name) != digest}
        return f"exit code {self.code}, {self.messages.strip()!r}, {files or 'the same files'}"


def first() -> Iterator[list[str]]:
    """The command lines that read files of the repository. Those that convert write below a folder named after their number, {n}."""
    tiny = sorted((TESTDATA / "tiny").glob("*.idx*"))
    for path in tiny:
        formats = ["parquet", "arrow", "arrows", "npy", "idx"]
        if not re.search(r"-\d+x0|-0x0", path.name):  # a line of CSV has a field, at least
            formats.append("csv")
        yield ["convert", str(path), *[word for name in formats for word in ("-o", f"{{n}}/all.{name}")]]
    for path in tiny[::4]:
        yield ["inspect", str(path)]
    names = ["uint8-3x7x9", "int16-3x7x9-nonnegative", "int32-3x7x9", "float32-3x7x9", "float64-2x5x7x3", "uint8-2x5x7x3", "uint8-2x5x7x4", "int8-5x13", "uint8-5x0x3"]
    for layout in LAYOUTS:
        for name in names:
            yield ["convert", str(TESTDATA / "tiny" / f"{name}.idx"), "--layout", layout, "-o", "{n}/x.parquet", "-o", "{n}/x.arrow"]
        yield ["convert", str(IMAGES), str(LABELS), "--rows", "0:40", "--layout", layout, "-o", "{n}/x.parquet", "-o", "{n}/x.arrow"]
    some = ["convert", str(FASHION), "--dataset", "fashion-mnist", "--split", "test", "--rows", "0:200"]
    yield [*SNAPPY, "-o", "{n}/x.parquet"]
    for codec in ("zstd", "zstd:9", "gzip", "none"):
        yield [*some, "--compression", f"parquet={codec}", "--class-column", "-o", "{n}/x.parquet"]
    for codec in ("lz4", "lz4:9", "zstd", "zstd:9", "none"):
        yield [*some, "--compression", f"arrow={codec}", "--class-column", "-o", "{n}/x.arrow", "-o", "{n}/x.arrows"]
    for style in STYLES:
        if style != "matrix":  # of one column
            yield [*some, "--layout", style, "-o", "{n}/x.csv", "-o", "{n}/x.csv.gz", "-o", "{n}/x.tsv.zst"]
        yield ["convert", str(TESTDATA / "tiny" / "float32-3x7x9.idx"), "--layout", style, "-o", "{n}/x.csv"]
    yield [*some, "-o", "{n}", "--to", "parquet,arrow,arrows,csv,tsv,tar,npy,idx"]
    yield [*some, "-o", "png={n}/p", "--layout", "names"]
    yield [*some, "-o", "png={n}/p", "--layout", "huggingface"]
    yield [*some, "-o", "png={n}/p", "--transpose"]
    yield [*some, "-o", "{n}", "--layout", "huggingface"]
    yield [*some, "-o", "{n}", "--rows-per-file", "60", "--to", "parquet,arrow,csv,tar"]
    yield ["convert", str(IMAGES), "--rows", "0:200", "-o", "{n}/x.parquet", "-o", "{n}/x.idx.gz", "-o", "{n}/x.idx.zst", "--verify"]
    yield ["convert", str(TESTDATA / "qmnist" / "qmnist-train-labels-idx2-int.gz"), "-o", "{n}/x.parquet", "-o", "{n}/x.csv", "-o", "npy={n}/x/"]
    yield ["preview", str(FASHION), "--split", "test", "-o", "{n}/x.png"]
    yield ["inspect", str(FASHION)]
    for path in sorted((TESTDATA / "hostile").iterdir()):
        if path.suffix != ".tsv":
            yield ["convert", str(path), "-o", "{n}/x.parquet"]
            yield ["convert", str(path), "--salvage", "-o", "{n}/x.idx"]
    # Files of other programs.
    for folder in ("arrow", "parquet"):
        for path in sorted((SOURCE / folder / "testdata").glob(f"*.{folder}")):
            yield ["convert", str(path), "-o", "{n}", "--to", "idx,csv"]


def second(runs: list[Result]) -> Iterator[list[str]]:
    """The command lines that read the outputs of the first: back to IDX, and verified against their inputs."""
    for number, run in enumerate(runs):
        if run.command[0] != "convert" or run.code:
            continue
        read = [name for name in run.files if name.endswith((".parquet", ".arrow", ".arrows", ".csv", ".csv.gz", ".npy", ".tsv.zst")) and "metadata" not in name]
        if read and number % 2:
            yield ["convert", read[number // 2 % len(read)], "-o", "{n}", "--to", "idx"]
        if read and run.command[1].startswith(str(TESTDATA / "tiny")) and number % 3 == 0:
            yield ["verify", read[number // 3 % len(read)], run.command[1]]
        if any(word.startswith("png=") for word in run.command):
            yield ["convert", f"{number}/p", "-o", "{n}", "--to", "idx"]


def results(program: list[str], folder: Path, environ: Mapping[str, str], like: list[Result] | None = None) -> list[Result]:
    """Run the corpus by program in folder: the same command lines as those of like, if they were run before."""
    folder.mkdir()
    one = functools.partial(run, program, folder, environ)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:  # side by side
        runs = list(pool.map(one, itertools.count(), first()))
        return runs + list(pool.map(one, itertools.count(len(runs)), second(like[: len(runs)] if like else runs)))


def run(program: list[str], folder: Path, environ: Mapping[str, str], number: int, command: list[str]) -> Result:
    """Run one command line."""
    command = [word.replace("{n}", str(number)) for word in command]
    (folder / str(number)).mkdir()
    done = attempt([*program, *command, *(["--quiet"] if command[0] == "convert" else [])], folder, environ, SECONDS)
    files = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / str(number)).rglob("*") if path.is_file()}
    return Result(command, done.returncode, re.sub(r"\d+(\.\d+)? (s|ms|µs)\b", "", said(done)), dict(sorted(files.items())))


def attempt(command: list[str], folder: Path, environ: Mapping[str, str], seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run a command line, again if the emulator crashed, or Go's runtime on it: QEMU 7 sometimes fails when threads begin at the same time."""
    for _ in range(3):
        try:
            done = subprocess.run(command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=seconds)
        except subprocess.TimeoutExpired as late:
            done = subprocess.CompletedProcess(command, -1, late.stdout or b"", f"no end after {seconds} s".encode())
        if done.returncode >= 0 and not re.search(r"(?m)^(runtime: |fatal error: |SIGSEGV|qemu: )", said(done)):
            break
    return done


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    """Its output."""
    return (done.stdout + done.stderr).decode(errors="replace")
