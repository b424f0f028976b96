"""Inputs of the suite: numpy arrays of every dtype and rank, and their IDX files, written from the format's
definition alone."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# dtype: the code in an IDX header (http://yann.lecun.com/exdb/mnist/, "the IDX file format")
CODES = {"uint8": 0x08, "int8": 0x09, "int16": 0x0B, "int32": 0x0C, "float32": 0x0D, "float64": 0x0E}
# dtype: the end of a published name
SUFFIXES = {"uint8": "ubyte", "int8": "byte", "int16": "short", "int32": "int", "float32": "float", "float64": "double"}

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".zst": lambda data: importlib.import_module("zstandard").ZstdCompressor().compress(data),  # not in every environment
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}

# By rank: odd sizes, one record, no records, records of no elements.
SMALL_SHAPES: list[tuple[int, ...]] = [
    *[(13,), (1,), (0,)],
    *[(5, 13), (0, 7), (5, 0)],
    *[(11, 7, 9), (1, 1, 1), (0, 7, 9), (5, 0, 3), (5, 3, 0)],
    *[(3, 5, 7, 3), (0, 2, 3, 4), (2, 3, 0, 5)],
]
# One odd shape for each rank.
PLAIN_SHAPES: list[tuple[int, ...]] = [(13,), (5, 13), (11, 7, 9), (3, 5, 7, 3)]

# The bits of −0, ∞, −∞, 1, the smallest number and the limits, quiet NaNs with and without payload and sign, and a
# signalling NaN.
FLOAT_SPECIALS: dict[str, list[int]] = {
    "float32": [0x80000000, 0x7F800000, 0xFF800000, 0x3F800000, 1, 0x7F7FFFFF, 0xFF7FFFFF, 0x7FC00000, 0x7FC12345, 0xFFC0BEEF, 0x7F800001],
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
        """The IDX file: magic number, dimensions and elements, big-endian."""
        shape = self.values.shape
        head = struct.pack(f">2xBB{len(shape)}I", CODES[self.dtype], len(shape), *shape)
        return head + as_bits(self.values).astype(f">u{self.values.itemsize}").tobytes()

    def write(self, path: Path, compression: str = "") -> Path:
        """Write the IDX file, compressed as its suffix says."""
        path.write_bytes(COMPRESSIONS[compression](self.idx()))
        return path


def as_bits(values: np.ndarray) -> np.ndarray:
    """The same memory as unsigned integers, so that NaNs and −0 are compared exactly and never quietened."""
    return np.ascontiguousarray(values).view(f"u{values.itemsize}")


def idx_file(path: Path) -> tuple[np.ndarray, bytes]:
    """The array of an IDX file, by the format's definition, and the bytes of the decompressed file."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        with importlib.import_module("zstandard").ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            data = reader.read()
    zeros, code, rank = struct.unpack_from(">HBB", data)
    if zeros:
        raise ValueError(f"the two bytes before the data type are {zeros:#x}")
    dtype = np.dtype(next(name for name, value in CODES.items() if value == code))
    shape = struct.unpack_from(f">{rank}I", data, 4)
    payload = np.frombuffer(data, f">u{dtype.itemsize}", offset=4 + 4 * rank)
    return payload.astype(f"u{dtype.itemsize}").view(dtype).reshape(shape), data


def make(dtype: str, shape: tuple[int, ...]) -> Tensor:
    """Random bits, reproducible; the second record begins with the values that are easiest to get wrong, or the first
    if it is alone."""
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


def plain() -> Iterator[Tensor]:
    """Every dtype in one odd shape for each rank."""
    for dtype in CODES:
        for shape in PLAIN_SHAPES:
            yield make(dtype, shape)


def large() -> Iterator[Tensor]:
    """Inputs of several batches, which are cut at 1 MiB or 65,536 rows, and of several row groups, which have 20,000
    to 122,880 rows."""
    for dtype in CODES:
        yield make(dtype, (21_001, 7, 9))
    for dtype in ("uint8", "int16", "int32", "float32"):  # random bits: more values than a dictionary holds
        yield make(dtype, (150_001,))
    yield make("uint8", (90_001, 7, 9))
    yield make("float64", (90_001, 3, 5))
    yield make("uint8", (3, 1103, 1009))  # a record is larger than a batch
    yield make("float64", (5, 301, 307))
