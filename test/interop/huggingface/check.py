#!/usr/bin/env python3
"""Convert IDX files with the binary and load them with Hugging Face's datasets, without a network.

usage: $(test/interop/venv huggingface) test/interop/huggingface/check.py --binary PATH

load_dataset must return images and named labels without further code: from the layout huggingface, also streamed, from
folders of the Hub, and from PNG folders with metadata.csv and without. (The matrix has every kind of image.)
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}  # read when datasets is imported
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import datasets  # noqa: E402
from suite.stage import Stage, equal, published, table  # noqa: E402
from suite.tensors import Tensor, labels, make  # noqa: E402

import checks  # noqa: E402

CLASSES = ["", "zero", "T-shirt/top", 'a "quoted" é', "last"]  # from 1 on, as EMNIST's letters
NAMED = datasets.ClassLabel(names=["N/A", *CLASSES[1:]])
LETTERS = [chr(ord("A") + i) for i in range(26)]
FASHION = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
IMAGE, INT64, TEXT = datasets.Image(), datasets.Value("int64"), datasets.Value("large_string")


def from_one(rows: int, classes: int) -> Tensor:
    """Labels from 1 on."""
    return Tensor(labels(rows, classes).values + np.uint8(1))


def class_names(stage: Stage) -> list[Any]:
    """The flags that name the classes."""
    path = stage.folder / "classes.txt"
    path.write_text("\n".join(CLASSES) + "\n", encoding="utf-8")
    return ["--layout", "huggingface", "--classes", path]


def load(stage: Stage, *arguments: str, **options: Any) -> Any:
    """load_dataset, in a cache of its own that the table does not need afterwards."""
    with tempfile.TemporaryDirectory(dir=stage.folder.parent, prefix="cache-") as cache:
        loaded = datasets.load_dataset(*arguments, **options, cache_dir=cache)
        if isinstance(loaded, datasets.IterableDataset):
            return loaded
        return {
            name: datasets.Dataset.from_list(list(split), features=split.features) for name, split in loaded.items()
        }


def same(
    what: str, found: Any, images: np.ndarray, columns: dict[str, Any], features: dict[str, Any], mode: str = "L"
) -> None:
    """Every image, and the values of the other columns; and the features."""
    equal(f"{what}: the features", dict(found.features), {"image": IMAGE} | features)
    rows = list(found)
    equal(f"{what}: Pillow's modes", {row["image"].mode for row in rows}, {mode})
    pixels = np.stack([np.asarray(row["image"]) for row in rows]).astype(images.dtype)
    equal(f"{what}: equal pixels", np.array_equal(pixels.reshape(images.shape), images), True)
    for name, values in columns.items():
        equal(f"{what}: {name}", [row[name] for row in rows], values)


def layout(stage: Stage) -> None:
    """The layout huggingface with class names, by all ways to load it; planes of channels become pixels."""
    for name, image, mode in (
        ("grey", make("uint8", (203, 7, 9)), "L"),
        ("planes of RGB", make("uint8", (31, 3, 5, 7)), "RGB"),
    ):
        label, weight = from_one(image.rows, 4), Tensor(np.random.default_rng(1).random(image.rows).astype("float32"))
        parquet, arrow = str(stage.folder / f"{name}.parquet"), str(stage.folder / f"{name}.arrow")
        inputs = table(stage.folder / name, image, label, weight=weight)
        stage.convert(*inputs, "-o", parquet, "-o", arrow, *class_names(stage))
        loaded = {
            "load_dataset": load(stage, "parquet", data_files=parquet)["train"],
            "from_parquet": datasets.Dataset.from_parquet(parquet, cache_dir=str(stage.folder / "cache")),
            "load_dataset of Arrow": load(stage, "arrow", data_files=arrow)["train"],
            "streaming": load(stage, "parquet", data_files=parquet, split="train", streaming=True),
        }
        pixels = image.values if mode == "L" else np.moveaxis(image.values, 1, -1)
        columns = {"label": label.values.tolist(), "weight": weight.values.tolist()}
        for way, found in loaded.items():
            same(f"{name}, {way}", found, pixels, columns, {"label": NAMED, "weight": datasets.Value("float32")}, mode)


def hub(stage: Stage) -> None:
    """load_dataset of a folder finds both splits, in one file or several: in the layout of the Hub, with images and
    class names, and in another layout."""
    image, label = make("uint8", (1003, 7, 9)), from_one(1003, 4)
    data = published(stage.folder / "data", "", image, label)
    named = class_names(stage)
    for name, flags in {
        "hub": named,
        "shards": [*named, "--rows-per-file", "300"],
        "parts": ["--rows-per-file", "300"],
    }.items():
        out = stage.folder / name
        stage.convert(data, "-o", f"{out}/", *flags)
        (out / ".x.idxport").touch()
        loaded = load(stage, str(out))
        equal(f"{name}: the splits", set(loaded), {"train", "test"})
        for split, found in loaded.items():
            rows = 1003 if split == "train" else 501
            pixels, numbers = image.values[:rows], label.values[:rows].tolist()
            if "--layout" in flags:
                same(f"{name}, {split}", found, pixels, {"label": numbers}, {"label": NAMED})
                continue
            alike = np.array_equal(np.array(found["image"][:], "uint8"), pixels.reshape(rows, -1))
            equal(f"{name}, {split}: equal images", alike, True)
            equal(f"{name}, {split}: the labels", found["label"][:], numbers)


def folders(stage: Stage) -> None:
    """PNG folders named after labels, from 0 and from 1, without metadata.csv and with it; EMNIST's letters, which are
    stored transposed, are upright in them and in Parquet."""
    for dataset, prefix, first, names in (
        ("fashion-mnist", "", 0, FASHION),
        ("emnist-letters", "emnist-letters-", 1, LETTERS),
    ):
        image = make("uint8", (260, 9, 7))
        upright = image.values.transpose(0, 2, 1) if first else image.values
        label = Tensor((np.random.default_rng(1).permutation(260) % len(names) + first).astype("uint8"))
        data = published(stage.folder / dataset, prefix, image, label)
        last = first + len(names) - 1
        numbered = [f"{number:0{len(str(last))}d}" for number in range(first, last + 1)]
        by_folder, by_table = {"label": datasets.ClassLabel(names=numbered)}, {"label": INT64, "class": TEXT}
        for flags, features in (([], by_folder), (["--layout", "huggingface"], by_table)):
            out = stage.folder / f"{dataset}{len(flags)}"
            stage.convert(data, "--to", "png", "--dataset", dataset, "-o", out, *flags)
            for split in ("train", "test"):  # as if another run were at work
                (out / f".{split}.idxport").touch()
            alone = {
                split: load(stage, "imagefolder", data_dir=str(out / split))["train"] for split in ("train", "test")
            }
            for way, loaded in (("load_dataset(out)", load(stage, str(out))), ("imagefolder(out/split)", alone)):
                equal(f"{way}: the splits", sorted(loaded), ["test", "train"])
                for split, found in loaded.items():
                    numbers = label.values[: 260 if split == "train" else 130].astype(int)
                    # By folder, then by name.
                    order = np.arange(len(numbers)) if flags else np.argsort(numbers, kind="stable")
                    columns = {"label": (numbers[order] - (0 if flags else first)).tolist()}
                    columns |= {"class": [names[number - first] for number in numbers]} if flags else {}
                    same(f"{dataset}, {way}, {split}", found, upright[order], columns, features)
    path = stage.folder / "letters-{split}.parquet"
    stage.convert(data, "-o", path, "--dataset", "emnist-letters", "--layout", "huggingface")
    found = load(stage, "parquet", data_files=str(path).format(split="train"))["train"]
    letters = {"label": datasets.ClassLabel(names=["N/A", *LETTERS])}
    same("letters in Parquet", found, upright, {"label": label.values.tolist()}, letters)


def unlabelled(stage: Stage) -> None:
    """PNG folders of images alone, and with scalars but no label."""
    image, height = make("uint8", (23, 5, 4, 3)), make("int16", (23,))
    weight = Tensor(np.arange(23, dtype="float32") / 8)
    for name, others in (("alone", {}), ("scalars", {"weight": weight, "height": height, "depth": height})):
        out = stage.folder / name
        stage.convert(*table(stage.folder / f"{name}-in", image, **others), "-o", f"png={out}", "--layout", "huggingface")
        columns = {column: tensor.values.tolist() for column, tensor in others.items()}
        found = load(stage, "imagefolder", data_dir=str(out))["train"]
        features = {column: datasets.Value("float64") if column == "weight" else INT64 for column in others}
        same(name, found, image.values, columns, features, "RGB")


CHECKS = [
    ("layout huggingface", layout),
    ("folders of the Hub", hub),
    ("PNG folders", folders),
    ("PNG folders without labels", unlabelled),
]

if __name__ == "__main__":
    datasets.disable_progress_bars()
    sys.exit(checks.main(__doc__, CHECKS, Stage, {}))
