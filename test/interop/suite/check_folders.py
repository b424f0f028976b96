"""PNG folders as loaders of image folders read them: the classes and their numbers, upright images, and metadata.csv.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars

from .bench import Bench, Mismatch, equal, table
from .check_pictures import check_pixels
from .tensors import Tensor, labels, make

try:
    from torchvision.datasets import ImageFolder
except ImportError:  # large; without it, its documented rule is applied
    ImageFolder = None

LETTERS = [chr(ord("A") + i) for i in range(26)]  # of EMNIST Letters, whose labels are 1 … 26
FASHION = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
TORCHVISION = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")  # ImageFolder's extensions
KERAS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")  # image_dataset_from_directory: "Supported image formats"


@dataclass(frozen=True)
class Indexed:
    """A folder as a loader reads it."""

    classes: list[str]
    samples: list[tuple[Path, int]]  # file and index of its class

    def of_row(self) -> dict[int, int]:
        """The class index by row, which is the name of the file."""
        found = {int(path.stem): index for path, index in self.samples}
        equal("the number of samples with different rows", len(found), len(self.samples))
        return found


def torchvision_index(folder: Path) -> Indexed:
    """The rule of ImageFolder: the classes are the names of the subfolders, sorted, and each must have images. See
    find_classes and make_dataset in https://github.com/pytorch/vision/blob/main/torchvision/datasets/folder.py"""
    if ImageFolder is not None:
        found = ImageFolder(str(folder))
        return Indexed(found.classes, [(Path(path), index) for path, index in found.samples])
    classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    samples = []
    for index, name in enumerate(classes):
        files = [
            Path(root) / file
            for root, _, names in sorted(os.walk(folder / name, followlinks=True))
            for file in sorted(names)
            if file.lower().endswith(TORCHVISION)
        ]
        if not files:  # it raises FileNotFoundError unless allow_empty is set
            raise Mismatch(f"the class folder {name} has no images")
        samples += [(file, index) for file in files]
    return Indexed(classes, samples)


def keras_index(folder: Path) -> Indexed:
    """The rule of image_dataset_from_directory with labels="inferred": subfolders in alphanumeric order, without
    hidden ones. See https://github.com/keras-team/keras/blob/master/keras/src/utils/dataset_utils.py"""
    classes = [name for name in sorted(os.listdir(folder)) if (folder / name).is_dir() and not name.startswith(".")]
    samples = [
        (Path(root) / file, index)
        for index, name in enumerate(classes)
        for root, _, names in os.walk(folder / name)
        for file in sorted(names)
        if file.lower().endswith(KERAS)
    ]
    return Indexed(classes, samples)


INDEXERS: dict[str, Callable[[Path], Indexed]] = {"torchvision": torchvision_index, "Keras": keras_index}


def letters(rows: int = 5000) -> tuple[Tensor, Tensor, Tensor]:
    """Upright images, the same images transposed, as EMNIST stores them, and labels 1 … 26."""
    upright = make("uint8", (rows, 28, 28))
    return upright, Tensor(np.ascontiguousarray(upright.values.transpose(0, 2, 1))), Tensor(labels(rows, 26).values + np.uint8(1))


def same_images(samples: list[tuple[Path, int]], expected: np.ndarray) -> None:
    """Every file has the pixels of its row, which is the name of the file."""
    check_pixels([path.read_bytes() for path, _ in sorted(samples, key=lambda sample: int(sample[0].stem))], expected)


def check_letters(bench: Bench) -> None:
    """EMNIST's letters, numbered from 1: folders in the order of the labels, upright images, also if a class has no
    rows."""
    upright, stored, numbers = letters()
    for missing in (None, 7):
        kept = numbers.values != missing
        present = [label for label in range(1, 27) if label != missing]
        noted = r"(?m)^note: .*no folder is made for labels without images: 0" + (", 7;" if missing else ";")
        chosen = numbers.values[kept]
        with bench.folder("letters") as folder:
            out, inputs = folder / "out", table(folder, Tensor(stored.values[kept]), Tensor(chosen))
            result = bench.convert(inputs, [f"png={out}"], "--dataset", "emnist-letters", "--metadata-csv")
            for name, indexer in INDEXERS.items():
                with bench.case(f"EMNIST letters by {name}, without {missing}", result):
                    result.exited(0, words=noted)
                    found = indexer(out)
                    equal("the classes", found.classes, [f"{label:02d}" for label in present])
                    equal("the class of each row", found.of_row(), {row: present.index(label) for row, label in enumerate(chosen)})
                    same_images(found.samples, upright.values[kept])
            with bench.case(f"metadata.csv of EMNIST letters, without {missing}", result):
                check_table(out, chosen, [LETTERS[label - 1] for label in chosen])


def check_fashion(bench: Bench) -> None:
    """Fashion-MNIST's folders, numbered from 0 or named after the classes. Readers sort names, which is not the order
    of the labels: a note says so."""
    images, numbers = make("uint8", (500, 28, 28)), labels(500)
    cleaned = {name: re.sub(r"[^A-Za-z0-9_-]+", "_", name) for name in FASHION}
    for kind, classes in (("labels", [str(label) for label in range(10)]), ("names", [cleaned[name] for name in FASHION])):
        with bench.folder("fashion") as folder:
            out, inputs = folder / "out", table(folder, images, numbers)
            flags = ["--dataset", "fashion-mnist", "--class-folders", kind, "--metadata-csv"]
            result = bench.convert(inputs, [f"png={out}"], *flags)
            for name, indexer in INDEXERS.items():
                with bench.case(f"folders of class {kind} by {name}", result):
                    result.exited(0, words="^note: .*not in the order of the labels" if kind == "names" else "")
                    found = indexer(out)
                    equal("the classes", found.classes, sorted(classes))
                    of_row = {row: found.classes[index] for row, index in found.of_row().items()}
                    equal("the class of each row", of_row, {row: classes[label] for row, label in enumerate(numbers.values)})
                    same_images(found.samples, images.values)
            with bench.case(f"metadata.csv beside folders of class {kind}", result):
                check_table(out, numbers.values, [FASHION[label] for label in numbers.values])


def check_table(folder: Path, numbers: np.ndarray, names: list[str]) -> None:
    """metadata.csv has a line for each image in the order of the rows, with its label and its class, by every reader.
    """
    path = folder / "metadata.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    files = [line[0] for line in lines]
    equal("the files", set(files), {path.relative_to(folder).as_posix() for path in folder.rglob("*.png")})
    equal("the rows", [int(Path(name).stem) for name in files], list(range(len(numbers))))
    equal("the labels", [int(line[1]) for line in lines], numbers.tolist())
    equal("the classes", [line[2] for line in lines], names)
    with duckdb.connect() as connection:
        frames = {
            "pandas": pandas.read_csv(path, keep_default_na=False),
            "polars": polars.read_csv(path),
            "DuckDB": connection.read_csv(str(path), header=True, sep=",", sample_size=-1).df(),
        }
    for reader, frame in frames.items():
        equal(f"{reader}: the columns", list(frame.columns), ["file_name", "label", "class"])
        for column, expected in (("file_name", files), ("label", numbers.tolist()), ("class", names)):
            equal(f"{reader}: {column}", list(frame[column]), expected)


GROUPS = {"folders of letters": check_letters, "folders of Fashion-MNIST": check_fashion}
