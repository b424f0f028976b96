"""IDX types in Arrow and in Spark.

Spark has no unsigned bytes and no lists of fixed size: uint8 becomes smallint, as Spark reads it from Parquet, and
lists become arrays. Nothing is null. The shape of a tensor and its type in the file are metadata of the column, with
idxport's keys.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import from_arrow_type


def spark_schema(schema: pa.Schema) -> spark.StructType:
    """Spark's schema for an Arrow stream of idxport."""
    columns = spark.StructType()
    for field in schema:
        metadata: dict[str, Any] = {key.decode(): value.decode() for key, value in (field.metadata or {}).items() if key.startswith(b"idx.")}
        columns.add(field.name, spark_type(field.type), False, metadata)
    return columns


def spark_type(arrow: pa.DataType) -> spark.DataType:
    """Spark's type for an Arrow type that idxport writes."""
    if arrow.num_fields:  # a list of any kind
        return spark.ArrayType(spark_type(arrow.value_type), False)
    return spark.ShortType() if arrow == pa.uint8() else from_arrow_type(arrow)


def row_bytes(schema: pa.Schema) -> int:
    """The bytes of a row in the files, by the metadata of its columns; at least 1."""
    total = 0
    for field in schema:
        metadata = field.metadata or {}
        size = pa.type_for_alias(metadata[b"idx.dtype"].decode()).bit_width // 8 if b"idx.dtype" in metadata else 8
        total += size * math.prod(json.loads(metadata.get(b"idx.shape", b"[]")))
    return max(total, 1)
