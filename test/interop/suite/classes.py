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

from .stage import Stage, demand, equal, table
from .tensors import Tensor, make

ODD = ["=SUM(A1)", "cat, dog", 'a "b" c', "@Ähre", "+1", "-", "猫", "Zebra", "apple", "it's; so"]
MANY = [f"class {i:05d}" for i in range(1 << 16)]
CODECS = [("--compression", codec) for codec in ("none", "zstd")]

# Names, the type of the labels, rows, the shape of images, and flags: the widths of indices change at 129 and 32,769
# names.
TABLES = [
    ("ten odd names", ODD, "uint8", 70_001, (3, 2), CODECS),
    ("one name", ["only"], "uint8", 9, (3, 2), CODECS),
    ("300 names", MANY[:300], "int16", 5_000, (3, 2), CODECS),
    ("128 names", MANY[:128], "int8", 1_000, None, CODECS),
    ("129 names", MANY[:129], "uint8", 1_000, None, CODECS),
    ("65,536 names", MANY, "int32", 70_000, None, CODECS),
    ("no rows", ODD, "uint8", 0, (3, 2), CODECS),
    ("layouts", ODD, "uint8", 2_500, (5, 4), [("--layout", layout) for layout in NUMERIC]),
]


def check_dictionary(what: str, column: pa.ChunkedArray, names: list[str], labels: np.ndarray) -> None:
    """Indices of the smallest signed type, the dictionary, and every value; and a pandas Categorical of the same."""
    smallest = pa.int8() if len(names) <= 1 << 7 else pa.int16() if len(names) <= 1 << 15 else pa.int32()
    equal(f"{what}: pyarrow's type", column.type, pa.dictionary(smallest, pa.string()))
    equal(f"{what}: nulls", column.null_count, 0)
    if not len(labels):  # Parquet without rows has no row group, and so no dictionary
        return
    for chunk in column.chunks:
        equal(f"{what}: the dictionary", chunk.dictionary.to_pylist(), names)
    indices = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
    demand(np.array_equal(indices, labels), f"{what}: indices differ from the labels")
    series = column.to_pandas()
    equal(f"{what}: pandas' categories", list(series.cat.categories), names)
    demand(np.array_equal(series.cat.codes.to_numpy(), labels), f"{what}: pandas' codes differ from the labels")


def check_polars(what: str, series: polars.Series, expected: list[str]) -> None:
    """A polars Categorical."""
    equal(f"{what}: polars' type", series.dtype, polars.Categorical)
    demand(series.cast(polars.String).to_list() == expected, f"{what}: polars reads other names")


def check_parquet(path: Path, names: list[str], labels: np.ndarray) -> None:
    """All readers of Parquet. DuckDB uses statistics and dictionaries to pass over row groups."""
    what = path.name
    table, expected = pq.read_table(path, page_checksum_verification=True), [names[label] for label in labels]
    check_dictionary(what, table["class"], names, labels)
    equal(f"{what}: the column after the labels", table.column_names[table.column_names.index("label") + 1], "class")
    if len(labels):
        kind = pandas.read_parquet(path)["class"].dtype
        demand(isinstance(kind, pandas.CategoricalDtype), f"{what}: pandas reads no categories")
    check_polars(what, polars.read_parquet(path, columns=["class"])["class"], expected)
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(path)).select("class")
        equal(f"{what}: DuckDB's type", str(relation.types[0]), "VARCHAR")
        demand([row[0] for row in relation.fetchall()] == expected, f"{what}: DuckDB reads other names")
        query = "SELECT count(*) FROM read_parquet(?) WHERE class = ?"
        for label, name in list(enumerate(names))[:20]:
            count = connection.execute(query, [str(path), name]).fetchall()
            equal(f"{what}: DuckDB's count of {name!r}", count, [(int((labels == label).sum()),)])
    filtered = pq.read_table(path, columns=["label"], filters=[("class", "==", names[0])])
    equal(f"{what}: pyarrow's filtered rows", filtered.num_rows, int((labels == 0).sum()))


def check_arrow(path: Path, names: list[str], labels: np.ndarray) -> None:
    """All readers of Arrow files or streams."""
    stream = path.suffix == ".arrows"
    with pa.OSFile(str(path)) as source, (pa.ipc.open_stream if stream else pa.ipc.open_file)(source) as reader:
        check_dictionary(path.name, reader.read_all()["class"], names, labels)
    frame = polars.read_ipc_stream(path) if stream else polars.read_ipc(path, columns=["class"])
    check_polars(path.name, frame["class"], [names[label] for label in labels])


def classes(stage: Stage) -> None:
    """Names of all kinds, by the width of their indices, with images and alone; and in every layout."""
    (stage.folder / "names").mkdir()
    for about, names, dtype, rows, shape, options in TABLES:
        labels = (np.arange(rows, dtype=np.int64) * 7919 % len(names)).astype(dtype)
        list_of_names = stage.folder / "names" / f"{about}.txt"
        list_of_names.write_text("\n".join(names) + "\n", encoding="utf-8")
        inputs = table(stage.folder / about, make("uint8", (rows, *shape)) if shape else None, Tensor(labels))
        for option in options:
            paths = [stage.folder / f"{about}.{option[1]}.{form}" for form in ("parquet", "arrow", "arrows")]
            outputs = [word for path in paths for word in ("-o", path)]
            stage.convert(*inputs, *outputs, "--classes", list_of_names, "--class-column", *option)
            for path in paths:
                check = check_parquet if path.suffix == ".parquet" else check_arrow
                check(path, names, labels)
