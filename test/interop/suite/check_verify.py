"""`verify` finds every output equal to its inputs, and names the one value that is not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from . import tensors
from .bench import DIFFERS, Bench, Mismatch, Result, equal, table
from .check_back import LAYOUTS, fits
from .check_csv import STYLES
from .tensors import Tensor, as_bits, grey16, make, numbers

SHAPES = [(5, 13), (11, 7, 9), (5, 4, 16), (3, 5, 7, 3), (1, 3, 3), (0, 7, 9)]
TEXT = (".csv", ".tsv")


@dataclass(frozen=True)
class Output:
    """One output of a table."""

    name: str
    path: Path
    flags: list[str] = field(default_factory=list)
    argument: str = ""  # of -o, where it is not the path
    columns: tuple[str, ...] = ("image", "label")  # that it holds

    def make(self, bench: Bench, inputs: list[str | Path]) -> Result:
        """Convert the inputs that it holds."""
        held = [text for text in inputs if str(text).partition("=")[0] in self.columns]
        return bench.convert(held, [self.argument or self.path], *self.flags)


def outputs(folder: Path, tensor: Tensor) -> Iterator[Output]:
    """Every format, layout and style that takes the tensor beside labels."""
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
    """Every dtype, in every shape under --full; 16 bits that have a PNG; many batches; and what text makes one guess wrongly: doubles of few digits, a
    square number of pixels that are no square, small numbers."""
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
    """Whether text is value, as people read it."""
    if value.dtype.kind != "f":
        return text == str(value)
    number = value.dtype.type(text.split(" ")[0])
    return bool(number == value and np.signbit(number) == np.signbit(value) or np.isnan(number) and np.isnan(value))


def one_difference(result: Result, column: str, at: tuple[int, ...], found: np.generic, expected: np.generic) -> None:
    """Demand exit code 1 and the words for exactly this one value."""
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
    """Every output equals its inputs, and no inputs with one other value."""
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


def rewritten_table(value: pa.Table, at: tuple[int, ...], shape: tuple[int, ...], new: int) -> pa.Table:
    """The table with another number at a place of its column image."""
    array = value["image"].combine_chunks()
    flat = array.flatten().to_numpy().copy()
    flat[np.ravel_multi_index(at, shape)] = new
    return value.set_column(0, value.schema.field("image"), pa.FixedSizeListArray.from_arrays(flat, array.type.list_size))


def rewrite_parquet(path: Path, at: tuple[int, ...], shape: tuple[int, ...], new: int) -> None:
    """By pyarrow, in its own way: other pages, other encodings."""
    pq.write_table(rewritten_table(pq.read_table(path), at, shape, new), path, row_group_size=500)


def rewrite_arrow(path: Path, at: tuple[int, ...], shape: tuple[int, ...], new: int) -> None:
    """By pyarrow."""
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        value = rewritten_table(reader.read_all(), at, shape, new)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, value.schema) as writer:
        writer.write_table(value, max_chunksize=333)


def rewrite_npy(path: Path, at: tuple[int, ...], _: tuple[int, ...], new: int) -> None:
    """By numpy."""
    values = np.load(path)
    values[at] = new
    np.save(path, values)


def rewrite_csv(path: Path, at: tuple[int, ...], shape: tuple[int, ...], new: int) -> None:
    """By pandas; the label is in front."""
    frame = pandas.read_csv(path)
    frame.iloc[at[0], 1 + int(np.ravel_multi_index(at[1:], shape[1:]))] = new
    frame.to_csv(path, index=False)


def rewrite_png(path: Path, at: tuple[int, ...], _: tuple[int, ...], new: int) -> None:
    """By Pillow."""
    (file,) = [png for png in path.rglob("*.png") if int(png.stem) == at[0]]
    with Image.open(file) as picture:
        picture.load()
    picture.putpixel((at[2], at[1]), new)
    picture.save(file)


REWRITERS: dict[str, Callable[[Path, tuple[int, ...], tuple[int, ...], int], None]] = {
    "parquet list": rewrite_parquet, "arrow list": rewrite_arrow, "npy": rewrite_npy, ".csv kaggle": rewrite_csv, "png": rewrite_png,
}  # fmt: skip


def check_rewritten(bench: Bench) -> None:
    """Outputs that another program wrote again, as they were and with one pixel changed."""
    shape = (1_501, 7, 9)
    image, label = make("uint8", shape), numbers(shape[0])
    random = np.random.default_rng(5)
    with bench.folder("verify") as folder:
        inputs = table(folder / "in", image, label)
        for out in outputs(folder, image):
            if out.name not in REWRITERS:
                continue
            at = tuple(int(random.integers(size)) for size in shape)
            value = int(image.values[at])
            made = out.make(bench, inputs)
            for new in (value, value ^ 128):
                with bench.case(f"{out.name} rewritten{'' if new == value else ' with one pixel changed'}", made):
                    REWRITERS[out.name](out.path, at, shape, new)
                    result = bench.run("verify", out.path, *inputs)
                    if new == value:
                        result.succeeded()
                    else:
                        one_difference(result, "image", at, np.uint8(new), np.uint8(value))


def check_counts(bench: Bench) -> None:
    """A row more or less."""
    image, label = make("uint8", (12, 6, 4)), numbers(12)
    with bench.folder("verify") as folder:
        inputs = table(folder / "in", image, label)
        rows = {"less": [*range(11)], "more": [*range(12), 0]}
        tables = {what: table(folder / what, Tensor(image.values[chosen]), Tensor(label.values[chosen])) for what, chosen in rows.items()}
        for out in outputs(folder, image):
            made = out.make(bench, inputs)
            for what, words in (("less", "found (12|more than 11) rows, expected 11"), ("more", "found 12 rows, expected (13|more)")):
                with bench.case(f"{out.name}: a row {what}", made):
                    bench.run("verify", out.path, *tables[what]).exited(DIFFERS, words=words)


def check_specials(bench: Bench) -> None:
    """NaNs with other payloads are other values where the format has bits, and none in text; −0 is not 0; infinities are no large numbers."""
    for dtype, size in (("float32", 4), ("float64", 8)):
        bits = np.array(tensors.FLOAT_SPECIALS[dtype], f"u{size}")
        values = np.tile(bits, 6).reshape(6, 11).view(dtype)
        negative_zero, infinity, largest, nan, payload = (tensors.FLOAT_SPECIALS[dtype][i] for i in (0, 1, 5, 7, 8))
        with bench.folder("verify") as folder:
            inputs = table(folder / "in", Tensor(values), numbers(6))
            for out in outputs(folder, Tensor(values)):
                if "image" not in out.columns:
                    continue
                made = out.make(bench, inputs)
                for what, was, new in (("−0", negative_zero, 0), ("infinity", infinity, largest), ("NaN", nan, payload), ("payload", payload, nan)):
                    at = (4, tensors.FLOAT_SPECIALS[dtype].index(was))
                    other = as_bits(values).copy()
                    other[at] = new
                    changed = table(folder / "changed", Tensor(other.view(dtype)), numbers(6))
                    with bench.case(f"{dtype} {out.name} {what}", made):
                        bench.run("verify", out.path, *inputs).succeeded()
                        result = bench.run("verify", out.path, *changed)
                        if was in (nan, payload) and out.path.suffix in TEXT:
                            result.succeeded()
                        else:
                            one_difference(result, "image", at, values[at], other.view(dtype)[at])


GROUPS = {
    "verify: equal, and one value flipped": check_equal_and_flipped,
    "verify: rewritten by others": check_rewritten,
    "verify: rows and shapes": check_counts,
    "verify: special numbers": check_specials,
}
