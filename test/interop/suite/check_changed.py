"""`convert --if-changed`: it does nothing where nothing has changed, makes anew what has, and disturbs no reader of the folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from .bench import BUSY, CANNOT_CREATE, Bench, Mismatch, Result, equal, published
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
    """Every file and folder of the outputs: when it was written, which it is, and its size. Locks and what tells how they were made are left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.name.startswith("."):
            info = path.stat()
            found[str(path.relative_to(folder))] = (info.st_mtime_ns, info.st_ino, info.st_size)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of the outputs."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")}


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


def anew(bench: Bench, data: Path, out: Path, *flags: str, beside: bool = False) -> None:
    """Demand that a run makes the outputs anew, with the bytes of a run into an empty folder. Files of runs with other outputs may lie beside."""
    run(bench, data, out, *flags, status="ok")
    fresh = out.parent / "fresh" / out.name  # the card of the Hub has the folder's name
    fresh.parent.mkdir()
    bench.convert([data], [fresh], *(flag for flag in flags if flag != "--verify")).succeeded()
    found, expected = contents(out), contents(fresh)
    if not beside:
        equal("the files", sorted(found), sorted(expected))
    equal("the files with other bytes", [name for name in expected if found.get(name) != expected[name]], [])
    shutil.rmtree(fresh.parent)
    unchanged(bench, data, out, *flags)


def damage(path: Path) -> None:
    """Another byte in the middle of the file, whose size and time stay."""
    info = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def truncate(path: Path) -> None:
    """The file without its last byte."""
    path.write_bytes(path.read_bytes()[:-1])


def check_cycle(bench: Bench) -> None:
    """Made, left alone, made anew for every reason."""
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
            for damaging in (damage, truncate, Path.unlink):
                for name in sorted(contents(out)):
                    if name.startswith("test") or Path(name).parts[0] == "data" and "test" in name or name.endswith("_SUCCESS"):
                        continue  # likewise
                    if what == "images" and not bench.full and not name.endswith(("000.png", ".csv", ".json")):
                        continue
                    with bench.report.case(f"--if-changed, {what}: {damaging.__name__} {name}", f"idxport convert data -o out --if-changed {' '.join(flags)}"):
                        remade(bench, data, out, flags, out / name, damaging)


def remade(bench: Bench, data: Path, out: Path, flags: list[str], path: Path, damaging: Callable[[Path], None]) -> None:
    """A damaged output is made anew; a folder that somebody changed is refused, as with --overwrite, and stays."""
    before = contents(out)
    damaging(path)
    after = contents(out)
    result = bench.convert([data], [out], "--if-changed", "--json", *flags)
    if result.status == CANNOT_CREATE and (path.parent != out or (out / "data").is_dir()):
        equal("what is left", contents(out), after)
        if "hint: " not in result.stderr and not json.loads(result.stdout)["error"].get("hint"):
            raise Mismatch(f"refused without a hint: {result.stdout!r}")
        path.write_bytes(before[str(path.relative_to(out))])
    else:
        result.succeeded()
        equal("the status", json.loads(result.stdout)["status"], "ok")
    equal("the outputs", contents(out), before)


def hidden(folder: Path) -> None:
    """All that is hidden is empty."""
    found = [path for path in folder.rglob(".*") if path.is_file()]
    equal("hidden files with something in them", [str(path) for path in found if path.stat().st_size], [])
    if not any(path.name.endswith(".made") for path in found):
        raise Mismatch(f"found no hidden file that tells how an output was made, only {found}")


def check_options(bench: Bench) -> None:
    """Each option that decides on the bytes, and the files that it names; and none that does not."""
    image, label = make("uint8", (ROWS, 8, 8)), numbers(ROWS)
    with bench.folder("changed") as folder:
        data, out, names = published(folder / "data", "", image, label), folder / "out", folder / "names"
        names.write_text("".join(f"name {i}\n" for i in range(10)))
        for flags in (
            ["--compression", "none"], ["--compression", "zstd:9"], ["--layout", "nested"], ["--to", "csv", "--csv-style", "rowxcol"], ["--transpose"],
            ["--classes", str(names), "--class-column"], ["--rows", "1:9"], ["--layout", "huggingface"],
            ["--to", "png", "--class-folders", "names", "--classes", str(names)],
        ):  # fmt: skip
            with bench.report.case(f"--if-changed {' '.join(flags)}"):
                shutil.rmtree(out, ignore_errors=True)
                run(bench, data, out, status="ok")
                if "png" not in flags and "huggingface" not in flags:
                    anew(bench, data, out, *flags, beside=True)
        with bench.report.case("--if-changed with another file of names"):
            flags = ["--classes", str(names), "--class-column"]
            run(bench, data, out, *flags, status="ok")
            unchanged(bench, data, out, *flags)
            names.write_text("".join(f"other {i}\n" for i in range(10)))
            anew(bench, data, out, *flags, beside=True)
            found = pq.read_table(out / "train.parquet")["class"].to_pylist()
            equal("the names", found, [f"other {value}" for value in label.values])
        with bench.report.case("--if-changed --verify after --if-changed"):
            unchanged(bench, data, out, *flags, "--verify")
        with bench.report.case("--if-changed after --overwrite"):
            bench.convert([data], [out], "--overwrite", "--rows", "0:5").succeeded()
            anew(bench, data, out, *flags, beside=True)
        with bench.report.case("--if-changed over what somebody else wrote"):
            (out / "train.parquet").write_bytes(b"PAR1 of somebody else PAR1")
            anew(bench, data, out, *flags, beside=True)


def check_parallel(bench: Bench) -> None:
    """Runs at once: each ends with 0, or with 75 if another one has the output; at last it is whole, and nothing is left to do."""
    image, label = make("uint8", (1_500, 28, 28)), numbers(1_500)
    with bench.folder("changed") as folder:
        data, out = published(folder / "data", "", image, label), folder / "out"
        command = [str(bench.binary), "convert", str(data), "-o", str(out), "--to", "parquet,csv,png", "--if-changed", "--quiet"]
        for turn in range(6 if bench.full else 2):
            with bench.report.case(f"eight runs at once, turn {turn}", " ".join(command)):
                runs = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(8)]
                ends = [(process.communicate()[1].decode(), process.returncode) for process in runs]
                wrong = [end for end in ends if end[1] not in (0, BUSY)]
                equal("ends that are neither 0 nor 75", wrong, [])
                if all(status == BUSY for _, status in ends):
                    raise Mismatch("no run got through")
                unchanged(bench, data, out, "--to", "parquet,csv,png")
                for path in (out / "train.parquet", out / "train.csv", out / "train"):
                    bench.run("verify", path, data).succeeded()
                image = Tensor(image.values ^ np.uint8(1 << turn))
                image.write(data / "train-images-idx3-ubyte")
        with bench.report.case("runs at once into one folder, an output each"):
            forms = ("parquet", "arrow", "csv", "npy")
            runs = [subprocess.Popen([str(bench.binary), "convert", str(data), "-o", str(folder / "each"), "--to", form, "--if-changed", "-q"]) for form in forms]
            equal("the exit codes", [process.wait() for process in runs], [0] * len(forms))
            for form in forms:
                unchanged(bench, data, folder / "each", "--to", form)


GROUPS = {"--if-changed": check_cycle, "--if-changed: options": check_options, "--if-changed: at once": check_parallel}
