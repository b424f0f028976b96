"""Outputs of many files: every reader reads the whole folder, hidden files in it ignored, and finds each row once and
in order."""

from __future__ import annotations

import glob
import io
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

from .bench import Bench, equal, published, same_bits
from .check_pictures import samples
from .tensors import make, numbers

IMAGE, LABEL = make("uint8", (1003, 5, 7)), numbers(1003)
SPLITS = {"train": 1003, "test": 501}  # split: its rows, the first of those above
Found = tuple[np.ndarray, np.ndarray]  # images, a row for each, and labels

# What other runs may have in the folder, empty and hidden: locks, and the records of a folder and of a file.
BESIDE = [".train.parquet.idxport", ".x.idxport", ".x.idxport-0123456789abcdef-0123456789abcdef-0123456789abcdef.made"]
RECORD = ".x.csv.idxport-0123456789abcdef-0123456789abcdef-0123456789abcdef.made"


def from_table(table: pyarrow.Table) -> Found:
    """Images and labels of an Arrow table; images are lists or structs with PNG files."""
    images = table["image"].combine_chunks()
    labels = table["label"].to_numpy()
    if pyarrow.types.is_struct(images.type):
        return np.stack([np.asarray(Image.open(io.BytesIO(row["bytes"]))).reshape(-1) for row in images.to_pylist()]), labels.astype("uint8")
    return images.flatten().to_numpy().reshape(len(images), -1), labels


def from_frame(frame: pandas.DataFrame) -> Found:
    """Images and labels of a pandas data frame of lists, or of a column for each pixel."""
    if "image" in frame:
        return np.stack(frame["image"].to_list()), frame["label"].to_numpy()
    return frame.drop(columns="label").to_numpy("uint8"), frame["label"].to_numpy("uint8")


def from_tars(paths: list[str]) -> Found:
    """Images and labels of WebDataset's shards, whose keys continue from shard to shard."""
    found: list[dict[str, bytes]] = []
    for path in paths:
        found += samples(Path(path).read_bytes(), len(found))
    images = [np.asarray(Image.open(io.BytesIO(sample["png"]))).reshape(-1) for sample in found]
    return np.stack(images), np.array([int(sample["cls"]) for sample in found], "uint8")


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
        "pandas": lambda path: from_frame(pandas.concat(pandas.read_csv(part) for part in sorted(glob.glob(f"{path}/part-*")))),
        "polars": lambda path: from_frame(polars.read_csv(f"{path}/*.csv").to_pandas()),
        "duckdb": lambda path: from_frame(duck(f"FROM '{path}/*.csv'").to_pandas()),
    },
    "tar": {"tarfile": lambda path: from_tars(sorted(glob.glob(f"{path}/part-*.tar")))},
}
# Hive's folders, named split=train and split=test: the whole table, with a column split.
HIVE: dict[str, Callable[[str], pandas.DataFrame]] = {
    "pyarrow": lambda path: pyarrow.parquet.read_table(path).to_pandas(),
    "pandas": pandas.read_parquet,
    "polars": lambda path: polars.read_parquet(path).to_pandas(),
    "duckdb": lambda path: duck(f"FROM read_parquet('{path}/**/*.parquet', hive_partitioning = true)").to_pandas(),
}


def same(found: Found, *splits: str) -> None:
    """Demand the images and labels of these splits, one after another."""
    rows = [SPLITS[split] for split in splits]
    same_bits(np.ascontiguousarray(found[0]), np.concatenate([IMAGE.values[:n].reshape(n, -1) for n in rows]))
    same_bits(np.ascontiguousarray(found[1]), np.concatenate([LABEL.values[:n] for n in rows]))


def check_readers(bench: Bench) -> None:
    """Parts of so many rows in every format, Hive's folders, and the data of a folder for the Hub, by every reader."""
    with bench.folder("parts") as folder:
        data = published(folder / "data", "", IMAGE, LABEL)

        def make_folder(name: str, output: str, *flags: str) -> tuple[Path, object]:
            made = bench.convert([data], [output], *flags)
            for beside in BESIDE:
                (folder / name).mkdir(exist_ok=True)
                (folder / name / beside).touch()
            (folder / name / RECORD).mkdir(exist_ok=True)
            return folder / name, made

        for rows in (1, 100, 1003) if bench.full else (100,):
            name = f"out{rows}"
            out, made = make_folder(name, f"{folder / name}/", "--to", ",".join(READERS), "--rows-per-file", str(rows))
            for split in SPLITS:
                for extension, readers in READERS.items():
                    part = out / f"{split}.{extension}"
                    with bench.case(f"{rows} rows a file: parts of {part.name}", made):
                        equal("the number of parts", len(list(part.glob("part-*"))), -(-SPLITS[split] // rows))
                        equal("the size of _SUCCESS", (part / "_SUCCESS").stat().st_size, 0)
                        (part / BESIDE[1]).touch()
                    for reader, read in readers.items():
                        with bench.case(f"{rows} rows a file: {part.name} by {reader}", made):
                            same(read(str(part)), split)
        hive, made = make_folder("hive", f"{folder}/hive/split={{split}}/data.parquet")
        for reader, read_all in HIVE.items():
            with bench.case(f"Hive's folders by {reader}", made):
                frame = read_all(str(hive))
                for split in SPLITS:
                    same(from_frame(frame[frame["split"] == split]), split)
        hub, made = make_folder("hub", f"{folder}/hub/", "--layout", "huggingface", "--rows-per-file", "300")
        for reader in ("pyarrow", "polars", "duckdb"):
            with bench.case(f"the Hub's folder by {reader}", made):
                same(PARQUET[reader](str(hub / "data")), "test", "train")  # in the order of the names


GROUPS = {"many files": check_readers}
