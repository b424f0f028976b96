"""Outputs of many files: every reader takes the folder whole, with what the publisher leaves beside it, and finds each row once and in order."""

from __future__ import annotations

import glob
import io
import re
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

from .command import Bench, Result
from .compare import equal, same_bits
from .report import Mismatch
from .tensors import Tensor, make

ROWS = {"train": 1003, "test": 200}
SHAPE = (5, 7)

# What may lie in a folder while another run works: empty and hidden.
BESIDE = [".train.parquet.idxport-lock", ".x.idxport-lock", ".train.parquet.idxport-0123456789abcdef-0123456789abcdef.made"]


def dataset(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Write images and labels of two splits as IDX files into folder, and return them by split."""
    made = {}
    for split, rows in ROWS.items():
        images = make("uint8", (rows, *SHAPE)).values
        labels = (np.arange(rows, dtype="uint8") * 7) % 10
        stem = {"train": "train", "test": "t10k"}[split]
        Tensor(images).write(folder / f"{stem}-images-idx3-ubyte")
        Tensor(labels).write(folder / f"{stem}-labels-idx1-ubyte")
        made[split] = images.reshape(rows, -1), labels
    return made


def from_table(table: pyarrow.Table) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of an Arrow table."""
    images = table["image"].combine_chunks()
    flat = images.flatten() if isinstance(images, pyarrow.FixedSizeListArray) else images.values
    return flat.to_numpy().reshape(len(images), -1), table["label"].to_numpy()


def from_frame(frame: pandas.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of a pandas data frame of lists."""
    return np.stack(frame["image"].to_list()), frame["label"].to_numpy()


def from_pixels(frame: pandas.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of a CSV file of the default style."""
    return frame.drop(columns="label").to_numpy("uint8"), frame["label"].to_numpy("uint8")


def from_tars(paths: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of WebDataset's shards."""
    images, labels = [], []
    for path in paths:
        with tarfile.open(path) as archive:
            for member in archive:
                data = archive.extractfile(member).read()  # type: ignore[union-attr]
                if member.name.endswith(".png"):
                    images.append(np.asarray(Image.open(io.BytesIO(data))).reshape(-1))
                else:
                    labels.append(int(data))
    return np.stack(images), np.array(labels, "uint8")


def duck(text: str) -> pyarrow.Table:
    """What a query gives, as an Arrow table."""
    return duckdb.connect().sql(text).to_arrow_table()


# Each takes a folder, as its documentation says, and gives images and labels.
READERS: dict[str, dict[str, Callable[[str], tuple[np.ndarray, np.ndarray]]]] = {
    "parquet": {
        "pyarrow": lambda path: from_table(pyarrow.parquet.read_table(path)),
        "pyarrow.dataset": lambda path: from_table(pyarrow.dataset.dataset(path).to_table()),
        "pandas": lambda path: from_frame(pandas.read_parquet(path)),
        "polars": lambda path: from_table(polars.read_parquet(path).to_arrow()),
        "polars, lazily": lambda path: from_table(polars.scan_parquet(path).collect().to_arrow()),
        "duckdb": lambda path: from_table(duck(f"FROM '{path}/*.parquet'")),
    },
    "arrow": {
        "pyarrow.dataset": lambda path: from_table(pyarrow.dataset.dataset(path, format="arrow").to_table()),
        "polars": lambda path: from_table(polars.read_ipc(f"{path}/*.arrow").to_arrow()),
    },
    "csv": {
        "pandas": lambda path: from_pixels(pandas.concat(pandas.read_csv(part) for part in sorted(glob.glob(f"{path}/part-*")))),
        "polars": lambda path: from_pixels(polars.read_csv(f"{path}/*.csv").to_pandas()),
        "duckdb": lambda path: from_pixels(duck(f"FROM '{path}/*.csv'").to_pandas()),
    },
    "tar": {"tarfile": lambda path: from_tars(sorted(glob.glob(f"{path}/part-*.tar")))},
}


def same(found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray]) -> None:
    """Demand the same images and labels in the same order."""
    equal("the number of rows", found[0].shape[0], expected[0].shape[0])
    same_bits(np.ascontiguousarray(found[0]), expected[0])
    same_bits(np.ascontiguousarray(found[1]), expected[1])


def check_names(folder: Path, extension: str, files: int) -> None:
    """The folder holds so many parts, numbered, and the empty _SUCCESS."""
    names = sorted(path.name for path in folder.iterdir())
    equal("the size of _SUCCESS", (folder / "_SUCCESS").stat().st_size, 0)
    names.remove("_SUCCESS")
    equal("the number of parts", len(names), files)
    for number, name in enumerate(names):
        if not re.fullmatch(rf"part-{number:05d}-[0-9a-f]{{16}}\.{extension}", name):
            raise Mismatch(f"part {number} is called {name}")


def check_parts(bench: Bench, rows: int) -> None:
    """Parts of so many rows, in every format, by every reader."""
    with bench.folder("parts") as folder:
        splits = dataset(folder)
        out = folder / "out"
        result = bench.convert([folder], [f"{out}/"], "--to", ",".join(READERS), "--rows-per-file", str(rows))
        for name in BESIDE:
            out.mkdir(exist_ok=True)
            (out / name).touch()
        for split, expected in splits.items():
            for extension, readers in READERS.items():
                part = out / f"{split}.{extension}"
                with bench.report.case(f"{rows} rows a file: names of {part.name}", result.command):
                    result.succeeded()
                    check_names(part, extension, -(-ROWS[split] // rows))
                (part / BESIDE[1]).touch()
                for reader, read in readers.items():
                    with bench.report.case(f"{rows} rows a file: {part.name} by {reader}", result.command):
                        same(read(str(part)), expected)


def check_hive(bench: Bench) -> None:
    """Folders as Hive has them: the split is a column."""
    with bench.folder("hive") as folder:
        splits = dataset(folder)
        hive = folder / "hive"
        result = bench.convert([folder], [f"{hive}/split={{split}}/data.parquet"])
        readers: dict[str, Callable[[str], pandas.DataFrame]] = {
            "pyarrow": lambda path: pyarrow.parquet.read_table(path).to_pandas(),
            "pandas": pandas.read_parquet,
            "polars": lambda path: polars.read_parquet(path).to_pandas(),
            "duckdb": lambda path: duck(f"FROM read_parquet('{path}/**/*.parquet', hive_partitioning = true)").to_pandas(),
        }
        for name in BESIDE:
            hive.mkdir(exist_ok=True)
            (hive / name).touch()
        for reader, read in readers.items():
            with bench.report.case(f"hive folders by {reader}", result.command):
                result.succeeded()
                frame = read(str(hive))
                for split, expected in splits.items():
                    same(from_frame(frame[frame["split"] == split]), expected)


def check_hub(bench: Bench) -> None:
    """The data of a folder for Hugging Face's Hub opens whole; datasets themselves are asked elsewhere."""
    with bench.folder("hub") as folder:
        splits = dataset(folder)
        result = bench.convert([folder], [f"{folder}/hub/"], "--layout", "huggingface", "--rows-per-file", "300")
        readers: dict[str, Callable[[str], pyarrow.Table]] = {
            "pyarrow": pyarrow.parquet.read_table,
            "polars": lambda path: polars.read_parquet(path).to_arrow(),
            "duckdb": lambda path: duck(f"FROM '{path}/*.parquet'"),
        }
        for reader, read in readers.items():
            with bench.report.case(f"hub by {reader}", result.command):
                result.succeeded()
                table = read(str(folder / "hub" / "data"))
                pictures = [np.asarray(Image.open(io.BytesIO(row["bytes"]))).reshape(-1) for row in table["image"].to_pylist()]
                both = (splits["test"], splits["train"])  # in the order of the names
                same(
                    (np.stack(pictures), table["label"].to_numpy().astype("uint8")),
                    (np.concatenate([images for images, _ in both]), np.concatenate([labels for _, labels in both])),
                )


def sized(bench: Bench, folder: Path, size: int) -> tuple[Result, list[Path]]:
    """Convert the numbers of folder to CSV files of a size, and list them."""
    out = folder / f"{size}.csv"
    result = bench.convert([folder / "x.idx"], [out], "--file-size", f"{size}B", "--csv-style", "matrix")
    return result, sorted(out.glob("part-*"))


def check_sizes(bench: Bench) -> None:
    """A file ends with the batch, of a megabyte of input, with which it reaches its size."""
    tensor = make("float32", (60_000, 25))
    with bench.folder("sizes") as folder:
        tensor.write(folder / "x.idx")
        whole = folder / "whole.csv"
        bench.convert([folder / "x.idx"], [whole], "--csv-style", "matrix").succeeded()
        for size in (1, 10_000_000, 10**9):
            result, files = sized(bench, folder, size)
            with bench.report.case(f"files of {size} bytes", result.command):
                result.succeeded()
                equal("the text of all parts", b"".join(path.read_bytes() for path in files) == whole.read_bytes(), True)
                for path in files[:-1]:
                    found = path.stat().st_size
                    if not size <= found < size + 8_000_000:  # a megabyte of floats is less text than that
                        raise Mismatch(f"{path.name} has {found} bytes, expected {size} and a batch at most")


def check(bench: Bench) -> None:
    """All groups of this file."""
    with bench.report.group("many files"):
        for rows in (1, 100, 1003) if bench.full else (100,):
            check_parts(bench, rows)
        check_sizes(bench)
    with bench.report.group("folders of splits"):
        check_hive(bench)
        check_hub(bench)
