"""CSV: five styles, read by pandas and DuckDB as they infer it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from . import readers, tensors
from .command import Bench, Result, nothing_left
from .compare import equal, same_numbers
from .tensors import Tensor

STYLES = ["kaggle", "kaggle1", "rowxcol", "pjreddie", "matrix"]
READERS = ["pandas", "duckdb"]


def expected_names(tensor: Tensor, style: str) -> list[str] | None:
    """The header of a table of this one column; None if the style has none."""
    shape = tensor.values.shape[1:]
    if style in ("pjreddie", "matrix"):
        return None
    if not shape:
        return ["data"]
    if style == "rowxcol":
        shape = (1, *shape) if len(shape) == 1 else shape  # a row
        return ["x".join(str(i + 1) for i in index) for index in np.ndindex(shape)]
    first = 0 if style == "kaggle" else 1
    return [f"pixel{first + i}" for i in range(tensor.width)]


def read(path: Path, reader: str, header: bool, separator: str, cells: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names and cells as the reader infers them. DuckDB takes a column for dates if its first value is an infinity: it is told the type."""
    if reader == "pandas":
        return readers.pandas_csv(path, header, separator)
    misled = len(cells) > 0 and cells.dtype.kind == "f" and bool(np.isinf(cells[0]).any())
    return readers.duckdb_csv(path, header, separator, ["DOUBLE"] * cells.shape[1] if misled else None)


def check_table(path: Path, reader: str, separator: str, names: list[str] | None, cells: np.ndarray) -> None:
    """Names and cells, as the reader infers them."""
    if names is None and cells.size == 0:
        equal("the file without header and cells", path.read_bytes(), b"")
        return
    found_names, found = read(path, reader, names is not None, separator, cells)
    if names is not None:
        equal("the header", found_names, names)
    if len(cells):
        kind = "f" if cells.dtype.kind == "f" else "i"
        equal("the kind of the inferred numbers", found.dtype.kind, kind)
        same_numbers(found, cells)
    else:
        equal("the number of rows", len(found), 0)


def check_style(bench: Bench, tensor: Tensor, style: str, result: Result, path: Path) -> None:
    """One case for each reader."""
    matrix_row = style == "matrix" and tensor.rank == 1
    cells = tensor.values.reshape(1, -1) if matrix_row else tensor.values.reshape(tensor.rows, tensor.width)
    for reader in READERS:
        with bench.report.case(f"{tensor.name} {style} {''.join(path.suffixes)} read by {reader}", result.command):
            result.succeeded()
            check_table(path, reader, "\t" if ".tsv" in path.suffixes else ",", expected_names(tensor, style), cells)


def check_styles(bench: Bench) -> None:
    """Every dtype and rank with at least one element a record, in every style; the quick run takes fewer shapes."""
    plain = {tensor.name for tensor in tensors.plain()}
    for style in STYLES:
        with bench.report.group(f"csv {style}"):
            for tensor in tensors.small():
                if tensor.width == 0:
                    continue  # such records have no cells: see check_no_elements
                if bench.full or tensor.name in plain or style == "kaggle":
                    with bench.folder("csv") as folder:
                        path = folder / "out.csv"
                        result = bench.convert([tensor.write(folder / f"{tensor.name}.idx")], [path], "--csv-style", style)
                        check_style(bench, tensor, style, result, path)


def check_files(bench: Bench) -> None:
    """Tabs, gzip and zstd, and files of several batches."""
    inputs = [tensor for tensor in tensors.plain() if bench.full or tensor.rank == 3]
    big = [tensor for tensor in tensors.large() if tensor.width < 1000 and (bench.full or tensor.values.size < 2_000_000)]
    for tensor in inputs + big:
        with bench.folder("csv") as folder:
            source = tensor.write(folder / f"{tensor.name}.idx")
            paths = [folder / name for name in ("out.csv", "out.tsv", "out.csv.gz", "out.csv.zst")]
            outputs: list[str | Path] = [*paths]
            result = bench.convert([source], outputs)
            for path in paths if tensor in inputs or bench.full else paths[:1]:
                check_style(bench, tensor, "kaggle", result, path)


def check_labels(bench: Bench) -> None:
    """Labels come first, whatever the order of the inputs; with two tensors their columns carry their names."""
    images, other = tensors.make("int16", (11, 7, 9)), tensors.make("float32", (11, 2))
    for dtype in tensors.CODES:
        labels = tensors.labels(11, dtype=dtype)
        with bench.folder("labels") as folder:
            inputs: list[str | Path] = [f"image={images.write(folder / 'a.idx')}", f"label={labels.write(folder / 'b.idx')}"]
            path = folder / "out.csv"
            result = bench.convert(inputs, [path])
            for reader in READERS:
                with bench.report.case(f"{dtype} label before int16 image, read by {reader}", result.command):
                    result.succeeded()
                    names, cells = read(path, reader, True, ",", images.values)
                    equal("the header", names, ["label", *(f"pixel{i}" for i in range(63))])
                    same_numbers(cells[:, :1], labels.values.reshape(-1, 1))
                    same_numbers(cells[:, 1:], images.values.reshape(11, -1))
    with bench.folder("labels") as folder:
        path = folder / "out.csv"
        result = bench.convert([f"a={images.write(folder / 'a.idx')}", f"b={other.write(folder / 'b.idx')}"], [path])
        for reader in READERS:
            with bench.report.case(f"two tensors, read by {reader}", result.command):
                result.succeeded()
                names, cells = read(path, reader, True, ",", images.values)
                equal("the header", names, [f"a{i}" for i in range(63)] + ["b0", "b1"])
                same_numbers(cells[:, :63], images.values.reshape(11, -1))
                same_numbers(cells[:, 63:], other.values.reshape(11, -1))


def check_no_elements(bench: Bench) -> None:
    """Records of no elements have no cells: beside a label, only the label remains, and alone they make no table."""
    for shape in [(5, 0), (5, 0, 3), (5, 3, 0)]:
        images, labels = tensors.make("uint8", shape), tensors.labels(5)
        with bench.folder("empty") as folder:
            path = folder / "out.csv"
            result = bench.convert([f"image={images.write(folder / 'a.idx')}", f"label={labels.write(folder / 'b.idx')}"], [path])
            with bench.report.case(f"{images.name} beside labels", result.command):
                result.succeeded()
                text = "label\n" + "".join(f"{label}\n" for label in labels.values)
                equal("the file", path.read_text(), text)
        for style in STYLES:
            check_refusal(bench, [images], style)


def check_refusal(bench: Bench, columns: list[Tensor], style: str) -> None:
    """What the style has no place for is a usage error, and leaves nothing."""
    with bench.folder("refused") as folder:
        sources = [column.write(folder / f"c{i}.idx") for i, column in enumerate(columns)]
        result = bench.convert([f"{source.stem}={source}" for source in sources], [folder / "out.csv"], "--csv-style", style)
        with bench.report.case(f"{' and '.join(column.name for column in columns)} as {style}", result.command):
            result.exited(64)
            nothing_left(folder, *sources)


def check(bench: Bench) -> None:
    """All groups of this format."""
    check_styles(bench)
    with bench.report.group("csv files"):
        check_files(bench)
    with bench.report.group("csv tables"):
        check_labels(bench)
        check_no_elements(bench)
        check_refusal(bench, [tensors.make("uint8", (5, 3, 3)), tensors.labels(5)], "matrix")  # a matrix has one column
