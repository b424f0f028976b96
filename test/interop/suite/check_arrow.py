"""Arrow IPC files and streams, read by pyarrow and polars."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pyarrow as pa

from . import readers, tensors
from .check_parquet import expected_kind
from .command import Bench, Result
from .compare import equal, same_bits
from .tensors import Tensor

READERS = {
    ".arrow": {"pyarrow": readers.pyarrow_file, "polars": readers.polars_file},
    ".feather": {"pyarrow": readers.pyarrow_file, "polars": readers.polars_file},
    ".arrows": {"pyarrow": readers.pyarrow_stream, "polars": readers.polars_stream},
}
CODECS = ["none", "zstd", "lz4"]


def check_values(bench: Bench, tensor: Tensor, layout: str, path: Path, result: Result, tag: str) -> None:
    """One case for each reader of this kind of file."""
    for name, read in READERS[path.suffix].items():
        with bench.report.case(f"{tensor.name} {path.suffix} {tag} read by {name}", result.command):
            result.succeeded()
            column = read(path, "data")
            equal("the column's type", column.kind, expected_kind(name, tensor, layout))
            same_bits(readers.elements(column.values, tensor.dtype, tensor.rows, tensor.width), tensor.values)


def check_case(bench: Bench, tensor: Tensor, layout: str, codec: str) -> None:
    """One input in all three kinds of file."""
    with bench.folder("arrow") as folder:
        source = tensor.write(folder / f"{tensor.name}.idx")
        outputs: list[str | Path] = [folder / f"out{suffix}" for suffix in READERS]
        result = bench.convert([source], outputs, "--layout", layout, "--compression", codec)
        for suffix in READERS:
            check_values(bench, tensor, layout, folder / f"out{suffix}", result, f"{layout} {codec}")


def check_schema(bench: Bench) -> None:
    """The fields' metadata say where the column came from, and every batch is valid by pyarrow's full check."""
    for tensor in tensors.plain():
        with bench.folder("schema") as folder:
            path = folder / "out.arrow"
            result = bench.convert([tensor.write(folder / f"{tensor.name}.idx")], [path])
            with bench.report.case(f"{tensor.name} schema and validity", result.command):
                result.succeeded()
                with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
                    table = reader.read_all()
                table.validate(full=True)
                metadata = table.schema.field("data").metadata or {}
                equal("the field's idx.dtype is there", b"idx.dtype" in metadata, True)
                equal("the field's idx.shape is there", b"idx.shape" in metadata, True)


def check(bench: Bench) -> None:
    """All groups of this format."""
    for layout in ("list", "fixed-binary"):
        with bench.report.group(f"arrow {layout}"):
            for tensor, codec in product(tensors.small(), CODECS if bench.full else ["none"]):
                check_case(bench, tensor, layout, codec)
    with bench.report.group("arrow codecs"):
        for tensor, codec in product(tensors.plain(), CODECS[1:]):
            check_case(bench, tensor, "list", codec)
    with bench.report.group("arrow, several batches"):
        for tensor in tensors.large():
            check_case(bench, tensor, "list", "none")
    with bench.report.group("arrow schema"):
        check_schema(bench)
