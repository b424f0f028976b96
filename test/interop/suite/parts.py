"""Outputs of many files: every reader reads the whole folder, hidden files in it ignored, and finds each row once and
in order. (Hive's folders are read by the examples of docs/recipes.md.)"""

from __future__ import annotations

import glob
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
from PIL import Image

from .stage import Stage, equal, published, same_bits
from .tensors import make, numbers

IMAGE, LABEL = make("uint8", (1003, 5, 7)), numbers(1003)
SPLITS = {"train": 1003, "test": 501}  # split: its rows, the first of those above
Found = tuple[np.ndarray, np.ndarray]  # images, a row for each, and labels

# What other runs may have in the folder, empty and hidden: locks, and the records of a folder and of a file.
BESIDE = [".train.parquet.idxport", ".x.idxport", ".x.idxport-0123456789abcdef-0123456789abcdef-0123456789abcdef.made"]
RECORD = ".x.csv.idxport-0123456789abcdef-0123456789abcdef-0123456789abcdef.made"


def picture(data: bytes) -> np.ndarray:
    """The pixels of a PNG file."""
    return np.asarray(Image.open(io.BytesIO(data))).reshape(-1)


def from_table(table: pyarrow.Table) -> Found:
    """Images and labels of an Arrow table; images are lists or structs with PNG files."""
    images, labels = table["image"].combine_chunks(), table["label"].to_numpy()
    if pyarrow.types.is_struct(images.type):
        return np.stack([picture(row["bytes"]) for row in images.to_pylist()]), labels.astype("uint8")
    return images.flatten().to_numpy().reshape(len(images), -1), labels


def from_frame(frame: pandas.DataFrame) -> Found:
    """Images and labels of a pandas data frame of lists, or of a column for each pixel."""
    if "image" in frame:
        return np.stack(frame["image"].to_list()), frame["label"].to_numpy()
    return frame.drop(columns="label").to_numpy("uint8"), frame["label"].to_numpy("uint8")


def from_tars(paths: list[str]) -> Found:
    """Images and labels of WebDataset's shards, whose keys continue from shard to shard."""
    files: dict[str, bytes] = {}
    for path in paths:
        with tarfile.open(path, mode="r|") as archive:  # as a stream, as WebDataset reads
            files |= {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    keys = [name.removesuffix(".png") for name in files if name.endswith(".png")]
    equal("the keys", keys, [f"{row:06d}" for row in range(len(keys))])
    labels = np.array([int(files[f"{key}.cls"]) for key in keys], "uint8")
    return np.stack([picture(files[f"{key}.png"]) for key in keys]), labels


def duck(text: str) -> pyarrow.Table:
    """The result of a query as an Arrow table."""
    return duckdb.connect().sql(text).to_arrow_table()


# Each reads a folder as its documentation says, and returns images and labels.
PARQUET: dict[str, Callable[[str], Found]] = {
    "pyarrow": lambda path: from_table(pyarrow.parquet.read_table(path)),
    "pyarrow.dataset": lambda path: from_table(pyarrow.dataset.dataset(path, format="parquet").to_table()),
    "pandas": lambda path: from_frame(pandas.read_parquet(path)),
    "polars": lambda path: from_table(polars.read_parquet(path).to_arrow()),
    "polars, lazily": lambda path: from_table(polars.scan_parquet(path).collect().to_arrow()),
    "duckdb": lambda path: from_table(duck(f"FROM '{path}/*.parquet'")),
}
READERS = {
    "parquet": PARQUET,
    "arrow": {
        "pyarrow.dataset": lambda path: from_table(pyarrow.dataset.dataset(path, format="arrow").to_table()),
        "polars": lambda path: from_table(polars.read_ipc(f"{path}/*.arrow").to_arrow()),
    },
    "csv": {
        "pandas": lambda path: from_frame(
            pandas.concat(pandas.read_csv(part) for part in sorted(glob.glob(f"{path}/part-*")))
        ),
        "polars": lambda path: from_frame(polars.read_csv(f"{path}/*.csv").to_pandas()),
        "duckdb": lambda path: from_frame(duck(f"FROM '{path}/*.csv'").to_pandas()),
    },
    "tar": {"tarfile": lambda path: from_tars(sorted(glob.glob(f"{path}/part-*.tar")))},
}


def same(what: str, found: Found, *splits: str) -> None:
    """Demand the images and labels of these splits, one after another."""
    rows = [SPLITS[split] for split in splits]
    same_bits(f"{what}: images", found[0], np.concatenate([IMAGE.values[:n].reshape(n, -1) for n in rows]))
    same_bits(f"{what}: labels", found[1], np.concatenate([LABEL.values[:n] for n in rows]))


def beside(folder: Path) -> None:
    """Put what other runs may have into a folder."""
    for name in BESIDE:
        (folder / name).touch()
    (folder / RECORD).mkdir(exist_ok=True)


def parts(stage: Stage) -> None:
    """Parts in every format, and the data of a folder for the Hub, by every reader."""
    data = published(stage.folder / "data", "", IMAGE, LABEL)
    for rows in (1, 100, 1003):
        out = stage.folder / f"out{rows}"
        stage.convert(data, "-o", f"{out}/", "--to", ",".join(READERS), "--rows-per-file", str(rows))
        beside(out)
        for split in SPLITS:
            for extension, readers in READERS.items():
                part = out / f"{split}.{extension}"
                what = f"{rows} rows a file, {part.name}"
                equal(f"{what}: the number of parts", len(list(part.glob("part-*"))), -(-SPLITS[split] // rows))
                equal(f"{what}: the size of _SUCCESS", (part / "_SUCCESS").stat().st_size, 0)
                (part / BESIDE[1]).touch()
                for reader, read in readers.items():
                    same(f"{what} by {reader}", read(str(part)), split)
    hub = stage.folder / "hub"
    stage.convert(data, "-o", f"{hub}/", "--layout", "huggingface", "--rows-per-file", "300")
    beside(hub)
    for reader in ("pyarrow", "polars", "duckdb"):
        found = PARQUET[reader](str(hub / "data"))
        same(f"the Hub's folder by {reader}", found, "test", "train")  # in the order of the names
