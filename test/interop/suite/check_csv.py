"""CSV and TSV in all styles, read by pandas and DuckDB with the types that they infer."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import numpy as np
import pandas

from . import tensors
from .bench import ROOT, Bench, Mismatch, equal, same_numbers
from .tensors import Tensor

STYLES = ["kaggle", "kaggle1", "rowxcol", "pjreddie", "matrix"]
HEADLESS = STYLES[3:]
READERS = ["pandas", "DuckDB"]
# sha256 of the files of https://pjreddie.com/projects/mnist-in-csv/
MNIST = {
    "train": "fb60bc58af4dac3554e394af262b3184479833d3cc540ff8783f274b73492d5d",
    "test": "51c292478d94ec3a01461bdfa82eb0885d262eb09e615679b2d69dedb6ad09e7",
}


def names_of(tensor: Tensor, style: str) -> list[str]:
    """The header of a table of this one column."""
    shape = tensor.values.shape[1:]
    if not shape:
        return ["data"]
    if style == "rowxcol":
        shape = (1, *shape) if len(shape) == 1 else shape  # a vector is one row
        return ["x".join(str(i + 1) for i in index) for index in np.ndindex(shape)]
    return [f"pixel{i + (style == 'kaggle1')}" for i in range(tensor.width)]


def read(path: Path, reader: str, header: bool, kind: str) -> tuple[list[str], np.ndarray]:
    """Names and cells with the types that the reader infers; DuckDB is given a type of all columns if there is one."""
    separator = "\t" if ".tsv" in path.suffixes else ","
    if reader == "pandas":
        frame = pandas.read_csv(path, header=0 if header else None, sep=separator, float_precision="round_trip")
        return [str(name) for name in frame.columns], frame.to_numpy()
    with duckdb.connect() as connection:
        relation = connection.read_csv(str(path), header=header, sep=separator, sample_size=-1)
        if kind:
            types = [kind] * len(relation.columns)
            relation = connection.read_csv(str(path), header=header, sep=separator, dtype=types)
        names, kinds, cells = list(relation.columns), {str(kind) for kind in relation.types}, relation.to_arrow_table()
    if cells.num_rows and kinds - {"BIGINT", "DOUBLE"}:
        raise Mismatch(f"DuckDB infers the types {sorted(kinds)}, expected numbers")
    equal("nulls", [column.null_count for column in cells.columns if column.null_count], [])
    return names, np.column_stack([column.to_numpy() for column in cells.columns])


def check_table(path: Path, reader: str, names: list[str] | None, cells: np.ndarray) -> None:
    """The header, if there is one, and the cells."""
    if names is None and not cells.size:
        equal("the file without header and cells", path.read_bytes(), b"")
        return
    # DuckDB infers dates for a column whose first value is an infinity: it is given the type.
    misled = cells.dtype.kind == "f" and len(cells) > 0 and bool(np.isinf(cells[0]).any())
    found_names, found = read(path, reader, names is not None, "DOUBLE" if misled else "")
    if names is not None:
        equal("the header", found_names, names)
    equal("the number of rows and columns", found.shape, cells.shape)
    if len(cells):
        equal("the kind of the inferred numbers", found.dtype.kind, "f" if cells.dtype.kind == "f" else "i")
        same_numbers(found, cells)


def check_styles(bench: Bench) -> None:
    """Every data type and rank in every style, several batches; tabs, gzip and zstd. The quick run takes fewer shapes
    for styles that are not the default."""
    plain = {tensor.name for tensor in tensors.plain()}
    large = [tensor for tensor in tensors.large() if tensor.width < 1000 and (bench.full or tensor.values.size < 2_000_000)]
    for style in STYLES:
        for tensor in [*tensors.small(), *(large if style == "kaggle" else [])]:
            if tensor.width == 0 or not (bench.full or tensor.name in plain or style == "kaggle"):
                continue
            with bench.folder() as folder:
                packed = tensor.name in plain and (bench.full or tensor.rank == 3)
                paths = [folder / f"out.{ending}" for ending in (["csv", "tsv", "csv.gz", "csv.zst"] if packed else ["csv"])]
                made = bench.convert([tensor.write(folder / "a.idx")], [*paths], "--csv-style", style)
                row = style == "matrix" and tensor.rank == 1
                cells = tensor.values.reshape((1, -1) if row else (tensor.rows, tensor.width))
                for path in paths:
                    for reader in READERS:
                        with bench.case(f"{tensor.name} {style} {path.name} read by {reader}", made):
                            check_table(path, reader, None if style in HEADLESS else names_of(tensor, style), cells)


def check_mnist(bench: Bench) -> None:
    """MNIST as CSV is byte for byte what others have published. It is fetched by `make data`."""
    with bench.folder() as folder:
        made = bench.convert([ROOT / "data/mnist"], [folder / "mnist-{split}.csv"], "--csv-style", "pjreddie")
        for split, digest in MNIST.items():
            with bench.case(f"mnist-{split}.csv", made):
                equal("the sha256", hashlib.sha256((folder / f"mnist-{split}.csv").read_bytes()).hexdigest(), digest)


GROUPS = {"CSV styles": check_styles}
if (ROOT / "data/mnist").is_dir():
    GROUPS["MNIST as published CSV"] = check_mnist
