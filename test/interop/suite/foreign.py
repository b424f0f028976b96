"""What other programs write: tables of images and labels, by the programs themselves, with what they hold."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from PIL import Image

from .bench import equal
from .tensors import Tensor, make, numbers

Written = tuple[list[Path], Tensor, Tensor]  # inputs of idxport, and the images and labels that they hold

IMAGES = make("uint8", (40, 28, 28))
PIXELS = IMAGES.values.reshape(40, -1)
LABELS = numbers(40)
WIDE = Tensor(LABELS.values.astype("int32"))  # labels of int64, which IDX has not, become int
LISTS = pa.array(PIXELS.tolist(), pa.list_(pa.uint8()))
FIXED = pa.array(PIXELS.tolist(), pa.list_(pa.uint8(), 784))


def png(pixels: np.ndarray) -> bytes:
    """The image as Pillow writes it."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def torchvision_tree(folder: Path) -> Written:
    """Class folders by name with files of arbitrary names: rows and labels as ImageFolder counts them."""
    names = ["ankle boot", "Bag", "coat", "été"]
    rows = sorted((names[i % 4], f"img_{(i * 37) % 101}-{'ab'[i % 2]}.png", i) for i in range(40))
    for name, file, i in rows:
        (folder / "tree" / name).mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name / file).write_bytes(png(IMAGES.values[i]))
    indices = np.array([sorted(names).index(name) for name, _, _ in rows], "uint8")
    return [folder / "tree"], Tensor(IMAGES.values[[i for _, _, i in rows]]), Tensor(indices)


def numpy_saved(folder: Path) -> Written:
    """Two arrays, labels as numpy counts: int64."""
    np.save(folder / "X_train.npy", IMAGES.values)
    np.save(folder / "y_train.npy", LABELS.values.astype("int64"))
    return [folder / "X_train.npy", folder / "y_train.npy"], IMAGES, WIDE


def pixel_columns(name: str = "pixel{}", label: bool = True) -> dict[str, np.ndarray]:
    """A column for each pixel, behind the label."""
    first = {"label": LABELS.values} if label else {}
    return first | {name.format(i): PIXELS[:, i] for i in range(784)}


def sorted_columns() -> polars.DataFrame:
    """A column for each pixel in the order of their names as texts, the label among them: 0x0, 0x1, 0x10, …, 9x9, label."""
    columns = {"label": LABELS.values} | {f"{i // 28}x{i % 28}": PIXELS[:, i] for i in range(784)}
    return polars.DataFrame({name: columns[name] for name in sorted(columns)})


def numbered(path: Path) -> None:
    """Columns without names: pandas writes 0,1,…,784 above them."""
    pandas.DataFrame(np.column_stack([LABELS.values, PIXELS])).to_csv(path, index=False)


def hub_table() -> pa.Table:
    """A file of the Hub: structs of PNG bytes and paths, labels int64, and the features in the metadata."""
    features = {"info": {"features": {"image": {"_type": "Image"}, "label": {"names": [str(i) for i in range(10)], "_type": "ClassLabel"}}}}
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("image", kind), ("label", pa.int64())], metadata={"huggingface": json.dumps(features)})
    rows = [{"bytes": png(pixels), "path": f"{i}.png"} for i, pixels in enumerate(IMAGES.values)]
    return pa.table([pa.array(rows, kind), pa.array(LABELS.values, pa.int64())], schema=schema)


def arrays() -> polars.DataFrame:
    """Arrays of two dimensions."""
    return polars.DataFrame({"image": polars.Series(values=IMAGES.values, dtype=polars.Array(polars.UInt8, (28, 28))), "label": LABELS.values})


def duckdb_copy(table: pa.Table, path: Path, options: str = "") -> None:
    """COPY of a table."""
    with duckdb.connect() as connection:
        connection.register("images", table)
        connection.execute("SET threads = 1")
        connection.execute(f"COPY (SELECT * FROM images) TO '{path}' (FORMAT parquet{options})")


def one_file(name: str, write: Callable[[Path], Any], label: Tensor = LABELS) -> Callable[[Path], Written]:
    """A file, or a folder, that a program writes."""

    def make_file(folder: Path) -> Written:
        write(folder / name)
        return [folder / name], IMAGES, label

    return make_file


def parts(form: str, table: Callable[[], pa.Table]) -> Callable[[Path], Written]:
    """part-0, part-1, … part-13 by pyarrow.dataset: in the order of their numbers, where 10 is not before 2."""

    def write(path: Path) -> None:
        ds.write_dataset(table(), path, format=form, max_rows_per_file=3, max_rows_per_group=3, use_threads=False)
        equal("the parts that pyarrow wrote", len(list(path.iterdir())), 14)

    return one_file("train", write)


