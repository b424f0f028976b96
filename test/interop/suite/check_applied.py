"""`verify` and `convert --verify` where something is done to the data: images turned or inverted, rows chosen, labels of many numbers, names of classes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from .check_verify import DIFFERS, flipped, numbers, one_difference, says, table
from .command import Bench
from .compare import equal
from .tensors import Tensor, make

FORMATS = ("parquet", "arrow", "arrows", "csv", "tsv", "png", "npy", "idx")
TELLING = ("parquet", "arrow", "arrows")  # keep what was done in their metadata


def container(path: Path, form: str, split: str = "train") -> Path:
    """The output of a split in a folder of outputs; of those that are one column, the images."""
    match form:
        case "png":
            return path / split
        case "npy":
            return path / f"{split}-image.npy"
        case "idx":
            return path / f"{'t10k' if split == 'test' else split}-images-idx3-ubyte"
    return path / f"{split}.{form}"


def published(folder: Path, prefix: str, image: Tensor, label: Tensor) -> Path:
    """A folder of IDX files by their published names: train, and test with the first rows of it."""
    folder.mkdir()
    for split, rows in (("train", image.rows), ("test", image.rows // 2)):
        Tensor(image.values[:rows]).write(folder / f"{prefix}{split}-images-idx3-ubyte")
        Tensor(label.values[:rows]).write(folder / f"{prefix}{split}-labels-idx{label.rank}-ubyte")
    return folder


def check_flags(bench: Bench) -> None:
    """What was done is told by the metadata, or by the same flags; without them, or with others, the output differs."""
    image, label = make("uint8", (60, 8, 8)), numbers(60)
    with bench.folder("applied") as folder:
        data = published(folder / "data", "", image, label)
        for i, flags in enumerate((["--invert"], ["--rows", "7:-9"], ["--transpose"], ["--transpose", "--invert", "--rows", "3:20"])):
            out = folder / f"out{i}"
            result = bench.convert([data], [out], "--to", ",".join(FORMATS[:-1]), "--verify", *flags)
            for form in FORMATS[:-1]:
                for split in ("train", "test"):
                    with bench.report.case(f"{' '.join(flags)} {form} {split}", result.command):
                        result.succeeded()
                        path = container(out, form, split)
                        bench.run("verify", path, data, *flags).succeeded()
                        bare = bench.run("verify", path, data)
                        bare.exited(0 if form in TELLING else DIFFERS)
                        if form in TELLING and "--rows" in flags:
                            bench.run("verify", path, data, "--rows", "0:17").exited(DIFFERS)


def check_letters(bench: Bench) -> None:
    """EMNIST's letters are stored transposed and labelled from 1; outputs are upright, by numpy, and equal; IDX is as it was."""
    image, label = make("uint8", (104, 28, 28)), Tensor((np.arange(104) % 26 + 1).astype("uint8"))
    with bench.folder("applied") as folder:
        data = published(folder / "data", "emnist-letters-", image, label)
        flags = ["--dataset", "emnist-letters"]
        for names in ("labels", "names"):
            out = folder / names
            result = bench.convert([data], [out], "--to", ",".join(FORMATS), "--class-folders", names, "--verify", *flags)
            for form in FORMATS:
                with bench.report.case(f"emnist-letters, folders by {names}, {form}", result.command):
                    result.succeeded()
                    path = container(out, form)
                    bench.run("verify", path, data, *flags).succeeded()
                    if form not in ("idx", *TELLING):
                        bench.run("verify", path, data, *flags, "--transpose=false").exited(DIFFERS)
        with bench.report.case("emnist-letters by numpy"):
            found = pq.read_table(folder / "labels" / "train.parquet")["image"].combine_chunks().flatten().to_numpy().reshape(-1, 28, 28)
            equal("upright images", bool(np.array_equal(found, image.values.transpose(0, 2, 1))), True)
            equal("the IDX file", (folder / "labels" / "train-images-idx3-ubyte").read_bytes(), image.idx())
        other, at = flipped(image, 9)
        changed = published(folder / "changed", "emnist-letters-", other, label)
        for form in FORMATS:
            with bench.report.case(f"emnist-letters flipped, {form}"):
                place = at if form == "idx" else (at[0], at[2], at[1])
                one_difference(bench.run("verify", container(folder / "labels", form), changed, *flags), "image", place, image.values[at], other.values[at])


QMNIST = ("label", "hsf_series", "writer", "digit_index", "nist_class", "nist_index", "duplicate", "unused")


