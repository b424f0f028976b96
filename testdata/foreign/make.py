#!/usr/bin/env python3
"""Makes the files of this folder with pyarrow, polars, DuckDB, NumPy and Pillow: see test/interop/requirements.txt for their
versions. Run it here.

Six images of 2 by 2, of which pixel p of row r is 10 * r + p, have the labels 10, 2, 7, 2, 10, 7. So a table in the
order of the labels has the rows 1, 3, 2, 5, 0, 4.
"""

import decimal
import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
from PIL import Image

ROWS = np.array([[10 * r + p for p in range(4)] for r in range(6)], "uint8")
IMAGES = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.reshape(-1)), 4)
TABLE = pa.table({"image": IMAGES, "label": pa.array([10, 2, 7, 2, 10, 7], pa.int64()), "split": ["train", "test"] * 3})
PLAIN = {"compression": "NONE", "write_statistics": False, "store_schema": False, "use_dictionary": False}


def partitions() -> None:
    """A folder partitioned as Hive has it, which is refused."""
    for folder in Path().glob("partitioned-*"):
        shutil.rmtree(folder)
    name = "{i}.parquet"
    pq.write_to_dataset(TABLE.drop("split"), "partitioned-pyarrow", partition_cols=["label"], basename_template="part-" + name, **PLAIN)


def types() -> None:
    """Types that are bytes, and stand for something else."""
    for name in ("Int128", "UInt128"):
        frame = polars.DataFrame({"x": polars.Series([1, 2], dtype=getattr(polars, name))})
        frame.write_parquet(f"{name.lower()}.parquet", compression="uncompressed", statistics=False)
        frame.write_ipc(f"{name.lower()}.arrow")
    for size, name in ((2, "bfloat16"), (16, "sixteen"), (32, "uint256")):  # as ClickHouse has them
        pq.write_table(pa.table({"x": pa.array([bytes(range(size))] * 2, pa.binary(size))}), f"{name}.parquet", **PLAIN)
    for name, array in {
        "decimal": pa.array([decimal.Decimal("1.5")] * 2, pa.decimal128(10, 2)),
        "uuid": pa.array([bytes(range(16))] * 2, pa.uuid()),
    }.items():
        pq.write_table(pa.table({"x": array}), f"{name}.parquet", compression="NONE")
        with pa.OSFile(f"{name}.arrow", "wb") as sink, pa.ipc.new_file(sink, pa.schema([("x", array.type)])) as writer:
            writer.write_table(pa.table({"x": array}))
    values, index = ["a", "b", "c", "d"], pa.array([0, 1, 0, 1])
    for name, array in {
        "lists-of-texts": pa.array([values[:2], values[2:]]),
        "dictionary-of-bytes": pa.DictionaryArray.from_arrays(index[:2], pa.array([b"a", b"b"])),
        "lists-of-indices": pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), pa.DictionaryArray.from_arrays(index, pa.array([7, 9], pa.uint8()))),
    }.items():
        with pa.OSFile(f"{name}.arrow", "wb") as sink, pa.ipc.new_file(sink, pa.schema([("x", array.type)])) as writer:
            writer.write_table(pa.table({"x": array}))
    with duckdb.connect() as connection:
        connection.execute("COPY (SELECT INTERVAL 1 day AS x FROM range(2)) TO 'interval.parquet' (COMPRESSION uncompressed)")
    np.save("bool.npy", np.array([0, 1, 2, 1], "uint8").view("bool"))


def names() -> None:
    """Labels as texts: digits as OpenML has them, and class names in two splits whose dictionaries differ."""
    digits = ["5", "0", "4", "1", "9", "2"]
    frame = pandas.DataFrame(ROWS.astype("int64"), columns=[f"pixel{k}" for k in range(1, 5)])
    frame["class"] = pandas.Categorical(digits)
    frame.to_parquet("openml.parquet", compression=None)
    frame.to_feather("openml.feather", compression="uncompressed")
    table = pa.table({"image": IMAGES, "label": pa.array(digits).dictionary_encode()})
    with pa.OSFile("digits.arrow", "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    Path("animals").mkdir(exist_ok=True)
    for split, labels in ("train", ["dog", "cat", "owl"]), ("test", ["cat", "owl", "dog"]):
        label = polars.Series("label", labels, dtype=polars.Categorical)
        polars.DataFrame({"image": polars.Series(ROWS[:3])}).with_columns(label).write_ipc(f"animals/{split}.arrow")


def doubts() -> None:
    """Tables with two readings: names beside numbers, shards with other names, and values that say more than their storage."""
    label = pa.array([1, 0, 1, 0, 0, 1])
    names = {"fine": ["cat", "dog"], "coarse": ["wild", "tame"]}

    def classes(table: pa.Table, names: dict[str, list[str]]) -> pa.Table:
        features = {name: {"names": values, "_type": "ClassLabel"} for name, values in names.items()}
        return table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})

    def write(table: pa.Table, name: str) -> None:
        pq.write_table(table, f"{name}.parquet", compression="NONE", write_statistics=False)

    write(classes(pa.table({"image": IMAGES, "fine": label, "coarse": label}), names), "two-names")
    both = classes(pa.table({"label": label}), {"label": ["cat", "dog", "owl"]})
    write(both.replace_schema_metadata({**both.schema.metadata, "idx.classes": '["","cat"]'}), "two-lists")
    Path("shards").mkdir(exist_ok=True)
    for number, order in enumerate((["cat", "dog"], ["dog", "cat"])):
        write(classes(pa.table({"image": IMAGES, "label": label}), {"label": order}), f"shards/train-{number:05}-of-00002")
    write(pa.table({"image": IMAGES, "label": label, "class": ["dog", "cat", "dog", "cat", "owl", "dog"]}), "class-beside")
    metadata = {"ARROW:extension:name": "ray.data.arrow_tensor", "ARROW:extension:metadata": "[1, 4]"}
    field = pa.field("image", IMAGES.type, metadata=metadata)
    write(pa.Table.from_arrays([IMAGES], schema=pa.schema([field])), "ray")
    with Path("grey-plain/0.png").open("rb") as file:
        struct = pa.array([{"bytes": file.read(), "path": "0.png", "label": 3}])
    write(pa.table({"image": struct}), "labelled-struct")
    pa.feather.write_feather(pa.table({"image": struct}), "labelled-struct.feather", compression="uncompressed")


