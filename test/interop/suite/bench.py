"""What every check is written with: the binary's runs, what "equal" means, and the report."""

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
DIFFERS, USAGE, BAD_DATA, CANNOT_CREATE, BUSY = 1, 64, 65, 73, 75  # exit codes
TIMEOUT = 300  # seconds, of one conversion
SHOWN_NAMES = 6  # of cases that failed alike; the others are counted


class Mismatch(Exception):
    """A case found something else than it expected."""


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

    def exited(self, *expected: int, words: str = "") -> None:
        """Demand one of the expected exit codes, and words on stderr that match a pattern."""
        if self.status not in expected:
            codes = " or ".join(map(str, expected))
            raise Mismatch(f"exit code {self.status}, expected {codes}; stderr: {self.said}")
        if not re.search(words, self.stderr, re.MULTILINE):
            raise Mismatch(f"stderr is {self.said!r}, expected {words!r}")

    @property
    def said(self) -> str:
        """The beginning of stderr."""
        return self.stderr.strip()[:600]


@dataclass(frozen=True)
class Failure:
    """A case that failed, and the command that made its files."""

    case: str
    message: str
    command: str

    @property
    def likeness(self) -> str:
        """The message without paths and words with digits: failures alike are printed once."""
        return re.sub(r"\S*/\S+|[-+.\w]*\d[-+.\w]*", "#", self.message)


@dataclass
class Report:
    """Counts of the run so far."""

    passed: int = 0
    failures: list[Failure] = field(default_factory=list)

    @contextmanager
    def group(self, name: str) -> Iterator[None]:
        """Print the group's line, and its failures, when all its cases have run."""
        passed, failed, began = self.passed, len(self.failures), time.monotonic()
        yield
        if self.passed == passed and len(self.failures) == failed:
            self.failures.append(Failure(name, "the group has no cases", ""))
        failures = self.failures[failed:]
        verdict = f", {len(failures)} FAILED" if failures else ""
        seconds = time.monotonic() - began
        print(f"group {name}: {self.passed - passed} cases ok{verdict} ({seconds:.1f} s)", flush=True)
        kinds: dict[str, list[Failure]] = {}
        for failure in failures:
            kinds.setdefault(failure.likeness, []).append(failure)
        for first, *others in kinds.values():
            lines = [f"{first.case}: {first.message}"] + [f"$ {first.command}"] * bool(first.command)
            if others:
                names = "; ".join(failure.case for failure in others[:SHOWN_NAMES])
                lines.append(f"likewise {len(others)} more: {names}{'; …' * (len(others) > SHOWN_NAMES)}")
            print("  FAILED " + "\n".join(lines).replace("\n", "\n    "), flush=True)

    @contextmanager
    def case(self, name: str, command: str = "") -> Iterator[None]:
        """Count one case; whatever it raises is its failure. command made the files it looks at."""
        try:
            yield
        except Exception as error:  # readers raise what they like, if they cannot read a file
            kind = "" if isinstance(error, Mismatch) else f"{type(error).__name__}: "
            self.failures.append(Failure(name, f"{kind}{error}", command))
        else:
            self.passed += 1

    def finish(self) -> int:
        """Print the totals and return the exit code."""
        print(f"{self.passed} passed, {len(self.failures)} failed", flush=True)
        return 1 if self.failures or not self.passed else 0


@dataclass(frozen=True)
class Bench:
    """What every group of cases needs."""

    binary: Path
    scratch: Path
    full: bool = False  # the full product instead of a covering part of it
    keep: bool = False  # leave the files of every case in scratch
    report: Report = field(default_factory=Report)

    def run(self, *arguments: str | Path, stdin: bytes = b"") -> Result:
        """Run the binary with arguments."""
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
        """Count one case, of what a run made, which must have succeeded."""
        with self.report.case(name, made.command if made else ""):
            try:
                yield
            finally:  # of a run that failed, this says more than what its files lack
                if made:
                    made.succeeded()

    def refused(
        self, name: str, inputs: list[str | Path], output: str, *flags: str | Path,
        status: tuple[int, ...] = (USAGE,), words: str = ".",
    ) -> None:  # fmt: skip
        """Count one case: the exit code, an explanation, and nothing left. {} in output is a folder."""
        with self.folder("refused") as folder:
            result = self.convert(inputs, [output.format(folder)], *flags)
            with self.report.case(name, result.command):
                result.exited(*status, words=words)
                # Locks may stay: hidden, and empty, or they would disturb readers of the folder.
                found = [path for path in folder.rglob("*")
                         if not (path.name.startswith(".") and path.name.endswith(".idxport-lock") and path.stat().st_size == 0)]  # fmt: skip
                equal("what the refused run left", found, [])


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


def visible(folder: Path) -> list[str]:
    """The names in a folder that are not hidden."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


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
    where = f"first difference at byte {int(unequal.argmax())}" if unequal.any() else "one is the beginning of the other"
    raise Mismatch(f"{what}: found {len(found)} bytes, expected {len(expected)}; {where}")


def same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    """Demand the same data type, shape and bits."""
    equal("the element type", found.dtype.name, expected.dtype.name)
    equal("the shape", found.shape, expected.shape)
    unequal = np.flatnonzero(as_bits(found).reshape(-1) != as_bits(expected).reshape(-1))
    if unequal.size:
        at = int(unequal[0])
        first, second = as_bits(found).reshape(-1)[at], as_bits(expected).reshape(-1)[at]
        raise Mismatch(f"{unequal.size} of {found.size} elements differ; element {at} has bits {first:#x}, expected {second:#x}")


def same_numbers(found: np.ndarray, expected: np.ndarray) -> None:
    """Demand equal numbers after rounding to expected's type; any NaN equals any NaN, but −0 is not 0."""
    equal("the shape", found.shape, expected.shape)
    with np.errstate(over="ignore"):
        rounded = found.astype(expected.dtype)
    good = rounded == expected
    if expected.dtype.kind == "f":
        good = np.where(np.isnan(expected), np.isnan(rounded), good & (np.signbit(rounded) == np.signbit(expected)))
    elif not np.array_equal(rounded, found):
        raise Mismatch(f"found numbers that are no {expected.dtype}: {found[rounded != found][:3]}")
    if not good.all():
        at = tuple(int(i) for i in np.argwhere(~good)[0])
        raise Mismatch(f"{int((~good).sum())} of {good.size} numbers differ; at {at} is {found[at]!r}, expected {expected[at]!r}")
