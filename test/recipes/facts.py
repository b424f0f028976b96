"""Numbers that the documents show, computed from the IDX files by the format's definition, with numpy alone.

A fact is a list of rows of numbers. Its section must show them: for each row, in this order, a line of the shown output has
these numbers, rounded to the digits that are shown.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

Rows = list[tuple[float, ...]]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def idx(path: Path) -> np.ndarray:
    """An IDX file of unsigned bytes: two zeros, the type 8, the rank, the dimensions big-endian, the values."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if data[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: not unsigned bytes")
    shape = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


class Data:
    """Images and labels of both data sets, read when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        """Such as `fashion-mnist/train-images`."""
        if name not in self.read:
            (path,) = self.folder.glob(f"{name}-idx*-ubyte*")
            self.read[name] = idx(path)
        return self.read[name]

    def classes(self, split: str, value: Callable[[np.ndarray], float]) -> Rows:
        """Label, number of images and value of the images, for each label in order."""
        images, labels = self[f"{split}-images"], self[f"{split}-labels"]
        return [(float(label), float((labels == label).sum()), value(images[labels == label])) for label in range(10)]


def facts(data: Data) -> dict[tuple[str, str], list[Rows]]:
    """By document and section; of docs/scale.md, which Ray, Dask and DuckDB print, in all of its sections."""
    fashion = data.classes("fashion-mnist/train", np.mean)
    both = [(*row, centre[2]) for row, centre in zip(fashion, data.classes("fashion-mnist/train", lambda images: images[:, 14, 14].mean()))]
    digits = data.classes("mnist/train", lambda images: images[:, 14, 14].mean())
    lit = data["mnist/train-labels"][data["mnist/train-images"][:, 14, 14] > 127]
    tests = [(label, images, 28, 28, mean) for label, images, mean in data.classes("fashion-mnist/t10k", np.mean)]
    first = data["fashion-mnist/train-labels"][:5]
    images, labels = data["mnist/train-images"], data["mnist/train-labels"]
    scale = [[tuple(np.bincount(labels))], [tuple(int(images[labels == label].sum(dtype=int)) for label in range(3))]]
    return {
        ("docs/recipes.md", "DuckDB"): [both, digits, [((lit == 1).sum(), (lit == 0).sum())], [digits[1][2:]]],
        ("docs/recipes.md", "Spark"): [fashion],
        ("docs/recipes.md", "pandas and polars"): [fashion, fashion],
        ("docs/recipes.md", "WebDataset"): [[tuple(first)]],
        ("docs/recipes.md", "Hugging Face"): [tests],
        ("docs/scale.md", ""): 3 * scale,
    }


def missing(rows: Rows, lines: Iterator[str]) -> str:
    """Goes on in the lines until all rows were found; else the first row that is missing."""
    for row in rows:
        if not any(_is(row, [(float(n), len(n.partition(".")[2])) for n in NUMBER.findall(line)]) for line in lines):
            return f"no line shows {', '.join(f'{number:g}' for number in row)}, or not in order"
    return ""


def _is(row: tuple[float, ...], numbers: list[tuple[float, int]]) -> bool:
    """The numbers of a line, with their digits after the point, are those of the row."""
    return len(row) == len(numbers) and all(abs(value - shown) <= 0.5 * 10**-digits + 1e-9 for value, (shown, digits) in zip(row, numbers))
