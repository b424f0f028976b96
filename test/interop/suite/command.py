"""Running the binary: what it was asked, what it said, and what it left on disk."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .report import Mismatch, Report

TIMEOUT = 300  # seconds, of one conversion


@dataclass(frozen=True)
class Result:
    """A finished run of the binary."""

    command: str
    status: int
    stdout: bytes
    stderr: str

    def succeeded(self) -> None:
        """Demand exit code 0."""
        self.exited(0)

    def exited(self, *expected: int) -> None:
        """Demand one of the expected exit codes."""
        if self.status not in expected:
            raise Mismatch(f"exit code {self.status}, expected {' or '.join(map(str, expected))}; stderr: {self.stderr.strip()[:600]}")


@dataclass(frozen=True)
class Bench:
    """What every group of cases needs."""

    binary: Path
    scratch: Path
    report: Report
    full: bool  # the full product instead of a covering part of it
    keep: bool  # leave the files of every case in scratch

    def run(self, *arguments: str | Path, stdin: bytes | None = None, cwd: Path | None = None) -> Result:
        """Run the binary with arguments."""
        command = [str(self.binary), *map(str, arguments)]
        text = shlex.join(command)
        try:
            done = subprocess.run(command, input=stdin or b"", capture_output=True, cwd=cwd, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return Result(text, -1, b"", f"no end after {TIMEOUT} seconds")
        return Result(text, done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def convert(self, inputs: list[str | Path], outputs: list[str | Path], *flags: str, stdin: bytes | None = None) -> Result:
        """Convert inputs to outputs in one pass."""
        options = [part for output in outputs for part in ("-o", output)]
        return self.run("convert", *inputs, *options, *flags, stdin=stdin)

    @contextmanager
    def folder(self, name: str) -> Iterator[Path]:
        """A new folder for the files of one case or a few."""
        path = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=self.scratch))
        try:
            yield path
        finally:
            if not self.keep:
                shutil.rmtree(path, ignore_errors=True)


def left_behind(folder: Path, *inputs: Path) -> list[str]:
    """What is in folder besides inputs. Locks are allowed to stay: hidden, and empty, or they would disturb readers of the folder."""
    found = []
    for path in sorted(folder.rglob("*")):
        lock = path.name.startswith(".") and path.name.endswith(".idxport-lock") and path.stat().st_size == 0
        if path not in inputs and not lock:
            found.append(str(path.relative_to(folder)))
    return found


def nothing_left(folder: Path, *inputs: Path) -> None:
    """Demand that a refused run left nothing in folder."""
    if found := left_behind(folder, *inputs):
        raise Mismatch(f"the refused run left {found} on disk, expected nothing")
