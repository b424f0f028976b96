"""The column of class names, read by pyarrow, polars, DuckDB and pandas; --label-column; and what has no place for names, which must be refused."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from . import tensors
from .check_tar import samples
from .command import Bench, nothing_left
from .compare import equal
from .report import Mismatch
from .tensors import Tensor, make

USAGE, BAD_DATA = 64, 65
LAYOUTS = ("list", "nested", "tensor", "fixed-binary", "binary", "spark-image", "columns")
ODD = ["=SUM(A1)", "cat, dog", 'a "b" c', "@Ähre", "+1", "-", "猫", "Zebra", "apple", "it's; so"]


def inputs(folder: Path, labels: Tensor, names: list[str], images: Tensor | None) -> list[str | Path]:
    """The files of a table with names, and the flags that make them a column."""
    (folder / "names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    files: list[str | Path] = [f"label={labels.write(folder / 'b.idx')}"]
    if images is not None:
        files.insert(0, f"image={images.write(folder / 'a.idx')}")
    return [*files, "--classes", folder / "names.txt", "--class-column"]


def index_type(names: int) -> pa.DataType:
    """The smallest signed type that holds the indices of so many names."""
    return pa.int8() if names <= 1 << 7 else pa.int16() if names <= 1 << 15 else pa.int32()


def check_dictionaries(what: str, column: pa.ChunkedArray, names: list[str], labels: np.ndarray) -> None:
    """Type, dictionary, and every value."""
    equal(f"the type of {what}", column.type, pa.dictionary(index_type(len(names)), pa.string()))
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
    """All readers of Parquet; the statistics of every row group."""
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
    check_statistics(path, names, labels)


def check_statistics(path: Path, names: list[str], labels: np.ndarray) -> None:
    """The least and the greatest name of each row group in the order of their UTF-8 bytes."""
    file, first = pq.ParquetFile(path), 0
    leaves = [file.schema.column(i).path for i in range(len(file.schema))]
    for group in range(file.num_row_groups):
        chunk = file.metadata.row_group(group).column(leaves.index("class"))
        present = sorted({names[label] for label in labels[first : first + chunk.num_values]}, key=lambda name: name.encode())
        equal(f"the bounds of row group {group}", (chunk.statistics.min, chunk.statistics.max), (present[0], present[-1]))
        equal(f"the encodings of row group {group}", set(chunk.encodings), {"PLAIN", "RLE_DICTIONARY"})
        first += chunk.num_values
    equal("the rows of all row groups", first, len(labels))


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


def check_csv(path: Path, names: list[str], labels: np.ndarray) -> None:
    """Python's csv, pandas, polars and DuckDB."""
    separator = "\t" if path.suffix == ".tsv" else ","
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=separator, strict=True))
    equal("the header", rows[0][:2], ["label", "class"])
    check_values("csv's column", [row[1] for row in rows[1:]], names, labels)
    equal("csv's labels", [int(row[0]) for row in rows[1:]], labels.tolist())
    if len(labels) == 0:
        return
    text = {"class": str}
    frame = pandas.read_csv(path, sep=separator, dtype=text, keep_default_na=False)
    check_values("pandas' column", frame["class"].tolist(), names, labels)
    frame = polars.read_csv(path, separator=separator, columns=["class"], schema_overrides={"class": polars.String})
    check_values("polars' column", frame["class"].to_list(), names, labels)
    with duckdb.connect() as connection:
        relation = connection.read_csv(str(path), sep=separator, header=True, quotechar='"', escapechar='"', dtype={"class": "VARCHAR"})
        check_values("DuckDB's column", [row[0] for row in relation.select("class").fetchall()], names, labels)


