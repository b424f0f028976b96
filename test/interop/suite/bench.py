"""What every check uses: runs of the binary, comparisons, and the report."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .tensors import Tensor, as_bits

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT = 300  # seconds, of one conversion
SHOWN = 10  # failures of a group; the rest are counted


class Mismatch(Exception):
    """A case found something else than it expected."""


@dataclass(frozen=True)
class Result:
    """A finished run of the binary."""

    command: str
    status: int
    stdout: bytes
    stderr: str

    def exited(self, expected: int, words: str = "") -> None:
        """Demand an exit code, and words on stderr that match a pattern."""
        stderr = self.stderr.strip()[:600]
        if self.status != expected:
            raise Mismatch(f"exit code {self.status}, expected {expected}; stderr: {stderr}")
        if not re.search(words, self.stderr, re.MULTILINE):
            raise Mismatch(f"stderr is {stderr!r}, expected {words!r}")

    def succeeded(self) -> None:
        """Demand exit code 0."""
        self.exited(0)


@dataclass
class Report:
    """The number of cases that passed, and the failures in words."""

    passed: int = 0
    failures: list[str] = field(default_factory=list)

    @contextmanager
    def group(self, name: str) -> Iterator[None]:
        """Print a line for the group, and its failures, after its last case."""
        passed, failed, began = self.passed, len(self.failures), time.monotonic()
        yield
        if self.passed == passed and len(self.failures) == failed:
            self.failures.append(f"{name}: the group has no cases")
        failures = self.failures[failed:]
        verdict = f", {len(failures)} FAILED" if failures else ""
        print(f"group {name}: {self.passed - passed} cases ok{verdict} ({time.monotonic() - began:.1f} s)", flush=True)
        for failure in failures[:SHOWN]:
            print("  FAILED " + failure.replace("\n", "\n    "), flush=True)
        if len(failures) > SHOWN:
            print(f"  and {len(failures) - SHOWN} more", flush=True)

    @contextmanager
    def case(self, name: str, command: str = "") -> Iterator[None]:
        """Count one case; any exception is a failure of it. command made the files that it reads."""
        try:
            yield
        except Exception as error:  # readers raise exceptions of any type
            kind = "" if isinstance(error, Mismatch) else f"{type(error).__name__}: "
            self.failures.append(f"{name}: {kind}{error}" + f"\n$ {command}" * bool(command))
        else:
            self.passed += 1

    def finish(self) -> int:
        """Print the totals and return the exit code."""
        print(f"{self.passed} passed, {len(self.failures)} failed", flush=True)
        return 1 if self.failures or not self.passed else 0


@dataclass(frozen=True)
class Bench:
    """The binary, a scratch folder, and the report."""

    binary: Path
    scratch: Path
    full: bool = False  # the full product instead of a covering part of it
    keep: bool = False  # leave the files of every case in scratch
    report: Report = field(default_factory=Report)

    def run(self, *arguments: str | Path, stdin: bytes = b"") -> Result:
        """Run the binary."""
        command = [str(self.binary), *map(str, arguments)]
        text = shlex.join(command)
        try:
            done = subprocess.run(command, input=stdin, capture_output=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return Result(text, -1, b"", f"no end after {TIMEOUT} seconds")
        return Result(text, done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def convert(
        self, inputs: list[str | Path], outputs: list[str | Path], *flags: str | Path, stdin: bytes = b""
    ) -> Result:
        """Convert inputs to outputs in one pass."""
        options = [part for output in outputs for part in ("-o", output)]
        return self.run("convert", *inputs, *options, *flags, stdin=stdin)

    @contextmanager
    def folder(self, name: str = "case") -> Iterator[Path]:
        """Make a folder for the files of one case or a few."""
        path = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=self.scratch))
        try:
            yield path
        finally:
            if not self.keep:
                shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def case(self, name: str, made: Result | None = None) -> Iterator[None]:
        """Count one case about the files of a run, which must have succeeded."""
        with self.report.case(name, made.command if made else ""):
            try:
                yield
            finally:  # the error of a run that failed says more than a missing file
                if made:
                    made.succeeded()


def table(folder: Path, image: Tensor | None, label: Tensor | None = None, **others: Tensor) -> list[str | Path]:
    """Write a table's columns as IDX files, and return the inputs that name them."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = {"image": image, "label": label} | others
    return [f"{name}={tensor.write(folder / f'{name}.idx')}" for name, tensor in columns.items() if tensor is not None]


def published(folder: Path, prefix: str, image: Tensor, label: Tensor) -> Path:
    """Write IDX files by their published names: train, and test with the first half of it."""
    folder.mkdir()
    for split, rows in (("train", image.rows), ("test", image.rows // 2)):
        for role, tensor in (("images", image), ("labels", label)):
            Tensor(tensor.values[:rows]).write(folder / f"{prefix}{split}-{role}-idx{tensor.rank}-{tensor.suffix}")
    return folder


def equal(what: str, found: object, expected: object) -> None:
    """Demand that two plain values are equal."""
    if found != expected:
        raise Mismatch(f"{what} is {found!r}, expected {expected!r}")


def same_bytes(what: str, found: bytes, expected: bytes) -> None:
    """Demand equal bytes; the first difference is named."""
    if found == expected:
        return
    n = min(len(found), len(expected))
    unequal = np.frombuffer(found, "u1", n) != np.frombuffer(expected, "u1", n)
    where = f"first difference at byte {int(unequal.argmax())}" if unequal.any() else "one is a prefix of the other"
    raise Mismatch(f"{what}: found {len(found)} bytes, expected {len(expected)}; {where}")


def same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    """Demand the same data type, shape and bits."""
    equal("the element type", found.dtype.name, expected.dtype.name)
    equal("the shape", found.shape, expected.shape)
    same_bytes("the elements", as_bits(found).tobytes(), as_bits(expected).tobytes())


def same_numbers(found: np.ndarray, expected: np.ndarray) -> None:
    """Demand equal numbers after rounding to expected's type; any NaN equals any NaN, but −0 is not 0."""
    equal("the shape", found.shape, expected.shape)
    with np.errstate(over="ignore"):
        rounded = found.astype(expected.dtype)
    good = rounded == expected
    if expected.dtype.kind == "f":
        good = np.where(np.isnan(expected), np.isnan(rounded), good & (np.signbit(rounded) == np.signbit(expected)))
    elif not np.array_equal(rounded, found):
        raise Mismatch(f"found numbers that are not {expected.dtype}: {found[rounded != found][:3]}")
    if not good.all():
        at = tuple(int(i) for i in np.argwhere(~good)[0])
        raise Mismatch(f"{int((~good).sum())} of {good.size} numbers differ; at {at} is {found[at]!r}, expected {expected[at]!r}")
