"""What other programs write: tables of images and labels, by the programs themselves, with what they hold."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from PIL import Image

from .compare import equal
from .tensors import Tensor, make

Written = tuple[list[str | Path], Tensor, Tensor]  # inputs of idxport, and the images and labels that they hold

IMAGES = make("uint8", (40, 28, 28))
LABELS = Tensor((np.arange(40) * 7 % 10).astype("uint8"))
WIDE = Tensor(LABELS.values.astype("int32"))  # labels of int64, which IDX has not, become int


def flat(values: np.ndarray = IMAGES.values) -> list[list[int]]:
    """Images as rows of numbers."""
    return values.reshape(len(values), -1).tolist()


def png(pixels: np.ndarray) -> bytes:
    """The image as Pillow writes it."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def torchvision_tree(folder: Path) -> Written:
    """Class folders by name with files of arbitrary names: rows and labels as ImageFolder counts them."""
    names = ["ankle boot", "Bag", "coat", "été"]
    rows: list[tuple[str, str, int]] = []
    for i, pixels in enumerate(IMAGES.values):
        name, file = names[i % 4], f"img_{(i * 37) % 101}-{'ab'[i % 2]}.png"
        path = folder / "tree" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(pixels))
        rows.append((name, file, i))
    order = sorted(rows)
    classes = sorted(names)
    images = Tensor(np.stack([IMAGES.values[i] for _, _, i in order]))
    numbers = Tensor(np.array([classes.index(name) for name, _, _ in order], "uint8"))
    return [folder / "tree"], images, numbers


def kaggle_csv(folder: Path) -> Written:
    """train.csv as pandas writes Kaggle's."""
    frame = pandas.DataFrame(IMAGES.values.reshape(40, -1), columns=[f"pixel{i}" for i in range(784)])
    frame.insert(0, "label", LABELS.values)
    frame.to_csv(folder / "train.csv", index=False)
    return [folder / "train.csv"], IMAGES, LABELS


def numbered_csv(folder: Path) -> Written:
    """The same where the columns have no names: pandas writes 0,1,…,784 above them."""
    frame = pandas.DataFrame(np.column_stack([LABELS.values, IMAGES.values.reshape(40, -1)]))
    frame.to_csv(folder / "train.csv", index=False)
    return [folder / "train.csv"], IMAGES, LABELS


def sorted_columns(ending: str) -> Callable[[Path], Written]:
    """A column for each pixel by polars, in the order of their names as texts, the label among them: 0x0, 0x1, 0x10, …, 9x9, label."""

    def make_file(folder: Path) -> Written:
        columns = {"label": LABELS.values} | {f"{i // 28}x{i % 28}": IMAGES.values.reshape(40, -1)[:, i] for i in range(784)}
        frame = polars.DataFrame({name: columns[name] for name in sorted(columns)})
        {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}[ending](folder / f"train.{ending}")
        return [folder / f"train.{ending}"], IMAGES, LABELS

    return make_file


def hub_parquet(folder: Path) -> Written:
    """A file of the Hub: structs of PNG bytes and paths, labels int64, and the features in the metadata."""
    features = {"info": {"features": {"image": {"_type": "Image"}, "label": {"names": [str(i) for i in range(10)], "_type": "ClassLabel"}}}}
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("image", kind), ("label", pa.int64())], metadata={"huggingface": json.dumps(features)})
    rows = [{"bytes": png(pixels), "path": f"{i}.png"} for i, pixels in enumerate(IMAGES.values)]
    pq.write_table(pa.table([pa.array(rows, kind), pa.array(LABELS.values, pa.int64())], schema=schema), folder / "train-00000-of-00001.parquet")
    return [folder / "train-00000-of-00001.parquet"], IMAGES, WIDE


def pyarrow_lists(folder: Path) -> Written:
    """Lists of no fixed size, in small row groups and pages."""
    table = pa.table({"image": pa.array(flat(), pa.list_(pa.uint8())), "label": pa.array(LABELS.values, pa.int64())})
    pq.write_table(table, folder / "lists.parquet", row_group_size=7, data_page_size=1000)
    return [folder / "lists.parquet"], IMAGES, WIDE


def polars_array(folder: Path) -> Written:
    """Arrays of two dimensions."""
    frame = polars.DataFrame({"image": polars.Series(values=IMAGES.values, dtype=polars.Array(polars.UInt8, (28, 28))), "label": LABELS.values})
    frame.write_parquet(folder / "frame.parquet")
    return [folder / "frame.parquet"], IMAGES, LABELS


def polars_ipc(folder: Path) -> Written:
    """The same as polars writes Arrow, compressed."""
    frame = polars.DataFrame({"image": polars.Series(values=IMAGES.values, dtype=polars.Array(polars.UInt8, (28, 28))), "label": LABELS.values})
    frame.write_ipc(folder / "frame.arrow", compression="zstd")
    return [folder / "frame.arrow"], IMAGES, LABELS


def duckdb_copy(folder: Path) -> Written:
    """DuckDB's COPY, of lists that it read from a table of Arrow."""
    table = pa.table({"image": pa.array(flat(), pa.list_(pa.uint8())), "label": pa.array(LABELS.values)})
    with duckdb.connect() as connection:
        connection.register("images", table)
        connection.execute("COPY (SELECT * FROM images) TO '" + str(folder / "copy.parquet") + "' (FORMAT parquet)")
    return [folder / "copy.parquet"], IMAGES, LABELS


