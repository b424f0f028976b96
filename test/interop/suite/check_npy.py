"""NumPy's .npy files, read by numpy: whole, mapped into memory, through a pipe; and compared with what numpy.save writes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from . import tensors
from .command import Bench, nothing_left
from .compare import equal, same_bits, same_bytes
from .report import Mismatch
from .tensors import Tensor

USAGE = 64


def saved(tensor: Tensor) -> bytes:
    """What numpy.save writes."""
    out = io.BytesIO()
    np.save(out, tensor.values, allow_pickle=False)
    return out.getvalue()


def check_array(path: Path, tensor: Tensor) -> None:
    """The shape, the bits and the order of the bytes, both ways to load it."""
    for mode in (None, "r"):
        values = np.load(path, mmap_mode=mode, allow_pickle=False)
        equal("the shape", values.shape, tensor.values.shape)
        equal("the data type", values.dtype.str, tensor.values.dtype.newbyteorder("<").str)
        equal("C order", values.flags.c_contiguous, True)
        same_bits(np.asarray(values), tensor.values)
    same_bytes("the file", path.read_bytes(), saved(tensor))


def check_arrays(bench: Bench) -> None:
    """Every dtype and shape, those without elements too."""
    for tensor in [*tensors.small(), *tensors.large()]:
        with bench.folder("npy") as folder:
            source = tensor.write(folder / f"{tensor.name}.idx")
            result = bench.convert([source], [folder / "out.npy"])
            with bench.report.case(f"{tensor.name} to .npy", result.command):
                result.succeeded()
                check_array(folder / "out.npy", tensor)
            if not bench.full and tensor.rank != 3:
                continue
            result = bench.convert(["-"], ["npy=-"], stdin=source.read_bytes())
            with bench.report.case(f"{tensor.name} through pipes", result.command):
                result.succeeded()
                same_bytes("standard output", result.stdout, saved(tensor))


def check_columns(bench: Bench) -> None:
    """A file for each column of a folder, or for the column that its name tells; --rows takes a part."""
    image, label = tensors.make("int16", (21_001, 7, 9)), tensors.labels(21_001)
    with bench.folder("npy") as folder:
        inputs: list[str | Path] = [
            f"image={image.write(folder / 'made-images-idx3-short')}",
            f"label={label.write(folder / 'made-labels-idx1-ubyte')}",
        ]
        result = bench.convert(inputs, [f"npy={folder / 'out'}/", folder / "X_made.npy", folder / "y_made.npy"])
        with bench.report.case("columns", result.command):
            result.succeeded()
            names = sorted(path.name for path in (folder / "out").iterdir() if not path.name.startswith("."))
            equal("the number of files", len(names), 2)
            for name, tensor in zip(names, (image, label), strict=True):
                equal(f"{name} is called after its column", name.endswith(("-image.npy", "-label.npy")), True)
                check_array(folder / "out" / name, tensor)
            check_array(folder / "X_made.npy", image)
            check_array(folder / "y_made.npy", label)
        result = bench.convert(inputs, [folder / "rows-label.npy", folder / "rows-image.npy"], "--rows", "20000:-7")
        with bench.report.case("a range of rows", result.command):
            result.succeeded()
            check_array(folder / "rows-image.npy", Tensor(image.values[20000:-7]))
            check_array(folder / "rows-label.npy", Tensor(label.values[20000:-7]))
        result = bench.convert(inputs, [folder / "both" / "data.npy"])
        with bench.report.case("two columns in one array", result.command):
            result.exited(USAGE)
            if "npy=DIR/" not in result.stderr:
                raise Mismatch(f"the refusal has no hint: {result.stderr.strip()}")
            nothing_left(folder / "both")


def check(bench: Bench) -> None:
    """All groups of this format."""
    with bench.report.group("npy arrays"):
        check_arrays(bench)
    with bench.report.group("npy columns"):
        check_columns(bench)
