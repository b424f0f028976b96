#!/usr/bin/env python3
"""Run the program for Windows under wine: conversions, overwriting, kills, two runs at once, names, paths and URLs.

usage: test/windows/run.py --binary PATH [--strict] [--install]

PATH is the program for Linux; the one for Windows is PATH.exe. Exits with 1 if a check failed or, with --strict, could not be run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checks  # noqa: E402
from checks import demand  # noqa: E402
from stage import PACKAGES, TESTDATA, Stage, windows  # noqa: E402

FORMATS = "parquet,arrow,arrows,csv,tsv,png,tar,npy,idx"
FASHION = ("--dataset", "fashion-mnist")


def wine_only(condition: object, message: str) -> None:
    """Demand a behaviour that wine has and Windows has not: when wine changes it, the check and a row of README.md can be removed."""
    demand(condition, f"wine has changed, see README.md: {message}")


def same(found: dict[str, bytes], expected: dict[str, bytes], what: str) -> None:
    """Demand the same files with the same bytes."""
    demand(expected, f"{what}: Linux made nothing")
    differ = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    demand(not differ, f"{what}: {len(differ)} files differ from Linux's: {differ[:5]}")


def converts(stage: Stage) -> None:
    """A data set in every format, and every format read back, have the bytes of Linux."""
    for more in ([], ["--layout", "huggingface"], ["--rows-per-file", "300"], ["--compression", "gzip"]):
        to = FORMATS if not more else "parquet"
        for run in (lambda *a: stage.run(0, *a), stage.linux):
            shutil.rmtree(stage.work)
            stage.work.mkdir()
            run("convert", "../mnist", *FASHION, "-o", "out", "--to", to, *more)
            if run is not stage.linux:
                made = stage.tree()
        same(made, stage.tree(), " ".join(more) or to)
        if more:
            continue
        demand(len(made) > 2000, f"only {len(made)} files were made")
        for name in ("test.parquet", "test.arrow", "test.arrows", "test.csv", "test.tsv", "test", "test-image.npy", "t10k-images-idx3-ubyte"):
            stage.run(0, "convert", f"out\\{name}", "-o", f"{name}.windows.csv")
            stage.linux("convert", f"out/{name}", "-o", f"{name}.linux.csv")
            same({"csv": (stage.work / f"{name}.windows.csv").read_bytes()}, {"csv": (stage.work / f"{name}.linux.csv").read_bytes()}, f"{name} read back")


def commands(stage: Stage) -> None:
    """The outputs of inspect, verify, preview and formats are those of Linux; --json prints an object; exit codes are those of docs/cli.md."""
    demand(b"windows/amd64" in stage.run(0, "version"), "not the program for Windows")
    for arguments in (["formats"], ["datasets"], ["inspect", "../mnist"], ["preview", stage.images.name]):
        options = {"cwd": stage.inputs} if arguments[0] == "preview" else {}
        where = ["../mnist/t10k-images-idx3-ubyte"] if arguments[0] == "preview" else arguments[1:]
        found, expected = stage.run(0, arguments[0], *where), stage.linux(*arguments, **options)
        demand(b"\r" not in found and found.replace(b"\\", b"/").replace(b"../mnist/", b"") == expected.replace(b"../mnist/", b""), f"{arguments}: {found!r}")
    stage.run(0, "convert", "../mnist", *FASHION, "-o", "out")
    stage.run(0, "verify", "out\\test.parquet", "../mnist", "--split", "test")
    found = json.loads(stage.run(0, "convert", "..\\mnist", *FASHION, "-o", "out", "--if-changed", "--json"))
    demand(found["status"] in ("ok", "unchanged") and len(found["outputs"]) == 2, f"found {found}")
    demand(json.loads(stage.run(0, "convert", "..\\mnist", *FASHION, "-o", "out", "--if-changed", "--json"))["status"] == "unchanged", "not unchanged")
    stage.run(1, "verify", "out\\test.parquet", "../mnist", "--split", "test", "--transpose")
    stage.run(64, "convert", "--frobnicate")
    stage.run(65, "convert", windows(TESTDATA / "hostile" / "truncated.idx"), "-o", "x.csv")
    stage.run(66, "convert", "none", "-o", "x.csv")
    demand(not (stage.work / "x.csv").exists() and not stage.hidden(""), "a failed run left something")


def streams(stage: Stage) -> None:
    """Bytes pass the standard streams unchanged, line ends and Ctrl-Z included. A closed pipe gives 141."""
    for form in ("csv", "parquet", "arrows", "npy", "idx"):
        expected = stage.linux("convert", "-", "-o", f"{form}=-", stdin=stage.images.open("rb"))
        demand(b"\n" in expected and len(expected) > 10000, f"{form}: Linux made {len(expected)} bytes")
        demand(stage.run(0, "convert", "-", "-o", f"{form}=-", given=stage.images.read_bytes()) == expected, f"{form} on standard output differs from Linux's")
    demand(b"\x1a" in stage.images.read_bytes() and b"\r\n" in stage.images.read_bytes() + b"\r\n", "no Ctrl-Z in the test data")
    with stage.start("convert", "../mnist/t10k-images-idx3-ubyte", "-o", "csv=-") as process:
        process.stdout.read(100)
        process.stdout.close()
        said = process.stderr.read().decode()
    demand(process.returncode == 141 and "idxport:" not in said, f"closed pipe: exit code {process.returncode}, {said!r}")


def existing(stage: Stage) -> None:
    """Existing outputs are refused and stay; --overwrite replaces them."""
    few = ("convert", "../mnist/t10k-images-idx3-ubyte", "--rows", "0:10")
    for out, again in (("x.csv", "x.csv"), ("png=x", "x")):
        stage.run(0, *few, "-o", out)
        before = stage.tree()
        stage.run(73, *few[:2], "-o", out, says=f"{again}: already exists")
        demand(stage.tree() == before, f"{out} changed")
    stage.run(0, *few[:2], "--rows", "10:20", "--overwrite", "-o", "x.csv")
    stage.linux(*few[:2], "--rows", "10:20", "-o", "y.csv")
    demand((stage.work / "x.csv").read_bytes() == (stage.work / "y.csv").read_bytes(), "x.csv was not replaced")
    demand(not stage.hidden(""), f"left: {stage.hidden('')}")
    (stage.work / "foreign").mkdir()
    (stage.work / "foreign" / "mine.txt").write_text("mine")
    stage.run(73, *few, "-o", "png=foreign", "--overwrite", says="refused")
    demand((stage.work / "foreign" / "mine.txt").read_text() == "mine", "a foreign file is gone")


def folders(stage: Stage) -> None:
    """A folder of images is replaced; wine does not delete the old one, which the next run reports."""
    convert = ("convert", "../mnist/t10k-images-idx3-ubyte", "-o", "png=x", "--overwrite", "--rows")
    stage.run(0, *convert, "0:10")
    stage.run(0, *convert, "10:20", env={"WINEDEBUG": "fixme+file"}, says="")
    stage.linux("convert", "../mnist/t10k-images-idx3-ubyte", "-o", "png=y", "--rows", "10:20")
    same(stage.tree(stage.work / "x"), stage.tree(stage.work / "y"), "the new folder")
    left = stage.hidden(".old")
    wine_only(len(left) == 1, f"of the old folder {left} is left, expected one")
    process = stage.start(*convert, "20:30", env={"WINEDEBUG": "fixme+file"})
    code, _, said = stage.end(process)
    wine_only(code == 74 and "removing what an interrupted run left" in said, f"exit code {code}: {said}")
    wine_only("NtSetInformationFile Unsupported class (64)" in said, f"another reason: {said}")
    same(stage.tree(stage.work / "x"), stage.tree(stage.work / "y"), "the folder, which the run that failed leaves alone")
    shutil.rmtree(left[0])
    stage.run(0, *convert, "0:10")
    demand(len(stage.tree(stage.work / "x")) == 10, "the folder was not replaced")
    process = stage.start("convert", windows(TESTDATA / "hostile" / "truncated.idx"), "-o", "png=bad")
    code, _, said = stage.end(process)
    demand(code == 65 and not (stage.work / "bad").exists(), f"damaged input: exit code {code}: {said}")


def feed(stage: Stage, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a run that waits for the rest of its input, with its locks and its partial."""
    process = stage.start("convert", "-", "--quiet", *arguments, stdin=subprocess.PIPE)
    images = stage.images.read_bytes()
    many = images[:4] + (10 * 1000).to_bytes(4, "big") + images[8:16] + 10 * images[16:]  # several batches
    process.stdin.write(many[:-1])
    process.stdin.flush()
    for _ in range(600):
        if any(path.is_file() or any(path.iterdir()) for path in stage.hidden(".partial")):
            return process
        demand(process.poll() is None, "it ended by itself")
        time.sleep(0.05)
    process.kill()
    raise checks.Failure("no partial appears, or an empty one")


