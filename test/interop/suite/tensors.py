"""Inputs of the suite: numpy arrays of every dtype and rank, and their IDX files, written from the format's definition alone."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from idx_format import CODES, as_bits, decode, encode  # noqa: E402, F401 (decode is for the readers)

# dtype: the end of a published name
SUFFIXES = {
    **{"uint8": "ubyte", "int8": "byte", "int16": "short"},
    **{"int32": "int", "float32": "float", "float64": "double"},
}

# By rank: odd sizes, one record, no records, records of no elements.
SMALL_SHAPES: list[tuple[int, ...]] = [
    *[(13,), (1,), (0,)],
    *[(5, 13), (0, 7), (5, 0)],
    *[(11, 7, 9), (1, 1, 1), (0, 7, 9), (5, 0, 3), (5, 3, 0)],
    *[(3, 5, 7, 3), (0, 2, 3, 4), (2, 3, 0, 5)],
]
# The bits of −0, ∞, −∞, 1, the smallest number and the limits, quiet NaNs with and without payload and sign, and a
# signalling NaN.
FLOAT_SPECIALS: dict[str, list[int]] = {
    "float32": [
        *(1 << 31, 0xFF << 23, 0x1FF << 23, 0x7F << 23, 1, 0x7F7FFFFF, 0xFF7FFFFF),
        *(0x7FC00000, 0x7FC12345, 0xFFC0BEEF, 0x7F800001),
    ],
    "float64": [
        *(1 << 63, 0x7FF << 52, 0xFFF << 52, 0x3FF << 52, 1, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF),
        *(0x7FF8 << 48, 0x7FF80000DEADBEEF, 0xFFF8123456789ABC, 0x7FF0000000000001),
    ],
}


@dataclass(frozen=True, eq=False)
class Tensor:
    """An array in native byte order; its first dimension counts the records."""

    values: np.ndarray

    @property
    def dtype(self) -> str:
        """The name of the data type."""
        return self.values.dtype.name

    @property
    def rows(self) -> int:
        """The number of records."""
        return self.values.shape[0]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.values.ndim

    @property
    def width(self) -> int:
        """The number of elements of a record."""
        return math.prod(self.values.shape[1:])

    @property
    def name(self) -> str:
        """Dtype and shape, as in uint8-11x7x9."""
        return f"{self.dtype}-{'x'.join(map(str, self.values.shape))}"

    @property
    def suffix(self) -> str:
        """The end of the published name, as in train-images-idx3-ubyte."""
        return SUFFIXES[self.dtype]

    def idx(self) -> bytes:
        """The IDX file."""
        return encode(self.values)

    def write(self, path: Path) -> Path:
        """Write the IDX file."""
        path.write_bytes(self.idx())
        return path


def make(dtype: str, shape: tuple[int, ...]) -> Tensor:
    """Random bits, reproducible; the second record begins with the values that are easiest to get wrong, or the first if it is alone."""
    count = math.prod(shape)
    start = math.prod(shape[1:]) if shape[0] > 1 else 0
    size = np.dtype(dtype).itemsize
    seed = [CODES[dtype], *shape]
    bits = np.frombuffer(np.random.default_rng(seed).bytes(count * size), f"u{size}").copy()
    if dtype in FLOAT_SPECIALS:
        special = np.array(FLOAT_SPECIALS[dtype], f"u{size}")
    else:
        limits = np.iinfo(dtype)
        special = as_bits(np.array([limits.min, limits.max, 0, 1, limits.max // 2], dtype))
    bits[start : start + len(special)] = special[: count - start]
    return Tensor(bits.view(dtype).reshape(shape))


def labels(rows: int, classes: int = 10, dtype: str = "uint8") -> Tensor:
    """Labels 0 … classes − 1 in a fixed random order."""
    return Tensor(np.random.default_rng(rows).integers(0, classes, rows).astype(dtype))


def grey16(shape: tuple[int, ...]) -> Tensor:
    """Shorts without negatives, which have a PNG."""
    return Tensor(make("int16", shape).values & 0x7FFF)


def numbers(rows: int) -> Tensor:
    """Labels that are not sorted."""
    return Tensor((np.arange(rows) * 7 % 10).astype("uint8"))


def small() -> Iterator[Tensor]:
    """Every dtype in every small shape."""
    for dtype in CODES:
        for shape in SMALL_SHAPES:
            yield make(dtype, shape)
    yield make("uint8", (3, 2, 3, 2, 5))


def large() -> Iterator[Tensor]:
    """Inputs of several batches, which are cut at 1 MiB or 65,536 rows, and of several row groups, which have 20,000 to 122,880 rows."""
    for dtype in CODES:
        yield make(dtype, (21_001, 7, 9))
    for dtype in ("uint8", "int16", "int32", "float32"):  # random bits: more values than a dictionary holds
        yield make(dtype, (150_001,))
    yield make("uint8", (90_001, 7, 9))
    yield make("float64", (90_001, 3, 5))
    yield make("uint8", (3, 1103, 1009))  # a record is larger than a batch
    yield make("float64", (5, 301, 307))
