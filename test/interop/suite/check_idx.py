"""IDX: compressed inputs, compressed outputs, published names, standard input."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from . import readers, tensors
from .command import Bench, Result
from .compare import equal, same_bits, same_bytes
from .tensors import Tensor

SUFFIXES = {"uint8": "ubyte", "int8": "byte", "int16": "short", "int32": "int", "float32": "float", "float64": "double"}


def check_inputs(bench: Bench) -> None:
    """Every dtype × rank × compression of the input comes back as the same IDX file and the same Arrow column."""
    for tensor, compression in product(tensors.plain(), tensors.COMPRESSIONS):
        with bench.folder("input") as folder:
            source = tensor.write(folder / f"{tensor.name}.idx{compression}", compression)
            outputs: list[str | Path] = [folder / "out.idx", folder / "out.arrow"]
            result = bench.convert([source], outputs)
            with bench.report.case(f"{tensor.name} from {compression or 'raw'} to IDX", result.command):
                result.succeeded()
                same_bytes("the IDX file", (folder / "out.idx").read_bytes(), tensor.idx())
            with bench.report.case(f"{tensor.name} from {compression or 'raw'} to Arrow", result.command):
                result.succeeded()
                column = readers.pyarrow_file(folder / "out.arrow", "data")
                same_bits(readers.elements(column.values, tensor.dtype, tensor.rows, tensor.width), tensor.values)


def check_stdin(bench: Bench) -> None:
    """The same through a pipe, where compression is told by content alone."""
    for tensor, compression in product(tensors.plain(), tensors.COMPRESSIONS):
        if not bench.full and tensor.rank != 3:
            continue
        with bench.folder("stdin") as folder:
            data = tensors.COMPRESSIONS[compression](tensor.idx())
            result = bench.convert(["-"], [folder / "out.idx"], stdin=data)
            with bench.report.case(f"{tensor.name} {compression or 'raw'} on standard input", result.command):
                result.succeeded()
                same_bytes("the IDX file", (folder / "out.idx").read_bytes(), tensor.idx())


def check_file(bench: Bench, tensor: Tensor, path: Path, result: Result) -> None:
    """The array and the very bytes."""
    with bench.report.case(f"{tensor.name} to {path.name}", result.command):
        result.succeeded()
        values, data = readers.idx_file(path)
        equal("the shape", values.shape, tensor.values.shape)
        same_bits(values, tensor.values)
        same_bytes("the IDX file", data, tensor.idx())


def check_outputs(bench: Bench) -> None:
    """Raw, gzip and zstd outputs, and a published name."""
    for tensor in [*tensors.small(), *tensors.large()]:
        with bench.folder("idx") as folder:
            source = tensor.write(folder / f"{tensor.name}.idx")
            published = f"made-images-idx{tensor.rank}-{SUFFIXES[tensor.dtype]}"
            paths = [folder / name for name in ("out.idx", "out.idx.gz", "out.idx.zst", published, f"{published}.gz")]
            outputs: list[str | Path] = [*paths]
            result = bench.convert([source], outputs)
            for path in paths:
                check_file(bench, tensor, path, result)


def check(bench: Bench) -> None:
    """All groups of this format."""
    with bench.report.group("idx inputs, every compression"):
        check_inputs(bench)
    with bench.report.group("idx on standard input"):
        check_stdin(bench)
    with bench.report.group("idx outputs"):
        check_outputs(bench)
