"""Counting and printing: one line per group of cases, the failures in full, a last line with the totals."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SHOWN_NAMES = 6  # of cases that failed alike; the others are counted


class Mismatch(Exception):
    """A case found something else than it expected."""


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


def print_failures(failures: list[Failure]) -> None:
    """Print one failure of each kind in full, and the names of the others."""
    kinds: dict[str, list[Failure]] = {}
    for failure in failures:
        kinds.setdefault(failure.likeness, []).append(failure)
    for first, *others in kinds.values():
        lines = [f"{first.case}: {first.message}"] + ([f"$ {first.command}"] if first.command else [])
        if others:
            names = "; ".join(failure.case for failure in others[:SHOWN_NAMES])
            hidden = len(others) - SHOWN_NAMES
            lines.append(f"likewise {len(others)} more: {names}" + (f"; and {hidden} others" if hidden > 0 else ""))
        print("  FAILED " + "\n".join(lines).replace("\n", "\n    "), flush=True)


class Report:
    """Counts of the run so far."""

    def __init__(self) -> None:
        """Nothing has run yet."""
        self.passed = 0
        self.failures: list[Failure] = []

    @contextmanager
    def group(self, name: str) -> Iterator[None]:
        """Print the group's line, and its failures, when all its cases have run."""
        passed, failed, began = self.passed, len(self.failures), time.monotonic()
        yield
        cases, failures = self.passed - passed, self.failures[failed:]
        seconds = time.monotonic() - began
        if cases + len(failures) == 0:
            failures = [Failure(name, "the group has no cases", "")]
            self.failures += failures
        verdict = f", {len(failures)} FAILED" if failures else ""
        print(f"group {name}: {cases} cases ok{verdict} ({seconds:.1f} s)", flush=True)
        print_failures(failures)

    @contextmanager
    def case(self, name: str, command: str = "") -> Iterator[None]:
        """Count one case; whatever it raises is its failure. command is what made the files it looks at."""
        try:
            yield
        except Exception as error:  # readers raise what they like, and every one of it means that they cannot read the file
            kind = "" if isinstance(error, Mismatch) else f"{type(error).__name__}: "
            self.failures.append(Failure(name, f"{kind}{error}", command))
        else:
            self.passed += 1

    def finish(self) -> int:
        """Print the totals and return the exit code."""
        print(f"{self.passed} passed, {len(self.failures)} failed", flush=True)
        return 1 if self.failures or not self.passed else 0
