"""`verify` and `convert --verify` where something is done to the data: images turned or inverted, rows chosen, labels of many numbers, names of classes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from .bench import DIFFERS, Bench, equal, published, table
from .check_verify import flipped, one_difference
from .tensors import Tensor, make, numbers

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
                    with bench.case(f"{' '.join(flags)} {form} {split}", result):
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
                with bench.case(f"emnist-letters, folders by {names}, {form}", result):
                    path = container(out, form)
                    bench.run("verify", path, data, *flags).succeeded()
                    if form not in ("idx", *TELLING):
                        bench.run("verify", path, data, *flags, "--transpose=false").exited(DIFFERS)
        with bench.case("emnist-letters by numpy"):
            found = pq.read_table(folder / "labels" / "train.parquet")["image"].combine_chunks().flatten().to_numpy().reshape(-1, 28, 28)
            equal("upright images", bool(np.array_equal(found, image.values.transpose(0, 2, 1))), True)
            equal("the IDX file", (folder / "labels" / "train-images-idx3-ubyte").read_bytes(), image.idx())
        other, at = flipped(image, 9)
        changed = published(folder / "changed", "emnist-letters-", other, label)
        for form in FORMATS:
            with bench.case(f"emnist-letters flipped, {form}"):
                place = at if form == "idx" else (at[0], at[2], at[1])
                one_difference(bench.run("verify", container(folder / "labels", form), changed, *flags), "image", place, image.values[at], other.values[at])


QMNIST = ("label", "hsf_series", "writer", "digit_index", "nist_class", "nist_index", "duplicate", "unused")


def check_qmnist(bench: Bench) -> None:
    """Eight numbers for each image: each is a column, and a number that differs is named by it; in IDX they are one."""
    image, label = make("uint8", (40, 4, 3)), Tensor(np.random.default_rng(8).integers(0, 9, (40, 8)).astype("int32"))
    with bench.folder("applied") as folder:
        data, out = published(folder / "data", "qmnist-", image, label), folder / "out"
        result = bench.convert([data], [out], "--to", "parquet,arrow,arrows,csv,tsv,png,idx", "--verify")
        names = ["train.parquet", "train.arrow", "train.arrows", "train.csv", "train.tsv", "train", "train-images-idx3-ubyte", "train-labels-idx2-int"]
        for number, name in enumerate(names):
            other, at = flipped(label, number)
            changed = published(folder / f"changed{number}", "qmnist-", image, other)
            with bench.case(f"qmnist {name}", result):
                bench.run("verify", out / name, data, "--split", "train").succeeded()
                found = bench.run("verify", out / name, changed, "--split", "train")
                column, place = ("label", at) if name.endswith("int") else (QMNIST[at[1]], at[:1])
                if "." in name or name.endswith("int") or name == "train" and at[1] == 0:
                    one_difference(found, column, place, label.values[at], other.values[at])
                else:  # it does not hold that column, and says so
                    found.exited(0, words="it does not hold")


def check_names(bench: Bench) -> None:
    """A column of names is no difference; labels beside it are compared."""
    image, label = make("uint8", (40, 4, 3)), numbers(40)
    other, at = flipped(label, 4)
    with bench.folder("applied") as folder:
        inputs, changed = table(folder / "in", image, label), table(folder / "changed", image, other)
        (folder / "names").write_text("".join(f"name {i}\n" for i in range(10)))
        flags = ["--classes", str(folder / "names"), "--class-column", "--verify"]
        for path in (folder / f"out.{form}" for form in ("parquet", "arrow", "arrows", "csv", "tsv")):
            result = bench.convert(inputs, [path], *flags)
            with bench.case(f"--class-column {path.name}", result):
                bench.run("verify", path, *inputs).succeeded()
                one_difference(bench.run("verify", path, *changed), "label", at, label.values[at], other.values[at])
        (folder / "odd").write_text("".join(f"{9 - i} odd\n" for i in range(10)))  # sorted, they are in another order
        flags = ["--classes", str(folder / "odd")]
        result = bench.convert(inputs, [f"png={folder / 'png'}"], *flags, "--class-folders", "names", "--verify")
        with bench.case("--class-folders names", result):
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
            with bench.case(f"convert --verify, {what}", result):
                report = json.loads(result.stdout)
                equal("the status", report["status"], "ok")
                missing = [out["path"] for out in report["outputs"] if not Path(out["path"]).exists()]
                equal("the outputs that are missing", missing, [])
                for out in report["outputs"]:
                    if what != "names for folders":
                        path = Path(out["path"])
                        bench.run("verify", path, data, "--split", out.get("split", "train"), *(["--rows", "0:105"] if "--rows" in flags else [])).succeeded()


GROUPS = {
    "verify: flags": check_flags,
    "verify: EMNIST's letters": check_letters,
    "verify: QMNIST": check_qmnist,
    "verify: names of classes": check_names,
    "convert --verify": check_convert,
}
