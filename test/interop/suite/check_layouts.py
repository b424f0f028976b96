"""The other layouts of tensors: their types and values as the programs that they are made for see them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from . import check_parquet, readers, tensors
from .command import Bench
from .compare import equal, same_bits
from .report import Mismatch
from .tensors import Tensor, make


def arrow_column(path: Path, name: str) -> pa.Array:
    """The column by pyarrow, from Parquet or an IPC file."""
    if path.suffix == ".parquet":
        return readers.one_chunk(pq.read_table(path, page_checksum_verification=True).column(name))
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
        return readers.one_chunk(reader.read_all().column(name))


def check_nested(path: Path, tensor: Tensor) -> None:
    """One fixed-size list per dimension of the record; DuckDB and polars see the same."""
    column = arrow_column(path, "image")
    kind = str(readers.ARROW_TYPES[tensor.dtype])
    for size in reversed(tensor.values.shape[1:]):
        kind = f"fixed_size_list<element: {kind}>[{size}]"
    equal("the type", str(column.type), kind)
    same_bits(readers.elements(column, tensor.dtype, tensor.rows, tensor.width), tensor.values)
    frame = polars.read_parquet(path) if path.suffix == ".parquet" else polars.read_ipc(path)
    equal("polars' shape", frame["image"].to_numpy().shape, tensor.values.shape)
    same_bits(frame["image"].to_numpy(), tensor.values)
    if path.suffix == ".parquet":
        with duckdb.connect() as connection:
            relation = connection.read_parquet(str(path)).select("image")
            kind, rows = str(relation.types[0]), relation.fetchall()
        equal("DuckDB's type", kind, readers.DUCKDB_TYPES[tensor.dtype] + "[]" * (tensor.rank - 1))
        found = np.array([row[0] for row in rows], tensor.dtype).reshape(tensor.values.shape)
        equal("DuckDB's values", np.array_equal(found, tensor.values, equal_nan=tensor.dtype.startswith("float")), True)


def check_tensor(path: Path, tensor: Tensor) -> None:
    """Arrow's canonical extension for tensors of one shape."""
    column = arrow_column(path, "image")
    equal("the extension", getattr(column.type, "extension_name", None), "arrow.fixed_shape_tensor")
    equal("the record's shape", list(column.type.shape), list(tensor.values.shape[1:]))
    found = column.to_numpy_ndarray()
    equal("the shape", found.shape, tensor.values.shape)
    same_bits(found, tensor.values)


def check_binary(path: Path, tensor: Tensor) -> None:
    """Bytes in little-endian order."""
    column = arrow_column(path, "image")
    equal("the type", str(column.type), "binary")
    same_bits(readers.elements(column, tensor.dtype, tensor.rows, tensor.width), tensor.values)


def check_columns(path: Path, tensor: Tensor) -> None:
    """One column per element, beside the label."""
    table = pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(pa.OSFile(str(path))).read_all()
    names = [name for name in table.column_names if name != "label"]
    equal("the names", names, [f"pixel{i}" for i in range(tensor.width)])
    found = np.stack([readers.elements(readers.one_chunk(table.column(name)), tensor.dtype, tensor.rows, 1) for name in names], axis=1)
    same_bits(found, tensor.values)


def check_huggingface(path: Path, tensor: Tensor) -> None:
    """A struct of an encoded PNG and a path, and the features in the schema."""
    column = arrow_column(path, "image")
    equal("the type", str(column.type), "struct<bytes: binary, path: string>")
    for row, value in enumerate(column.to_pylist()):
        with Image.open(io.BytesIO(value["bytes"])) as picture:
            equal(f"row {row}", np.array_equal(np.asarray(picture), tensor.values[row]), True)
    label = arrow_column(path, "label")
    equal("the label's type", str(label.type), "int64")
    schema = pq.read_schema(path) if path.suffix == ".parquet" else pa.ipc.open_file(pa.OSFile(str(path))).schema
    equal("the key huggingface is there", b"huggingface" in (schema.metadata or {}), True)