def numpy_saved(folder: Path) -> Written:
    """Two arrays, labels as numpy counts: int64."""
    np.save(folder / "X_train.npy", IMAGES.values)
    np.save(folder / "y_train.npy", LABELS.values.astype("int64"))
    return [folder / "X_train.npy", folder / "y_train.npy"], IMAGES, WIDE


def pandas_feather(folder: Path) -> Written:
    """A column for each pixel, as Feather, which pandas compresses with LZ4."""
    frame = pandas.DataFrame(IMAGES.values.reshape(40, -1), columns=[f"pixel{i}" for i in range(784)])
    frame.insert(0, "label", LABELS.values)
    frame.to_feather(folder / "train.feather")
    return [folder / "train.feather"], IMAGES, LABELS


def dataset_parts(form: str) -> Callable[[Path], Written]:
    """part-0, part-1, … part-12 by pyarrow.dataset: in the order of their numbers, where 10 is not before 2."""

    def make_parts(folder: Path) -> Written:
        list_type = pa.list_(pa.uint8(), 784)
        table = pa.table({"image": pa.array(flat(), list_type), "label": pa.array(LABELS.values)})
        out = folder / "train"
        ds.write_dataset(table, out, format=form, max_rows_per_file=3, max_rows_per_group=3, use_threads=False)
        found = len(list(out.iterdir()))
        equal("the parts that pyarrow wrote", found, math.ceil(40 / 3))
        return [out], IMAGES, LABELS

    return make_parts


def dataset_csv(folder: Path) -> Written:
    """Likewise of text, each part with a header."""
    columns = {"label": pa.array(LABELS.values)} | {f"pixel{i}": pa.array(IMAGES.values.reshape(40, -1)[:, i]) for i in range(784)}
    ds.write_dataset(pa.table(columns), folder / "train", format="csv", max_rows_per_file=3, max_rows_per_group=3, use_threads=False)
    return [folder / "train"], IMAGES, LABELS


def partitions(write: Callable[[pa.Table, Path], object], held: str = "uint8") -> Callable[[Path], Written]:
    """A folder partitioned by labels of int64, from 0 to 11: rows are in their order as numbers, where 10 is not before 2. They come as the dtype held: the
    smallest if only the folders have them, int where the files have them too."""

    def make_partitions(folder: Path) -> Written:
        values = np.arange(40) * 7 % 12
        table = pa.table({"image": pa.array(flat(), pa.list_(pa.uint8(), 784)), "label": pa.array(values, pa.int64())})
        out = folder / "digits"
        write(table, out)
        equal("the partitions", sorted(path.name for path in out.iterdir()), sorted(f"label={i}" for i in range(12)))
        order = np.argsort(values, kind="stable")
        return [out], Tensor(IMAGES.values[order]), Tensor(values[order].astype(held))

    return make_partitions


def duckdb_partitions(options: str) -> Callable[[pa.Table, Path], object]:
    """COPY of a table, with options."""

    def copy(table: pa.Table, out: Path) -> None:
        with duckdb.connect() as connection:
            connection.register("images", table)
            connection.execute("SET threads = 1")
            connection.execute(f"COPY (SELECT * FROM images) TO '{out}' (FORMAT parquet, PARTITION_BY label{options})")

    return copy


def dataset_partitions(form: str) -> Callable[[pa.Table, Path], object]:
    """pyarrow.dataset's, in a format."""

    def write(table: pa.Table, out: Path) -> None:
        if form == "csv":
            pixels = {f"pixel{i}": pa.array(np.stack(table["image"].to_numpy())[:, i]) for i in range(784)}
            table = pa.table(pixels | {"label": table["label"]})
        keys = ds.partitioning(pa.schema([("label", table["label"].type)]), flavor="hive")
        ds.write_dataset(table, out, format=form, partitioning=keys, use_threads=False)

    return write


FOREIGN: dict[str, Callable[[Path], Written]] = {
    "torchvision's tree by Pillow": torchvision_tree,
    "Kaggle's train.csv by pandas": kaggle_csv,
    "columns without names by pandas, CSV": numbered_csv,
    "columns in the order of texts by polars, CSV": sorted_columns("csv"),
    "columns in the order of texts by polars, Parquet": sorted_columns("parquet"),
    "columns in the order of texts by polars, Arrow": sorted_columns("arrow"),
    "a file of the Hub by pyarrow": hub_parquet,
    "lists by pyarrow": pyarrow_lists,
    "arrays by polars, Parquet": polars_array,
    "arrays by polars, Arrow": polars_ipc,
    "DuckDB's COPY": duckdb_copy,
    "numpy.save": numpy_saved,
    "pandas.to_feather": pandas_feather,
    "parts of Parquet by pyarrow.dataset": dataset_parts("parquet"),
    "parts of Feather by pyarrow.dataset": dataset_parts("feather"),
    "parts of CSV by pyarrow.dataset": dataset_csv,
    "partitions by pyarrow": partitions(lambda table, out: pq.write_to_dataset(table, out, partition_cols=["label"])),
    "partitions by pandas": partitions(lambda table, out: table.to_pandas().to_parquet(out, partition_cols=["label"])),
    "partitions by polars": partitions(lambda table, out: polars.from_arrow(table).write_parquet(out, partition_by="label", mkdir=True), "int32"),
    "partitions by DuckDB": partitions(duckdb_partitions("")),
    "partitions by DuckDB, with the column": partitions(duckdb_partitions(", WRITE_PARTITION_COLUMNS true"), "int32"),
    "partitions of Feather by pyarrow.dataset": partitions(dataset_partitions("feather")),
    "partitions of CSV by pyarrow.dataset": partitions(dataset_partitions("csv")),
}
