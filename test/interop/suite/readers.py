"""The independent readers. Each returns a column as an Arrow array, or a table of text as numbers, in the order of the file."""

from __future__ import annotations

import gzip
import struct
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from .compare import equal
from .report import Mismatch
from .tensors import CODES

ARROW_TYPES = {
    "uint8": pa.uint8(), "int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "float32": pa.float32(), "float64": pa.float64(),
}  # fmt: skip
POLARS_TYPES = {
    "uint8": polars.UInt8, "int8": polars.Int8, "int16": polars.Int16, "int32": polars.Int32, "float32": polars.Float32,
    "float64": polars.Float64,
}  # fmt: skip
DUCKDB_TYPES = {
    "uint8": "UTINYINT", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "float32": "FLOAT", "float64": "DOUBLE",
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column as a reader found it: its type in the reader's own words, and its values."""

    kind: str
    values: pa.Array


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def pyarrow_parquet(path: Path, name: str) -> Column:
    """Read with pyarrow, checking the pages' checksums."""
    column = pq.read_table(path, page_checksum_verification=True).column(name)
    return Column(str(column.type), one_chunk(column))


def duckdb_parquet(path: Path, name: str) -> Column:
    """Read with DuckDB."""
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(path)).select(f'"{name}"')
        kind = str(relation.types[0])
        return Column(kind, one_chunk(relation.to_arrow_table().column(0)))


def from_polars(series: polars.Series) -> Column:
    """A polars column; its binary views become plain offsets and bytes."""
    return Column(str(series.dtype), series.to_arrow(compat_level=polars.CompatLevel.oldest()))


def polars_parquet(path: Path, name: str) -> Column:
    """Read with polars."""
    return from_polars(polars.read_parquet(path)[name])


def pyarrow_file(path: Path, name: str) -> Column:
    """Read an Arrow IPC file with pyarrow."""
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
        column = reader.read_all().column(name)
    return Column(str(column.type), one_chunk(column))


def pyarrow_stream(path: Path, name: str) -> Column:
    """Read an Arrow IPC stream with pyarrow."""
    with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as reader:
        column = reader.read_all().column(name)
    return Column(str(column.type), one_chunk(column))


def polars_file(path: Path, name: str) -> Column:
    """Read an Arrow IPC file with polars."""
    return from_polars(polars.read_ipc(path)[name])


def polars_stream(path: Path, name: str) -> Column:
    """Read an Arrow IPC stream with polars."""
    return from_polars(polars.read_ipc_stream(path)[name])


def elements(array: pa.Array, dtype: str, rows: int, width: int) -> np.ndarray:
    """The rows × width elements of a column of scalars, lists or bytes; every list must have width elements, and nothing may be null."""
    equal("the number of rows", len(array), rows)
    equal("the number of nulls", array.null_count, 0)
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type) or pa.types.is_fixed_size_binary(array.type):
        return from_bytes(array, dtype, width)
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        lengths = set(np.diff(array.offsets.to_numpy()).tolist())
        if lengths - {width}:
            raise Mismatch(f"lists have {sorted(lengths)} elements, expected {width}")
        array = array.flatten()
    while pa.types.is_fixed_size_list(array.type):
        array = array.flatten()
    equal("the number of null elements", array.null_count, 0)
    equal("the number of elements", len(array), rows * width)
    equal("the element type", array.type, ARROW_TYPES[dtype])
    if len(array) == 0:
        return np.empty(0, dtype)
    return array.to_numpy(zero_copy_only=True)


def from_bytes(array: pa.Array, dtype: str, width: int) -> np.ndarray:
    """The elements of a column of little-endian bytes."""
    rows = array.to_pylist()
    size = width * np.dtype(dtype).itemsize
    if any(len(row) != size for row in rows):
        raise Mismatch(f"values have {sorted({len(row) for row in rows})} bytes, expected {size}")
    return np.frombuffer(b"".join(rows), np.dtype(dtype).newbyteorder("<")).astype(dtype, copy=False)


def pandas_csv(path: Path, header: bool, separator: str = ",") -> tuple[list[str], np.ndarray]:
    """Column names and cells as pandas infers them."""
    frame = pandas.read_csv(path, header=0 if header else None, sep=separator, float_precision="round_trip")
    return [str(name) for name in frame.columns], frame.to_numpy()


def duckdb_csv(path: Path, header: bool, separator: str = ",", types: list[str] | None = None) -> tuple[list[str], np.ndarray]:
    """Column names and cells as DuckDB infers them, or of the types that are given."""
    with duckdb.connect() as connection:
        relation = connection.read_csv(str(path), header=header, sep=separator, sample_size=-1, dtype=types)
        names, kinds = list(relation.columns), {str(kind) for kind in relation.types}
        table = relation.to_arrow_table()
    if table.num_rows and kinds - {"BIGINT", "DOUBLE"}:
        raise Mismatch(f"DuckDB infers the types {sorted(kinds)}, expected numbers")
    columns = [column.to_numpy() for column in table.columns]
    if any(column.null_count for column in table.columns):
        raise Mismatch("DuckDB finds nulls")
    return names, np.column_stack(columns) if columns else np.empty((0, 0))


def idx_file(path: Path) -> tuple[np.ndarray, bytes]:
    """The array of an IDX file, by the format's definition, and the bytes of the decompressed file."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            data = reader.read()
    zeros, code, rank = struct.unpack_from(">HBB", data)
    equal("the two bytes before the data type", zeros, 0)
    dtype = np.dtype(next(name for name, value in CODES.items() if value == code))
    shape = struct.unpack_from(f">{rank}I", data, 4)
    payload = np.frombuffer(data, f">u{dtype.itemsize}", offset=4 + 4 * rank)
    return payload.astype(f"u{dtype.itemsize}").view(dtype).reshape(shape), data