def beside() -> None:
    """Columns that are left out, or that say more than the metadata beside them."""
    label = pa.array([1, 0, 2], pa.uint8())
    pq.write_table(pa.table({"label": label, "w": [1.5, 2.5, 3.5]}), "codecs.parquet", compression={"label": "SNAPPY", "w": "BROTLI"})
    wide = polars.Series([1, 2, 3], dtype=polars.Int128)
    polars.DataFrame({"label": [1, 0, 2], "w": wide}).write_ipc("int128-beside.arrow")
    order = pa.table({"label": label, "x1": label, "y1": label, "x2": label, "y2": label})
    pq.write_table(order, "order.parquet", compression="NONE", write_statistics=False)
    metadata = json.dumps({"info": {"features": {"label": {"names": ["zebra", "ant"], "_type": "ClassLabel"}}}})
    texts = pa.table({"label": ["zebra", "ant", "zebra"], "w": label}).replace_schema_metadata({"huggingface": metadata})
    pq.write_table(texts, "texts.parquet", compression="NONE", write_statistics=False)
    lists = pa.array([[[0, 3], [1, 4], [2, 5]]], pa.list_(pa.list_(pa.uint8())))  # of 2x3, turned by another program
    fixed = lists.cast(pa.list_(pa.list_(pa.uint8(), 2), 3))
    for name, array in ("turned", lists), ("turned-fixed", fixed):
        field = pa.field("image", array.type, metadata={"idx.dtype": "uint8", "idx.shape": "[2,3]"})
        table = pa.Table.from_arrays([array], schema=pa.schema([field]))
        pq.write_table(table, f"{name}.parquet", compression="NONE", write_statistics=False)
        pa.feather.write_feather(table, f"{name}.arrow", compression="uncompressed")
    for name, index in ("index", [7, 7, 2]), ("index-floats", [0.5, 7, 2]), ("index-levels", [[1, 2, 3], [4, 5, 6]]):
        pandas.DataFrame({"label": [1, 0, 2]}, index=index).astype("uint8").to_parquet(f"{name}.parquet", compression=None)


def arrays() -> None:
    """The images and labels as NumPy and Keras have them."""
    images, labels = ROWS.reshape(6, 2, 2), np.array([10, 2, 7, 2, 10, 7], "uint8")
    np.save("labels.npy", labels)
    np.save("fortran.npy", np.asfortranarray(images))
    np.savez_compressed("keras.npz", x_test=images[4:], x_train=images[:4], y_train=labels[:4], y_test=labels[4:])
    np.savez("columns.npz", weights=labels / 4, images=images)
    np.savez("unnamed.npz", images)
    np.savez("vectors.npz", val_images=images, val_labels=labels[:, None])
    np.savez("rows.npz", a=labels, b=labels[:5])
    np.savez("object.npz", x_train=images, y_train=np.array([{}] * 6, object))


def pictures() -> None:
    """Grey images in the encodings that optipng and pngquant choose, and the same values as 8-bit grey."""
    for folder in ("grey-encodings", "grey-plain"):
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).mkdir()
    for row in range(6):
        grey = Image.fromarray(ROWS[row].reshape(2, 2) if row != 3 else np.array([[0, 255], [255, 0]], "uint8"))
        grey.save(f"grey-plain/{row}.png")
        encoded = {0: grey.convert("P"), 1: grey.quantize(4), 3: grey.convert("1", dither=Image.Dither.NONE)}.get(row, grey)
        encoded.save(f"grey-encodings/{row}.png", optimize=True)
        with Image.open(f"grey-encodings/{row}.png") as found:
            assert found.mode == {0: "P", 1: "P", 3: "1"}.get(row, "L") and found.convert("L").tobytes() == grey.tobytes()


def text() -> None:
    """CSV in encodings that are refused."""
    table = "label,pixel0,pixel1\n7,0,255\n2,1,3\n"
    for name, encoding in {"utf16": "utf-16", "utf16-little": "utf-16-le", "utf16-big": "utf-16-be"}.items():
        Path(f"{name}.csv").write_bytes(table.replace("\n", "\r\n").encode(encoding))
    Path("returns.csv").write_bytes(table.replace("\n", "\r").encode())


partitions()
types()
names()
arrays()
pictures()
doubts()
beside()
text()
