"""`convert --if-changed` does nothing if nothing has changed, otherwise writes the outputs again; its records are
empty."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from .bench import Bench, Mismatch, Result, equal, published
from .tensors import Tensor, make, numbers

ROWS = 120
OUTPUTS: dict[str, list[str]] = {
    "formats": ["--to", "parquet,arrow,arrows,csv,tsv,npy,idx"],
    "images": ["--to", "png", "--metadata-csv"],
    "tar": ["--to", "tar"],
    "parts": ["--to", "parquet,arrow,csv,tar", "--rows-per-file", "37"],
    "the Hub": ["--layout", "huggingface"],
}


def state(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Time, inode and size of every file and folder of the outputs, without hidden locks and records."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.name.startswith("."):
            info = path.stat()
            found[str(path.relative_to(folder))] = (info.st_mtime_ns, info.st_ino, info.st_size)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file of the outputs."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def run(bench: Bench, data: Path, out: Path, *flags: str, status: str) -> Result:
    """Convert with --if-changed, and demand the status of the report."""
    result = bench.convert([data], [out], "--if-changed", "--json", *flags)
    result.succeeded()
    equal("the status", json.loads(result.stdout)["status"], status)
    return result


def unchanged(bench: Bench, data: Path, out: Path, *flags: str) -> None:
    """Demand that a run does nothing."""
    before = state(out)
    run(bench, data, out, *flags, status="unchanged")
    equal("the outputs", state(out), before)


def anew(bench: Bench, data: Path, out: Path, *flags: str) -> None:
    """Demand that a run writes the outputs again, with the bytes of a run into an empty folder."""
    run(bench, data, out, *flags, status="ok")
    fresh = out.parent / "fresh" / out.name  # the Hub's card contains the folder's name
    fresh.parent.mkdir()
    bench.convert([data], [fresh], *flags).succeeded()
    found, expected = contents(out), contents(fresh)
    equal("the files", sorted(found), sorted(expected))
    equal("the files with other bytes", [name for name in expected if found.get(name) != expected[name]], [])
    shutil.rmtree(fresh.parent)
    unchanged(bench, data, out, *flags)


def check_cycle(bench: Bench) -> None:
    """Written, left alone, written again for every reason."""
    image, label = make("uint8", (ROWS, 8, 8)), numbers(ROWS)
    other = Tensor(image.values ^ np.uint8(1))
    for what, flags in OUTPUTS.items():
        with bench.folder("changed") as folder:
            data, out = published(folder / "data", "", image, label), folder / "out"
            train = data / "train-images-idx3-ubyte"
            steps: dict[str, Callable[[], None]] = {
                "the first run": lambda: anew(bench, data, out, *flags),
                "the same again, with other numbers of workers": lambda: unchanged(bench, data, out, *flags, "--workers", "1"),
                "a touched input": lambda: (os.utime(train), unchanged(bench, data, out, *flags)),
                "an input written again": lambda: (train.unlink(), image.write(train), unchanged(bench, data, out, *flags)),
                "a changed input": lambda: (other.write(train), anew(bench, data, out, *flags)),
                "an input changed back": lambda: (image.write(train), anew(bench, data, out, *flags)),
                "an option": lambda: anew(bench, data, out, *flags, "--rows", "0:100"),
                "another option": lambda: anew(bench, data, out, *flags, "--rows", "0:100", "--invert"),
                "the options of before": lambda: anew(bench, data, out, *flags),
                "hidden files": lambda: hidden(folder),
            }
            for step, act in steps.items():
                with bench.report.case(f"--if-changed, {what}: {step}", f"idxport convert data -o out --if-changed {' '.join(flags)}"):
                    act()


def hidden(folder: Path) -> None:
    """All hidden files and folders are empty, and there is a record."""
    found = list(folder.rglob(".*"))
    filled = [str(path) for path in found if (any(path.iterdir()) if path.is_dir() else path.stat().st_size)]
    equal("hidden files and folders that are not empty", filled, [])
    if not any(path.name.endswith(".made") for path in found):
        raise Mismatch(f"found no record, only {found}")


def check_options(bench: Bench) -> None:
    """Options that change the bytes, changed class names, and outputs of runs without --if-changed."""
    image, label = make("uint8", (ROWS, 8, 8)), numbers(ROWS)
    with bench.folder("changed") as folder:
        data, out, names = published(folder / "data", "", image, label), folder / "out", folder / "names"
        names.write_text("".join(f"name {i}\n" for i in range(10)))
        named = ["--classes", str(names), "--class-column"]
        for flags in (["--compression", "none"], ["--compression", "zstd:9"], ["--layout", "nested"], ["--transpose"], named):
            with bench.report.case(f"--if-changed {' '.join(flags)}"):
                shutil.rmtree(out, ignore_errors=True)
                run(bench, data, out, status="ok")
                anew(bench, data, out, *flags)
        with bench.report.case("--if-changed with other class names"):
            names.write_text("".join(f"other {i}\n" for i in range(10)))
            anew(bench, data, out, *named)
            found = pq.read_table(out / "train.parquet")["class"].to_pylist()
            equal("the names", found, [f"other {value}" for value in label.values])
        with bench.report.case("--if-changed --verify after --if-changed"):
            unchanged(bench, data, out, *named, "--verify")
        with bench.report.case("--if-changed after --overwrite"):
            bench.convert([data], [out], "--overwrite", "--rows", "0:5").succeeded()
            anew(bench, data, out, *named)


GROUPS = {"--if-changed": check_cycle, "--if-changed: options": check_options}
