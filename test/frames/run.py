#!/usr/bin/env python3
"""Decode zstd frames of package pagezstd with decoders that share no code with it, and compare every byte.

usage: $(test/interop/venv) test/frames/run.py [--rounds N] [--seed N]

The decoders are libzstd, by zstandard, pyarrow and zstd-jni, and aircompressor (Java). A round makes 3,090 frames of
107 MB. The exit code is 1 if a decoder differs. fzstd (JavaScript) decodes such frames in Parquet files, in the matrix.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import pyarrow
import zstandard

HERE = Path(__file__).resolve().parent
VENV = HERE.parent / "interop" / "venv"


def python(folder: Path) -> str:
    """Decode with libzstd, in memory and as a stream."""
    lines = (folder / "index").read_text().splitlines()
    with (folder / "frames").open("rb") as frames, (folder / "contents").open("rb") as contents:
        for number, line in enumerate(lines):
            size, length = map(int, line.split())
            frame, expected = frames.read(size), contents.read(length)
            for found in (
                zstandard.decompress(frame),
                zstandard.ZstdDecompressor().decompressobj().decompress(frame),
                pyarrow.input_stream(pyarrow.py_buffer(frame), compression="zstd").read(),
            ):
                if found != expected:
                    raise SystemExit(f"frame {number}, {length} bytes, is not what it contains")
    return f"{len(lines)} frames"


def command(*args: str | Path) -> str:
    """The output of a command, which must succeed."""
    return subprocess.run(args, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def main() -> None:
    """Run the rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    jars = command(command(VENV, "../spark"), "-c", "import pyspark; print(pyspark.__path__[0])") + "/jars/*"
    for seed in range(options.seed, options.seed + options.rounds):
        with tempfile.TemporaryDirectory(prefix="idxport-frames-") as folder:
            command("go", "run", HERE, "-out", folder, "-seed", str(seed))
            print(f"seed {seed}: libzstd in Python: {python(Path(folder))}", flush=True)
            java = command("java", "-cp", jars, HERE / "Frames.java", folder)
            print(f"seed {seed}: aircompressor and zstd-jni: {java}", flush=True)


if __name__ == "__main__":
    main()
