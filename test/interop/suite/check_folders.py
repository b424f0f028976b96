"""PNG folders as loaders of image folders see them: which classes they find and how they number them, upright images, and metadata.csv."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import duckdb
import numpy as np
import pandas
import polars
from PIL import Image

from . import tensors
from .check_png import grey16
from .command import Bench, Result
from .compare import equal
from .report import Mismatch
from .tensors import CODES, Tensor, make

try:
    from torchvision.datasets import ImageFolder
except ImportError:  # large; its documented rule stands in for it
    ImageFolder = None

ROOT = Path(__file__).parents[3]
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


def originals() -> tuple[Tensor, np.ndarray]:
    """Upright images, with labels 0 … 9: MNIST's test images if they are there, else the sample of Fashion-MNIST."""
    plain, sample = ROOT / "data" / "mnist", ROOT / "testdata" / "fashion-mnist"
    if plain.is_dir():
        files = [(plain / f"t10k-{name}-ubyte").read_bytes() for name in ("images-idx3", "labels-idx1")]
    else:
        files = [gzip.decompress((sample / f"t10k-{name}-ubyte.gz").read_bytes()) for name in ("images-idx3", "labels-idx1")]
    images = np.frombuffer(files[0], np.uint8, offset=16).reshape(-1, 28, 28)
    return Tensor(images), np.frombuffer(files[1], np.uint8, offset=8)


def letters(rows: int = 5000) -> tuple[Tensor, Tensor, Tensor]:
    """Upright images, the same as EMNIST stores them, transposed, and labels 1 … 26."""
    images, digits = originals()
    upright = images.values[:rows]
    labels = (digits[: len(upright)] + 10 * (np.arange(len(upright)) % 3)) % 26 + 1
    equal("labels that occur", sorted(set(labels.tolist())), list(range(1, 27)))
    return Tensor(upright), Tensor(np.ascontiguousarray(upright.transpose(0, 2, 1))), Tensor(labels.astype(np.uint8))


def read_pillow(path: Path) -> np.ndarray:
    """The pixels as Pillow has them."""
    with Image.open(path) as picture:
        return np.asarray(picture)


def read_opencv(path: Path) -> np.ndarray:
    """The pixels as OpenCV has them, with red first."""
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if pixels.ndim == 3:
        return cv2.cvtColor(pixels, cv2.COLOR_BGRA2RGBA if pixels.shape[2] == 4 else cv2.COLOR_BGR2RGB)
    return pixels


def same_images(samples: list[tuple[Path, int]], expected: np.ndarray, first: int = 0) -> None:
    """Every file has the pixels of its row, by both readers."""
    equal("the number of images", len(samples), len(expected))
    for path, _ in samples:
        want = expected[int(path.stem) - first]
        for reader in (read_pillow, read_opencv):
            pixels = reader(path)
            equal(f"{reader.__name__}: size and type of {path.name}", (pixels.shape, pixels.itemsize), (want.shape, want.itemsize))
            if not np.array_equal(pixels, want):
                raise Mismatch(f"{reader.__name__}: {int((pixels != want).sum())} of {want.size} pixels of {path.name} differ")


def noted(result: Result, pattern: str) -> None:
    """Demand a note."""
    if not re.search(rf"(?m)^note: .*{pattern}", result.stderr):
        raise Mismatch(f"no note says {pattern!r}; stderr: {result.stderr.strip()[:600]}")


def write_pair(folder: Path, images: Tensor, labels: Tensor) -> list[str | Path]:
    """The two files of a table."""
    return [f"image={images.write(folder / 'i.idx')}", f"label={labels.write(folder / 'l.idx')}"]