def partitions(write: Callable[[pa.Table, Path], object], held: str = "uint8") -> Callable[[Path], Written]:
    """A folder partitioned by labels of int64, from 0 to 11: rows are in their order as numbers, where 10 is not before 2. They come as the dtype held: the
    smallest if only the folders have them, int where the files have them too."""

    def make_partitions(folder: Path) -> Written:
        values, out = np.arange(40) * 7 % 12, folder / "digits"
        write(pa.table({"image": FIXED, "label": pa.array(values, pa.int64())}), out)
        equal("the partitions", sorted(path.name for path in out.iterdir()), sorted(f"label={i}" for i in range(12)))
        order = np.argsort(values, kind="stable")
        return [out], Tensor(IMAGES.values[order]), Tensor(values[order].astype(held))

    return make_partitions


def dataset_partitions(form: str) -> Callable[[pa.Table, Path], object]:
    """pyarrow.dataset's, in a format."""

    def write(table: pa.Table, out: Path) -> None:
        if form == "csv":
            table = pa.table(pixel_columns(label=False) | {"label": table["label"]})
        keys = ds.partitioning(pa.schema([("label", table["label"].type)]), flavor="hive")
        ds.write_dataset(table, out, format=form, partitioning=keys, use_threads=False)

    return write


FOREIGN: dict[str, Callable[[Path], Written]] = {
    "torchvision's tree by Pillow": torchvision_tree,
    "Kaggle's train.csv by pandas": one_file("train.csv", lambda path: pandas.DataFrame(pixel_columns()).to_csv(path, index=False)),
    "columns without names by pandas, CSV": one_file("train.csv", numbered),
    "columns in the order of texts by polars, CSV": one_file("train.csv", lambda path: sorted_columns().write_csv(path)),
    "columns in the order of texts by polars, Parquet": one_file("train.parquet", lambda path: sorted_columns().write_parquet(path)),
    "columns in the order of texts by polars, Arrow": one_file("train.arrow", lambda path: sorted_columns().write_ipc(path)),
    "a file of the Hub by pyarrow": one_file("train-00000-of-00001.parquet", lambda path: pq.write_table(hub_table(), path), WIDE),
    "lists by pyarrow": one_file(
        "lists.parquet",  # of no fixed size, in small row groups and pages
        lambda path: pq.write_table(pa.table({"image": LISTS, "label": LABELS.values.astype("int64")}), path, row_group_size=7, data_page_size=1000),
        WIDE,
    ),
    "arrays by polars, Parquet": one_file("frame.parquet", lambda path: arrays().write_parquet(path)),
    "arrays by polars, Arrow": one_file("frame.arrow", lambda path: arrays().write_ipc(path, compression="zstd")),
    "DuckDB's COPY": one_file("copy.parquet", lambda path: duckdb_copy(pa.table({"image": LISTS, "label": LABELS.values}), path)),
    "numpy.save": numpy_saved,
    "pandas.to_feather": one_file("train.feather", lambda path: pandas.DataFrame(pixel_columns()).to_feather(path)),
    "parts of Parquet by pyarrow.dataset": parts("parquet", lambda: pa.table({"image": FIXED, "label": LABELS.values})),
    "parts of Feather by pyarrow.dataset": parts("feather", lambda: pa.table({"image": FIXED, "label": LABELS.values})),
    "parts of CSV by pyarrow.dataset": parts("csv", lambda: pa.table(pixel_columns())),
    "partitions by pyarrow": partitions(lambda table, out: pq.write_to_dataset(table, out, partition_cols=["label"])),
    "partitions by pandas": partitions(lambda table, out: table.to_pandas().to_parquet(out, partition_cols=["label"])),
    "partitions by polars": partitions(lambda table, out: polars.from_arrow(table).write_parquet(out, partition_by="label", mkdir=True), "int32"),
    "partitions by DuckDB": partitions(lambda table, out: duckdb_copy(table, out, ", PARTITION_BY label")),
    "partitions by DuckDB, with the column": partitions(lambda table, out: duckdb_copy(table, out, ", PARTITION_BY label, WRITE_PARTITION_COLUMNS true"), "int32"),
    "partitions of Feather by pyarrow.dataset": partitions(dataset_partitions("feather")),
    "partitions of CSV by pyarrow.dataset": partitions(dataset_partitions("csv")),
}
