"""Spark's columns as Arrow columns that the program writes as IDX files: exact types, one shape, no nulls."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as spark

from .._program import IdxError
from ._inputs import words
from ._types import DTYPES, is_list

# The IDX type for a type of Spark if neither the column's metadata nor the option dtype has one.
_NATURAL = {"tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int32", "float": "float32", "double": "float64", "binary": "uint8"}


@dataclass(frozen=True)
class Plan:
    """The IDX type and shape of a column. shape is that of one record; None if the first row decides."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None


def plans(schema: spark.StructType, options: Mapping[str, str]) -> tuple[Plan, ...]:
    """By the options dtype=name=type,… and shape=name=28x28,…, the metadata that columns have from the reader, or
    Spark's type, in this order."""
    dtypes, shapes = _named(options, "dtype"), _named(options, "shape")
    for name in [*dtypes, *shapes]:
        if name not in schema.names:
            raise IdxError(f"the options dtype and shape name a column {name}; there are {', '.join(schema.names)}")
    if len({name.lower() for name in schema.names}) < len(schema.names) or not schema.names:
        raise IdxError(f"columns {', '.join(schema.names)}: expected at least one, and names that differ")
    return tuple(_plan(field, dtypes.get(field.name), shapes.get(field.name)) for field in schema.fields)


def _plan(field: spark.StructField, dtype: str | None, shape: str | None) -> Plan:
    element, rank = field.dataType, 0
    while isinstance(element, spark.ArrayType):
        element, rank = element.elementType, rank + 1
    metadata = field.metadata or {}
    if element.simpleString() not in _NATURAL:
        found = field.dataType.simpleString()
        raise IdxError(f"column {field.name} is {found}, which no IDX file can hold: numbers, arrays of them, or binary; drop or cast it")
    dtype = dtype or metadata.get("idx.dtype") or _NATURAL[element.simpleString()]
    if dtype not in DTYPES:
        raise IdxError(f"column {field.name}: found type {dtype}, expected one of {', '.join(DTYPES)}")
    flat = rank == 0 and not isinstance(element, spark.BinaryType)
    if shape is not None and not flat:
        return Plan(field.name, dtype, _shape(shape))
    # A column may have been changed under its name and kept its metadata: they count only if they fit.
    known = json.loads(metadata["idx.shape"]) if "idx.shape" in metadata else None
    return Plan(field.name, dtype, () if flat else tuple(known) if known else None)


def _named(options: Mapping[str, str], option: str) -> dict[str, str]:
    found = {}
    for word in words(options.get(option, "")):
        name, equals, value = word.partition("=")
        if not equals or not value:
            raise IdxError(f"option {option}: found {word}, expected column=value")
        found[name] = value
    return found


def _shape(text: str) -> tuple[int, ...]:
    parts = text.split("x")
    if not all(part.isdigit() for part in parts):
        raise IdxError(f"option shape: found {text}, expected dimensions such as 28x28")
    return tuple(int(part) for part in parts)


def tensor(array: pa.Array, plan: Plan) -> tuple[pa.Array, Plan]:
    """A batch of a column with the exact type, and the plan with the shape. Raises IdxError if a value does not fit."""
    if array.null_count:
        raise IdxError(f"column {plan.name}: found null, which IDX cannot hold")
    rows, values = len(array), array
    found: tuple[int, ...] = ()
    while is_list(values.type):
        values, length = _flattened(values, plan.name)
        found = (*found, length)
    if pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        values, length = _unpacked(values, plan)
        found = (*found, length)
    if not found:
        return _cast(values, plan), plan
    size = math.prod(found)
    shape = found if plan.shape is None else plan.shape
    if math.prod(shape) != size:
        raise IdxError(f"column {plan.name}: found records of {size} elements, expected {'x'.join(map(str, shape))}; set the option shape for another one")
    values = _cast(values, plan)
    known = Plan(plan.name, plan.dtype, shape)
    return (pa.FixedSizeListArray.from_arrays(values, size) if size else pa.nulls(rows, pa.list_(values.type))), known


def field(plan: Plan) -> pa.Field:
    """The field of the stream that the program reads."""
    element = DTYPES[plan.dtype][0]
    shape = plan.shape or ()
    size = math.prod(shape)
    arrow = element if not shape else pa.list_(element, size) if size else pa.list_(element)
    return pa.field(plan.name, arrow, False, {"idx.dtype": plan.dtype, "idx.shape": json.dumps(shape, separators=(",", ":"))})


def _flattened(array: pa.Array, name: str) -> tuple[pa.Array, int]:
    """The elements of lists of one length, and that length."""
    lengths = pc.min_max(pc.list_value_length(array)).as_py()
    if lengths["min"] != lengths["max"]:
        raise IdxError(f"column {name}: found arrays of {lengths['min']} and of {lengths['max']} elements, expected one length")
    values = array.flatten()
    if values.null_count:
        raise IdxError(f"column {name}: found null in an array, which IDX cannot hold")
    return values, lengths["min"]


def _unpacked(array: pa.Array, plan: Plan) -> tuple[pa.Array, int]:
    """The elements in little-endian bytes, as in the layout binary, and their number in each row."""
    element = DTYPES[plan.dtype][0]
    width = element.bit_width // 8
    lengths = pc.min_max(pc.binary_length(array)).as_py()
    length = lengths["min"]
    if length != lengths["max"] or length % width:
        raise IdxError(f"column {plan.name}: found {length} and {lengths['max']} bytes, expected one length, a multiple of {width}")
    if length == 0:
        return pa.array([], element), 0
    fixed = array.cast(pa.binary(length))
    return pa.Array.from_buffers(element, len(array) * length // width, [None, fixed.buffers()[1].slice(fixed.offset * length)]), length // width


def _cast(values: pa.Array, plan: Plan) -> pa.Array:
    try:
        return values.cast(DTYPES[plan.dtype][0], safe=True)
    except pa.ArrowInvalid as error:
        raise IdxError(f"column {plan.name} as {plan.dtype}: {error}; set the option dtype for another type") from error
