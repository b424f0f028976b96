"""Compare an output with the IDX files it was made from, value by value. usage: check.py KIND OUT IMAGES [LABELS]

It runs as a process of its own, so that the harness stays small. Prints what differs, nothing if all is equal.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "scripts"))

from idx import read  # noqa: E402


def pixels(column, shape) -> np.ndarray:
    """The values of an Arrow column of lists, bytes or PNG images, whatever the kind of list."""
    import pyarrow as pa
    from PIL import Image

    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0)
    if pa.types.is_struct(array.type):
        return np.stack([np.asarray(Image.open(io.BytesIO(data))) for data in array.field("bytes").to_pylist()])
    if pa.types.is_fixed_size_binary(array.type):
        return np.frombuffer(array.buffers()[1], np.uint8, len(array) * array.type.byte_width, array.offset * array.type.byte_width)
    return array.flatten().to_numpy(zero_copy_only=False)


def tables(kind: str, out: str, images: np.ndarray):
    """Images and labels of an Arrow or Parquet file."""
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet as pq

    table = pq.ParquetFile(out).read() if kind == "parquet" else pa.ipc.open_file(out).read_all()
    # A file with one column has no label; idxport names the lone column data.
    names = table.column_names
    image = "image" if "image" in names else names[0]
    return pixels(table[image], images.shape), table["label"].to_numpy() if "label" in names else None


def csv(out: str, images: np.ndarray, labelled: bool):
    """Images and labels of a CSV file without a header."""
    import polars as pl

    kind = pl.Float32 if images.dtype.kind == "f" else pl.UInt8
    count = images[0].size + labelled
    frame = pl.read_csv(out, has_header=False, schema={f"c{i}": kind for i in range(count)})
    values = frame.to_numpy()
    return (values[:, 1:], values[:, 0]) if labelled else (values, None)


def png(out: str, images: np.ndarray):
    """Images and labels of a folder: the name of a file is its row, that of its folder its label."""
    import cv2

    found, labels = np.zeros_like(images), np.full(len(images), 255, np.uint8)
    for path in Path(out).glob("*/*.png"):
        row = int(path.stem)
        found[row] = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        labels[row] = int(path.parent.name)
    return found, labels


def split(out: str):
    """Images and labels of the folders train and val, in any order; a tenth of every class is in val."""
    import cv2

    paths = {name: sorted(Path(out, name).glob("*/*.png")) for name in ("train", "val")}
    labels = {name: np.array([int(path.parent.name) for path in paths[name]], np.uint8) for name in paths}
    held, rest = (np.bincount(labels[name], minlength=10) for name in ("val", "train"))
    if (np.abs(held - (held + rest) / 10) > 1).any():
        print(f"{held.tolist()} of {(held + rest).tolist()} are held out, expected a tenth")
    every = [path for name in paths for path in paths[name]]
    return np.stack([cv2.imread(str(path), cv2.IMREAD_UNCHANGED) for path in every]), np.concatenate([labels["train"], labels["val"]])


def in_order(images: np.ndarray, labels: np.ndarray):
    """Images and labels, sorted by their bytes."""
    rows = np.column_stack([labels, images.reshape(len(labels), -1)])
    rows = np.ascontiguousarray(rows)
    order = np.argsort(rows.view([("", np.void, rows.shape[1])]).ravel(), kind="stable")
    return images.reshape(len(labels), -1)[order], labels[order]


def main() -> None:
    """Compare, and say what differs."""
    kind, out, *inputs = sys.argv[1:]
    images = read(inputs[0])
    expected = read(inputs[1]) if len(inputs) > 1 else None
    if kind == "csv":
        found, labels = csv(out, images, expected is not None)
    elif kind == "png":
        found, labels = png(out, images)
    elif kind == "idx":
        found, labels = read(out), None
    elif kind == "split":
        found, labels = split(out)
    else:
        found, labels = tables(kind.replace("shuffled", "parquet"), out, images)
    found = np.asarray(found)
    if kind in ("shuffled", "split"):
        if kind == "shuffled" and np.array_equal(labels, expected):
            print("the rows are in their old order")
        found, labels = in_order(found, np.asarray(labels).astype(np.uint8))
        images, expected = in_order(images, expected)
    if kind == "idx" and found.shape == images.shape and np.abs(found.astype(int) - images).mean() < 2:
        images = found  # decoders of JPEG differ, above all in colours between pixels
    if found.size != images.size:
        print(f"{found.size} values, expected {images.size}")
    elif not np.array_equal(found.reshape(images.shape), images):
        print("values differ from the IDX file")
    if expected is not None and not np.array_equal(labels, expected):
        print("labels differ from the IDX file")


main()
