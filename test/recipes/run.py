#!/usr/bin/env python3
"""Run the examples of documents on MNIST and Fashion-MNIST, and compare their output with what the documents show.

usage: $(test/interop/venv) test/recipes/run.py --binary PATH [--scale] [--only SECTION …] [--keep]

The documents are README.md, docs/recipes.md and docs/python.md, or with --scale docs/scale.md. Every section with
examples runs in a new folder that has ./mnist, ./fashion-mnist and ./idxport. Prints a line per section, the failures
in full and the totals; exits with 1 if one failed. test/recipes/README.md says how examples are written.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import document
from document import Block

ROOT = Path(__file__).resolve().parents[2]
OUT = re.compile(r"-o out\b")  # examples start without this folder
MEMORY = Path("/dev/shm")
SCALE = "docs/scale.md"
DOCUMENTS = ["README.md", "docs/recipes.md", "docs/python.md"]
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "SPARK_LOCAL_IP": "127.0.0.1"}

# The first pattern that is found in a Python block decides in which environment it runs.
ENVIRONMENTS = [
    ("scale", re.compile(r"^(import|from) .*(ray|dask)", re.MULTILINE)),
    ("spark", re.compile(r"\bspark\b")),
    ("torch", re.compile(r"^(import|from) .*torch", re.MULTILINE)),
    ("keras", re.compile(r"^(import|from) (keras|tensorflow)", re.MULTILINE)),
    ("answers", re.compile(r"^import .*(h5py|tfrecord)", re.MULTILINE)),
    ("huggingface", re.compile(r"^(import|from) .*(datasets|webdataset|idx2numpy)", re.MULTILINE)),
]


def environment(block: Block) -> str:
    """The environment that a block needs; "" is the one with pyarrow, polars, pandas and DuckDB."""
    if block.language == "python":
        return next((name for name, word in ENVIRONMENTS if word.search(block.text)), "")
    return ""


def printed(*command: str | Path) -> str:
    """The output of a command, which must succeed."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Runner:
    """Runs sections; counts and prints failures."""

    def __init__(self, binary: Path, data: Path, scratch: Path, scale: bool) -> None:
        self.scratch, self.data = scratch, data
        venv = ROOT / "test/interop/venv"
        if scale:
            self.pythons = {"scale": printed(venv, "../recipes/scale")}
        else:
            folders = {"": ".", "spark": "../spark", "huggingface": "huggingface", "answers": "../recipes/answers"}
            self.pythons = {name: printed(venv, folder) for name, folder in folders.items()}
            self.pythons["torch"] = printed(ROOT / "test/recipes/torch")
        (scratch / "bin").mkdir()
        (scratch / "bin/idxport").symlink_to(binary)
        if scale:
            program = scratch / "bin/sbatch"
            program.write_text(f'#!/bin/sh\nexec "{self.pythons["scale"]}" "{ROOT}/test/recipes/cluster.py" "$@"\n')
            program.chmod(0o755)
        self.environ = os.environ | OFFLINE
        self.environ |= {"PATH": f"{scratch / 'bin'}:{os.environ['PATH']}", "COLUMNS": "80"}
        self.environ |= {"HF_HOME": str(scratch / "huggingface"), "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(scratch)}
        path = [str(ROOT / "python/src")]
        if not scale:
            path.append(printed(ROOT / "test/recipes/packages", self.pythons["huggingface"]))
        self.environ["PYTHONPATH"] = os.pathsep.join(path)
        self.passed = self.failed = self.not_run = 0

    def fail(self, place: str, what: str) -> None:
        """Count and print a failure."""
        self.failed += 1
        print(f"FAILED {place}: {what}")

    def section(self, title: str, blocks: Iterable[Block]) -> None:
        """Run the blocks below a heading in order, in a new folder; a failure ends it, as later blocks need the earlier."""
        start, folder = time.monotonic(), Path(tempfile.mkdtemp(dir=self.scratch))
        for name in ("mnist", "fashion-mnist"):
            (folder / name).symlink_to(self.data / name)
        (folder / "idxport").symlink_to(self.scratch / "bin/idxport")
        run, failed = 0, self.failed
        kinds = groupby(self.selected(blocks, folder), key=lambda block: (block.language == "console", environment(block)))
        for (console, name), group in kinds:
            together = list(group)
            problems = list(self.console(together, folder) if console else self.session(name, together, folder))
            for place, what in problems:
                self.fail(place, what)
            if problems:
                break
            run += len(together)
        self.passed += run
        print(f"{title}: {run} ran{'' if failed == self.failed else ', FAILED'} ({time.monotonic() - start:.1f} s)", flush=True)

    def selected(self, blocks: Iterable[Block], folder: Path) -> Iterator[Block]:
        """The blocks that are to be run; writes those that are files, and prints the rest."""
        for block in blocks:
            if block.not_run:
                print(f"not run: {block.place}: {block.not_run}")
                self.not_run += 1
            elif block.language == "sh":
                (folder / document.NAME.search(block.text)[1]).write_text(block.text)
            else:
                yield block

    def console(self, blocks: list[Block], folder: Path) -> Iterator[tuple[str, str]]:
        """Run commands; yields the place and the reason of the first failure."""
        for block in blocks:
            if OUT.search(block.text):
                shutil.rmtree(folder / "out", ignore_errors=True)
            for command, expected in document.commands(block):
                done = subprocess.run(
                    ["sh", "-c", command], cwd=folder, env=self.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
                )
                what = f"exit code {done.returncode}\n{done.stdout}" if done.returncode else ""
                if not what and expected:
                    what = document.differs(done.stdout, expected, exact=True)
                if what:
                    yield block.place, f"{command}\n{what}"
                    return

    def session(self, name: str, blocks: list[Block], folder: Path) -> Iterator[tuple[str, str]]:
        """Run Python and SQL in one process; yields the places and reasons of failures."""
        if name not in self.pythons:
            yield blocks[0].place, f"no environment has {name}"
            return
        job = folder / ".job.json"
        job.write_text(json.dumps({"spark": name == "spark", "blocks": [{"language": block.language, "text": block.text} for block in blocks]}))
        done = subprocess.run(
            [self.pythons[name], ROOT / "test/recipes/session.py", job], cwd=folder, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            yield blocks[0].place, f"exit code {done.returncode}\n{done.stdout}"
            return
        statements = json.loads(job.read_text())
        for number, block in enumerate(blocks[: statements[-1]["block"] + 1]):  # none were run after an error
            yield from compare(block, [entry for entry in statements if entry["block"] == number])


def compare(block: Block, statements: list[dict]) -> Iterator[tuple[str, str]]:
    """Compare the output of a block with what it and the block below it show."""
    for entry in statements:
        if "error" in entry:
            yield block.place, entry["error"]
            return
    expected: dict[int, list[str]] = {}
    for line, text in document.shown(block):
        expected.setdefault(max(entry["line"] for entry in statements if entry["line"] <= line), []).append(text)
    if block.output is not None:
        others = "".join(entry["printed"] for entry in statements if entry["line"] not in expected)
        if what := document.differs(others, block.output):
            yield block.place, what
    for entry in statements:
        if entry["line"] in expected and (what := document.differs(entry["printed"], "\n".join(expected[entry["line"]]))):
            yield f"{block.document}:{block.line + entry['line'] - 1}", what


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to test")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="the folder of mnist/ and fashion-mnist/")
    parser.add_argument("--scratch", type=Path, help="folder for outputs (default: /dev/shm if it exists, as there are 160,000 files)")
    parser.add_argument("--scale", action="store_true", help="run docs/scale.md instead")
    parser.add_argument("--only", nargs="+", metavar="SECTION", help="run these sections only, named by their headings")
    parser.add_argument("--keep", action="store_true", help="leave the files, and say where")
    return parser.parse_args()


def main() -> int:
    """Run everything that was asked for."""
    options = arguments()
    lacking = [str(path) for path in (options.binary, options.data / "mnist", options.data / "fashion-mnist") if not path.exists()]
    if lacking:
        print(f"run.py: {', '.join(lacking)}: not there; run make build and make data first", file=sys.stderr)
        return 66
    # The prefix is short: the paths of Ray's sockets have at most 107 characters.
    scratch = Path(tempfile.mkdtemp(prefix="recipes-", dir=options.scratch or (MEMORY if MEMORY.is_dir() else None)))
    try:
        runner = Runner(options.binary.resolve(), options.data.resolve(), scratch, options.scale)
        for name in [SCALE] if options.scale else DOCUMENTS:
            for title, blocks in groupby(document.examples(ROOT / name, name), key=lambda block: block.section):
                if not options.only or title in options.only:
                    runner.section(f"{name}, {title}", blocks)
    finally:
        if options.keep:
            print(f"files are in {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"{runner.passed} passed, {runner.failed} failed; {runner.not_run} not run, as marked")
    return 1 if runner.failed or not runner.passed else 0


if __name__ == "__main__":
    sys.exit(main())
