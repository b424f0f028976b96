"""IDX files by the definition of the format alone: http://yann.lecun.com/exdb/mnist/, "the IDX file format"."""

from __future__ import annotations

import struct

import numpy as np

CODES = {"uint8": 0x08, "int8": 0x09, "int16": 0x0B, "int32": 0x0C, "float32": 0x0D, "float64": 0x0E}


def as_bits(values: np.ndarray) -> np.ndarray:
    """The elements as unsigned integers, so that NaNs and −0 are compared exactly and never quietened."""
    return np.ascontiguousarray(values, values.dtype.newbyteorder("=")).view(f"u{values.itemsize}")


def encode(values: np.ndarray) -> bytes:
    """The file of an array: magic number, dimensions and elements, all big-endian."""
    head = struct.pack(f">2xBB{values.ndim}I", CODES[values.dtype.name], values.ndim, *values.shape)
    return head + as_bits(values).astype(f">u{values.itemsize}").tobytes()


def decode(data: bytes) -> np.ndarray:
    """The array of a file, which ends with its elements."""
    zeros, code, rank = struct.unpack_from(">HBB", data)
    if zeros:
        raise ValueError(f"the two bytes before the data type are {zeros:#x}")
    dtype = np.dtype(next(name for name, value in CODES.items() if value == code))
    shape = struct.unpack_from(f">{rank}I", data, 4)
    elements = np.frombuffer(data, f">u{dtype.itemsize}", offset=4 + 4 * rank)
    return elements.astype(f"u{dtype.itemsize}").view(dtype).reshape(shape)
