"""PNG folders as loaders of image folders see them: which classes they find and how they number them, upright images, and metadata.csv."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars

from .bench import Bench, Mismatch, equal, same_numbers, table
from .check_pictures import check_pixels
from .tensors import CODES, Tensor, grey16, labels, make

try:
    from torchvision.datasets import ImageFolder
except ImportError:  # large; its documented rule stands in for it
    ImageFolder = None

LETTERS = [chr(ord("A") + i) for i in range(26)]  # of EMNIST Letters, whose labels are 1 … 26
FASHION = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
TORCHVISION = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")  # ImageFolder's extensions
KERAS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")  # image_dataset_from_directory: "Supported image formats"


@dataclass(frozen=True)
class Indexed:
    """A folder as a loader sees it."""

    classes: list[str]
    samples: list[tuple[Path, int]]  # file and index of its class

    def of_row(self) -> dict[int, int]:
        """The class index by row, which the file's name tells."""
        found = {int(path.stem): index for path, index in self.samples}
        equal("the number of samples with different rows", len(found), len(self.samples))
        return found


def torchvision_index(folder: Path) -> Indexed:
    """The rule of ImageFolder: find_classes sorts the names of the subfolders, make_dataset takes their files in sorted order."""
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
    """The rule of image_dataset_from_directory with labels inferred: subfolders in alphanumeric order, those that begin with a point left out."""
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
    """Upright images, the same as EMNIST stores them, transposed, and labels 1 … 26."""
    upright = make("uint8", (rows, 28, 28))
    return upright, Tensor(np.ascontiguousarray(upright.values.transpose(0, 2, 1))), Tensor(labels(rows, 26).values + np.uint8(1))


def same_images(samples: list[tuple[Path, int]], expected: np.ndarray) -> None:
    """Every file has the pixels of its row, which its name tells."""
    check_pixels([path.read_bytes() for path, _ in sorted(samples, key=lambda sample: int(sample[0].stem))], expected)


def check_letters(bench: Bench) -> None:
    """EMNIST's letters: folders in the order of the labels, upright images, and what happens where a class has no rows."""
    upright, stored, numbers = letters()
    for missing in (None, 7):
        kept = numbers.values != missing
        present = [label for label in range(1, 27) if label != missing]
        noted = r"(?m)^note: .*no image has the label 0, " + ("7, " if missing else "")
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
                check_table(out, {"label": chosen, "class": [LETTERS[label - 1] for label in chosen]})


def check_names(bench: Bench) -> None:
    """Folders called after Fashion-MNIST's classes: readers sort them, and the note says that this is not the order of the labels."""
    images, numbers = make("uint8", (500, 28, 28)), labels(500)
    cleaned = {name: re.sub(r"[^A-Za-z0-9_-]+", "_", name) for name in FASHION}
    with bench.folder("names") as folder:
        out, inputs = folder / "out", table(folder, images, numbers)
        result = bench.convert(inputs, [f"png={out}"], "--dataset", "fashion-mnist", "--class-folders", "names", "--metadata-csv")
        for name, indexer in INDEXERS.items():
            with bench.case(f"folders of class names by {name}", result):
                result.exited(0, words="^note: .*not in the order of the labels")
                found = indexer(out)
                equal("the classes", found.classes, sorted(cleaned.values()))
                of_row = {row: found.classes[index] for row, index in found.of_row().items()}
                equal("the class of each row", of_row, {row: cleaned[FASHION[label]] for row, label in enumerate(numbers.values)})
                same_images(found.samples, images.values)
        with bench.case("metadata.csv beside folders of class names", result):
            check_table(out, {"label": numbers.values, "class": [FASHION[label] for label in numbers.values]})


def check_metadata(bench: Bench) -> None:
    """Further scalars of every data type, with labels and without, whole and in a range of rows; the folder's manifest counts the file."""
    others = {f"as_{name}": make(name, (31,)) for name in CODES}
    values = {name: tensor.values for name, tensor in others.items()}
    for image in (make("uint8", (31, 7, 9)), grey16((31, 7, 9)), make("uint8", (31, 5, 7, 3)), make("uint8", (31, 5, 7, 4))):
        with bench.folder("metadata") as folder:
            numbers = labels(31, 12)
            whole = table(folder, image, numbers, **others)
            for name, given, first, wanted in (
                ("all", whole, 0, {"label": numbers.values} | values),
                ("a range", whole, 3, {"label": numbers.values[3:]} | {name: column[3:] for name, column in values.items()}),
                ("no labels", [whole[0], *whole[2:]], 0, values),
                ("images alone", whole[:1], 0, {}),
            ):
                result = bench.convert(given, [f"png={folder / name}"], "--metadata-csv", "--rows", f"{first}:")
                with bench.case(f"metadata.csv, {image.name}, {name}", result):
                    files = check_table(folder / name, wanted, first)
                    check_pixels([(folder / name / file).read_bytes() for file in files], image.values[first:])


def check_table(folder: Path, columns: dict[str, np.ndarray | list[str]], first: int = 0) -> list[str]:
    """metadata.csv has a line for each image, in the order of the rows, with these columns, by every reader. Its files are returned."""
    path = folder / "metadata.csv"
    text = path.read_bytes().decode()
    if "\r" in text or not text.endswith("\n"):
        raise Mismatch("lines do not end with LF alone")
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    equal("the header", header, ["file_name", *columns])
    files = [line[0] for line in lines]
    on_disk = {str(png.relative_to(folder).as_posix()) for png in folder.rglob("*.png")}
    equal("the files", set(files), on_disk)
    equal("the rows", [int(Path(name).stem) for name in files], list(range(first, first + len(on_disk))))
    manifest = json.loads((folder / "_manifest.json").read_bytes())
    equal("the manifest's files", manifest["files"], len(on_disk) + 1)
    frames = {
        "pandas": pandas.read_csv(path, float_precision="round_trip", keep_default_na=False, na_values={}),
        "polars": polars.read_csv(path, infer_schema_length=None),
    }
    with duckdb.connect() as connection:
        frames["DuckDB"] = connection.read_csv(str(path), header=True, sep=",", sample_size=-1).df()
    for reader, frame in frames.items():
        equal(f"{reader}: the columns", list(frame.columns), ["file_name", *columns])
        equal(f"{reader}: the files", list(frame["file_name"]), files)
    for at, (name, values) in enumerate(columns.items(), 1):
        texts = [line[at] for line in lines]
        if isinstance(values, list):
            equal(f"the column {name}", texts, values)
            continue
        same_numbers(np.array(texts, values.dtype if values.dtype.kind != "f" else float), values)
        pattern = r"-?\d+" if values.dtype.kind != "f" else r"-?(\d+\.\d*(e[-+]\d+)?|\d+e[-+]\d+|inf)|NaN"  # floats look like floats
        equal(f"odd numbers of {name}", [text for text in texts if not re.fullmatch(pattern, text)], [])
        if values.dtype.kind != "f":
            for reader, frame in frames.items():
                equal(f"{reader}: {name}", [int(value) for value in frame[name]], values.tolist())
    return files


GROUPS = {"folders of classes by label": check_letters, "folders of classes by name": check_names, "metadata.csv": check_metadata}
