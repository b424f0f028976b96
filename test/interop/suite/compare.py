"""What "equal" means: bit for bit where the format carries bits, and as numbers where it carries text."""

from __future__ import annotations

import numpy as np

from .report import Mismatch
from .tensors import as_bits


def equal(what: str, found: object, expected: object) -> None:
    """Demand that two plain values are equal."""
    if found != expected:
        raise Mismatch(f"{what} is {found!r}, expected {expected!r}")


def same_bytes(what: str, found: bytes, expected: bytes) -> None:
    """Demand equal bytes; the first difference is named."""
    if found == expected:
        return
    n = min(len(found), len(expected))
    unequal = np.frombuffer(found, "u1", n) != np.frombuffer(expected, "u1", n)
    where = f"first difference at byte {int(unequal.argmax())}" if unequal.any() else "one is the beginning of the other"
    raise Mismatch(f"{what}: found {len(found)} bytes, expected {len(expected)}; {where}")


def same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    """Demand the same dtype, number of elements and bits; the shape is up to the caller."""
    equal("the element type", found.dtype.name, expected.dtype.name)
    equal("the number of elements", found.size, expected.size)
    unequal = np.flatnonzero(as_bits(found).reshape(-1) != as_bits(expected).reshape(-1))
    if unequal.size:
        at = int(unequal[0])
        first, second = as_bits(found).reshape(-1)[at], as_bits(expected).reshape(-1)[at]
        raise Mismatch(f"{unequal.size} of {found.size} elements differ; element {at} has bits {first:#x}, expected {second:#x}")


def same_numbers(found: np.ndarray, expected: np.ndarray) -> None:
    """Demand equal numbers after rounding to expected's dtype; any NaN equals any NaN, but −0 is not 0."""
    equal("the shape", found.shape, expected.shape)
    with np.errstate(over="ignore"):
        rounded = found.astype(expected.dtype)
    good = rounded == expected
    if expected.dtype.kind == "f":
        good = np.where(np.isnan(expected), np.isnan(rounded), good & (np.signbit(rounded) == np.signbit(expected)))
    elif not np.array_equal(rounded, found):
        raise Mismatch(f"found numbers that are no {expected.dtype}: {found[rounded != found][:3]}")
    if not good.all():
        row, column = (int(i) for i in np.argwhere(~good)[0])
        raise Mismatch(
            f"{int((~good).sum())} of {good.size} cells differ; row {row}, column {column} is {found[row, column]!r}, "
            f"expected {expected[row, column]!r}"
        )