def check_letters(bench: Bench) -> None:
    """Folders in the order of the labels, upright images, and what happens where a class has no rows."""
    upright, stored, labels = letters()
    with bench.folder("letters") as folder:
        out = folder / "out"
        inputs = write_pair(folder, stored, labels)
        result = bench.convert(inputs, [f"png={out}"], "--dataset", "emnist-letters", "--metadata-csv")
        for name, indexer in INDEXERS.items():
            with bench.report.case(f"EMNIST letters by {name}", result.command):
                result.succeeded()
                found = indexer(out)
                equal("the classes", found.classes, [f"{label:02d}" for label in range(1, 27)])
                equal("the class of each row", found.of_row(), {row: int(label) - 1 for row, label in enumerate(labels.values)})
        with bench.report.case("EMNIST letters are upright", result.command):
            same_images(torchvision_index(out).samples, upright.values)
        with bench.report.case("the note that label 0 has no folder", result.command):
            noted(result, "no image has the label 0, ")
        with bench.report.case("metadata.csv of EMNIST letters", result.command):
            check_table(out, {"label": labels.values, "class": [LETTERS[label - 1] for label in labels.values]})
    kept = labels.values != 7
    with bench.folder("letters") as folder:
        out = folder / "out"
        rest = Tensor(labels.values[kept])
        result = bench.convert(write_pair(folder, Tensor(stored.values[kept]), rest), [f"png={out}"], "--dataset", "emnist-letters", "--metadata-csv")
        for name, indexer in INDEXERS.items():
            with bench.report.case(f"a class without rows by {name}", result.command):
                result.succeeded()
                noted(result, "no image has the label 0, 7, ")
                found = indexer(out)
                equal("the classes", found.classes, [f"{label:02d}" for label in range(1, 27) if label != 7])
                shifted = {row: int(label) - 1 - (label > 7) for row, label in enumerate(rest.values)}  # as the note says
                equal("the class of each row", found.of_row(), shifted)
        with bench.report.case("metadata.csv where a class has no rows", result.command):
            check_table(out, {"label": rest.values, "class": [LETTERS[label - 1] for label in rest.values]})


def check_names(bench: Bench) -> None:
    """Folders called after Fashion-MNIST's classes: readers sort them, and the note says that this is not the order of the labels."""
    images, labels = make("uint8", (500, 28, 28)), tensors.labels(500, 10)
    cleaned = {name: re.sub(r"[^A-Za-z0-9_-]+", "_", name) for name in FASHION}
    with bench.folder("names") as folder:
        out = folder / "out"
        inputs = write_pair(folder, images, labels)
        result = bench.convert(inputs, [f"png={out}"], "--dataset", "fashion-mnist", "--class-folders", "names", "--metadata-csv")
        for name, indexer in INDEXERS.items():
            with bench.report.case(f"folders of class names by {name}", result.command):
                result.succeeded()
                noted(result, "not in the order of the labels")
                found = indexer(out)
                equal("the classes", found.classes, sorted(cleaned.values()))
                of_row = {row: found.classes[index] for row, index in found.of_row().items()}
                equal("the class of each row", of_row, {row: cleaned[FASHION[label]] for row, label in enumerate(labels.values)})
                same_images(found.samples, images.values)
        with bench.report.case("metadata.csv beside folders of class names", result.command):
            check_table(out, {"label": labels.values, "class": [FASHION[label] for label in labels.values]})


def pictures() -> Iterator[tuple[Tensor, np.ndarray, list[str]]]:
    """What a table holds, the pixels that its images have, and the flags: grey of 8 and 16 bits, RGB and RGBA with channels last and first."""
    for tensor in (make("uint8", (31, 7, 9)), grey16((31, 7, 9)), make("uint8", (31, 5, 7, 3)), make("uint8", (31, 5, 7, 4))):
        yield tensor, tensor.values, []
        if tensor.rank == 4:
            yield Tensor(np.ascontiguousarray(np.moveaxis(tensor.values, -1, 1))), tensor.values, ["--channels", "first"]


