"""Makes the Parquet files of this folder with pyarrow, polars, DuckDB and pandas.

    python make.py          needs pyarrow, polars, duckdb, pandas, numpy and Pillow
    python make.py --hub    needs Hugging Face's datasets in place of polars and DuckDB
    python make.py --spark  needs PySpark, and what it needs

All good files hold ROWS rows: element i of image r is (31*r + 7*i + r*i) % 256, the label of row r is r % 10.
"""

import io
import os
import sys

import numpy as np

if "--spark" not in sys.argv:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

ROWS, SHAPE = 150, (3, 4)
HERE = os.path.dirname(os.path.abspath(__file__))
r, i = np.arange(ROWS)[:, None], np.arange(12)[None, :]
IMAGES = ((31 * r + 7 * i + r * i) % 256).astype(np.uint8)
LABELS = (np.arange(ROWS) % 10).astype(np.int64)


def path(name):
    return os.path.join(HERE, name + ".parquet")


def png(row):
    out = io.BytesIO()
    Image.fromarray(row.reshape(SHAPE)).save(out, "PNG")
    return out.getvalue()


def write(name, image, label=None, **options):
    columns = {"image": image}
    if label is not False:
        columns["label"] = pa.array(LABELS if label is None else label)
    schema = options.pop("schema", None)
    table = pa.table(columns, schema=schema)
    options = {"row_group_size": 64, "compression": "none", **options}
    pq.write_table(table, path(name), **options)


def fixed(values, n):
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), n)


