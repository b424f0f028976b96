#!/usr/bin/env python3
"""Convert made-up IDX files with the binary and read every output with independent programs of Python.

usage: $(test/interop/venv) test/interop/run.py --binary PATH [--only CHECK …]

Prints a line per check and the totals; exits with 1 if a check failed. The readers of other languages, Spark and
datasets read the same corpus in matrix/run.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys

import idx2numpy

from matrix import python
from matrix.assemble import Matrix
from matrix.corpus import NUMERIC, PICTURES, Corpus
from suite.classes import classes
from suite.parts import parts
from suite.skipping import skipping
from suite.stage import ROOT, Stage, demand, equal, same_bits
from suite.tensors import make, numbers

import checks  # in test/, which suite.stage has put on the path

# sha256 of the files of https://pjreddie.com/projects/mnist-in-csv/
MNIST = {
    "train": "fb60bc58af4dac3554e394af262b3184479833d3cc540ff8783f274b73492d5d",
    "test": "51c292478d94ec3a01461bdfa82eb0885d262eb09e615679b2d69dedb6ad09e7",
}


def values(stage: Stage) -> None:
    """The corpus of the matrix, and large and small files besides, by the readers that run in this process: every
    value, and the element type."""
    corpus = Corpus(stage.binary, stage.folder, [])
    corpus.layouts(full=False)
    corpus.others()
    corpus.more()
    corpus.close()
    python.record(stage.folder, stage.folder / "cells")
    found = Matrix(stage.folder, stage.folder / "cells", python.READERS)
    demand(not found.problems, f"{len(found.problems)} problems, the first ones:\n" + "\n".join(found.problems[:10]))
    demand(len(found.lines) > 3000, f"only {len(found.lines)} records")


def layouts(stage: Stage) -> None:
    """The corpus has every layout that `idxport formats` lists."""
    text = subprocess.run([stage.binary, "formats"], stdout=subprocess.PIPE, text=True, check=True).stdout
    section = text[text.index("\nLAYOUT") + 1 :].partition("\n\n")[0]
    equal("the layouts", sorted(line.split()[0] for line in section.splitlines()[1:] if line[0] != " "), sorted(NUMERIC + PICTURES))


def published(stage: Stage) -> None:
    """`-o idx=DIR/` writes the published names, and idx2numpy reads the files."""
    for dtype in ("uint8", "int32", "float64"):
        folder, made = stage.folder / dtype, {}
        for split, rows in {"train": 60, "t10k": 10}.items():
            for role, tensor in (("images", make(dtype, (rows, 5, 7))), ("labels", numbers(rows))):
                made[f"{split}-{role}-idx{tensor.rank}-{tensor.suffix}"] = tensor
        (folder / "in").mkdir(parents=True)
        for name, tensor in made.items():
            tensor.write(folder / "in" / name)
        for i, flags in enumerate(([], ["--rows-per-file", "17"], ["--to", "arrow"], ["--to", "npy"])):
            what, out, back = " ".join([dtype, *flags]), folder / f"out{i}", folder / f"back{i}"
            stage.convert(folder / "in", "-o", out, *flags)
            stage.convert(out, "-o", f"idx={back}/")
            equal(f"{what}: the files", sorted(path.name for path in back.glob("[!.]*")), sorted(made))
            for name, tensor in made.items():
                demand((back / name).read_bytes() == tensor.idx(), f"{what}: {name} has other bytes")
                found = idx2numpy.convert_from_file(str(back / name))
                same_bits(f"{what}: {name} by idx2numpy", found.astype(found.dtype.newbyteorder("=")), tensor.values)


def mnist(stage: Stage) -> None:
    """MNIST as CSV is byte for byte what others have published."""
    if not (ROOT / "data" / "mnist").is_dir():
        raise checks.NotRun("no data/mnist: make data fetches it")
    stage.convert(ROOT / "data" / "mnist", "-o", stage.folder / "mnist-{split}.csv", "--layout", "pjreddie")
    for split, digest in MNIST.items():
        found = hashlib.sha256((stage.folder / f"mnist-{split}.csv").read_bytes()).hexdigest()
        equal(f"mnist-{split}.csv: the sha256", found, digest)


CHECKS = [
    ("values of every layout, codec and reader", values),
    ("layouts of the corpus", layouts),
    ("published names", published),
    ("MNIST as published CSV", mnist),
    ("class names", classes),
    ("many files", parts),
    ("row groups that a filter skips", skipping),
]

if __name__ == "__main__":
    sys.exit(checks.main(__doc__, CHECKS, Stage, {}))
