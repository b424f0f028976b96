"""Hostile inputs: refused with the right exit code and words, without output and without delay."""

from __future__ import annotations

import re
import time
from pathlib import Path

from .command import Bench, nothing_left
from .report import Mismatch

HOSTILE = Path(__file__).resolve().parents[3] / "testdata/hostile"
PATIENCE = 20  # seconds, for refusing a file of a few bytes


def check(bench: Bench) -> None:
    """Every line of testdata/hostile/MANIFEST.tsv."""
    with bench.report.group("hostile inputs"):
        for line in (HOSTILE / "MANIFEST.tsv").read_text().splitlines()[1:]:
            name, status, words, wrong = line.split("\t")
            with bench.folder("hostile") as folder:
                outputs: list[str | Path] = [folder / output for output in ("out.parquet", "out.arrow", "out.csv")]
                began = time.monotonic()
                result = bench.convert([HOSTILE / name], outputs)
                seconds = time.monotonic() - began
                with bench.report.case(f"{name} ({wrong})", result.command):
                    result.exited(int(status))
                    said = re.sub(re.escape(str(HOSTILE)) + r"\S*", "PATH", result.stderr)  # the names of the files would match
                    if not re.search(words, said, re.IGNORECASE):
                        raise Mismatch(f"expected words like {words!r} on stderr, found {said.strip()!r}")
                    if int(status):
                        nothing_left(folder)
                    if seconds > PATIENCE:
                        raise Mismatch(f"took {seconds:.0f} seconds, expected at most {PATIENCE}")
