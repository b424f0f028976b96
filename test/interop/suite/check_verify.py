"""`verify` finds every output equal to its inputs, and names the one value that is not; `convert --verify`, and the report."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from . import tensors
from .check_back import LAYOUTS, fits, source
from .check_csv import STYLES
from .check_png import grey16
from .command import Bench, Result
from .compare import equal
from .report import Mismatch
from .tensors import Tensor, as_bits, make

DIFFERS = 1
ROOT = Path(__file__).parents[3]
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

    def make(self, bench: Bench, inputs: list[str], *flags: str) -> Result:
        """Convert the inputs that it holds."""
        held = [text for text in inputs if text.partition("=")[0] in self.columns]
        return bench.convert(list(held), [self.argument or self.path], *self.flags, *flags)


def outputs(folder: Path, tensor: Tensor) -> Iterator[Output]:
    """Every format, layout and style that takes the tensor beside labels."""
    negative = tensor.dtype == "int16" and tensor.values.min(initial=0) < 0
    for layout in LAYOUTS:
        if fits(layout, tensor) and not (layout == "huggingface" and negative):
            for ending in ("parquet", "arrow", "arrows"):
                yield Output(f"{ending} {layout}", folder / f"{layout}.{ending}", ["--layout", layout])
    for i, style in enumerate(STYLES[:4]):
        if style == "pjreddie" and tensor.rows == 0:
            continue  # an empty file
        yield Output(f"{TEXT[i % 2]} {style}", folder / f"{style}{TEXT[i % 2]}", ["--csv-style", style])
    yield Output("npy", folder / "image.npy", columns=("image",))
    yield Output("npy of labels", folder / "label.npy", columns=("label",))
    yield Output("idx", folder / "image.idx.gz", columns=("image",))
    if fits("huggingface", tensor) and not negative and tensor.rows > 0:
        yield Output("png", folder / "png", argument=f"png={folder / 'png'}")


def numbers(rows: int) -> Tensor:
    """Labels that are not sorted."""
    return Tensor((np.arange(rows) * 7 % 10).astype("uint8"))


def table(folder: Path, image: Tensor, label: Tensor) -> list[str]:
    """The two as inputs."""
    folder.mkdir(exist_ok=True)
    return [f"image={image.write(folder / 'a.idx')}", f"label={label.write(folder / 'b.idx')}"]


def all_tensors(bench: Bench) -> Iterator[Tensor]:
    """Every dtype, in every shape under --full; and 16 bits that have a PNG."""
    for i, dtype in enumerate(tensors.CODES):
        shapes = SHAPES if bench.full or dtype == "uint8" else [SHAPES[1], SHAPES[2], SHAPES[(i % 2) * 3]]
        yield from (make(dtype, shape) for shape in shapes)
    yield grey16((11, 7, 9))


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


def one_difference(result: Result, column: str, at: tuple[int, ...], found: np.generic, expected: np.generic, text: bool = False) -> None:
    """Demand exit code 1 and the words for exactly this one value; text may have flattened the position."""
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
                with bench.report.case(f"{tensor.name} {out.name} equal", made.command):
                    made.succeeded()
                    bench.run("verify", out.path, *inputs).succeeded()
                if tensor.rows == 0:
                    continue
                column = out.columns[(i + number) % len(out.columns)]
                was = tensor if column == "image" else label
                other, at = flipped(was, 100 * number + i)
                changed = table(folder / "changed", other if column == "image" else tensor, other if column == "label" else label)
                with bench.report.case(f"{tensor.name} {out.name} flipped", made.command):
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
                with bench.report.case(f"{out.name} rewritten{'' if new == value else ' with one pixel changed'}", made.command):
                    made.succeeded()
                    REWRITERS[out.name](out.path, at, shape, new)
                    result = bench.run("verify", out.path, *inputs)
                    if new == value:
                        result.succeeded()
                    else:
                        one_difference(result, "image", at, np.uint8(new), np.uint8(value))


def says(result: Result, status: int, words: str) -> None:
    """Demand the exit code and words that match."""
    result.exited(status)
    if not re.search(words, result.stderr):
        raise Mismatch(f"found {result.stderr.strip()!r}, expected {words!r}")


def check_counts(bench: Bench) -> None:
    """A row more or less, another shape, a column more or less, many differences."""
    image, label = make("uint8", (12, 6, 4)), numbers(12)
    with bench.folder("verify") as folder:
        inputs = table(folder / "in", image, label)
        tables = {
            "one row less": (table(folder / "less", Tensor(image.values[:-1]), numbers(11)), "found (12|more than 11) rows, expected 11"),
            "one row more": (table(folder / "more", make("uint8", (13, 6, 4)), numbers(13)), "found 12 rows, expected (13|more)"),
            "another width": (table(folder / "wide", make("uint8", (12, 6, 5)), label), "shape .*, expected 6×5"),
            "all values": (table(folder / "all", Tensor(~image.values), label), r"row 0, column image, at \[0 0\]: .*; 288 values in 12 rows differ"),
        }
        for out in outputs(folder, image):
            made = out.make(bench, inputs)
            made.succeeded()
            for what, (others, words) in tables.items():
                if "image" not in out.columns and what in ("another width", "all values"):
                    continue
                if what == "one row more":  # whose other rows are the same
                    others = table(folder / "more", Tensor(np.concatenate([image.values, image.values[:1]])), Tensor(np.concatenate([label.values, label.values[:1]])))
                with bench.report.case(f"{out.name}: {what}", made.command):
                    says(bench.run("verify", out.path, *others), DIFFERS, words)
        swapped = table(folder / "swapped", Tensor(image.values.reshape(12, 4, 6)), label)
        for name in ("list.parquet", "list.arrow", "image.npy", "rowxcol.csv", "png"):
            with bench.report.case(f"{name}: 4×6 for 6×4"):
                says(bench.run("verify", folder / name, *swapped), DIFFERS, "column image has records of the shape 6×4, expected 4×6")


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
                    with bench.report.case(f"{dtype} {out.name} {what}", made.command):
                        made.succeeded()
                        bench.run("verify", out.path, *inputs).succeeded()
                        result = bench.run("verify", out.path, *changed)
                        if was in (nan, payload) and out.path.suffix in TEXT:
                            result.succeeded()
                        else:
                            one_difference(result, "image", at, values[at], other.view(dtype)[at])


def check_guesses(bench: Bench) -> None:
    """What text makes one guess wrongly is equal all the same: doubles of nine digits, a square number of pixels that are no square, small numbers."""
    cases = {
        "doubles of eight digits": Tensor(np.round(np.random.default_rng(1).random((40, 3, 5)), 8)),
        "whole doubles": Tensor(np.arange(600.0).reshape(40, 3, 5)),
        "integers of 32 bits below 256": Tensor(np.arange(600, dtype="int32").reshape(40, 3, 5) % 256),
        "4×16 pixels": make("uint8", (40, 4, 16)),
        "4×4 pixels of three colours": make("uint8", (40, 4, 4, 4)),
    }
    for what, image in cases.items():
        with bench.folder("verify") as folder:
            inputs = table(folder / "in", image, numbers(40))
            for style in STYLES[:4]:
                result = bench.convert(list(inputs), [folder / f"{style}.csv"], "--csv-style", style)
                with bench.report.case(f"{what}, {style}", result.command):
                    result.succeeded()
                    bench.run("verify", folder / f"{style}.csv", *inputs).succeeded()


def check_report(bench: Bench) -> None:
    """--json: one object, with the fields of docs/report.schema.json."""
    image, label = make("uint8", (12, 6, 4)), numbers(12)
    with bench.folder("verify") as folder:
        inputs = table(folder / "in", image, label)
        other, at = flipped(image, 3)
        changed = table(folder / "changed", other, label)
        bench.convert(list(inputs), [folder / "out.parquet"]).succeeded()
        with bench.report.case("JSON of equal tables"):
            result = bench.run("verify", folder / "out.parquet", *inputs, "--json")
            result.succeeded()
            found = json.loads(result.stdout)
            equal("the fields", [found[name] for name in ("schema_version", "status", "command", "outputs")], [1, "ok", "verify", []])
            equal("what was verified", found["verified"], [{"path": str(folder / "out.parquet"), "rows": 12, "columns": ["image", "label"]}])
        with bench.report.case("JSON of tables that differ"):
            result = bench.run("verify", folder / "out.parquet", *changed, "--json")
            result.exited(DIFFERS)
            found = json.loads(result.stdout)
            equal("the fields", [found["status"], found["error"]["code"], found["error"]["exit"]], ["error", "differs", 1])
            equal("what was verified", found.get("verified", []), [])
            where = f"row {at[0]}, column image, at [{at[1]} {at[2]}]: found {image.values[at]}, expected {other.values[at]}"
            if where not in found["error"]["message"]:
                raise Mismatch(f"found {found['error']['message']!r}, expected {where!r}")


def mnist(folder: Path) -> tuple[Tensor, Tensor]:
    """All 70,000 images of MNIST if they are there, else as many that are made."""
    data = ROOT / "data" / "mnist"
    if not (data / "train-images-idx3-ubyte").exists():
        return make("uint8", (70_000, 28, 28)), numbers(70_000)
    images = [np.fromfile(data / f"{split}-images-idx3-ubyte", "u1", offset=16).reshape(-1, 28, 28) for split in ("train", "t10k")]
    labels = [np.fromfile(data / f"{split}-labels-idx1-ubyte", "u1", offset=8) for split in ("train", "t10k")]
    return Tensor(np.concatenate(images)), Tensor(np.concatenate(labels))


def check_large(bench: Bench) -> None:
    """One pixel among those of 70,000 images."""
    image, label = mnist(ROOT)
    with bench.folder("verify") as folder:
        inputs = table(folder / "in", image, label)
        other, at = flipped(image, 70_000)
        changed = table(folder / "changed", other, label)
        large = ("parquet list", "arrow list", ".csv kaggle", "npy", "parquet huggingface", "png")
        for out in outputs(folder, image):
            if out.name not in large[: None if bench.full else 3]:
                continue
            made = out.make(bench, inputs)
            with bench.report.case(f"70,000 images, {out.name}", made.command):
                made.succeeded()
                bench.run("verify", out.path, *inputs).succeeded()
                one_difference(bench.run("verify", out.path, *changed), "image", at, image.values[at], other.values[at])
            shutil.rmtree(out.path) if out.path.is_dir() else out.path.unlink()


def check(bench: Bench) -> None:
    """All groups."""
    with bench.report.group("verify: equal, and one value flipped"):
        check_equal_and_flipped(bench)
    with bench.report.group("verify: rewritten by others"):
        check_rewritten(bench)
    with bench.report.group("verify: rows and shapes"):
        check_counts(bench)
    with bench.report.group("verify: special numbers"):
        check_specials(bench)
    with bench.report.group("verify: wrong guesses"):
        check_guesses(bench)
    with bench.report.group("verify: the report"):
        check_report(bench)
    with bench.report.group("verify: 70,000 images"):
        check_large(bench)
