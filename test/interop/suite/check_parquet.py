"""Parquet: every dtype, rank, layout and codec, read by pyarrow, DuckDB and polars, and the metadata."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq

from . import readers, tensors
from .command import Bench, Result
from .compare import equal, same_bits
from .readers import ARROW_TYPES, DUCKDB_TYPES, POLARS_TYPES, Column
from .report import Mismatch
from .tensors import Tensor

CODECS = {"none": "UNCOMPRESSED", "snappy": "SNAPPY", "gzip": "GZIP", "lz4_raw": "LZ4", "zstd": "ZSTD"}  # as pyarrow calls them
LAYOUTS = ["list", "fixed-binary"]
READERS: dict[str, Callable[[Path, str], Column]] = {
    "pyarrow": readers.pyarrow_parquet,
    "duckdb": readers.duckdb_parquet,
    "polars": readers.polars_parquet,
}


def expected_kind(reader: str, tensor: Tensor, layout: str) -> str:
    """The column's type in the reader's words. Rank 1 is a scalar; records of no elements are plain lists or binaries."""
    scalar = {"pyarrow": str(ARROW_TYPES[tensor.dtype]), "duckdb": DUCKDB_TYPES[tensor.dtype], "polars": str(POLARS_TYPES[tensor.dtype])}[reader]
    size = tensor.width * tensor.values.itemsize
    if tensor.rank == 1:
        return scalar
    if layout == "fixed-binary":
        fixed = f"fixed_size_binary[{size}]" if size else "binary"
        return {"pyarrow": fixed, "duckdb": "BLOB", "polars": "Binary"}[reader]
    if not tensor.width:
        return {"pyarrow": f"list<element: {scalar}>", "duckdb": f"{scalar}[]", "polars": f"List({scalar})"}[reader]
    return {
        "pyarrow": f"fixed_size_list<element: {scalar}>[{tensor.width}]",
        "duckdb": f"{scalar}[]",
        "polars": f"Array({scalar}, shape=({tensor.width},))",
    }[reader]


def check_values(bench: Bench, tensor: Tensor, layout: str, path: Path, result: Result, tag: str) -> None:
    """One case for each reader."""
    for name, read in READERS.items():
        with bench.report.case(f"{tensor.name} {tag} read by {name}", result.command):
            result.succeeded()
            column = read(path, "data")
            equal("the column's type", column.kind, expected_kind(name, tensor, layout))
            same_bits(readers.elements(column.values, tensor.dtype, tensor.rows, tensor.width), tensor.values)


def check_product(bench: Bench) -> None:
    """Small inputs × layouts × codecs; the quick run takes every codec of every layout for one shape per rank only."""
    plain = {tensor.name for tensor in tensors.plain()}
    for layout in LAYOUTS:
        with bench.report.group(f"parquet {layout}"):
            for tensor, codec in product(tensors.small(), CODECS):
                if bench.full or tensor.name in plain or codec == "zstd":
                    with bench.folder("parquet") as folder:
                        source, output = tensor.write(folder / f"{tensor.name}.idx"), folder / "out.parquet"
                        result = bench.convert([source], [output], "--layout", layout, "--compression", codec)
                        check_values(bench, tensor, layout, output, result, f"{layout} {codec}")


def check_large(bench: Bench) -> None:
    """Several batches, pages and row groups."""
    with bench.report.group("parquet, several batches"):
        for tensor in tensors.large():
            for layout in LAYOUTS:
                codecs = CODECS if bench.full else ["zstd", "none"] if layout == "list" else ["lz4_raw"]
                for codec in codecs:
                    with bench.folder("parquet") as folder:
                        source, output = tensor.write(folder / f"{tensor.name}.idx"), folder / "out.parquet"
                        result = bench.convert([source], [output], "--layout", f"parquet={layout}", "--compression", f"parquet={codec}")
                        check_values(bench, tensor, layout, output, result, f"{layout} {codec}")


def check_metadata(bench: Bench) -> None:
    """What the footer says of a table of labels and images: by the format's book, and right."""
    images = tensors.make("uint8", (90_001, 7, 9))
    with bench.report.group("parquet metadata"):
        for dtype in ("uint8", "int8", "int16", "int32"):
            for codec in CODECS:
                check_table(bench, images, tensors.labels(images.rows, 10, dtype), codec, "classes")
            # Sorted, so that every row group has bounds of its own, from one limit of the type to the other.
            check_table(bench, images, Tensor(np.sort(tensors.make(dtype, (images.rows,)).values)), "zstd", "sorted")
        check_float_bounds(bench)


def check_table(bench: Bench, images: Tensor, labels: Tensor, codec: str, tag: str) -> None:
    """One case for each part of the footer."""
    with bench.folder("metadata") as folder:
        inputs: list[str | Path] = [f"image={images.write(folder / 'a.idx')}", f"label={labels.write(folder / 'b.idx')}"]
        path = folder / "out.parquet"
        result = bench.convert(inputs, [path], "--compression", codec)
        for look in (check_footer, check_columns, check_label_statistics, check_pushdown):
            with bench.report.case(f"{labels.dtype} {tag}, {codec}, {look.__name__.removeprefix('check_')}", result.command):
                result.succeeded()
                look(path, labels.values, codec)


