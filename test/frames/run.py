#!/usr/bin/env python3
"""Decode zstd frames of package pagezstd with decoders that share no code with it, and compare every byte.

usage: $(test/interop/venv) test/frames/run.py [--rounds N] [--seed N]

The decoders are libzstd (zstandard and pyarrow in Python, zstd-jni in Java), aircompressor (Java), fzstd (JavaScript)
and ruzstd (Rust). A round makes 2,360 frames of 52 MB. The exit code is 1 if a decoder differs or cannot be run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import zstandard

HERE = Path(__file__).resolve().parent
INTEROP = HERE.parent / "interop"


def frames(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    """Each frame and its contents."""
    data, contents = (folder / "frames").read_bytes(), (folder / "contents").read_bytes()
    at = start = 0
    for line in (folder / "index").read_text().splitlines():
        size, length = map(int, line.split())
        yield data[at : at + size], contents[start : start + length]
        at, start = at + size, start + length


def python(folder: Path) -> str:
    """Decode with libzstd, in memory and as a stream."""
    number = 0
    for number, (frame, contents) in enumerate(frames(folder), 1):
        for found in (
            zstandard.decompress(frame),
            zstandard.ZstdDecompressor().decompressobj().decompress(frame),
            pyarrow.input_stream(pyarrow.py_buffer(frame), compression="zstd").read(),
        ):
            if found != contents:
                raise SystemExit(f"frame {number - 1}, {len(contents)} bytes, is not what it contains")
    return f"{number} frames"


def command(*args: str | Path) -> str:
    """Run a decoder and return its output."""
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr or f"{args[0]}: exit code {done.returncode}")
    return done.stdout.strip()


def jars() -> str:
    """The class path of Spark's libraries."""
    spark = command(INTEROP / "venv", "spark")
    folder = command(spark, "-c", "import pyspark; print(pyspark.__path__[0])")
    return f"{folder}/jars/*"


def main() -> int:
    """Run the rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    path = jars()
    if not (INTEROP / "node" / "node_modules").exists():
        command("npm", "ci", "--silent", "--prefix", INTEROP / "node")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="idxport-frames-") as name:
        folder = Path(name)
        os.environ["CARGO_TARGET_DIR"] = str(folder / "target")
        for seed in range(options.seed, options.seed + options.rounds):
            command("go", "run", HERE, "-out", folder, "-seed", str(seed))
            for reader, decode in {
                "libzstd in Python": lambda: python(folder),
                "aircompressor and zstd-jni": lambda: command("java", "-cp", path, HERE / "Frames.java", folder),
                "fzstd": lambda: command("node", HERE / "frames.mjs", folder),
                "ruzstd": lambda: command("cargo", "run", "--quiet", "--release", "--locked", "--manifest-path", HERE / "rust" / "Cargo.toml", "--", folder),
            }.items():
                try:
                    print(f"seed {seed}: {reader}: {decode()}", flush=True)
                except (SystemExit, OSError) as error:
                    failed += 1
                    print(f"seed {seed}: {reader}: {error}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
