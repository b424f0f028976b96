"""IDX types in Arrow and in Spark.

Spark has no unsigned bytes and no lists of fixed size: uint8 becomes smallint, as Spark reads it from Parquet, and
lists become arrays. Nothing is null. The shape of a tensor and its type in the file are metadata of the column, with
idxport's keys.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as spark

# The data types of IDX, as in idx.dtype: in Arrow, and the smallest type of Spark that holds them.
DTYPES: dict[str, tuple[pa.DataType, spark.DataType]] = {
    "uint8": (pa.uint8(), spark.ShortType()),
    "int8": (pa.int8(), spark.ByteType()),
    "int16": (pa.int16(), spark.ShortType()),
    "int32": (pa.int32(), spark.IntegerType()),
    "float32": (pa.float32(), spark.FloatType()),
    "float64": (pa.float64(), spark.DoubleType()),
}

_TO_SPARK: dict[pa.DataType, spark.DataType] = {
    **{arrow: theirs for arrow, theirs in DTYPES.values()},
    pa.string(): spark.StringType(),
    pa.binary(): spark.BinaryType(),
}
_TO_ARROW: dict[spark.DataType, pa.DataType] = {
    spark.ByteType(): pa.int8(),
    spark.ShortType(): pa.int16(),
    spark.IntegerType(): pa.int32(),
    spark.LongType(): pa.int64(),
    spark.FloatType(): pa.float32(),
    spark.DoubleType(): pa.float64(),
    spark.StringType(): pa.string(),
    spark.BinaryType(): pa.binary(),
}


def spark_schema(schema: pa.Schema) -> spark.StructType:
    """Spark's schema for an Arrow stream of idxport."""
    return spark.StructType([_spark_field(field) for field in schema])


def _spark_field(field: pa.Field) -> spark.StructField:
    metadata: dict[str, Any] = {key.decode(): value.decode() for key, value in (field.metadata or {}).items() if key.startswith(b"idx.")}
    return spark.StructField(field.name, spark_type(field.type), False, metadata)


def spark_type(arrow: pa.DataType) -> spark.DataType:
    """Spark's type for an Arrow type that idxport writes."""
    if is_list(arrow):
        return spark.ArrayType(spark_type(arrow.value_type), False)
    return _TO_SPARK[arrow]


def arrow_schema(schema: spark.StructType) -> pa.Schema:
    """The schema that Spark expects of record batches: from 4.1 on it also compares nullability."""
    return pa.schema([pa.field(field.name, arrow_type(field.dataType), field.nullable) for field in schema.fields])


def arrow_type(theirs: spark.DataType) -> pa.DataType:
    """Arrow's type for one of Spark's."""
    if isinstance(theirs, spark.ArrayType):
        return pa.list_(pa.field("element", arrow_type(theirs.elementType), theirs.containsNull))
    return _TO_ARROW[theirs]


def same_type(one: spark.DataType, other: spark.DataType) -> bool:
    """Report whether two types are equal except for nullability: in a schema written by hand everything may be null."""
    if isinstance(one, spark.ArrayType) and isinstance(other, spark.ArrayType):
        return same_type(one.elementType, other.elementType)
    return one == other


def is_list(arrow: pa.DataType) -> bool:
    """Any kind of list."""
    return bool(pa.types.is_list(arrow) or pa.types.is_fixed_size_list(arrow) or pa.types.is_large_list(arrow))


def convert(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Convert an array of idxport for Spark: unsigned bytes are widened, lists get offsets. Everything else is not
    copied."""
    if pa.types.is_list(target):
        values = convert(array.flatten(), target.value_type)
        if pa.types.is_fixed_size_list(array.type):  # noqa: SIM108
            offsets = _offsets(len(array), array.type.list_size)
        else:  # records of no elements
            offsets = pc.subtract(array.offsets, array.offsets[0])
        return pa.ListArray.from_arrays(offsets, values, type=target)
    return array if array.type == target else array.cast(target)


@lru_cache(maxsize=8)  # all batches but the last are of one length
def _offsets(rows: int, size: int) -> pa.Array:
    """The offsets of lists of one size."""
    return pa.array(range(0, (rows + 1) * size, size), pa.int32())


def row_bytes(schema: pa.Schema) -> int:
    """The bytes of a row in the files, by the metadata of its columns; at least 1."""
    total = 0
    for field in schema:
        metadata = field.metadata or {}
        size = DTYPES[metadata[b"idx.dtype"].decode()][0].bit_width // 8 if b"idx.dtype" in metadata else 8
        for length in json.loads(metadata.get(b"idx.shape", b"[]")):
            size *= length
        total += size
    return max(total, 1)