def check_qmnist(bench: Bench) -> None:
    """Eight numbers for each image: each is a column, and a number that differs is named by it; in IDX they are one."""
    image, label = make("uint8", (40, 4, 3)), Tensor(np.random.default_rng(8).integers(0, 9, (40, 8)).astype("int32"))

    def write(path: Path, values: Tensor) -> Path:
        path.mkdir()
        image.write(path / "qmnist-train-images-idx3-ubyte")
        values.write(path / "qmnist-train-labels-idx2-int")
        return path

    with bench.folder("applied") as folder:
        data = write(folder / "data", label)
        result = bench.convert([data], [folder / "out"], "--to", "parquet,arrow,arrows,csv,tsv,png,idx", "--verify")
        paths = [folder / "out" / name for name in ("train.parquet", "train.arrow", "train.arrows", "train.csv", "train.tsv", "train", "train-images-idx3-ubyte", "train-labels-idx2-int")]
        for number, path in enumerate(paths):
            with bench.report.case(f"qmnist {path.name}", result.command):
                result.succeeded()
                bench.run("verify", path, data).succeeded()
            other, at = flipped(label, number)
            changed = write(folder / f"changed{number}", other)
            with bench.report.case(f"qmnist flipped {path.name}", result.command):
                found = bench.run("verify", path, changed)
                if path.suffix:
                    one_difference(found, QMNIST[at[1]], at[:1], label.values[at], other.values[at])
                elif path.name == "train-labels-idx2-int":
                    one_difference(found, "label", at, label.values[at], other.values[at])
                elif path.name == "train" and at[1] == 0:
                    one_difference(found, "label", at[:1], label.values[at], other.values[at])
                else:  # it does not hold that column, and says so
                    says(found, 0, "it does not hold")
        for column in ("writer", "nist_class"):
            with bench.report.case(f"qmnist --label-column {column}"):
                made = bench.convert([data], [f"png={folder / column}", folder / f"{column}.parquet", folder / f"{column}.csv"], "--label-column", column, "--verify")
                made.succeeded()
                for path in (folder / column, folder / f"{column}.parquet", folder / f"{column}.csv"):
                    bench.run("verify", path, data, "--label-column", column).succeeded()


def check_names(bench: Bench) -> None:
    """A column of names is no difference; labels beside it are compared."""
    image, label = make("uint8", (40, 4, 3)), numbers(40)
    other, at = flipped(label, 4)
    with bench.folder("applied") as folder:
        inputs, changed = table(folder / "in", image, label), table(folder / "changed", image, other)
        (folder / "names").write_text("".join(f"name {i}\n" for i in range(10)))
        flags = ["--classes", str(folder / "names"), "--class-column", "--verify"]
        for path in (folder / f"out.{form}" for form in ("parquet", "arrow", "arrows", "csv", "tsv")):
            result = bench.convert(list(inputs), [path], *flags)
            with bench.report.case(f"--class-column {path.name}", result.command):
                result.succeeded()
                bench.run("verify", path, *inputs).succeeded()
                one_difference(bench.run("verify", path, *changed), "label", at, label.values[at], other.values[at])
        (folder / "odd").write_text("".join(f"{9 - i} odd\n" for i in range(10)))  # sorted, they are in another order
        flags = ["--classes", str(folder / "odd")]
        result = bench.convert(list(inputs), [f"png={folder / 'png'}"], *flags, "--class-folders", "names", "--verify")
        with bench.report.case("--class-folders names", result.command):
            result.succeeded()
            bench.run("verify", folder / "png", *inputs, *flags).succeeded()
            one_difference(bench.run("verify", folder / "png", *changed, *flags), "label", at, label.values[at], other.values[at])


def check_convert(bench: Bench) -> None:
    """--verify with every format, with parts, and with a folder of the Hub: the outputs are there, and the report tells of them."""
    image, label = make("uint8", (400, 8, 8)), numbers(400)
    runs: dict[str, list[str]] = {
        "all formats": ["--to", ",".join(FORMATS)],
        "names for folders": ["--to", "png", "--class-folders", "names", "--dataset", "fashion-mnist"],
        "metadata": ["--to", "png", "--metadata-csv"],
        "parts": ["--to", "parquet,arrow,arrows,csv,tsv", "--rows-per-file", "37"],
        "parts of one row": ["--to", "csv,parquet", "--rows-per-file", "1", "--rows", "0:105"],
        "parts by size": ["--to", "parquet,arrow,csv", "--file-size", "8KB"],
        "the Hub": ["--layout", "huggingface"],
        "shards of the Hub": ["--layout", "huggingface", "--rows-per-file", "37"],
        **{f"CSV style {style}": ["--to", "csv", "--csv-style", style] for style in ("kaggle1", "rowxcol", "pjreddie")},
        **{f"layout {layout}": ["--to", "parquet,arrow", "--layout", layout] for layout in ("nested", "tensor", "fixed-binary", "binary", "columns", "spark-image")},
    }
    with bench.folder("applied") as folder:
        data = published(folder / "data", "", image, label)
        for i, (what, flags) in enumerate(runs.items()):
            result = bench.convert([data], [folder / f"out{i}"], *flags, "--verify", "--json")
            with bench.report.case(f"convert --verify, {what}", result.command):
                result.succeeded()
                report = json.loads(result.stdout)
                equal("the status", report["status"], "ok")
                missing = [out["path"] for out in report["outputs"] if not Path(out["path"]).exists()]
                equal("the outputs that are missing", missing, [])
                for out in report["outputs"]:
                    if what != "names for folders":
                        path = Path(out["path"])
                        bench.run("verify", path, data, "--split", out.get("split", "train"), *(["--rows", "0:105"] if "--rows" in flags else [])).succeeded()


def check(bench: Bench) -> None:
    """All groups."""
    with bench.report.group("verify: flags"):
        check_flags(bench)
    with bench.report.group("verify: EMNIST's letters"):
        check_letters(bench)
    with bench.report.group("verify: QMNIST"):
        check_qmnist(bench)
    with bench.report.group("verify: names of classes"):
        check_names(bench)
    with bench.report.group("convert --verify"):
        check_convert(bench)
