"""pyarrow: Arrow IPC, Parquet, CSV. usage: with_pyarrow.py JOB OUT IMAGES [LABELS]"""

import sys

import numpy as np
import pyarrow as pa

from idx import Inside, read

# Only the one that is used is imported: the others would count as start-up.
if sys.argv[1] == "arrow":
    import pyarrow.ipc
elif sys.argv[1] == "csv":
    import pyarrow.csv
else:
    import pyarrow.parquet as pq


def array(values: np.ndarray) -> pa.Array:
    """An array over values, as pa.array makes it; but that imports pandas first wherever it is installed, some 270 ms."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def table(images: np.ndarray, labels: np.ndarray | None, binary: bool = False) -> pa.Table:
    """One row per record, without copying the pixels."""
    flat = images.reshape(len(images), -1)
    if binary:
        # A buffer of its own: FixedSizeBinary has no constructor from numpy.
        kind = pa.binary(flat.shape[1] * flat.itemsize)
        column = pa.Array.from_buffers(kind, len(flat), [None, pa.py_buffer(flat)])
    else:
        column = pa.FixedSizeListArray.from_arrays(array(flat.reshape(-1)), flat.shape[1])
    columns = {"image": column}
    if labels is not None:
        columns["label"] = array(labels)
    return pa.table(columns)


def wide(images: np.ndarray, labels: np.ndarray | None) -> pa.Table:
    """A column per pixel, the label first."""
    flat = images.reshape(len(images), -1).T.copy()  # Arrow wants each column in one piece
    columns = [] if labels is None else [array(labels)]
    columns += [array(column) for column in flat]
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
        options = pa.csv.WriteOptions(include_header=False, batch_size=8192)  # a sixth less time than with its default, 1024
        pa.csv.write_csv(wide(images, labels), out, options)
    else:
        # parquet, parquet-none (no compression), either with -split (streams of bytes instead of a dictionary: the fastest encoding found),
        # parquet-binary. zstd's level 1 is pyarrow's default.
        codec = "none" if job.startswith("parquet-none") else "zstd"
        split = job.endswith("-split")
        dictionary = not split and job != "parquet-binary"
        data = table(images, labels, job == "parquet-binary")
        pq.write_table(data, out, compression=codec, use_dictionary=dictionary, use_byte_stream_split=split)
    inside.done()


main()