def check_spark_image(path: Path, tensor: Tensor) -> None:
    """Spark's ImageSchema: OpenCV's modes (CV_8UC1 = 0, CV_8UC3 = 16, CV_8UC4 = 24), colours in the order blue, green, red."""
    column = arrow_column(path, "image")
    channels = tensor.values.shape[3] if tensor.rank == 4 else 1
    for row, value in enumerate(column.to_pylist()):
        shape = (value["height"], value["width"], value["nChannels"])
        equal(f"the size of row {row}", shape, (*tensor.values.shape[1:3], channels))
        equal(f"the mode of row {row}", value["mode"], {1: 0, 3: 16, 4: 24}[channels])
        pixels = np.frombuffer(value["data"], np.uint8).reshape(shape)
        if channels > 1:
            pixels = pixels[..., [2, 1, 0, 3][:channels]]
        equal(f"row {row}", np.array_equal(pixels.reshape(tensor.values[row].shape), tensor.values[row]), True)


NUMERIC = [make(dtype, shape) for dtype in tensors.CODES for shape in [(11, 7, 9), (3, 5, 7, 3)]]
# Besides: rank 2, no rows, one row, and records whose repetition levels take the most bytes.
MORE = [*NUMERIC, *(make(dtype, shape) for dtype in tensors.CODES for shape in [(5, 13), (0, 7, 9), (1, 1, 1), (3, 32, 32, 3)])]
PICTURES = [make("uint8", (11, 7, 9)), make("uint8", (11, 28, 28)), make("uint8", (3, 5, 7, 3))]
LAYOUTS: dict[str, tuple[Callable[[Path, Tensor], None], list[Tensor]]] = {
    "nested": (check_nested, MORE),
    "tensor": (check_tensor, MORE),
    "binary": (check_binary, NUMERIC),
    "columns": (check_columns, [*MORE, make("uint8", (24_001, 3, 5))]),
    "huggingface": (check_huggingface, PICTURES),
    "spark-image": (check_spark_image, PICTURES),
}


def offered(bench: Bench) -> set[str]:
    """The layouts that the binary's table of layouts lists."""
    lines = iter(bench.run("formats").stdout.decode().splitlines())
    if not any(line.startswith("LAYOUT") for line in lines):
        raise Mismatch("idxport formats has no line that begins with LAYOUT")
    names = set()
    for line in lines:
        if not line.strip():
            break
        names.add(line.split()[0])
    return names


def check_layout(bench: Bench, layout: str) -> None:
    """Every input of the layout beside labels, in Parquet and in Arrow."""
    look, inputs = LAYOUTS[layout]
    for tensor in inputs:
        with bench.folder("layout") as folder:
            labels = tensors.labels(tensor.rows)
            sources: list[str | Path] = [f"image={tensor.write(folder / 'a.idx')}", f"label={labels.write(folder / 'b.idx')}"]
            for suffix in (".parquet", ".arrow"):
                path = folder / f"out{suffix}"
                result = bench.convert(sources, [path], "--layout", layout)
                with bench.report.case(f"{tensor.name} {layout} {suffix}", result.command):
                    result.succeeded()
                    look(path, tensor)


def check(bench: Bench) -> None:
    """One group for each layout that the binary offers; every layout that it offers must be known here."""
    names: set[str] = set()
    with bench.report.group("layouts offered"), bench.report.case("idxport formats"):
        names = offered(bench)
        equal("the layouts without a test", sorted(names - LAYOUTS.keys() - set(check_parquet.LAYOUTS)), [])
        equal("the layouts of check_parquet that are missing", sorted(set(check_parquet.LAYOUTS) - names), [])
    for layout in LAYOUTS.keys() & names:
        with bench.report.group(f"layout {layout}"):
            check_layout(bench, layout)
