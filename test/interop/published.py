#!/usr/bin/env python3
"""Compare conversions of the full data sets with what others have published.

usage: $(test/interop/venv) test/interop/published.py --binary PATH [--data DIR] [--scratch DIR]

MNIST as CSV must be, byte for byte, the files of https://pjreddie.com/projects/mnist-in-csv/. Fashion-MNIST as PNG must be 70,000 files that Pillow
and OpenCV open and that hold the pixels of the IDX files, in class folders that torchvision's ImageFolder numbers as the labels are.

The data sets are fetched by test/data/fetch.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from suite.bench import ROOT, Bench, equal
from suite.check_folders import torchvision_index
from suite.check_pictures import check_pixels, folder_files
from suite.tensors import idx_file

MNIST_CSV = {
    "train": ("fb60bc58af4dac3554e394af262b3184479833d3cc540ff8783f274b73492d5d", 109_575_994),
    "test": ("51c292478d94ec3a01461bdfa82eb0885d262eb09e615679b2d69dedb6ad09e7", 18_289_443),
}
SPLITS = {"train": ("train", 60_000), "test": ("t10k", 10_000)}  # split: how its files begin, rows


def check_csv(bench: Bench, mnist: Path) -> None:
    """The two published files, from one command."""
    with bench.report.group("MNIST as published CSV"), bench.folder("mnist") as folder:
        made = bench.convert([mnist], [folder / "mnist-{split}.csv"], "--csv-style", "pjreddie")
        for split, (digest, size) in MNIST_CSV.items():
            with bench.case(f"mnist-{split}.csv", made), open(folder / f"mnist-{split}.csv", "rb") as file:
                equal("the sha256", hashlib.file_digest(file, "sha256").hexdigest(), digest)
                equal("the size", file.tell(), size)


def check_images(bench: Bench, fashion: Path) -> None:
    """70,000 PNGs in two folders."""
    with bench.report.group("Fashion-MNIST as PNG"), bench.folder("fashion") as folder:
        made = bench.convert([fashion], [folder], "--to", "png")
        for split, (stem, rows) in SPLITS.items():
            images, labels = (idx_file(fashion / f"{stem}-{name}-ubyte.gz")[0] for name in ("images-idx3", "labels-idx1"))
            with bench.case(f"{rows} {split} images", made):
                equal("the number of images in the IDX file", len(images), rows)
                check_pixels(folder_files(folder / split, labels), images, "L")
            with bench.case(f"{split} classes", made):
                equal("the classes by row", torchvision_index(folder / split).of_row() == dict(enumerate(labels.tolist())), True)


def main() -> int:
    """Run both comparisons; both data sets must be there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to test")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="the folder of mnist/ and fashion-mnist/")
    parser.add_argument("--scratch", type=Path, help="where outputs are written (default: the system's temporary folder)")
    options = parser.parse_args()
    missing = [name for name in ("mnist", "fashion-mnist") if not (options.data / name).is_dir()]
    if missing:
        print(f"published.py: {options.data} has no {' and no '.join(missing)}; run test/data/fetch first", file=sys.stderr)
        return 66
    scratch = Path(tempfile.mkdtemp(prefix="idxport-published-", dir=options.scratch))
    bench = Bench(options.binary.resolve(), scratch)
    try:
        check_csv(bench, options.data / "mnist")
        check_images(bench, options.data / "fashion-mnist")
        return bench.report.finish()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
