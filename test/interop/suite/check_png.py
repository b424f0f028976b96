"""PNG folders, read by Pillow; and the shapes and types that have no PNG, which must be refused and leave nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from . import tensors
from .command import Bench, Result, nothing_left
from .compare import equal
from .report import Mismatch
from .tensors import Tensor, make

USAGE, BAD_DATA = 64, 65


def grey16(shape: tuple[int, ...]) -> Tensor:
    """An int16 tensor without negatives."""
    return Tensor(make("int16", shape).values & 0x7FFF)


PICTURE_SHAPES: dict[str, list[tuple[int, ...]]] = {  # by Pillow's mode
    "L": [(11, 7, 9), (1, 1, 1), (5, 28, 28), (3, 1, 300), (2, 301, 3), (2, 257, 259), (300, 8, 8)],
    "I;16": [(11, 7, 9), (5, 1, 1), (2, 129, 131)],
    "RGB": [(3, 5, 7, 3), (1, 1, 1, 3), (2, 65, 63, 3)],
    "RGBA": [(3, 5, 7, 4), (1, 1, 1, 4), (2, 65, 63, 4)],
}


def images() -> Iterator[tuple[Tensor, str]]:
    """Tensors that have a PNG, and Pillow's mode for it."""
    for mode, shapes in PICTURE_SHAPES.items():
        for shape in shapes:
            yield (grey16(shape) if mode == "I;16" else make("uint8", shape)), mode
    for value in (0, 1, 255):  # runs of one value, which encoders shorten
        yield Tensor(np.full((3, 28, 28), value, np.uint8)), "L"


def refused() -> Iterator[Tensor]:
    """Tensors that have no PNG: other data types, other ranks, other numbers of channels, images without pixels."""
    for dtype in ("int8", "int32", "float32", "float64"):
        for shape in tensors.PLAIN_SHAPES:
            yield make(dtype, shape)
    for dtype in ("uint8", "int16"):
        for shape in [(13,), (5, 13), (3, 5, 7, 5), (3, 5, 7, 2), (2, 3, 4, 5, 3), (5, 0, 3), (5, 3, 0), (2, 3, 0, 3)]:
            yield Tensor(make(dtype, shape).values & 0x7F)


def pictures(folder: Path) -> dict[int, tuple[str, np.ndarray, str]]:
    """Every PNG below folder by the row its name gives: its class folder, its pixels and its mode."""
    found = {}
    for path in folder.rglob("*.png"):
        with Image.open(path) as picture:
            picture.load()
            pixels, mode = np.asarray(picture), picture.mode
        with Image.open(path) as picture:
            picture.verify()  # checksums of all chunks
        parent = path.parent.relative_to(folder)
        row = int(path.stem)
        if row in found:
            raise Mismatch(f"two files are row {row}")
        found[row] = (str(parent), pixels, mode)
    return found


def check_pixels(folder: Path, tensor: Tensor, mode: str, labels: np.ndarray | None) -> None:
    """Every row is there once, under its label, with the right mode and pixels."""
    found = pictures(folder)
    equal("the rows", sorted(found), list(range(tensor.rows)))
    for row, (label, pixels, found_mode) in found.items():
        equal(f"the mode of row {row}", found_mode, mode)
        expected = tensor.values[row]
        equal(f"the size of row {row}", pixels.shape, expected.shape)
        if not np.array_equal(pixels, expected):
            raise Mismatch(f"{int((pixels != expected).sum())} of {expected.size} pixels of row {row} differ")
        if labels is not None:
            equal(f"the label of row {row}", int(label), int(labels[row]))


def check_class_folders(folder: Path, labels: np.ndarray) -> None:
    """Sorted folder names are in label order, which is how torchvision's ImageFolder numbers classes."""
    classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
    equal("the class folders in sorted order", [int(name) for name in classes], sorted({int(label) for label in labels}))


def check_images(bench: Bench) -> None:
    """With labels and without."""
    for tensor, mode in images():
        with bench.folder("png") as folder:
            labels = tensors.labels(tensor.rows, 12)
            source = tensor.write(folder / "a.idx")
            inputs: list[str | Path] = [f"image={source}", f"label={labels.write(folder / 'b.idx')}"]
            result = bench.convert(inputs, [f"png={folder / 'out'}"])
            with bench.report.case(f"{tensor.name} as {mode}", result.command):
                result.succeeded()
                check_pixels(folder / "out", tensor, mode, labels.values)
                check_class_folders(folder / "out", labels.values)
            result = bench.convert([source], [f"png={folder / 'alone'}"])
            with bench.report.case(f"{tensor.name} as {mode}, without labels", result.command):
                result.succeeded()
                check_pixels(folder / "alone", tensor, mode, None)


def check_channels_first(bench: Bench) -> None:
    """--channels first turns 3×H×W into RGB."""
    for channels, mode in ((3, "RGB"), (4, "RGBA")):
        tensor = make("uint8", (5, channels, 7, 9))
        with bench.folder("png") as folder:
            result = bench.convert([tensor.write(folder / "a.idx")], [f"png={folder / 'out'}"], "--channels", "first")
            with bench.report.case(f"{tensor.name}, channels first", result.command):
                result.succeeded()
                check_pixels(folder / "out", Tensor(np.moveaxis(tensor.values, 1, -1)), mode, None)


def check_refusal(bench: Bench, tensor: Tensor, exits: tuple[int, ...]) -> None:
    """Exit code, a hint or an explanation, and an unchanged folder."""
    with bench.folder("refused") as folder:
        source = tensor.write(folder / "a.idx")
        result: Result = bench.convert([source], [f"png={folder / 'out'}"])
        with bench.report.case(f"{tensor.name} has no PNG", result.command):
            result.exited(*exits)
            if not result.stderr.strip():
                raise Mismatch("the refusal says nothing on stderr")
            nothing_left(folder, source)


def check(bench: Bench) -> None:
    """All groups of this format."""
    with bench.report.group("png images"):
        check_images(bench)
        check_channels_first(bench)
    with bench.report.group("png refusals"):
        for tensor in refused():
            check_refusal(bench, tensor, (USAGE,))
        # Whether an int16 is negative is known only when it has been read.
        check_refusal(bench, make("int16", (11, 7, 9)), (USAGE, BAD_DATA))
