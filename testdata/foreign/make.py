#!/usr/bin/env python3
"""Makes the files of this folder with pyarrow, polars, DuckDB and NumPy: see test/interop/requirements.txt for their
versions. Run it here.

Six images of 2 by 2, of which pixel p of row r is 10 * r + p, have the labels 10, 2, 7, 2, 10, 7. So a table in the
order of the labels has the rows 1, 3, 2, 5, 0, 4.
"""

import decimal
import shutil
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

ROWS = np.array([[10 * r + p for p in range(4)] for r in range(6)], "uint8")
IMAGES = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.reshape(-1)), 4)
TABLE = pa.table({"image": IMAGES, "label": pa.array([10, 2, 7, 2, 10, 7], pa.int64()), "split": ["train", "test"] * 3})
PLAIN = {"compression": "NONE", "write_statistics": False, "store_schema": False, "use_dictionary": False}


def partitions() -> None:
    """Folders partitioned as Hive has it."""
    for folder in Path().glob("partitioned-*"):
        shutil.rmtree(folder)
    name = "{i}.parquet"
    pq.write_to_dataset(TABLE.drop("split"), "partitioned-pyarrow", partition_cols=["label"], basename_template="part-" + name, **PLAIN)
    pq.write_to_dataset(TABLE, "partitioned-levels", partition_cols=["split", "label"], basename_template="part-" + name, **PLAIN)
    keys = ds.partitioning(pa.schema([("label", pa.int64())]), flavor="hive")
    ds.write_dataset(TABLE.drop("split"), "partitioned-feather", format="feather", partitioning=keys)
    with duckdb.connect() as connection:
        connection.register("images", TABLE.drop("split"))
        connection.execute("COPY (SELECT * FROM images) TO 'partitioned-duckdb' (FORMAT parquet, PARTITION_BY label, WRITE_PARTITION_COLUMNS true)")
    empty = pa.table({"image": [[1]], "label": pa.array([None], pa.int64())})
    pq.write_to_dataset(empty, "partitioned-null", partition_cols=["label"], basename_template="part-" + name, **PLAIN)


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
    with duckdb.connect() as connection:
        connection.execute("COPY (SELECT INTERVAL 1 day AS x FROM range(2)) TO 'interval.parquet' (COMPRESSION uncompressed)")
    np.save("bool.npy", np.array([0, 1, 2, 1], "uint8").view("bool"))


partitions()
types()