def killed(stage: Stage) -> None:
    """A killed run leaves no incomplete output, an old output as it was, and hidden files that the next run removes."""
    for old in (False, True):
        if old:
            before = stage.tree()
        process = feed(stage, "-o", "x.parquet", "--overwrite")
        demand(stage.hidden(".idxport"), "there is no lock")
        process.kill()
        stage.end(process)
        time.sleep(1)  # wine's server sees the end of the process
        demand(len(stage.hidden(".partial")) == 1, f"left: {stage.hidden('')}")
        demand(not stage.hidden(".idxport"), "the lock of a run that was killed stays")
        demand((stage.work / "x.parquet").exists() == old and (not old or before == {"x.parquet": (stage.work / "x.parquet").read_bytes()}), "x.parquet changed")
        stage.run(0, "convert", "../mnist/t10k-images-idx3-ubyte", "-o", "x.parquet", "--overwrite")
        demand(list(stage.tree()) == ["x.parquet"], f"the next run left {sorted(stage.tree())}")
    process = feed(stage, "-o", "png=p")
    process.kill()
    stage.end(process)
    time.sleep(1)
    demand(not (stage.work / "p").exists(), "a half-made folder is there")
    process = stage.start("convert", "../mnist/t10k-images-idx3-ubyte", "-o", "png=p")
    code, _, said = stage.end(process)
    wine_only(code == 74 and "removing what an interrupted run left" in said, f"exit code {code}: {said}")
    demand(not (stage.work / "p").exists(), "a half-made folder is there")
    for left in stage.hidden(".partial"):
        shutil.rmtree(left)
    stage.run(0, "convert", "../mnist/t10k-images-idx3-ubyte", "-o", "png=p")


