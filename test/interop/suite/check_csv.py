"""CSV and TSV in all styles, read by pandas and DuckDB as they infer it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas

from . import tensors
from .bench import Bench, Mismatch, Result, equal, same_numbers, table
from .tensors import Tensor, make

STYLES = ["kaggle", "kaggle1", "rowxcol", "pjreddie", "matrix"]
HEADLESS = STYLES[3:]
READERS = ["pandas", "DuckDB"]


def names_of(tensor: Tensor, style: str) -> list[str]:
    """The header of a table of this one column."""
    shape = tensor.values.shape[1:]
    if not shape:
        return ["data"]
    if style == "rowxcol":
        shape = (1, *shape) if len(shape) == 1 else shape  # a row
        return ["x".join(str(i + 1) for i in index) for index in np.ndindex(shape)]
    return [f"pixel{i + (style == 'kaggle1')}" for i in range(tensor.width)]


def read(path: Path, reader: str, header: bool, kind: str) -> tuple[list[str], np.ndarray]:
    """Names and cells as the reader infers them, unless a kind of numbers is given, which DuckDB is told."""
    separator = "\t" if ".tsv" in path.suffixes else ","
    if reader == "pandas":
        frame = pandas.read_csv(path, header=0 if header else None, sep=separator, float_precision="round_trip")
        return [str(name) for name in frame.columns], frame.to_numpy()
    with duckdb.connect() as connection:
        relation = connection.read_csv(str(path), header=header, sep=separator, sample_size=-1)
        if kind:
            relation = connection.read_csv(str(path), header=header, sep=separator, dtype=[kind] * len(relation.columns))
        names, kinds, cells = list(relation.columns), {str(kind) for kind in relation.types}, relation.to_arrow_table()
    if cells.num_rows and kinds - {"BIGINT", "DOUBLE"}:
        raise Mismatch(f"DuckDB infers the types {sorted(kinds)}, expected numbers")
    equal("nulls", [column.null_count for column in cells.columns if column.null_count], [])
    return names, np.column_stack([column.to_numpy() for column in cells.columns])


def check_table(bench: Bench, what: str, made: Result, path: Path, names: list[str] | None, columns: list[np.ndarray]) -> None:
    """One case for each reader: the header, and the cells of the columns side by side."""
    # DuckDB takes a column for dates if its first value is an infinity: it is told the type.
    misled = any(cells.dtype.kind == "f" and len(cells) and np.isinf(cells[0]).any() for cells in columns)
    for reader in READERS:
        with bench.case(f"{what} {path.name} read by {reader}", made):
            rows, width = len(columns[0]), sum(cells.shape[1] for cells in columns)
            if names is None and not rows * width:
                equal("the file without header and cells", path.read_bytes(), b"")
                continue
            found_names, found = read(path, reader, names is not None, "DOUBLE" if misled else "")
            if names is not None:
                equal("the header", found_names, names)
            equal("the number of rows and columns", found.shape, (rows, width))
            if rows:
                kind = "f" if any(cells.dtype.kind == "f" for cells in columns) else "i"
                equal("the kind of the inferred numbers", found.dtype.kind, kind)
                for cells in columns:
                    same_numbers(found[:, : cells.shape[1]], cells)
                    found = found[:, cells.shape[1] :]


def check_styles(bench: Bench) -> None:
    """Every data type and rank in every style; tabs, gzip and zstd; the quick run takes fewer shapes for styles that are not the default."""
    plain = {tensor.name for tensor in tensors.plain()}
    for style in STYLES:
        for tensor in tensors.small():
            if tensor.width == 0 or not (bench.full or tensor.name in plain or style == "kaggle"):
                continue
            with bench.folder() as folder:
                endings = ["csv", "tsv", "csv.gz", "csv.zst"] if tensor.name in plain and (bench.full or tensor.rank == 3) else ["csv"]
                paths = [folder / f"out.{ending}" for ending in endings]
                made = bench.convert([tensor.write(folder / "a.idx")], [*paths], "--csv-style", style)
                row = style == "matrix" and tensor.rank == 1
                cells = tensor.values.reshape((1, -1) if row else (tensor.rows, tensor.width))
                for path in paths:
                    check_table(bench, f"{tensor.name} {style}", made, path, None if style in HEADLESS else names_of(tensor, style), [cells])


def check_batches(bench: Bench) -> None:
    """Several batches."""
    for tensor in tensors.large():
        if tensor.width < 1000 and (bench.full or tensor.values.size < 2_000_000):
            with bench.folder() as folder:
                made = bench.convert([tensor.write(folder / "a.idx")], [folder / "out.csv"])
                cells = tensor.values.reshape(tensor.rows, tensor.width)
                check_table(bench, tensor.name, made, folder / "out.csv", names_of(tensor, "kaggle"), [cells])


def check_columns(bench: Bench) -> None:
    """Labels come first; with two tensors their columns carry their names. Records of no elements have no cells."""
    images, other = make("int16", (11, 7, 9)), make("float32", (11, 2))
    pixels = images.values.reshape(11, -1)
    with bench.folder() as folder:
        for dtype in tensors.CODES:
            labels = tensors.labels(11, dtype=dtype)
            made = bench.convert(table(folder / dtype, images, labels), [folder / f"{dtype}.csv"])
            names = ["label", *(f"pixel{i}" for i in range(63))]
            check_table(bench, f"{dtype} label", made, folder / f"{dtype}.csv", names, [labels.values.reshape(-1, 1), pixels])
        made = bench.convert(table(folder / "two", None, a=images, b=other), [folder / "two.csv"])
        names = [*(f"a{i}" for i in range(63)), "b0", "b1"]
        check_table(bench, "two tensors", made, folder / "two.csv", names, [pixels, other.values])
        for shape in [(5, 0), (5, 0, 3), (5, 3, 0)]:
            empty, labels = make("uint8", shape), tensors.labels(5)
            inputs = table(folder / empty.name, empty, labels)
            with bench.case(f"{empty.name} beside labels", bench.convert(inputs, [folder / f"{empty.name}.csv"])):
                equal("the file", (folder / f"{empty.name}.csv").read_text(), "\n".join(["label", *map(str, labels.values), ""]))
            for style in STYLES:
                bench.refused(f"{empty.name} as {style}", inputs[:1], "{}/out.csv", "--csv-style", style)
        inputs = table(folder / "matrix", make("uint8", (5, 3, 3)), tensors.labels(5))
        bench.refused("two columns as a matrix", inputs, "{}/out.csv", "--csv-style", "matrix")


GROUPS = {"CSV styles": check_styles, "CSV batches": check_batches, "CSV columns and refusals": check_columns}