def check_invert(bench: Bench) -> None:
    """--invert makes 255 − x, of every channel; 16 bits are refused."""
    for tensor, pixels, flags in pictures():
        with bench.folder("invert") as folder:
            result = bench.convert([tensor.write(folder / "a.idx")], [f"png={folder / 'out'}"], "--invert", *flags)
            with bench.report.case(f"{tensor.name}, inverted {' '.join(flags)}", result.command):
                if tensor.dtype != "uint8":
                    result.exited(64)
                    continue
                result.succeeded()
                files = sorted((folder / "out").glob("*.png"))
                same_images([(path, 0) for path in files], 255 - pixels)


def check_metadata(bench: Bench) -> None:
    """Further scalars of every data type, with labels and without, whole and in a range of rows; the folder's manifest counts the file."""
    for tensor, pixels, flags in pictures():
        others = {f"as_{name}": make(name, (tensor.rows,)) for name in CODES}
        labels = tensors.labels(tensor.rows, 12)
        with bench.folder("metadata") as folder:
            source = tensor.write(folder / "image.idx")
            scalars: list[str | Path] = [f"{name}={values.write(folder / f'{name}.idx')}" for name, values in others.items()]
            inputs = [f"image={source}", *scalars, f"label={labels.write(folder / 'l.idx')}"]
            columns = {name: values.values for name, values in others.items()}
            for name, given, first, wanted in (
                ("all", inputs, 0, {"label": labels.values} | columns),
                ("a range", inputs, 3, {"label": labels.values[3:]} | {key: values[3:] for key, values in columns.items()}),
                ("no labels", [inputs[0], *scalars], 0, columns),
                ("images alone", [source], 0, {}),
            ):
                out = folder / name
                result = bench.convert(given, [f"png={out}"], "--metadata-csv", "--rows", f"{first}:", *flags)
                with bench.report.case(f"metadata.csv, {tensor.name}, {name}", result.command):
                    result.succeeded()
                    files = check_table(out, wanted, first)
                    same_images([(out / file, 0) for file in files], pixels[first:], first)


def check_order(bench: Bench) -> None:
    """Several batches on several goroutines: the same folder as with one."""
    images, labels = make("uint8", (9_001, 28, 28)), tensors.labels(9_001)
    with bench.folder("metadata") as folder:
        inputs = write_pair(folder, images, labels)
        one = bench.convert(inputs, [f"png={folder / 'one'}"], "--metadata-csv", "--workers", "1")
        many = bench.convert(inputs, [f"png={folder / 'many'}"], "--metadata-csv", "--workers", "7")
        with bench.report.case("several batches", many.command):
            one.succeeded()
            many.succeeded()
            check_table(folder / "many", {"label": labels.values})
            equal("the manifests", *((folder / name / "_manifest.json").read_bytes() for name in ("one", "many")))


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
        check_numbers(f"the column {name}", texts, values)
        if values.dtype.kind != "f":
            for reader, frame in frames.items():
                equal(f"{reader}: {name}", [int(value) for value in frame[name]], values.tolist())
    return files


def check_numbers(what: str, texts: list[str], values: np.ndarray) -> None:
    """Texts read back as the same numbers; floats look like floats, and any NaN equals any NaN."""
    if values.dtype.kind != "f":
        equal(what, [int(text) for text in texts], values.tolist())
        return
    for row, (text, value) in enumerate(zip(texts, values, strict=True)):
        with np.errstate(over="ignore"):
            number = values.dtype.type(text)
        same = (np.isnan(number) and np.isnan(value)) or (number == value and np.signbit(number) == np.signbit(value))
        if not same or not re.fullmatch(r"-?(\d+\.\d*(e[-+]\d+)?|\d+e[-+]\d+|inf)|NaN", text):
            raise Mismatch(f"{what}, row {row}: found {text!r}, expected {value!r}")


def check(bench: Bench) -> None:
    """All groups of image folders."""
    with bench.report.group("folders of classes"):
        check_letters(bench)
        check_names(bench)
    with bench.report.group("folders inverted"):
        check_invert(bench)
    with bench.report.group("folders with metadata.csv"):
        check_metadata(bench)
        check_order(bench)
