"""Selections of rows, compared with NumPy's: every flag alone and in pairs, over all outputs."""

from __future__ import annotations

import gzip
import itertools
import sys
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from PIL import Image

from .bench import ROOT, Bench, Mismatch

sys.path.insert(0, str(ROOT / "source" / "testdata"))
import selection  # noqa: E402  the definition, in plain Python

# Flags by name; each with what it does to the rows of a split, see expected.
FLAGS = {
    "rows": ["--rows", "100:900"],
    "where": ["--where", "label=0-2,7"],
    "not": ["--where", "label!=7"],
    "holdout": ["--holdout", "validation=10%"],
    "stratify": ["--holdout", "validation=77", "--holdout", "rest=5%", "--stratify"],
    "shuffle": ["--shuffle"],
    "seed": ["--shuffle", "--seed", "12345678901234567"],
    "take": ["--take", "50"],
}


def expected(flags: tuple[str, ...], split: str, labels: np.ndarray) -> dict[str, list[int]]:
    """The rows of the splits that the flags make of one."""
    rows = list(range(len(labels)))
    if "rows" in flags:
        rows = rows[100:900]
    if "where" in flags:
        rows = [row for row in rows if labels[row] in (0, 1, 2, 7)]
    if "not" in flags:
        rows = [row for row in rows if labels[row] != 7]
    seed = 12345678901234567 if "seed" in flags else 0
    splits = {split: rows}
    if split == "train":
        random, total = selection.Random(seed, selection.HOLDOUT), len(rows)
        wanted = [("validation", (total * 10 + 50) // 100)] if "holdout" in flags else []
        if "stratify" in flags:
            wanted = [("validation", 77), ("rest", (total * 5 + 50) // 100)]
        for name, n in wanted:
            by = labels if "stratify" in flags else None
            splits[split], splits[name] = selection.holdout(splits[split], n, random, by)
    for name, chosen in splits.items():
        if "shuffle" in flags or "seed" in flags:
            chosen = selection.shuffle(chosen, selection.Random(seed, selection.SHUFFLE))
        splits[name] = chosen[:50] if "take" in flags else chosen
    return splits


ALONE = [(name,) for name in FLAGS]
PAIRS = [pair for pair in itertools.combinations(FLAGS, 2) if pair not in {("holdout", "stratify"), ("shuffle", "seed")}]


def idx(path: Path) -> np.ndarray:
    """The array in an IDX file of bytes, or of big-endian integers."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    shape = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, {8: "u1", 12: ">i4"}[data[2]], offset=4 + 4 * data[3]).reshape(shape)


def columns(table: pa.Table, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The images and labels of an Arrow table in the layout list."""
    images = table["image"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return images.reshape(-1, *shape), table["label"].to_numpy()


def from_csv(path: Path, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The images and labels of a CSV file."""
    table = pa.csv.read_csv(path)
    pixels = np.stack([table[name].to_numpy() for name in table.column_names[1:]], axis=1) if table.num_rows else np.empty((0, *shape))
    return pixels.reshape(-1, *shape), table["label"].to_numpy()


def from_arrow(path: Path, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The images and labels of an Arrow file."""
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
        return columns(reader.read_all(), shape)


def from_png(path: Path, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The images of a PNG folder, in the order of their names, and the labels of their folders."""
    files = sorted(path.rglob("*.png"), key=lambda file: int(file.stem))
    images = [np.asarray(Image.open(file)) for file in files] or np.empty((0, *shape))
    return np.array(images), np.array([int(file.parent.name) for file in files])


def from_tar(path: Path, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The images and labels of a WebDataset tar."""
    images, labels = [], []
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if member.name.endswith(".png"):
                images.append(np.asarray(Image.open(content)))
            elif member.name.endswith(".cls"):
                labels.append(int(content.read()))
    return np.array(images or np.empty((0, *shape))), np.array(labels)


READERS = {
    "{}.parquet": lambda path, shape: columns(pq.read_table(path), shape),
    "{}.arrow": from_arrow,
    "{}.csv": from_csv,
    "{}": from_png,
    "{}.tar": from_tar,
    "{}-image.npy": lambda path, _: (np.load(path), np.load(path.with_name(path.name.replace("image", "label")))),
    "{}-images-idx3-ubyte": lambda path, _: (idx(path), idx(path.with_name(path.name.replace("images-idx3", "labels-idx1")))),
}
FORMATS = "parquet,arrow,csv,png,tar,npy,idx"  # in the order of the readers


def check_table(found: tuple[np.ndarray, np.ndarray], images: np.ndarray, labels: np.ndarray, rows: list[int]) -> None:
    """Every value of the selected rows, in their order."""
    for what, got, whole in (("labels", found[1], labels), ("images", found[0], images)):
        if not np.array_equal(got, whole[rows]):
            raise Mismatch(f"the {what} differ from NumPy's: {len(got)} rows, expected {len(rows)}")


def check_folder(
    bench: Bench,
    name: str,
    source: Path,
    splits: dict[str, tuple[np.ndarray, np.ndarray]],
    combinations: list[tuple[str, ...]],
    formats: str,
) -> None:
    """Combinations of flags on a data set; with --full, all of them in all formats."""
    combinations, formats = (ALONE + PAIRS, FORMATS) if bench.full else (combinations, formats)
    readers = {pattern: read for (pattern, read), to in zip(READERS.items(), FORMATS.split(",")) if to in formats.split(",")}
    for flags in combinations:
        arguments = [argument for flag in flags for argument in FLAGS[flag]]
        with bench.folder("selection") as folder:
            made = bench.run("convert", source, "-o", folder / "out", "--to", formats, *arguments)
            for split, (images, labels) in splits.items():
                for part, rows in expected(flags, split, labels).items():
                    for pattern, read in readers.items():
                        with bench.case(f"{name}, {' '.join(arguments)}: {pattern.format(part)}", made):
                            name_in = "t10k" if part == "test" and "idx" in pattern else part
                            check_table(read(folder / "out" / pattern.format(name_in), images.shape[1:]), images, labels, rows)


def check_samples(bench: Bench) -> None:
    """The samples of Fashion-MNIST, compressed; the same as plain files, in Parquet, and a part of MNIST."""
    source = ROOT / "testdata" / "fashion-mnist"
    splits = {split: tuple(idx(source / f"{prefix}-{what}-ubyte.gz") for what in ("images-idx3", "labels-idx1"))
              for split, prefix in (("train", "train"), ("test", "t10k"))}
    check_folder(bench, "Fashion-MNIST .gz", source, splits, ALONE, FORMATS)
    with bench.folder("plain") as folder:
        bench.convert([source], [f"idx={folder}/plain/", f"parquet={folder}/parquet/"]).succeeded()
        check_folder(bench, "Fashion-MNIST", folder / "plain", splits, PAIRS, "parquet,idx")
        check_folder(bench, "Fashion-MNIST in Parquet", folder / "parquet", splits, PAIRS[::3], "npy")


def check_qmnist(bench: Bench) -> None:
    """Conditions on the columns of QMNIST's labels, and on floats."""
    source = ROOT / "testdata" / "qmnist" / "qmnist-train-labels-idx2-int.gz"
    numbers = idx(source)
    names = ["label", "hsf", "writer", "index", "glyph", "global", "duplicate", "unused"]
    with bench.folder("qmnist") as folder:
        bench.run("convert", source, "-o", folder / "all.parquet").succeeded()
        names = pq.read_schema(folder / "all.parquet").names
        for column in range(numbers.shape[1]):
            low, high = int(np.quantile(numbers[:, column], 0.3)), int(np.quantile(numbers[:, column], 0.8))
            for text, chosen in (
                (f"{names[column]}={low}-{high}", (numbers[:, column] >= low) & (numbers[:, column] <= high)),
                (f"{names[column]}!={low}", numbers[:, column] != low),
            ):
                if not chosen.any():
                    continue
                made = bench.run("convert", source, "-o", folder / "some.parquet", "--where", text, "--overwrite")
                with bench.case(f"QMNIST, {text}", made):
                    table = pq.read_table(folder / "some.parquet")
                    found = np.stack([table[name].to_numpy() for name in names], axis=1)
                    if not np.array_equal(found, numbers[chosen]):
                        raise Mismatch(f"{len(found)} rows differ from NumPy's {int(chosen.sum())}")


GROUPS = {
    "selections of samples": check_samples,
    "selections of QMNIST": check_qmnist,
}
