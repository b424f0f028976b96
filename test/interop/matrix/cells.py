"""Shared by the programs of the readers: the cases of the corpus, the values of the inputs, and the record of what was
found. Needs only numpy."""

from __future__ import annotations

import argparse
import functools
import io
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from suite.tensors import decode

NUMBERS = ("list", "nested", "tensor", "columns")  # layouts whose elements are numbers


class Differs(Exception):
    """A reader took the file and found something else than the input."""


@dataclass(frozen=True)
class Case:
    """A file of the corpus and the inputs that it was made of."""

    format: str
    layout: str
    path: Path
    columns: dict[str, np.ndarray]

    @property
    def image(self) -> np.ndarray:
        """The tensor."""
        return self.columns["image"]


@dataclass(frozen=True)
class Found:
    """The contents of a file by a reader: the name of the tensor's type, whether its elements have the IDX type, and all values."""

    kind: str
    exact: bool
    columns: dict[str, np.ndarray]


def numbers(kind: str, columns: dict[str, np.ndarray], case: Case) -> Found:
    """Columns of numbers are exact if they have the input's types; bytes and structs, which have to be decoded, are not."""
    same = case.layout in ("", *NUMBERS) and all(columns[name].dtype.name == expected.dtype.name for name, expected in case.columns.items())
    return Found(kind, same, columns)


def cases(folder: Path, *formats: str) -> Iterator[Case]:
    """The cases of the formats, in the order in which they were made."""
    load = functools.cache(lambda name: decode((folder / name).read_bytes()))
    for line in (folder / "cases.jsonl").read_text().splitlines():
        case: dict[str, Any] = json.loads(line)
        if case["format"] in formats:
            columns = {column["name"]: load(column["idx"]) for column in case["columns"]}
            yield Case(case["format"], case["layout"], folder / case["file"], columns)


def compare(name: str, found: np.ndarray, expected: np.ndarray, any_nan: bool) -> None:
    """Demand the same number of values, and each value with the same bits; with any_nan, NaNs are alike."""
    if found.size != expected.size or found.shape[:1] != expected.shape[:1]:
        raise Differs(f"{name} has the shape {found.shape}, expected {expected.shape}")
    with np.errstate(invalid="ignore", over="ignore"):
        cast = np.ascontiguousarray(found).astype(expected.dtype).reshape(expected.shape)
        if found.dtype != expected.dtype and not np.array_equal(cast.astype(found.dtype), found.reshape(expected.shape), equal_nan=True):
            raise Differs(f"{name} has values that are no {expected.dtype}")
    bits = f"u{expected.itemsize}"
    same = cast.view(bits) == np.ascontiguousarray(expected).view(bits)
    if any_nan and expected.dtype.kind == "f":
        same |= np.isnan(cast) & np.isnan(expected)
    if not same.all():
        at = int(np.flatnonzero(~same.reshape(-1))[0])
        raise Differs(f"{name}: {int((~same).sum())} of {same.size} values differ, first value {at}: "
                      f"{cast.reshape(-1)[at]!r}, expected {expected.reshape(-1)[at]!r}")  # fmt: skip


def rounded(case: Case, values: np.ndarray) -> np.ndarray:
    """Doubles that were read from text, as floats of the input's size."""
    return values.astype(case.image.dtype) if case.image.dtype.kind == "f" else values


def little_endian(rows: list[bytes], expected: np.ndarray) -> np.ndarray:
    """Records that are bytes, as numbers."""
    size = math.prod(expected.shape[1:]) * expected.itemsize
    if any(len(row) != size for row in rows):
        raise Differs(f"records have {sorted({len(row) for row in rows})} bytes, expected {size}")
    bits = np.frombuffer(b"".join(rows), f"<u{expected.itemsize}").astype(f"u{expected.itemsize}")
    return bits.view(expected.dtype).reshape(len(rows), *expected.shape[1:])


def spark_images(rows: list[dict[str, Any]], expected: np.ndarray) -> np.ndarray:
    """Spark's ImageSchema: OpenCV's modes (CV_8UC1 = 0, CV_8UC3 = 16, CV_8UC4 = 24), colours in the order blue, green, red."""
    channels = expected.shape[3] if expected.ndim == 4 else 1
    pictures = np.empty((len(rows), *expected.shape[1:3], channels), np.uint8)
    for i, row in enumerate(rows):
        facts = (row["height"], row["width"], row["nChannels"], row["mode"])
        if facts != (*expected.shape[1:3], channels, {1: 0, 3: 16, 4: 24}[channels]):
            raise Differs(f"row {i}: height, width, channels and mode are {facts}")
        pictures[i] = np.frombuffer(row["data"], np.uint8).reshape(pictures.shape[1:])
    return pictures[..., [2, 1, 0, 3][:channels]] if channels > 1 else pictures


def png_images(rows: list[bytes], expected: np.ndarray) -> np.ndarray:
    """PNG files, decoded by Pillow."""
    from PIL import Image  # noqa: PLC0415 (not every environment has it)

    pictures = [np.asarray(Image.open(io.BytesIO(row))).astype(expected.dtype, casting="unsafe") for row in rows]
    return np.stack(pictures) if pictures else np.empty(expected.shape, expected.dtype)


def arguments(usage: str | None) -> argparse.ArgumentParser:
    """The command line of a program that needs the corpus and the records."""
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--cells", type=Path, required=True, help="the folder for the records")
    return parser


@dataclass
class Cells:
    """The record of one reader: a line of JSON for each case."""

    folder: Path
    reader: str
    any_nan: bool = False  # where the language of the reader may change the bits of a NaN
    lines: list[str] = field(default_factory=list)

    def add(self, case: Case, read: Callable[[Case], Found]) -> None:
        """Read the case, compare every value, and note what happened."""
        line: dict[str, Any] = {"reader": self.reader, "file": case.path.name}
        try:
            found = read(case)
            for name, expected in case.columns.items():
                compare(name, found.columns[name], expected, self.any_nan or case.format == "csv")
            line |= {"kind": found.kind, "exact": found.exact}
        except Differs as error:
            line["differs"] = str(error)
        except Exception as error:  # readers raise what they like
            line["refuses"] = f"{type(error).__name__}: {error}"
        self.lines.append(json.dumps(line))

    def close(self) -> None:
        """Write the record."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{self.reader}.jsonl").write_text("".join(line + "\n" for line in self.lines))
        print(f"{self.reader}: {len(self.lines)} files, {sum('kind' in json.loads(line) for line in self.lines)} read with every value as it was")
