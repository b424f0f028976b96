#!/usr/bin/env python3
"""Convert IDX files with the binary to PNG folders and load them with Hugging Face's datasets, without a network.

usage: $(test/interop/venv huggingface) test/interop/huggingface/folders.py --binary PATH

load_dataset must find the splits, images and labels of folders with metadata.csv and without, and the names of EMNIST's letters in Parquet.
Prints the number of cases; exits with 1 and the difference at the first one.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from check import datasets, equal, write

ROWS = {"train": 257, "t10k": 131}
LETTERS = ["N/A", *(chr(ord("A") + i) for i in range(26))]
FASHION = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
IMAGE, INT64, TEXT = datasets.Image(), datasets.Value("int64"), datasets.Value("large_string")

Split = tuple[np.ndarray, np.ndarray]  # images and labels


def made_up(folder: Path, first: int, classes: int) -> dict[str, Split]:
    """Both splits under their published names, with labels from first on; each occurs."""
    random = np.random.default_rng(classes)
    splits = {}
    for name, rows in ROWS.items():
        images = random.integers(0, 256, (rows, 9, 7), np.uint8)
        labels = random.permutation(np.arange(rows) % classes + first).astype(np.uint8)
        write(folder / f"{name}-images-idx3-ubyte", images)
        write(folder / f"{name}-labels-idx1-ubyte", labels)
        splits["test" if name == "t10k" else name] = images, labels
    return splits


def load(folder: Path, *arguments: str, **options: Any) -> dict[str, Any]:
    """All splits, in a cache of their own."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="cache-") as cache:
        loaded = datasets.load_dataset(*arguments, **options, cache_dir=cache)
        return {name: datasets.Dataset.from_list(list(table), features=table.features) for name, table in loaded.items()}


def check_split(what: str, table: Any, split: Split, columns: dict[str, Any], order: np.ndarray, shift: int = 0) -> None:
    """Every image and label in this order; columns are the features beside the image. The label is that of the data set less shift."""
    images, labels = split
    equal(f"{what}: the features", dict(table.features), {"image": IMAGE} | columns)
    equal(f"{what}: the labels", table["label"][:], (labels[order].astype(int) - shift).tolist())
    found = np.stack([np.asarray(picture) for picture in table["image"]])
    equal(f"{what}: equal pixels", np.array_equal(found, images[order]), True)


def check_ways(out: Path, splits: dict[str, Split], columns: dict[str, Any], ordered: bool, shift: int) -> dict[str, Any]:
    """All splits at once, with and without the builder's name, and each folder alone. The tables of the last way are returned."""
    for split in splits:  # what another run leaves there while it works, which is hidden
        (out / f".{split}.idxport-lock").touch()
    found: dict[str, Any] = {}
    ways = {
        "load_dataset(out)": load(out, str(out)),
        "imagefolder(out)": load(out, "imagefolder", data_dir=str(out)),
        "imagefolder(out/split)": {
            split: load(out, "imagefolder", data_dir=str(out / split))["train"] for split in splits
        },
    }
    for way, found in ways.items():
        equal(f"{way}: the splits", sorted(found), sorted(splits))
        for name, split in splits.items():
            order = np.arange(len(split[1])) if ordered else np.argsort(split[1], kind="stable")  # by folder, then by name
            check_split(f"{way}, {name}", found[name], split, columns, order, shift)
    return found


def check_folders(binary: Path, folder: Path) -> int:
    """Folders called after labels from 0 on and from 1 on, without metadata.csv and with it."""
    cases = 0
    for dataset, first, names in (("fashion-mnist", 0, FASHION), ("emnist-letters", 1, LETTERS[1:])):
        source = folder / dataset
        source.mkdir()
        splits = made_up(source, first, len(names))
        command = [binary, "convert", source, "--to", "png", "--dataset", dataset, "--transpose=false", "--quiet", "-o"]

        plain, described = folder / f"{dataset}-plain", folder / f"{dataset}-metadata"
        subprocess.run([*command, plain], check=True)
        folders = [f"{label:0{len(str(len(names)))}d}" if first else str(label) for label in range(first, first + len(names))]
        check_ways(plain, splits, {"label": datasets.ClassLabel(names=folders)}, False, first)

        subprocess.run([*command, described, "--metadata-csv"], check=True)
        tables = check_ways(described, splits, {"label": INT64, "class": TEXT}, True, 0)
        for name, (_, labels) in splits.items():
            equal(f"{dataset}, {name}: the classes", tables[name]["class"][:], [names[label - first] for label in labels])
        cases += 6
    return cases