def at_once(stage: Stage) -> None:
    """Of two runs with one output the second ends with 75, and the output is one's or the other's."""
    first = feed(stage, "-o", "x.csv")
    stage.run(75, "convert", "../mnist/t10k-images-idx3-ubyte", "-o", "x.csv", says="x.csv: is being written by another run")
    code, _, said = stage.end(first, stage.images.read_bytes()[-1:])
    demand(code == 0 and list(stage.tree()) == ["x.csv"], f"the first run: exit code {code}: {said}")
    expected = []
    for rows in ("0:500", "500:1000"):
        stage.linux("convert", "../mnist/t10k-images-idx3-ubyte", "--rows", rows, "-o", "y.csv", "--overwrite")
        expected.append((stage.work / "y.csv").read_bytes())
    (stage.work / "y.csv").unlink()
    for _ in range(8):
        runs = [stage.start("convert", "../mnist/t10k-images-idx3-ubyte", "--rows", rows, "-o", "x.csv", "--overwrite") for rows in ("0:500", "500:1000")]
        ends = [stage.end(run) for run in runs]
        demand(sorted(code for code, _, _ in ends) in ([0, 0], [0, 75]), f"found {ends}")
        demand(list(stage.tree()) == ["x.csv"] and (stage.work / "x.csv").read_bytes() in expected, f"found {sorted(stage.tree())}, or a mix")


def open_elsewhere(stage: Stage) -> None:
    """An output that another program has open cannot be replaced: 75, and it stays; afterwards it can."""
    convert = ("convert", "../mnist/t10k-images-idx3-ubyte", "-o", "x.csv", "--rows")
    stage.run(0, *convert, "0:10")
    before = stage.tree()
    for how in ([], ["alone"]):
        with stage.held("x.csv", *how):
            stage.run(75, *convert, "10:20", "--overwrite", says="x.csv: is open in another program, or write-protected\nhint: close it there and try again")
        demand(stage.tree() == before, f"found {sorted(stage.tree())}, or other bytes")
    stage.run(0, *convert, "10:20", "--overwrite")
    demand(stage.tree() != before, "x.csv was not replaced")
    stage.run(0, "convert", "../mnist/t10k-images-idx3-ubyte", "-o", "png=p", "--rows", "0:10")
    with stage.held("p\\000.png"):
        process = stage.start("convert", "../mnist/t10k-images-idx3-ubyte", "-o", "png=p", "--rows", "10:20", "--overwrite")
        code, _, said = stage.end(process)
    wine_only(code == 0, f"a folder with an open file: exit code {code}, which should be 75 on Windows: {said}")