def pyarrow_types():
    rows = IMAGES.tolist()
    write("pyarrow-list", pa.array(rows, pa.list_(pa.uint8())))
    write("pyarrow-list-int64", pa.array(rows, pa.list_(pa.int64())))
    write("pyarrow-large-list", pa.array(rows, pa.large_list(pa.uint8())))
    write("pyarrow-fixed-size-list", fixed(IMAGES, 12))
    write("pyarrow-fixed-size-list-of-2", fixed(IMAGES, 12).cast(pa.list_(pa.field("v", pa.uint8(), nullable=False), 12)))
    nested = IMAGES.reshape(-1, *SHAPE).tolist()
    write("pyarrow-nested-list", pa.array(nested, pa.list_(pa.list_(pa.uint8()))))
    write("pyarrow-nested-fixed", pa.array(nested, pa.list_(pa.list_(pa.uint8(), 4), 3)))
    write("pyarrow-deep", pa.array(IMAGES.reshape(-1, 3, 2, 2).tolist(), pa.list_(pa.list_(pa.list_(pa.uint8())))))
    tensor = pa.FixedShapeTensorArray.from_numpy_ndarray(IMAGES.reshape(-1, *SHAPE))
    write("pyarrow-tensor", tensor)
    binary = pa.array([v.tobytes() for v in IMAGES], pa.binary(12))
    write("pyarrow-fixed-binary", binary)
    field = pa.field("image", pa.binary(12), metadata={"idx.dtype": "uint8", "idx.shape": "[3,4]"})
    write("pyarrow-fixed-binary-metadata", binary, schema=pa.schema([field, ("label", pa.int64())]))
    write("pyarrow-binary", binary.cast(pa.binary()))
    shorts = pa.array([v.astype("<i2").tobytes() for v in IMAGES], pa.binary(24))
    write("pyarrow-fixed-binary-int16", shorts)
    files = [png(v) for v in IMAGES]
    write("pyarrow-png", pa.array(files))
    write("pyarrow-png-dictionary", pa.array([files[k % 7] for k in range(ROWS)]))
    struct = pa.StructArray.from_arrays([pa.array(files), pa.array([None] * ROWS, pa.string())], ["bytes", "path"])
    write("pyarrow-png-struct", struct)
    write("pyarrow-bool", pa.array((IMAGES % 2 == 1).tolist(), pa.list_(pa.bool_())))
    for name in ["int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]:
        values = (IMAGES.astype(np.int64) - (128 if name == "int8" else 0)).astype(name)
        write("pyarrow-" + name, fixed(values, 12), label=LABELS.astype(name))


def pyarrow_encodings():
    values = fixed(IMAGES, 12)
    small = {"data_page_size": 256, "write_batch_size": 64, "write_page_checksum": True}
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
        for version in ["1.0", "2.0"]:
            write(f"pyarrow-{codec}-v{version[0]}", values, compression=codec, data_page_version=version, **small)
    write("bad-brotli", values, compression="brotli", data_page_version="1.0", **small)
    write("pyarrow-plain", values, use_dictionary=False, **small)
    encodings = {
        "delta": (values, "DELTA_BINARY_PACKED"),
        "delta-int64": (values.cast(pa.list_(pa.int64(), 12)), "DELTA_BINARY_PACKED"),
        "split": (values.cast(pa.list_(pa.float32(), 12)), "BYTE_STREAM_SPLIT"),
        "split-int64": (values.cast(pa.list_(pa.int64(), 12)), "BYTE_STREAM_SPLIT"),
    }
    for name, (column, encoding) in encodings.items():
        encoding = {"image.list.element": encoding, "label": "DELTA_BINARY_PACKED"}
        write("pyarrow-" + name, column, use_dictionary=False, column_encoding=encoding, **small)
    files = pa.array([png(v) for v in IMAGES])
    fields = pa.array([v.tobytes() for v in IMAGES], pa.binary(12))
    for name, encoding in [("length", "DELTA_LENGTH_BYTE_ARRAY"), ("bytes", "DELTA_BYTE_ARRAY")]:
        write("pyarrow-delta-" + name, files, use_dictionary=False, column_encoding={"image": encoding}, **small)
    write("pyarrow-delta-fixed", fields, use_dictionary=False, column_encoding={"image": "DELTA_BYTE_ARRAY"}, **small)
    write("pyarrow-split-fixed", fields, use_dictionary=False, column_encoding={"image": "BYTE_STREAM_SPLIT"}, **small)
    truth = pa.array((IMAGES % 2 == 1).tolist(), pa.list_(pa.bool_()))
    write("pyarrow-bool-rle", truth, use_dictionary=False, column_encoding={"image.list.element": "RLE"}, **small)
    constant = fixed(np.full_like(IMAGES, 7), 12)
    write("pyarrow-constant", constant, **small)
    names = [f"pixel{k}" for k in range(12)]
    flat = pa.table([pa.array(LABELS.astype(np.uint8))] + [pa.array(IMAGES[:, k]) for k in range(12)], names=["label"] + names)
    pq.write_table(flat, path("pyarrow-columns"), row_group_size=64)


def pyarrow_orders():
    """A column for each element, in other orders."""
    places = {f"pixel{k}": k for k in range(12)}
    by_row = {f"{k // 4}x{k % 4}": k for k in range(12)}  # from 0
    for name, order in [
        ("bad-columns-as-text", [(n, places[n]) for n in sorted(places)]),
        ("bad-columns-backwards", list(places.items())[::-1]),
        ("bad-columns-by-column", sorted(by_row.items(), key=lambda item: (item[1] % 4, item[1]))),
        ("bad-columns-gap", [(n, k) for n, k in places.items() if k != 5]),
    ]:
        columns = {"label": pa.array(LABELS.astype(np.uint8)), **{n: pa.array(IMAGES[:, k]) for n, k in order}}
        pq.write_table(pa.table(columns), path(name), row_group_size=64)


def pyarrow_bad():
    rows = IMAGES.tolist()
    uint8 = pa.list_(pa.uint8())
    write("bad-null-element", pa.array([[*v[:11], None] if k == 70 else v for k, v in enumerate(rows)], uint8))
    write("bad-null-list", pa.array([None if k == 70 else v for k, v in enumerate(rows)], uint8))
    write("bad-null-lists", pa.array([None] * ROWS, uint8))
    write("bad-empty-list", pa.array([[] if k == 70 else v for k, v in enumerate(rows)], uint8))
    write("bad-short-list", pa.array([v[:11] if k == 70 else v for k, v in enumerate(rows)], uint8))
    write("bad-long-list", pa.array([[*v, 1] if k == 70 else v for k, v in enumerate(rows)], uint8))
    write("bad-last-list-long", pa.array([[*v, 1] if k == 149 else v for k, v in enumerate(rows)], uint8))
    write("bad-last-list-short", pa.array([v[:11] if k == 149 else v for k, v in enumerate(rows)], uint8))
    nested = IMAGES.reshape(-1, *SHAPE).tolist()
    ragged = [[v[0] + v[1][:1], v[1][1:], v[2]] if k == 70 else v for k, v in enumerate(nested)]
    write("bad-ragged-nested", pa.array(ragged, pa.list_(uint8)))
    write("bad-ragged-first", pa.array(ragged[70:] + ragged[:70], pa.list_(uint8)))
    write("bad-null-label", pa.array(rows, uint8), label=[None if k == 70 else k for k in range(ROWS)])
    write("bad-large-label", pa.array(rows, uint8), label=[1 << 40 if k == 70 else k for k in range(ROWS)])
    write("bad-text", pa.array(rows, uint8), label=["a"] * ROWS)
    write("bad-date", pa.array(rows, uint8), label=pa.array([1] * ROWS, pa.date32()))
    write("bad-duration", pa.array(rows, uint8), label=pa.array([1] * ROWS, pa.duration("s")))
    write("bad-struct", pa.array([{"a": 1}] * ROWS))
    write("bad-list-of-structs", pa.array([[{"a": 1}]] * ROWS))
    files = [png(v) for v in IMAGES]
    out = io.BytesIO()
    Image.fromarray(IMAGES[:2].reshape(4, 6)).save(out, "PNG")
    write("bad-png-size", pa.array([out.getvalue() if k == 70 else v for k, v in enumerate(files)]))
    write("bad-no-rows", pa.array([], uint8), label=pa.array([], pa.int64()))
    write("no-rows-fixed-size-list", pa.array([], pa.list_(pa.uint8(), 12)), label=pa.array([], pa.int64()))


def pyarrow_strange():
    """Legal files that were read wrong, slowly, or with a misleading message."""
    names = ["label"] + [f"pixel{k}" for k in range(12)]
    numbers = [pa.array(LABELS)] + [pa.array(IMAGES[:, k].astype(np.int64)) for k in range(12)]
    pq.write_table(pa.table(numbers, names=names), path("pyarrow-columns-int64"), row_group_size=64)
    numbers[4] = numbers[4].cast(pa.uint8())
    pq.write_table(pa.table(numbers, names=names), path("pyarrow-columns-mixed"), row_group_size=64)
    tensors = pa.fixed_shape_tensor(pa.uint8(), SHAPE, permutation=[1, 0])
    write("bad-permuted", pa.ExtensionArray.from_storage(tensors, fixed(IMAGES, 12)))
    rows = IMAGES.tolist()  # two short lists have as many elements as one whole
    write("bad-two-short-lists", pa.array([v[:6] if k in (70, 71) else v for k, v in enumerate(rows)], pa.list_(pa.uint8())))
    large = pa.DictionaryArray.from_arrays(pa.array((np.arange(ROWS) >= 70).astype(np.int32)), pa.array([bytes(12), bytes(1 << 16)]))
    write("bad-blob", large, compression="zstd", row_group_size=ROWS)
    none = pa.ListArray.from_arrays(pa.array(np.zeros((1 << 20) + 2, np.int32)), pa.array([], pa.uint8()))
    pq.write_table(pa.table({"image": none}), path("bad-many-empty-lists"), compression="zstd")


def pyarrow_encrypted():
    """Columns are encrypted, the footer is only signed. The keys are random: every run makes another file."""
    import base64

    from pyarrow.parquet import encryption

    class Keys(encryption.KmsClient):
        def __init__(self, _):
            super().__init__()

        def wrap_key(self, key, _):
            return base64.b64encode(key)

    keys = encryption.EncryptionConfiguration(footer_key="f", column_keys={"c": ["image.list.element"]}, plaintext_footer=True)
    factory = encryption.CryptoFactory(Keys)
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), keys)
    write("bad-encrypted-column", fixed(IMAGES, 12), encryption_properties=properties)


