#!/usr/bin/env python3
"""Convert IDX files with the binary in the layout huggingface and load them with Hugging Face's datasets, without a network.

usage: $(test/interop/venv huggingface) test/interop/huggingface/check.py --binary PATH

load_dataset must give images and named labels with no further code, from Parquet, streamed Parquet and Arrow; Dataset.from_parquet the same.
Prints the number of cases; exits with 1 and the difference at the first one.
"""

from __future__ import annotations

import argparse
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}  # read when datasets is imported
import datasets  # noqa: E402

CODES = {"uint8": 0x08, "int16": 0x0B, "float32": 0x0D}

# The dtype and the shape of the images, and the mode that Pillow has for such PNG files.
IMAGES = [
    ("uint8", (203, 7, 9), "L"),
    ("uint8", (2003, 28, 28), "L"),
    ("uint8", (31, 5, 7, 1), "L"),
    ("uint8", (31, 5, 7, 3), "RGB"),
    ("uint8", (31, 5, 7, 4), "RGBA"),
    ("int16", (31, 5, 7), "I;16"),
]
CLASSES = ["", "zero", "T-shirt/top", 'a "quoted" é', "last"]  # from 1 on, as EMNIST's letters


def write(path: Path, values: np.ndarray) -> Path:
    """An IDX file: the magic number, the dimensions and the values, all big-endian."""
    head = bytes([0, 0, CODES[values.dtype.name], values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes(head + values.astype(values.dtype.newbyteorder(">")).tobytes())
    return path


def equal(what: str, found: Any, expected: Any) -> None:
    """Demand equal values."""
    if found != expected:
        sys.exit(f"{what}: found {found!r}, expected {expected!r}")


def check_rows(what: str, rows: Iterable[dict[str, Any]], images: np.ndarray, labels: np.ndarray, mode: str) -> None:
    """Every image and every label."""
    count = 0
    for i, row in enumerate(rows):
        picture = row["image"]
        equal(f"{what}, row {i}: Pillow's mode", picture.mode, mode)
        found = np.asarray(picture).reshape(images[i].shape).astype(images.dtype)
        equal(f"{what}, row {i}: equal pixels", np.array_equal(found, images[i]), True)
        equal(f"{what}, row {i}: the label", row["label"], int(labels[i]))
        count += 1
    equal(f"{what}: rows", count, len(images))


def check_images(binary: Path, folder: Path, dtype: str, shape: tuple[int, ...], mode: str) -> int:
    """One table of images and labels, by all ways to load it."""
    random = np.random.default_rng(1)
    images = random.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    labels = random.integers(1, len(CLASSES), shape[0], np.uint8)
    weights = random.random(shape[0]).astype("float32")
    classes = folder / "classes.txt"
    classes.write_text("\n".join(CLASSES) + "\n", encoding="utf-8")
    names = ["N/A", *CLASSES[1:]]
    inputs = [
        f"image={write(folder / 'i.idx', images)}",
        f"label={write(folder / 'l.idx', labels)}",
        f"weight={write(folder / 'w.idx', weights)}",
    ]
    parquet, arrow = folder / "data.parquet", folder / "data.arrow"
    outputs = [option for path in (parquet, arrow) for option in ("-o", path)]
    subprocess.run([binary, "convert", *inputs, *outputs, "--layout", "huggingface", "--classes", classes, "--quiet"], check=True)

    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=names), "weight": datasets.Value("float32")}
    )
    cache = {"cache_dir": str(folder / "cache")}
    loaded = {
        "load_dataset": datasets.load_dataset("parquet", data_files=str(parquet), split="train", **cache),
        "from_parquet": datasets.Dataset.from_parquet(str(parquet), **cache),
        "load_dataset of Arrow": datasets.load_dataset("arrow", data_files=str(arrow), split="train", **cache),
        "streaming": datasets.load_dataset("parquet", data_files=str(parquet), split="train", streaming=True),
    }
    for way, table in loaded.items():
        what = f"{dtype} {shape}, {way}"
        equal(f"{what}: the features", table.features, features)
        check_rows(what, table, images, labels, mode)
    found = np.array(loaded["load_dataset"]["weight"], "float32")
    equal(f"{dtype} {shape}: equal weights", np.array_equal(found, weights), True)
    return len(loaded)


def check_folders(binary: Path, folder: Path) -> int:
    """load_dataset of a folder finds both splits, whatever their number of files: the Hub's with images and names, and those of other layouts."""
    random = np.random.default_rng(2)
    inputs = folder / "in"
    inputs.mkdir()
    splits = {}
    for split, stem, rows in (("train", "train", 1003), ("test", "t10k", 200)):
        splits[split] = random.integers(0, 255, (rows, 7, 9), np.uint8, endpoint=True), random.integers(1, len(CLASSES), rows, np.uint8)
        write(inputs / f"{stem}-images-idx3-ubyte", splits[split][0])
        write(inputs / f"{stem}-labels-idx1-ubyte", splits[split][1])
    classes = folder / "classes.txt"
    classes.write_text("\n".join(CLASSES) + "\n", encoding="utf-8")
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["N/A", *CLASSES[1:]])})
    cases = 0
    for name, flags in {
        "hub": ["--layout", "huggingface", "--classes", str(classes)],
        "shards": ["--layout", "huggingface", "--classes", str(classes), "--rows-per-file", "300"],
        "whole": [],
        "parts": ["--rows-per-file", "300"],
    }.items():
        out = folder / name
        subprocess.run([binary, "convert", inputs, "-o", f"{out}/", *flags, "--quiet"], check=True)
        (out / ".x.idxport-lock").touch()
        loaded = datasets.load_dataset(str(out), cache_dir=str(folder / "cache"))
        equal(f"{name}: the splits", set(loaded), set(splits))
        for split, (images, labels) in splits.items():
            what = f"{name}, {split}"
            if "--layout" in flags:
                equal(f"{what}: the features", loaded[split].features, features)
                check_rows(what, loaded[split], images, labels, "L")
            else:
                equal(f"{what}: equal images", np.array_equal(np.array(loaded[split]["image"], "uint8"), images.reshape(len(images), -1)), True)
                equal(f"{what}: equal labels", np.array_equal(np.array(loaded[split]["label"], "uint8"), labels), True)
            cases += 1
    return cases


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to test")
    binary = parser.parse_args().binary.resolve()
    datasets.disable_progress_bars()
    cases = 0
    for dtype, shape, mode in IMAGES:
        with tempfile.TemporaryDirectory(prefix="idxport-huggingface-") as folder:
            cases += check_images(binary, Path(folder), dtype, shape, mode)
    with tempfile.TemporaryDirectory(prefix="idxport-huggingface-") as folder:
        cases += check_folders(binary, Path(folder))
    print(f"datasets {datasets.__version__}: {cases} cases ok")


if __name__ == "__main__":
    main()
