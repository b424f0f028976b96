"""The column of class names, read by pyarrow, polars, DuckDB and pandas."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from matrix.corpus import NUMERIC

from .bench import Bench, Mismatch, equal, table
from .tensors import Tensor, make

ODD = ["=SUM(A1)", "cat, dog", 'a "b" c', "@Ähre", "+1", "-", "猫", "Zebra", "apple", "it's; so"]


def named(folder: Path, names: list[str], labels: np.ndarray, image: Tensor | None) -> list[str | Path]:
    """The files of a table with names, and the flags that make them a column."""
    (folder / "names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    return [*table(folder, image, Tensor(labels)), "--classes", folder / "names.txt", "--class-column"]


def check_dictionaries(what: str, column: pa.ChunkedArray, names: list[str], labels: np.ndarray) -> None:
    """Indices of the smallest signed type, the dictionary, and every value."""
    smallest = pa.int8() if len(names) <= 1 << 7 else pa.int16() if len(names) <= 1 << 15 else pa.int32()
    equal(f"the type of {what}", column.type, pa.dictionary(smallest, pa.string()))
    equal(f"nulls of {what}", column.null_count, 0)
    for chunk in column.chunks:
        if len(labels):  # Parquet without rows has no row group, and so no dictionary
            equal(f"the dictionary of {what}", chunk.dictionary.to_pylist(), names)
    indices = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks] or [np.empty(0, np.int8)])
    if not np.array_equal(indices, labels):
        raise Mismatch(f"{what}: indices differ from the labels")


def check_values(what: str, found: list[str], names: list[str], labels: np.ndarray) -> None:
    """Every value, as text."""
    expected = [names[label] for label in labels]
    if found != expected:
        row = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), min(len(found), len(expected)))
        raise Mismatch(f"{what}: {len(found)} names, expected {len(expected)}; they differ from row {row} on")


def check_categories(what: str, series: pandas.Series, names: list[str], labels: np.ndarray) -> None:
    """A pandas Categorical whose codes are the labels."""
    if not isinstance(series.dtype, pandas.CategoricalDtype):
        raise Mismatch(f"{what} is {series.dtype}, expected a categorical")
    equal(f"the categories of {what}", list(series.cat.categories), names)
    if not np.array_equal(series.cat.codes.to_numpy(), labels):
        raise Mismatch(f"{what}: codes differ from the labels")


def check_polars(what: str, series: polars.Series, names: list[str], labels: np.ndarray) -> None:
    """A polars Categorical."""
    equal(f"the type of {what}", series.dtype, polars.Categorical)
    check_values(what, series.cast(polars.String).to_list(), names, labels)


def check_parquet(path: Path, names: list[str], labels: np.ndarray) -> None:
    """All readers of Parquet."""
    table = pq.read_table(path, columns=["label", "class"], page_checksum_verification=True)
    check_dictionaries("pyarrow's column", table["class"], names, labels)
    if len(labels):  # pandas has no categories of a column without chunks
        check_categories("pandas' column", pandas.read_parquet(path, columns=["class"])["class"], names, labels)
    check_polars("polars' column", polars.read_parquet(path, columns=["class"])["class"], names, labels)
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(path)).select("class")
        equal("DuckDB's type", str(relation.types[0]), "VARCHAR")
        check_values("DuckDB's column", [row[0] for row in relation.fetchall()], names, labels)
        for label, name in list(enumerate(names))[:20]:  # uses statistics and dictionaries to pass over row groups
            count = connection.execute("SELECT count(*) FROM read_parquet(?) WHERE class = ?", [str(path), name]).fetchall()[0][0]
            equal(f"DuckDB's count of {name!r}", count, int((labels == label).sum()))
    equal("pyarrow's filtered rows", pq.read_table(path, columns=["label"], filters=[("class", "==", names[0])]).num_rows, int((labels == 0).sum()))


def check_arrow(path: Path, names: list[str], labels: np.ndarray) -> None:
    """All readers of Arrow files or streams."""
    stream = path.suffix == ".arrows"
    with pa.OSFile(str(path)) as source, (pa.ipc.open_stream if stream else pa.ipc.open_file)(source) as reader:
        table = reader.read_all()
    check_dictionaries("pyarrow's column", table["class"], names, labels)
    if len(labels):
        check_categories("pandas' column", table.select(["class"]).to_pandas()["class"], names, labels)
    frame = polars.read_ipc_stream(path) if stream else polars.read_ipc(path, columns=["class"])
    check_polars("polars' column", frame["class"], names, labels)


def check_formats(bench: Bench) -> None:
    """Names of all kinds, by the width of their indices, with images and alone; and in every layout, where the column
    follows the labels."""
    many = [f"class {i:05d}" for i in range(1 << 16)]
    outputs = {".parquet": check_parquet, ".arrow": check_arrow, ".arrows": check_arrow}
    everything, binary = tuple(outputs), (".parquet", ".arrow")
    flags = [("--compression", codec) for codec in ("none", "zstd")]
    for what, names, dtype, rows, shape, endings, options in (
        ("ten odd names", ODD, "uint8", 70_001, (3, 2), everything, flags),
        ("one name", ["only"], "uint8", 9, (3, 2), everything, flags),
        ("300 names", many[:300], "int16", 5_000, (3, 2), everything, flags),
        ("128 names", many[:128], "int8", 1_000, None, everything, flags),
        ("129 names", many[:129], "uint8", 1_000, None, everything, flags),
        ("65,536 names", many, "int32", 70_000, None, everything, flags),
        ("no rows", ODD, "uint8", 0, (3, 2), everything, flags),
        ("layouts", ODD, "uint8", 2_500, (5, 4), binary, [("--layout", layout) for layout in NUMERIC]),
    ):
        labels = (np.arange(rows, dtype=np.int64) * 7919 % len(names)).astype(dtype)
        for option in options:
            with bench.folder("classes") as folder:
                paths = [folder / f"out{ending}" for ending in endings]
                made = bench.convert(named(folder, names, labels, make("uint8", (rows, *shape)) if shape else None), [*paths], *option)
                for path in paths:
                    with bench.case(f"{what}, {option[1]}, {path.suffix}", made):
                        outputs[path.suffix](path, names, labels)
                        if path.suffix == ".parquet":
                            found = pq.read_schema(path).names
                            equal("the column after the labels", found[found.index("label") + 1], "class")


GROUPS = {"class names": check_formats}
