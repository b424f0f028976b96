#!/usr/bin/env python3
"""Run the blocks of docs/scale.md on MNIST, as test/recipes does with the other documents, and compare what they print with what is shown.

usage: $(test/interop/venv) test/scale/docs.py --binary PATH [--only SECTION …]

Python blocks run in the environment of requirements.txt beside this file. The numbers that the document shows are those that numpy computes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "recipes"))

import document  # noqa: E402
import run as recipes  # noqa: E402

DOCUMENT = "docs/scale.md"
VARIABLES = ("JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "SLURM_ARRAY_TASK_ID")


class Runner(recipes.Runner):
    """The runner of the recipes, with one environment for all Python blocks."""

    def __init__(self, binary: Path, data: Path, scratch: Path) -> None:
        self.scratch, self.data = scratch, data
        venv = subprocess.run([ROOT / "test/interop/venv", "../scale"], check=True, stdout=subprocess.PIPE, text=True)
        self.pythons = {"": venv.stdout.strip()}
        (scratch / "bin").mkdir()
        (scratch / "bin/idxport").symlink_to(binary)
        self.environ = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        self.environ |= {"PATH": f"{scratch / 'bin'}:{os.environ['PATH']}", "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(scratch)}
        self.passed = self.failed = self.not_run = 0


def facts(data: Path) -> list[str]:
    """What numpy says of the training images, as the document shows it: how many of each class, and the pixel sums of the first three."""
    labels = np.fromfile(data / "mnist/train-labels-idx1-ubyte", np.uint8)[8:]
    images = np.fromfile(data / "mnist/train-images-idx3-ubyte", np.uint8)[16:].reshape(len(labels), -1)
    counts = np.bincount(labels).tolist()
    return [str(counts), str([int(images[labels == label].sum(dtype=int)) for label in range(3)])]


def main() -> int:
    """Run everything that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT / "data")
    parser.add_argument("--only", nargs="+", metavar="SECTION", help="run these sections only, named by their headings")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="scale-"))  # short: Ray's sockets have paths of 107 characters at most
    try:
        runner = Runner(options.binary.resolve(), options.data.resolve(), scratch)
        found = document.sections(ROOT / DOCUMENT, DOCUMENT)
        for section in found:
            if not options.only or section.title in options.only:
                runner.section(section)
        shown = [text for section in found for block in section.blocks for _, text in document.shown(block)]
        for fact in facts(options.data):
            if shown.count(fact) == 3:  # Ray, Dask, DuckDB
                runner.passed += 1
            else:
                runner.fail(DOCUMENT, f"found {shown.count(fact)} times, expected 3: {fact}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{runner.passed} passed, {runner.failed} failed; {runner.not_run} not run, as marked")
    return 1 if runner.failed or not runner.passed else 0


if __name__ == "__main__":
    sys.exit(main())
