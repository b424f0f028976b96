"""Write images and labels as one would with today's tools. usage: write.py TOOL JOB OUT IMAGES [LABELS]

A tool's function imports what the job needs, and nothing else, as imports count as start-up; it returns what does the job.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from idx import Inside, read

Write = Callable[..., Any]  # of images, labels or None, and the path of the output


def arrays() -> Callable[[np.ndarray], Any]:
    """Arrow arrays over values, as pa.array makes them; but that imports pandas first wherever it is installed, some 270 ms."""
    import pyarrow as pa

    return lambda values: pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def arrow_table(images: np.ndarray, labels: np.ndarray | None, binary: bool = False) -> Any:
    """One row per record, without copying the pixels."""
    import pyarrow as pa

    flat, array = images.reshape(len(images), -1), arrays()
    if binary:  # a buffer of its own: FixedSizeBinary has no constructor from numpy
        column = pa.Array.from_buffers(pa.binary(flat.shape[1] * flat.itemsize), len(flat), [None, pa.py_buffer(flat)])
    else:
        column = pa.FixedSizeListArray.from_arrays(array(flat.reshape(-1)), flat.shape[1])
    return pa.table({"image": column} | ({} if labels is None else {"label": array(labels)}))


def wide(images: np.ndarray, labels: np.ndarray | None) -> Any:
    """A column per pixel, the label first."""
    import pyarrow as pa

    flat, array = images.reshape(len(images), -1).T.copy(), arrays()  # Arrow wants each column in one piece
    columns = [array(column) for column in ([] if labels is None else [labels]) + list(flat)]
    return pa.Table.from_arrays(columns, [f"c{i}" for i in range(len(columns))])


def by_pyarrow(job: str) -> Write:
    import pyarrow as pa

    if job == "arrow":
        import pyarrow.ipc

        def write(images: np.ndarray, labels: np.ndarray | None, out: str) -> None:
            data = arrow_table(images, labels)
            with pa.OSFile(out, "wb") as file, pa.ipc.new_file(file, data.schema) as writer:
                writer.write_table(data)

        return write
    if job == "csv":
        import pyarrow.csv

        options = pa.csv.WriteOptions(include_header=False, batch_size=8192)  # a sixth less time than with its default, 1024
        return lambda images, labels, out: pa.csv.write_csv(wide(images, labels), out, options)
    import pyarrow.parquet as pq

    # parquet, parquet-none (no compression), either with -split (streams of bytes instead of a dictionary: the fastest encoding found),
    # parquet-binary. zstd's level 1 is pyarrow's default.
    split, binary = job.endswith("-split"), job == "parquet-binary"
    settings = {
        "compression": "none" if job.startswith("parquet-none") else "zstd",
        "use_dictionary": not split and not binary, "use_byte_stream_split": split,
    }  # fmt: skip
    return lambda images, labels, out: pq.write_table(arrow_table(images, labels, binary), out, **settings)


def by_polars(job: str) -> Write:
    import polars as pl

    def csv(images: np.ndarray, labels: np.ndarray | None, out: str) -> None:
        frame = pl.from_numpy(images.reshape(len(images), -1).T.copy().T, orient="row")  # columns in one piece; numpy.asfortranarray is slower
        if labels is not None:
            frame = frame.insert_column(0, pl.Series("label", labels))
        frame.write_csv(out, include_header=False)

    def shuffled(images: np.ndarray, labels: np.ndarray, out: str) -> None:
        frame(images, labels).sample(fraction=1, shuffle=True, seed=0).write_parquet(out, **settings)

    def frame(images: np.ndarray, labels: np.ndarray | None) -> pl.DataFrame:
        return pl.DataFrame({"image": images.reshape(len(images), -1)} | ({} if labels is None else {"label": labels}))  # 2-D gives Array

    # zstd at the level of the others; its default is 3.
    settings = {"compression": "uncompressed"} if job == "parquet-none" else {"compression": "zstd", "compression_level": 1}
    return {
        "csv": csv,
        "shuffled": shuffled,
        "arrow": lambda images, labels, out: frame(images, labels).write_ipc(out),
    }.get(job, lambda images, labels, out: frame(images, labels).write_parquet(out, **settings))


def by_duckdb(job: str) -> Write:
    import duckdb
    import pyarrow  # noqa: F401

    codec = "COMPRESSION uncompressed" if job == "parquet-none" else "COMPRESSION zstd, COMPRESSION_LEVEL 1"
    options = "FORMAT csv, HEADER false" if job == "csv" else f"FORMAT parquet, {codec}"

    def write(images: np.ndarray, labels: np.ndarray | None, out: str) -> None:
        data = wide(images, labels) if job == "csv" else arrow_table(images, labels)
        connection = duckdb.connect()
        connection.register("data", data)
        connection.execute(f"COPY data TO '{out}' ({options})")

    return write


def by_pandas(job: str) -> Write:
    import pandas as pd

    def write(images: np.ndarray, labels: np.ndarray | None, out: str) -> None:
        flat = images.reshape(len(images), -1)
        if job == "csv":
            frame = pd.DataFrame(flat)
            if labels is not None:
                frame.insert(0, "label", labels)
            frame.to_csv(out, header=False, index=False)
        else:
            frame = pd.DataFrame({"image": list(flat)} | ({} if labels is None else {"label": labels}))
            frame.to_parquet(out, compression=None if job == "parquet-none" else "zstd", index=False)

    return write


def by_numpy(job: str) -> Write:
    def write(images: np.ndarray, labels: np.ndarray | None, out: str) -> None:
        rows = images.reshape(len(images), -1)
        rows = rows if labels is None else np.column_stack([labels, rows])
        if job == "savetxt":  # nine digits are what a float32 needs to read back
            np.savetxt(out, rows, fmt="%d" if rows.dtype.kind == "u" else "%.9g", delimiter=",")
            return
        if job == "idx":
            with open(out, "wb") as file:
                file.write(np.array([8 << 8 | images.ndim, *images.shape], ">u4").tobytes())
                images.tofile(file)
            return
        texts = [str(value) for value in range(256)]  # looking them up is the fastest way that stays in plain Python
        with open(out, "w", encoding="ascii", newline="\n") as file:
            file.writelines(",".join([texts[value] for value in row.tobytes()]) + "\n" for row in rows)

    return write


def by_datasets(job: str) -> Write:
    from datasets import ClassLabel, Dataset, Features, Image
    from PIL import Image as Pillow

    if job == "shuffled":
        # as arrays: a list of lists would take minutes to make
        return lambda images, labels, out: Dataset(arrow_table(images, labels)).shuffle(seed=0).to_parquet(out)

    def write(images: np.ndarray, labels: np.ndarray, out: str) -> None:
        features = Features({"image": Image(), "label": ClassLabel(num_classes=10)})
        data = Dataset.from_dict({"image": [Pillow.fromarray(image) for image in images], "label": labels}, features=features)
        data.to_parquet(out)  # takes no codec; PNG does not shrink anyway

    return write


def by_images(job: str) -> Write:
    """Pillow or OpenCV: a folder per label, by one loop, a process per core, or a thread per core, as imwrite works outside the GIL."""
    from concurrent.futures import ThreadPoolExecutor
    from multiprocessing import get_context

    if job.startswith("pillow"):
        from PIL import Image
    else:
        import cv2

    def write(images: np.ndarray, labels: np.ndarray, out: str) -> None:
        global save  # processes find it by its name

        def save(rows: range) -> None:
            for i in rows:
                path = f"{out}/{labels[i]}/{i:05d}.png"
                if job.startswith("pillow"):
                    Image.fromarray(images[i]).save(path, compress_level=1)  # a tenth less time than with its default, 6
                else:
                    cv2.imwrite(path, images[i])

        save.__qualname__ = "save"
        for label in set(labels.tolist()):
            os.makedirs(f"{out}/{label}")
        workers = len(os.sched_getaffinity(0))
        shares = [range(worker, len(images), workers) for worker in range(workers)]
        if job == "pillow-pool":
            with get_context("fork").Pool(workers) as pool:
                pool.map(save, shares)
                pool.close()
                pool.join()  # waited for, so that their CPU time counts
        elif job == "opencv-threads":
            with ThreadPoolExecutor(workers) as threads:
                list(threads.map(save, shares))
        else:
            save(range(len(images)))

    return write


def by_split(job: str) -> Write:
    """A tenth of every class in a folder of its own: by scikit-learn's rows, or by split-folders, which copies a folder of images."""
    if job == "sklearn":
        from sklearn.model_selection import train_test_split

        save = by_images("pillow-pool")

        def write(images: np.ndarray, labels: np.ndarray, out: str) -> None:
            parts = train_test_split(np.arange(len(labels)), test_size=0.1, stratify=labels, random_state=0)
            for name, rows in zip(("train", "val"), parts):
                save(images[rows], labels[rows], f"{out}/{name}")

        return write
    import splitfolders

    save = by_images("pillow-pool")

    def copy(images: np.ndarray, labels: np.ndarray, out: str) -> None:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(out)) as folder:
            save(images, labels, folder)
            splitfolders.ratio(folder, output=out, seed=0, ratio=(0.9, 0.1))

    return copy


TOOLS = {
    "pyarrow": by_pyarrow, "polars": by_polars, "duckdb": by_duckdb, "pandas": by_pandas, "numpy": by_numpy, "datasets": by_datasets,
    "images": by_images, "split": by_split,
}  # fmt: skip


def main() -> None:
    """Do the job that the command line names."""
    tool, job, out, *inputs = sys.argv[1:]
    write = TOOLS[tool](job)
    inside = Inside()
    write(read(inputs[0]), read(inputs[1]) if len(inputs) > 1 else None, out)
    inside.done()


if __name__ == "__main__":
    main()