def names(stage: Stage) -> None:
    """Names that Windows does not allow are refused; devices can be written to."""
    convert = ("convert", "../mnist/t10k-images-idx3-ubyte", "--rows", "0:10", "-o")
    wrong = ["a?b.parquet", "ab:c.parquet", 'a<>|"*.parquet', "a\x01b.parquet", "a\nb.parquet", "csv=x.csv.", "csv=x.csv ", "png=folder."]
    devices = ["con.parquet", "AUX.csv", "nul .csv", "com1.csv", "lpt\u00b2.csv", "prn\\x.csv"]
    for name in (*wrong, *devices, "x" * 300 + ".csv", "dot.\\x.csv"):
        stage.run(73, *convert, name, says="\nhint: leave out <>:")
        demand(not stage.tree(), f"{name!r} left {sorted(stage.tree())}")
    for name in ("_con.parquet", "_AUX.csv", "_nul .csv", "_lpt\u00b2.csv", "Stra\u00dfe \u65e5\u672c.csv", "console.csv"):
        stage.run(0, *convert, name)
        demand((stage.work / name).exists(), f"{name} is not there")
    stage.run(64, *convert, "nul", says="\nhint: write -o parquet=nul")
    before = stage.tree()
    for name in ("csv=nul", "parquet=NUL", "csv=\\\\.\\NUL"):
        stage.run(0, *convert, name)
        demand(stage.tree() == before, f"{name} left {sorted(stage.tree())}")


def paths(stage: Stage) -> None:
    """Drives, both separators, long paths, and folders and drives that do not exist."""
    few = ("--rows", "0:10", "-o")
    stage.linux("convert", "../mnist/t10k-images-idx3-ubyte", *few, "expected.csv")
    expected = (stage.work / "expected.csv").read_bytes()
    c = stage.wine.c
    (c / "deep").mkdir(exist_ok=True)
    long = stage.work.joinpath(*["x" * 60] * 6)
    long.mkdir(parents=True)
    for name, made in {
        "C:\\a.csv": c / "a.csv",
        "c:/b.csv": c / "b.csv",
        "C:\\deep\\..\\deep\\.\\c.csv": c / "deep" / "c.csv",
        "\\\\?\\C:\\deep\\d.csv": c / "deep" / "d.csv",
        windows(stage.work / "e.csv"): stage.work / "e.csv",
        ".\\f.csv": stage.work / "f.csv",
        "..\\mnist/g.csv": stage.inputs / "g.csv",
        windows(long / "h.csv"): long / "h.csv",
        "\\".join(["x" * 60] * 6 + ["i.csv"]): long / "i.csv",
    }.items():
        stage.run(0, "convert", "..\\mnist\\t10k-images-idx3-ubyte", *few, name)
        demand(made.read_bytes() == expected, f"{name} has other bytes")
        stage.run(0, "convert", windows(stage.images), *few, name, "--overwrite")
        stage.run(73, "convert", windows(stage.images), *few, name, says="already exists")
        demand(sorted(path.name for path in made.parent.iterdir() if path.name.startswith(".")) == [], f"something is left beside {name}")
        made.unlink()
    stage.run(0, "convert", windows(stage.images), *few, "no such\\folder/x.csv")
    for name in ("Q:\\x.csv", "Q:\\a\\b\\x.csv", "q:x.csv"):
        stage.run(73, "convert", windows(stage.images), *few, name, says="refused: the current folder or the drive does not exist\nhint: name an existing folder")
    stage.run(66, "convert", "Q:\\x.idx", *few, "x.csv")


CHECKS = [
    ("every format, and back", converts),
    ("commands and exit codes", commands),
    ("standard streams", streams),
    ("existing outputs", existing),
    ("folders of images", folders),
    ("killed", killed),
    ("two at once", at_once),
    ("open in another program", open_elsewhere),
    ("names", names),
    ("paths", paths),
]

if __name__ == "__main__":
    sys.exit(checks.main(__doc__, CHECKS, Stage, PACKAGES))
