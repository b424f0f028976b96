"""`verify` finds every output equal to its inputs, and names the one value that differs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import tensors
from .bench import DIFFERS, Bench, Mismatch, Result, equal, table
from .check_back import LAYOUTS, fits
from .check_csv import STYLES
from .tensors import Tensor, grey16, make, numbers

SHAPES = [(5, 13), (11, 7, 9), (5, 4, 16), (3, 5, 7, 3), (1, 3, 3), (0, 7, 9)]
TEXT = (".csv", ".tsv")


@dataclass(frozen=True)
class Output:
    """One output of a table."""

    name: str
    path: Path
    flags: list[str] = field(default_factory=list)
    argument: str = ""  # of -o, if it is not the path
    columns: tuple[str, ...] = ("image", "label")

    def make(self, bench: Bench, inputs: list[str | Path]) -> Result:
        """Convert the inputs of its columns."""
        held = [text for text in inputs if str(text).partition("=")[0] in self.columns]
        return bench.convert(held, [self.argument or self.path], *self.flags)


def outputs(folder: Path, tensor: Tensor) -> Iterator[Output]:
    """Every format, layout and style that can hold the tensor beside labels."""
    for layout in LAYOUTS:
        if fits(layout, tensor):
            for ending in ("parquet", "arrow", "arrows"):
                yield Output(f"{ending} {layout}", folder / f"{layout}.{ending}", ["--layout", layout])
    for i, style in enumerate(STYLES[:4]):
        if style == "pjreddie" and tensor.rows == 0:
            continue  # an empty file
        yield Output(f"{TEXT[i % 2]} {style}", folder / f"{style}{TEXT[i % 2]}", ["--csv-style", style])
    yield Output("npy", folder / "image.npy", columns=("image",))
    yield Output("npy of labels", folder / "label.npy", columns=("label",))
    yield Output("idx", folder / "image.idx.gz", columns=("image",))
    if fits("huggingface", tensor) and tensor.rows > 0:
        yield Output("png", folder / "png", argument=f"png={folder / 'png'}")


def all_tensors(bench: Bench) -> Iterator[Tensor]:
    """Every dtype, with --full in every shape; 16-bit images; many batches; and tables whose CSV is easily read with wrong types
    or shapes: doubles of few digits, 16 pixels that are not 4×4, small numbers."""
    for i, dtype in enumerate(tensors.CODES):
        shapes = SHAPES if bench.full or dtype == "uint8" else [SHAPES[1], SHAPES[2], SHAPES[(i % 2) * 3]]
        yield from (make(dtype, shape) for shape in shapes)
    yield grey16((11, 7, 9))
    yield make("uint8", (3_001, 28, 28))
    yield Tensor(np.round(np.random.default_rng(1).random((40, 3, 5)), 8))
    yield Tensor(np.arange(600.0).reshape(40, 3, 5))
    yield Tensor(np.arange(600, dtype="int32").reshape(40, 3, 5) % 256)
    yield make("uint8", (40, 4, 4, 4))


def flipped(tensor: Tensor, seed: int) -> tuple[Tensor, tuple[int, ...]]:
    """A copy with another value at a random place, and the place."""
    random = np.random.default_rng(seed)
    at = tuple(int(random.integers(size)) for size in tensor.values.shape)
    values = tensor.values.copy()
    if values.dtype.kind == "f":
        values[at] = 0.5 if values[at] != 0.5 else 1.5
    else:
        values[at] ^= values.dtype.type(1)
    return Tensor(values), at


NUMBER = r"(\S+(?: \(0x[0-9a-f]+\))?)"
DIFFERENCE = re.compile(rf"differs: row (\d+), column (\w+)(?:, at \[([\d ]*)\])?: found {NUMBER}, expected {NUMBER}$", re.MULTILINE)


def same_value(text: str, value: np.generic) -> bool:
    """Report whether text is the value."""
    if value.dtype.kind != "f":
        return text == str(value)
    number = value.dtype.type(text.split(" ")[0])
    return bool(number == value and np.signbit(number) == np.signbit(value) or np.isnan(number) and np.isnan(value))


def one_difference(result: Result, column: str, at: tuple[int, ...], found: np.generic, expected: np.generic) -> None:
    """Demand exit code 1 and a message about exactly this value."""
    result.exited(DIFFERS)
    match = DIFFERENCE.search(result.stderr)
    if match is None:
        raise Mismatch(f"found no single difference: {result.stderr.strip()}")
    row, name, position, was, should = match.groups()
    equal("the row and the column", (int(row), name), (at[0], column))
    equal("the position", position, " ".join(map(str, at[1:])) if len(at) > 1 else None)
    if not same_value(was, found) or not same_value(should, expected):
        raise Mismatch(f"found {was} and {should}, expected {found} and {expected}; {result.stderr.strip()}")


def check_equal_and_flipped(bench: Bench) -> None:
    """Every output equals its inputs, and differs from inputs with one changed value."""
    for number, tensor in enumerate(all_tensors(bench)):
        label = numbers(tensor.rows)
        with bench.folder("verify") as folder:
            inputs = table(folder / "in", tensor, label)
            for i, out in enumerate(outputs(folder, tensor)):
                made = out.make(bench, inputs)
                with bench.case(f"{tensor.name} {out.name} equal", made):
                    bench.run("verify", out.path, *inputs).succeeded()
                if tensor.rows == 0:
                    continue
                column = out.columns[(i + number) % len(out.columns)]
                was = tensor if column == "image" else label
                other, at = flipped(was, 100 * number + i)
                changed = table(folder / "changed", other if column == "image" else tensor, other if column == "label" else label)
                with bench.case(f"{tensor.name} {out.name} flipped", made):
                    one_difference(bench.run("verify", out.path, *changed), column, at, was.values[at], other.values[at])


GROUPS = {"verify: equal, and one value flipped": check_equal_and_flipped}
