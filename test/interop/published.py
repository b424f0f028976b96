#!/usr/bin/env python3
"""Compare conversions of the full data sets with what others have published.

usage: test/interop/.venv/bin/python test/interop/published.py --binary PATH [--data DIR] [--scratch DIR]

MNIST as CSV must be, byte for byte, the files of https://pjreddie.com/projects/mnist-in-csv/. Fashion-MNIST as PNG must be 70,000 files that Pillow
opens and that hold the pixels of the IDX files, in class folders that torchvision's ImageFolder numbers as the labels are.

The data sets are fetched by test/data/fetch.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from suite import check_png, readers
from suite.command import Bench
from suite.compare import equal
from suite.report import Mismatch, Report
from suite.tensors import Tensor

MNIST_CSV = {
    "train": ("fb60bc58af4dac3554e394af262b3184479833d3cc540ff8783f274b73492d5d", 109_575_994),
    "test": ("51c292478d94ec3a01461bdfa82eb0885d262eb09e615679b2d69dedb6ad09e7", 18_289_443),
}
SPLITS = {"train": ("train", 60_000), "test": ("t10k", 10_000)}  # split: how its files begin, rows


def check_csv(bench: Bench, mnist: Path) -> None:
    """The two published files, from one command."""
    with bench.report.group("MNIST as published CSV"), bench.folder("mnist") as folder:
        result = bench.convert([mnist], [folder / "mnist-{split}.csv"], "--csv-style", "pjreddie")
        for split, (digest, size) in MNIST_CSV.items():
            with bench.report.case(f"mnist-{split}.csv", result.command):
                result.succeeded()
                path = folder / f"mnist-{split}.csv"
                equal("the size", path.stat().st_size, size)
                with open(path, "rb") as file:
                    equal("the sha256", hashlib.file_digest(file, "sha256").hexdigest(), digest)


def image_folder(root: Path) -> list[tuple[Path, int]]:
    """Files and class numbers by torchvision's rule: classes are the folders in sorted order, and every class has a file.

    https://github.com/pytorch/vision/blob/main/torchvision/datasets/folder.py, find_classes and make_dataset
    """
    samples = []
    for number, folder in enumerate(sorted(entry for entry in root.iterdir() if entry.is_dir())):
        files = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() == ".png"]
        if not files:
            raise Mismatch(f"class folder {folder.name} has no image")
        samples += [(path, number) for path in files]
    return samples


def check_classes(folder: Path, labels: np.ndarray) -> None:
    """ImageFolder's numbers are the labels."""
    samples = image_folder(folder)
    equal("the number of samples", len(samples), len(labels))
    wrong = [path for path, number in samples if number != int(labels[int(path.stem)])]
    if wrong:
        raise Mismatch(f"{len(wrong)} files are in the wrong class, the first is {wrong[0]}")


def check_images(bench: Bench, fashion: Path) -> None:
    """70,000 PNGs in two folders."""
    with bench.report.group("Fashion-MNIST as PNG"), bench.folder("fashion") as folder:
        result = bench.convert([fashion], [folder], "--to", "png")
        for split, (stem, rows) in SPLITS.items():
            images, _ = readers.idx_file(fashion / f"{stem}-images-idx3-ubyte.gz")
            labels, _ = readers.idx_file(fashion / f"{stem}-labels-idx1-ubyte.gz")
            with bench.report.case(f"{rows} {split} images", result.command):
                result.succeeded()
                equal("the number of images in the IDX file", len(images), rows)
                check_png.check_pixels(folder / split, Tensor(images), "L", labels)
            with bench.report.case(f"{split} classes", result.command):
                result.succeeded()
                check_classes(folder / split, labels)


def main() -> int:
    """Run both comparisons; both data sets must be there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to test")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "data", help="the folder of mnist/ and fashion-mnist/")
    parser.add_argument("--scratch", type=Path, help="where outputs are written (default: the system's temporary folder)")
    options = parser.parse_args()
    missing = [name for name in ("mnist", "fashion-mnist") if not (options.data / name).is_dir()]
    if missing:
        print(f"published.py: {options.data} has no {' and no '.join(missing)}; run test/data/fetch first", file=sys.stderr)
        return 66
    scratch = Path(tempfile.mkdtemp(prefix="idxport-published-", dir=options.scratch))
    bench = Bench(binary=options.binary.resolve(), scratch=scratch, report=Report(), full=True, keep=False)
    try:
        check_csv(bench, options.data / "mnist")
        check_images(bench, options.data / "fashion-mnist")
        return bench.report.finish()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
