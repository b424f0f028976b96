"""DuckDB: Parquet and CSV from Arrow over numpy. usage: with_duckdb.py JOB OUT IMAGES [LABELS]"""

import sys

import duckdb
import numpy as np
import pyarrow as pa

from idx import Inside, read


def array(values: np.ndarray) -> pa.Array:
    """An array over values, as pa.array makes it; but that imports pandas first wherever it is installed, some 270 ms."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def main() -> None:
    """Do the job that the command line names."""
    inside = Inside()
    job, out, *inputs = sys.argv[1:]
    images, labels = read(inputs[0]), read(inputs[1]) if len(inputs) > 1 else None
    if job == "csv":
        columns = [] if labels is None else [array(labels)]
        columns += [array(column) for column in images.reshape(len(images), -1).T.copy()]
        data = pa.Table.from_arrays(columns, [f"c{i}" for i in range(len(columns))])
        options = "FORMAT csv, HEADER false"
    else:
        pixels = pa.FixedSizeListArray.from_arrays(array(images.reshape(-1)), images[0].size)
        data = pa.table({"image": pixels} if labels is None else {"image": pixels, "label": array(labels)})
        codec = "COMPRESSION uncompressed" if job == "parquet-none" else "COMPRESSION zstd, COMPRESSION_LEVEL 1"
        options = f"FORMAT parquet, {codec}"
    connection = duckdb.connect()
    connection.register("data", data)
    connection.execute(f"COPY data TO '{out}' ({options})")
    inside.done()


main()
