"""pyarrow: Arrow IPC, Parquet, CSV. usage: with_pyarrow.py JOB OUT IMAGES [LABELS]"""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from idx import Inside, read


def table(images: np.ndarray, labels: np.ndarray | None, binary: bool = False) -> pa.Table:
    """One row per record, without copying the pixels."""
    flat = images.reshape(len(images), -1)
    if binary:
        # A buffer of its own: FixedSizeBinary has no constructor from numpy.
        kind = pa.binary(flat.shape[1] * flat.itemsize)
        column = pa.Array.from_buffers(kind, len(flat), [None, pa.py_buffer(flat)])
    else:
        column = pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1)), flat.shape[1])
    columns = {"image": column}
    if labels is not None:
        columns["label"] = pa.array(labels)
    return pa.table(columns)


def wide(images: np.ndarray, labels: np.ndarray | None) -> pa.Table:
    """A column per pixel, the label first."""
    flat = images.reshape(len(images), -1).T.copy()  # Arrow wants each column in one piece
    columns = [] if labels is None else [pa.array(labels)]
    columns += [pa.array(column) for column in flat]
    return pa.Table.from_arrays(columns, [str(i) for i in range(len(columns))])


def main() -> None:
    """Do the job that the command line names."""
    inside = Inside()
    job, out, *inputs = sys.argv[1:]
    images, labels = read(inputs[0]), read(inputs[1]) if len(inputs) > 1 else None
    if job == "arrow":
        data = table(images, labels)
        with pa.OSFile(out, "wb") as file, pa.ipc.new_file(file, data.schema) as writer:
            writer.write_table(data)
    elif job == "csv":
        options = pa.csv.WriteOptions(include_header=False)
        pa.csv.write_csv(wide(images, labels), out, options)
    else:
        # parquet, parquet-none (no compression), either with -plain (no dictionary), parquet-binary. zstd's level 1 is pyarrow's default.
        codec = "none" if job.startswith("parquet-none") else "zstd"
        dictionary = not job.endswith(("-plain", "-binary"))
        pq.write_table(table(images, labels, job == "parquet-binary"), out, compression=codec, use_dictionary=dictionary)
    inside.done()


main()
