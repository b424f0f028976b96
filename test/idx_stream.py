"""IDX files of any size, made block after block, for programs that must stay small: nothing large is imported."""

from __future__ import annotations

import functools
import random
import struct
import sys
from array import array
from collections.abc import Iterator

ELEMENTS = 28 * 28  # of a record
CODES = {"uint8": 0x08, "float32": 0x0D}
SIZES = {"uint8": ELEMENTS, "float32": 4 * ELEMENTS}  # bytes of a record
BLOCK_RECORDS = 1021  # a prime, so that blocks do not end with batches


@functools.cache
def block(dtype: str) -> bytes:
    """BLOCK_RECORDS big-endian records that look like images: a dark background, a fifth of the elements lit."""
    source = random.Random(dtype)
    lit = [source.random() if source.random() < 0.2 else 0.0 for _ in range(BLOCK_RECORDS * ELEMENTS)]
    if dtype == "uint8":
        return bytes(int(value * 256) for value in lit)
    floats = array("f", lit)
    if sys.byteorder == "little":
        floats.byteswap()
    return floats.tobytes()


def stream(dtype: str, rows: int) -> Iterator[bytes | memoryview]:
    """An IDX file of rows records, block after block."""
    yield struct.pack(">2xBB3I", CODES[dtype], 3, rows, 28, 28)
    for start in range(0, rows, BLOCK_RECORDS):
        yield memoryview(block(dtype))[: min(BLOCK_RECORDS, rows - start) * SIZES[dtype]]


def record(dtype: str, row: int) -> bytes:
    """One record of the file."""
    at = row % BLOCK_RECORDS * SIZES[dtype]
    return block(dtype)[at : at + SIZES[dtype]]