def check_unlabelled(binary: Path, folder: Path) -> int:
    """Images alone, and with scalars none of which is the label."""
    random = np.random.default_rng(1)
    images = random.integers(0, 256, (23, 5, 4, 3), np.uint8)
    weights, heights = random.random(23).astype("float32"), random.integers(-9, 9, 23).astype("int16")
    source = write(folder / "i.idx", images)
    scalars = [f"weight={write(folder / 'w.idx', weights)}", f"height={write(folder / 'h.idx', heights)}"]
    scalars.append(f"depth={write(folder / 'd.idx', heights)}")
    for name, inputs in (("alone", []), ("scalars", scalars)):
        out = folder / name
        subprocess.run([binary, "convert", f"image={source}", *inputs, "-o", f"png={out}", "--metadata-csv", "--quiet"], check=True)
        table = load(out, "imagefolder", data_dir=str(out))["train"]
        columns = {"weight": datasets.Value("float64"), "height": INT64, "depth": INT64} if inputs else {}
        equal(f"{name}: the features", dict(table.features), {"image": IMAGE} | columns)
        found = np.stack([np.asarray(picture) for picture in table["image"]])
        equal(f"{name}: equal pixels", np.array_equal(found, images), True)
        if inputs:
            equal("equal weights", np.array_equal(np.array(table["weight"][:], "float32"), weights), True)
            equal("the heights", table["height"][:], heights.tolist())
    return 2


def check_letters(binary: Path, folder: Path) -> int:
    """The layout huggingface has N/A for label 0, and turns EMNIST's images upright."""
    source = folder / "letters"
    source.mkdir()
    splits = made_up(source, 1, 26)
    command = [binary, "convert", source, "-o", folder / "{split}.parquet", "--dataset", "emnist-letters", "--layout", "huggingface", "--quiet"]
    subprocess.run(command, check=True)
    loaded = load(folder, "parquet", data_files={name: str(folder / f"{name}.parquet") for name in splits})
    for name, (images, labels) in splits.items():
        label = {"label": datasets.ClassLabel(names=LETTERS)}
        check_split(f"parquet, {name}", loaded[name], (images.transpose(0, 2, 1), labels), label, np.arange(len(labels)))
    return 1


def check_planes(binary: Path, folder: Path) -> int:
    """The layout huggingface with --channels first: a plane for each channel becomes RGB and RGBA."""
    for channels, mode in ((3, "RGB"), (4, "RGBA")):
        planes = np.random.default_rng(channels).integers(0, 256, (31, channels, 5, 7), np.uint8)
        parquet, arrow = folder / f"{mode}.parquet", folder / f"{mode}.arrow"
        command = [binary, "convert", write(folder / f"{mode}.idx", planes), "-o", parquet, "-o", arrow]
        subprocess.run([*command, "--layout", "huggingface", "--channels", "first", "--quiet"], check=True)
        for kind, path in (("parquet", parquet), ("arrow", arrow)):
            table = load(folder, kind, data_files=str(path))["train"]
            pictures = next(iter(table[:].values()))
            equal(f"{kind}: Pillow's modes", {picture.mode for picture in pictures}, {mode})
            found = np.stack([np.asarray(picture) for picture in pictures])
            equal(f"{kind}, {mode}: equal pixels", np.array_equal(found, np.moveaxis(planes, 1, -1)), True)
    return 4


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to test")
    binary = parser.parse_args().binary.resolve()
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory(prefix="idxport-folders-") as name:
        cases = sum(check(binary, Path(name)) for check in (check_folders, check_unlabelled, check_letters, check_planes))
    print(f"datasets {datasets.__version__}: {cases} cases ok")


if __name__ == "__main__":
    main()