def others():
    import duckdb
    import pandas as pd
    import polars as pl

    nested = IMAGES.reshape(-1, *SHAPE)
    labels = LABELS.astype(np.uint8)
    for name, image, kind in [
        ("array", IMAGES, pl.Array(pl.UInt8, 12)),
        ("array2", nested, pl.Array(pl.UInt8, SHAPE)),
        ("list", IMAGES.tolist(), pl.List(pl.UInt8)),
        ("float", IMAGES.astype(np.float64), pl.Array(pl.Float64, 12)),
    ]:
        frame = pl.DataFrame({"image": pl.Series(image, dtype=kind), "label": labels})
        for codec in ["uncompressed", "zstd", "lz4"]:
            frame.write_parquet(path(f"polars-{name}-{codec}"), compression=codec, row_group_size=64, data_page_size=256)
    frame = pl.DataFrame({"image": pl.Series(IMAGES, dtype=pl.Array(pl.UInt8, 12)), "label": labels})
    con = duckdb.connect()
    con.register("images", frame.to_arrow())
    image2 = "list_transform(range(3), lambda y: list_slice(image::UTINYINT[], 4*y+1, 4*y+4))"
    for name, image in [("list", "image::UTINYINT[]"), ("array", "image::UTINYINT[12]"), ("nested", image2), ("float", "image::FLOAT[]"), ("bigint", "image::BIGINT[]")]:
        for version in ["v1", "v2"]:
            con.execute(f"copy (select {image} as image, label from images) to '{path(f'duckdb-{name}-{version}')}' "
                        f"(format parquet, parquet_version {version}, row_group_size 2048, compression {'zstd' if version == 'v1' else 'snappy'})")
    con.execute(f"copy (select image::UTINYINT[] as image, label from images) to '{path('duckdb-lz4')}' (format parquet, compression lz4_raw)")
    con.execute(f"copy (select image::UTINYINT[] as image, label from images) to '{path('duckdb-gzip')}' (format parquet, compression gzip)")
    frame = pd.DataFrame({"image": IMAGES.tolist(), "label": LABELS}, index=LABELS + 5)
    frame.to_parquet(path("pandas-index"))


