"""WebDataset's tar files, read by Python's tarfile and Pillow; and what has no PNG, which must be refused and leave nothing."""

from __future__ import annotations

import io
import json
import tarfile
from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import Image

from . import tensors
from .check_png import BAD_DATA, USAGE, images, refused
from .command import Bench, nothing_left
from .compare import equal, same_bytes
from .report import Mismatch
from .tensors import Tensor, make

Sample = dict[str, bytes]  # by extension


def samples(data: bytes) -> dict[str, Sample]:
    """Files that lie side by side and share what their names have before the first dot, as WebDataset groups them."""
    found: dict[str, Sample] = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|") as archive:  # as a stream, as WebDataset reads
        files = []
        for member in archive:
            facts = (member.isreg(), member.mode, member.mtime, member.uid, member.gid, member.uname, member.gname)
            equal(f"{member.name}: kind, mode, time and owner", facts, (True, 0o644, 0, 0, 0, "", ""))
            contents = archive.extractfile(member)
            files.append((*member.name.split(".", 1), contents.read() if contents else b""))
    for key, group in groupby(files, key=lambda file: file[0]):
        if key in found:
            raise Mismatch(f"the files of {key} do not lie side by side")
        sample: Sample = {}
        for _, extension, contents in group:
            if extension in sample:
                raise Mismatch(f"two files are {key}.{extension}")
            sample[extension] = contents
        found[key] = sample
    return found


def check_samples(data: bytes, tensor: Tensor, mode: str, labels: np.ndarray | None, first: int = 0) -> dict[str, Sample]:
    """Every row is there, in order, under its key, with the right mode, pixels and label."""
    found = samples(data)
    equal("the keys", list(found), [f"{first + row:06d}" for row in range(tensor.rows)])
    for row, sample in enumerate(found.values()):
        with Image.open(io.BytesIO(sample["png"])) as picture:
            picture.load()
            equal(f"the mode of row {row}", picture.mode, mode)
            pixels = np.asarray(picture)
        equal(f"the size of row {row}", pixels.shape, tensor.values[row].shape)
        if not np.array_equal(pixels, tensor.values[row]):
            raise Mismatch(f"pixels of row {row} differ")
        if labels is None:
            equal(f"the files of row {row}", list(sample), ["png"])
        else:
            equal(f"the label of row {row}", sample["cls"], str(int(labels[row])).encode())
    return found


def check_images(bench: Bench) -> None:
    """With labels and without; through pipes; the same bytes with one worker."""
    for tensor, mode in images():
        with bench.folder("tar") as folder:
            labels = Tensor(tensors.labels(tensor.rows, 12).values.astype("int32") - 5)
            source = tensor.write(folder / "a.idx")
            inputs: list[str | Path] = [f"image={source}", f"label={labels.write(folder / 'b.idx')}"]
            result = bench.convert(inputs, [folder / "out.tar"])
            with bench.report.case(f"{tensor.name} as {mode}", result.command):
                result.succeeded()
                check_samples((folder / "out.tar").read_bytes(), tensor, mode, labels.values)
            result = bench.convert(["-"], ["tar=-"], "--workers", "1", stdin=source.read_bytes())
            with bench.report.case(f"{tensor.name} as {mode}, without labels, through pipes", result.command):
                result.succeeded()
                check_samples(result.stdout, tensor, mode, None)


def check_batches(bench: Bench) -> None:
    """Several batches on several goroutines, a range of rows, channels first."""
    tensor, labels = make("uint8", (9_001, 28, 28)), tensors.labels(9_001)
    with bench.folder("tar") as folder:
        inputs: list[str | Path] = [f"image={tensor.write(folder / 'a.idx')}", f"label={labels.write(folder / 'b.idx')}"]
        result = bench.convert(inputs, [folder / "one.tar"], "--workers", "1")
        many = bench.convert(inputs, [folder / "many.tar"], "--workers", "7")
        with bench.report.case("several batches", many.command):
            result.succeeded()
            many.succeeded()
            same_bytes("the file of seven workers", (folder / "many.tar").read_bytes(), (folder / "one.tar").read_bytes())
            check_samples((folder / "many.tar").read_bytes(), tensor, "L", labels.values)
        result = bench.convert(inputs, [folder / "rows.tar"], "--rows", "5000:-10")
        with bench.report.case("a range of rows", result.command):
            result.succeeded()
            check_samples((folder / "rows.tar").read_bytes(), Tensor(tensor.values[5000:-10]), "L", labels.values[5000:-10], 5000)
    for channels, mode in ((3, "RGB"), (4, "RGBA")):
        planes = make("uint8", (5, channels, 7, 9))
        with bench.folder("tar") as folder:
            result = bench.convert([planes.write(folder / "a.idx")], [folder / "out.tar"], "--channels", "first")
            with bench.report.case(f"{planes.name}, channels first", result.command):
                result.succeeded()
                check_samples((folder / "out.tar").read_bytes(), Tensor(np.moveaxis(planes.values, 1, -1)), mode, None)


def check_scalars(bench: Bench) -> None:
    """Scalars of every data type beside the image and the label are one .json, whose floats read back exactly."""
    rows = 13
    image, label = make("uint8", (rows, 5, 4)), tensors.labels(rows)
    others = {name: make(name, (rows,)) for name in tensors.CODES}
    with bench.folder("tar") as folder:
        inputs: list[str | Path] = [f"{name}={tensor.write(folder / f'{name}.idx')}" for name, tensor in others.items()]
        inputs += [f"image={image.write(folder / 'image.idx')}", f"label={label.write(folder / 'label.idx')}"]
        result = bench.convert(inputs, [folder / "out.tar"])
        with bench.report.case("scalars", result.command):
            result.succeeded()
            found = check_samples((folder / "out.tar").read_bytes(), image, "L", label.values)
            for row, sample in enumerate(found.values()):
                values = json.loads(sample["json"])
                equal(f"the scalars of row {row}", list(values), list(others))
                for name, tensor in others.items():
                    check_number(f"{name} of row {row}", values[name], tensor.values[row])


def check_number(what: str, found: object, expected: np.generic) -> None:
    """Integers as integers, floats as floats, with the sign of −0; any NaN equals any NaN."""
    equal(f"the type of {what}", type(found), float if expected.dtype.kind == "f" else int)
    with np.errstate(over="ignore"):
        number = expected.dtype.type(found)  # type: ignore[arg-type]
    same = (np.isnan(number) and np.isnan(expected)) or (number == expected and np.signbit(number) == np.signbit(expected))
    equal(f"{what}, {found!r}, is the same number", bool(same), True)


def check_refusal(bench: Bench, tensor: Tensor, exits: tuple[int, ...]) -> None:
    """Exit code, an explanation, and an unchanged folder."""
    with bench.folder("refused") as folder:
        source = tensor.write(folder / "a.idx")
        result = bench.convert([source], [folder / "out.tar"])
        with bench.report.case(f"{tensor.name} has no PNG", result.command):
            result.exited(*exits)
            if "tar: " not in result.stderr:
                raise Mismatch(f"the refusal does not name the format: {result.stderr.strip()}")
            nothing_left(folder, source)


def check(bench: Bench) -> None:
    """All groups of this format."""
    with bench.report.group("tar samples"):
        check_images(bench)
        check_batches(bench)
    with bench.report.group("tar scalars"):
        check_scalars(bench)
    with bench.report.group("tar refusals"):
        for tensor in refused():
            check_refusal(bench, tensor, (USAGE,))
        check_refusal(bench, make("int16", (11, 7, 9)), (USAGE, BAD_DATA))