def check_formats(bench: Bench) -> None:
    """Names of all kinds, by the width of their indices, with images and alone."""
    many = [f"class {i:05d}" for i in range(1 << 16)]
    for what, names, dtype, rows, shape in (
        ("ten odd names", ODD, "uint8", 70_001, (3, 2)),
        ("one name", ["only"], "uint8", 9, (3, 2)),
        ("300 names", many[:300], "int16", 5_000, (3, 2)),
        ("128 names", many[:128], "int8", 1_000, None),
        ("129 names", many[:129], "uint8", 1_000, None),
        ("65,536 names", many, "int32", 70_000, None),
        ("no rows", ODD, "uint8", 0, (3, 2)),
    ):
        labels = (np.arange(rows, dtype=np.int64) * 7919 % len(names)).astype(dtype)
        images = make("uint8", (rows, *shape)) if shape else None
        with bench.folder("classes") as folder:
            arguments = inputs(folder, Tensor(labels), names, images)
            outputs = {".parquet": check_parquet, ".arrow": check_arrow, ".arrows": check_arrow, ".csv": check_csv, ".tsv": check_csv}
            for codec in ("none", "zstd"):
                paths = [folder / f"{codec}{ending}" for ending in outputs]
                result = bench.convert(arguments, list(paths), "--compression", codec)
                for path, check_one in zip(paths, outputs.values()):
                    with bench.report.case(f"{what}, {codec}, {path.suffix}", result.command):
                        result.succeeded()
                        check_one(path, names, labels)


def check_layouts(bench: Bench) -> None:
    """The column stands behind the labels in every layout."""
    labels = (np.arange(2_500) % 10).astype("uint8")
    for layout in LAYOUTS:
        with bench.folder("classes") as folder:
            arguments = inputs(folder, Tensor(labels), ODD, make("uint8", (2_500, 5, 4)))
            paths: list[str | Path] = [folder / "out.parquet", folder / "out.arrow"]
            result = bench.convert(arguments, paths, "--layout", layout)
            with bench.report.case(f"layout {layout}", result.command):
                result.succeeded()
                names = pq.read_schema(paths[0]).names
                equal("the column after the labels", names[names.index("label") + 1], "class")
                check_parquet(Path(paths[0]), ODD, labels)
                check_arrow(Path(paths[1]), ODD, labels)


def check_numbers(bench: Bench) -> None:
    """One of several numbers of a label is the label, the others are columns, and IDX stays as it was."""
    image, numbers = make("uint8", (50, 4, 3)), Tensor((np.arange(150).reshape(50, 3) % 7).astype("int16"))
    for chosen in range(3):
        with bench.folder("numbers") as folder:
            files: list[str | Path] = [f"image={image.write(folder / 'a.idx')}", f"label={numbers.write(folder / 'b.idx')}"]
            result = bench.convert(files, [folder / "out.csv", folder / "out.tar", folder / "out.parquet"], "--label-column", str(chosen))
            with bench.report.case(f"number {chosen} of a label", result.command):
                result.succeeded()
                names = ["label" if i == chosen else f"label_{i}" for i in range(3)]
                frame, table = pandas.read_csv(folder / "out.csv"), pq.read_table(folder / "out.parquet")
                equal("the columns of CSV", list(frame.columns[:3]), names)
                equal("the columns of Parquet", table.column_names, ["image", *names])
                for i, name in enumerate(names):
                    equal(f"{name} in CSV", frame[name].tolist(), numbers.values[:, i].tolist())
                    equal(f"{name} in Parquet", table[name].to_pylist(), numbers.values[:, i].tolist())
                found = samples((folder / "out.tar").read_bytes())
                equal("the labels of tar", [int(sample["cls"]) for sample in found.values()], numbers.values[:, chosen].tolist())


def check_refusals(bench: Bench) -> None:
    """Exit code, an explanation with a hint, and an unchanged folder."""
    labels, images = tensors.labels(5), make("uint8", (5, 4, 3))
    for what, names, output, flags, status in (
        ("huggingface has no column of names", ODD, "out.parquet", ["--layout", "huggingface"], USAGE),
        ("pjreddie has no header", ODD, "out.csv", ["--csv-style", "pjreddie"], USAGE),
        ("tar has no names", ODD, "out.tar", [], USAGE),
        ("a label without a name", ODD[:1], "out.parquet", [], BAD_DATA),
    ):
        with bench.folder("refused") as folder:
            arguments = inputs(folder, labels, names, images)
            result = bench.convert(arguments, [folder / output], *flags)
            with bench.report.case(what, result.command):
                result.exited(status)
                nothing_left(folder, *(folder / name for name in ("a.idx", "b.idx", "names.txt")))


def check(bench: Bench) -> None:
    """All groups."""
    with bench.report.group("class names"):
        check_formats(bench)
    with bench.report.group("class names in layouts"):
        check_layouts(bench)
    with bench.report.group("numbers of a label"):
        check_numbers(bench)
    with bench.report.group("class name refusals"):
        check_refusals(bench)