def hub():
    import datasets

    classes = [f"class {k}" for k in range(10)]
    images = [Image.fromarray(v.reshape(SHAPE)) for v in IMAGES]
    features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=classes)})
    data = datasets.Dataset.from_dict({"image": images, "label": LABELS.tolist()}, features=features)
    data.to_parquet(path("datasets-image"))
    features = datasets.Features({"image": datasets.Array2D(SHAPE, "uint8"), "label": datasets.Value("int64")})
    data = datasets.Dataset.from_dict({"image": list(IMAGES.reshape(-1, *SHAPE)), "label": LABELS.tolist()}, features=features)
    data.to_parquet(path("datasets-array2d"))


def spark():
    import glob
    import shutil
    import tempfile

    from pyspark.sql import Row, SparkSession, types as T

    session = SparkSession.builder.master("local[1]").config("spark.sql.shuffle.partitions", 1).getOrCreate()
    fields = ["origin", "height", "width", "nChannels", "mode"]
    image = T.StructType([T.StructField(f, T.StringType() if f == "origin" else T.IntegerType()) for f in fields] + [T.StructField("data", T.BinaryType())])
    shorts = T.ArrayType(T.ShortType())
    for name, kind, value in [
        ("list", shorts, lambda v: v.tolist()),
        ("nested", T.ArrayType(shorts), lambda v: v.reshape(SHAPE).tolist()),
        ("binary", T.BinaryType(), lambda v: bytearray(v.tobytes())),
        ("images", image, lambda v: ("", 2, 2, 3, 16, bytearray(v.reshape(4, 3)[:, ::-1].tobytes()))),
    ]:
        schema = T.StructType([T.StructField("image", kind), T.StructField("label", T.ByteType())])
        rows = [Row(image=value(v), label=int(k)) for v, k in zip(IMAGES, LABELS)]
        with tempfile.TemporaryDirectory() as folder:
            out = session.createDataFrame(rows, schema).coalesce(1).write.mode("overwrite")
            out.option("parquet.page.size", 256).option("parquet.enable.dictionary", name != "nested").parquet(folder)
            shutil.copy(glob.glob(folder + "/part-*.parquet")[0], path("bad-spark-images" if name == "images" else "spark-" + name))


if "--hub" in sys.argv:
    hub()
elif "--spark" in sys.argv:
    spark()
else:
    pyarrow_types()
    pyarrow_encodings()
    pyarrow_orders()
    pyarrow_bad()
    pyarrow_strange()
    pyarrow_encrypted()
    others()