def check_float_bounds(bench: Bench) -> None:
    """Floats have bounds, unless one of them is a NaN, which has no place in their order."""
    ordered = Tensor(np.linspace(-2.5, 7.25, 64, dtype=np.float32))
    for values, expected in ((ordered, (-2.5, 7.25)), (tensors.make("float32", (64,)), None)):
        with bench.folder("bounds") as folder:
            path = folder / "out.parquet"
            result = bench.convert([values.write(folder / "a.idx")], [path])
            with bench.report.case(f"bounds of floats, {'without' if expected else 'with'} NaN", result.command):
                result.succeeded()
                statistics = pq.ParquetFile(path).metadata.row_group(0).column(0).statistics
                known = statistics is not None and statistics.has_min_max
                equal("the bounds", (statistics.min, statistics.max) if known else None, expected)


def check_footer(path: Path, labels: np.ndarray, _codec: str) -> None:
    """Who wrote it, how many rows, in which row groups."""
    file = pq.ParquetFile(path)
    meta = file.metadata
    if not re.fullmatch(r"idxport version \S+( \(build [^)]*\))?", meta.created_by):
        raise Mismatch(f"created_by is {meta.created_by!r}, expected 'idxport version …' as in the format's specification")
    equal("the number of rows", meta.num_rows, len(labels))
    groups = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
    equal("the sum of the row groups' rows", sum(groups), len(labels))
    if len(groups) < 2:
        raise Mismatch(f"{len(labels)} rows are in one row group, expected several, so that readers can work in parallel")
    equal("the sizes of all row groups but the last", len(set(groups[:-1])), 1)
    if b"ARROW:schema" not in (meta.metadata or {}):
        raise Mismatch("the footer has no ARROW:schema")


def check_columns(path: Path, labels: np.ndarray, codec: str) -> None:
    """Names, codec, offset indexes, sizes; no statistics on pixels."""
    meta = pq.ParquetFile(path).metadata
    for group in range(meta.num_row_groups):
        columns = {meta.row_group(group).column(i).path_in_schema: meta.row_group(group).column(i) for i in range(meta.num_columns)}
        equal("the leaves", sorted(columns), ["image.list.element", "label"])
        for name, column in columns.items():
            equal(f"the codec of {name}", column.compression, CODECS[codec])
            equal(f"the offset index of {name}", column.has_offset_index, True)
        pixels = columns["image.list.element"]
        if pixels.statistics is not None and pixels.statistics.has_min_max:
            raise Mismatch("pixels have bounds, expected none")
        equal("the number of pixel values", pixels.num_values, meta.row_group(group).num_rows * 63)


def check_label_statistics(path: Path, labels: np.ndarray, _codec: str) -> None:
    """Bounds and null counts of each row group's labels, as pyarrow and as DuckDB read them."""
    meta = pq.ParquetFile(path).metadata
    with duckdb.connect() as connection:
        rows = connection.execute(
            "select row_group_id, stats_min_value::bigint, stats_max_value::bigint, stats_null_count from parquet_metadata(?)"
            " where path_in_schema = 'label' order by 1",
            [str(path)],
        ).fetchall()
    start = 0
    for group in range(meta.num_row_groups):
        row_group = meta.row_group(group)
        part = labels[start : start + row_group.num_rows]
        start += row_group.num_rows
        column = next(row_group.column(i) for i in range(meta.num_columns) if row_group.column(i).path_in_schema == "label")
        if column.statistics is None or not column.statistics.has_min_max:
            raise Mismatch(f"row group {group}: the labels have no bounds")
        found = (column.statistics.min, column.statistics.max, column.statistics.null_count)
        equal(f"row group {group}: minimum, maximum and nulls", found, (int(part.min()), int(part.max()), 0))
        equal(f"row group {group} in DuckDB", rows[group], (group, int(part.min()), int(part.max()), 0))
        equal(f"row group {group}: the column index of label", column.has_column_index, True)


def check_pushdown(path: Path, labels: np.ndarray, _codec: str) -> None:
    """A filter on the label, which readers answer with the help of statistics and dictionaries."""
    with duckdb.connect() as connection:
        for label in {0, 77, *(int(label) for label in labels[:: len(labels) // 4])}:
            expected = int((labels == label).sum())
            counted = connection.execute("select count(*) from read_parquet(?) where label = ?", [str(path), label]).fetchone()
            equal(f"DuckDB's number of rows with label {label}", counted, (expected,))
            equal(f"pyarrow's number of rows with label {label}", pq.read_table(path, filters=[("label", "=", label)]).num_rows, expected)


def check(bench: Bench) -> None:
    """All groups of this format."""
    check_product(bench)
    check_large(bench)
    check_metadata(bench)
