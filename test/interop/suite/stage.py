"""Where a check runs: a folder and the program; and inputs and comparisons."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from .tensors import Tensor, as_bits

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test"))
from checks import Failure, Place, demand  # noqa: E402

TIMEOUT = 300  # seconds, of one conversion


class Stage(Place):
    """A place where the program converts."""

    def convert(self, *arguments: str | Path) -> None:
        """Run idxport convert, which must succeed."""
        command = [str(self.binary), "convert", *map(str, arguments), "--quiet"]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        demand(done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}")


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
    demand(found == expected, f"{what} is {found!r}, expected {expected!r}")


def same_bits(what: str, found: np.ndarray, expected: np.ndarray) -> None:
    """Demand the same data type, shape and bits."""
    equal(f"{what}: the element type", found.dtype.name, expected.dtype.name)
    equal(f"{what}: the shape", found.shape, expected.shape)
    unequal = np.argwhere(as_bits(found) != as_bits(expected))
    if len(unequal):
        raise Failure(f"{what}: {len(unequal)} of {found.size} values differ, the first one at {unequal[0].tolist()}")
