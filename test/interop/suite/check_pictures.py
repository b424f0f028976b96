"""PNG folders and WebDataset's tar files, by pngcheck where it is installed; values by Pillow and OpenCV. (The bytes of PNG
files are compared with the specification by the Go tests of package png.)"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import Image

from matrix.python import by_opencv

from . import tensors
from .bench import Bench, Mismatch, equal, table
from .tensors import Tensor, grey16, make

# The samples of a pixel, and Pillow's mode, for each kind of image.
KINDS = {"grey 8": (1, "L"), "grey 16": (1, "I;16"), "RGB": (3, "RGB"), "RGBA": (4, "RGBA")}
# Height and width: single pixels, lines, odd sizes, and sizes around the limit of the encoder for small images.
SIZES = [(1, 1), (1, 2), (1, 1000), (1000, 1), (2, 3), (7, 9), (28, 28), (32, 32), (33, 31), (127, 129), (257, 259), (300, 500)]


def pictures(kind: str, size: tuple[int, int]) -> Tensor:
    """Noise, one value everywhere, a ramp, runs of a few values, lines that are equal."""
    samples = KINDS[kind][0]
    shape = (1, *size) if samples == 1 else (1, *size, samples)
    noise = (grey16(shape) if kind == "grey 16" else make("uint8", shape)).values
    ramp = np.arange(noise.size) % (1 << 15 if noise.dtype == np.int16 else 256)
    runs = np.repeat(np.arange(noise.size // 37 + 1) % 5 * 50, 37)[: noise.size]
    lines = np.broadcast_to(noise[:, :1], shape)
    filled = [np.full(shape, value) for value in (0, 1, 255)]
    made = [values.astype(noise.dtype).reshape(shape) for values in (ramp, runs, lines, *filled)]
    return Tensor(np.concatenate([noise, *made]))


def check_pixels(files: Iterable[bytes], expected: np.ndarray, mode: str = "") -> None:
    """The pixels of every row by Pillow and by OpenCV, and the mode if one is given."""
    files = list(files)
    equal("the number of images", len(files), len(expected))
    for row, (data, pixels) in enumerate(zip(files, expected)):
        with Image.open(io.BytesIO(data)) as picture:
            found = {"Pillow": np.asarray(picture), "OpenCV": by_opencv(data)}
            equal(f"the mode of row {row}", picture.mode, mode or picture.mode)
        for reader, values in found.items():
            values = values.astype(pixels.dtype) if values.dtype == np.uint16 else values
            equal(f"{reader}'s size of row {row}", values.shape, pixels.shape)
            if values.dtype != pixels.dtype or not np.array_equal(values, pixels):
                raise Mismatch(f"{reader}: {int((values != pixels).sum())} of {pixels.size} pixels of row {row} differ")


def folder_files(folder: Path, labels: np.ndarray | None = None) -> list[bytes]:
    """The files of a PNG folder by row, which is the name of the file; each must be in the folder of its label."""
    paths = sorted(folder.rglob("*.png"), key=lambda path: int(path.stem))
    equal("the rows", [int(path.stem) for path in paths], list(range(len(paths))))
    if labels is None:
        equal("files in folders", [str(path) for path in paths if path.parent != folder], [])
    else:
        equal("the labels", [int(path.parent.name) for path in paths], labels.tolist())
        names = sorted(path.name for path in folder.iterdir() if path.is_dir())
        equal("the class folders in sorted order", [int(name) for name in names], sorted(set(labels.tolist())))
    return [path.read_bytes() for path in paths]


def samples(data: bytes, first: int = 0) -> list[dict[str, bytes]]:
    """The samples of a tar file: WebDataset groups adjacent files whose names are equal up to the first dot, the key.
    Keys must count the rows."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|") as archive:  # as a stream, as WebDataset reads
        files = []
        for member in archive:
            facts = (member.isreg(), member.mode, member.mtime, member.uid, member.gid, member.uname, member.gname)
            equal(f"{member.name}: kind, mode, time and owner", facts, (True, 0o644, 0, 0, 0, "", ""))
            files.append((*member.name.split(".", 1), archive.extractfile(member).read()))  # type: ignore[union-attr]
    groups = [(key, list(group)) for key, group in groupby(files, key=lambda file: file[0])]
    equal("the keys", [key for key, _ in groups], [f"{first + row:06d}" for row in range(len(groups))])
    found = [{extension: contents for _, extension, contents in group} for _, group in groups]
    equal("the files", sum(map(len, found)), len(files))
    return found


def tar_files(data: bytes, labels: np.ndarray | None = None) -> list[bytes]:
    """The images of a tar file, each beside its label."""
    found = samples(data)
    if labels is not None:
        equal("the labels", [sample["cls"] for sample in found], [str(label).encode() for label in labels.tolist()])
    return [sample["png"] for sample in found]


def check_kinds(bench: Bench) -> None:
    """All kinds and sizes, in folders and in tar files, with labels, and without labels through pipes."""
    pngcheck = shutil.which("pngcheck")
    if not pngcheck:
        print("pngcheck is not installed: its cases are left out")
    for kind in KINDS:
        mode = KINDS[kind][1]
        for size in SIZES:
            tensor = pictures(kind, size)
            labels = Tensor(tensors.labels(tensor.rows, 12).values.astype("int32"))
            negative = Tensor(labels.values - 5)
            with bench.folder("png") as folder:
                inputs, out = table(folder, tensor, labels), folder / "out"
                what = f"{kind} {size[0]}×{size[1]}"
                made = bench.convert(inputs, [f"png={out}"])
                with bench.case(f"{what}, {tensor.rows} files", made):
                    files = folder_files(out, labels.values)
                    check_pixels(files, tensor.values, mode)
                if pngcheck:
                    with bench.case(f"{what}, pngcheck", made):
                        done = subprocess.run([pngcheck, "-q", *out.rglob("*.png")], capture_output=True, text=True, check=False)
                        equal("what pngcheck says", (done.returncode, done.stdout + done.stderr), (0, ""))
                with bench.case(f"{what}, tar", bench.convert(table(folder, tensor, negative), [folder / "out.tar"])):
                    check_pixels(tar_files((folder / "out.tar").read_bytes(), negative.values), tensor.values, mode)
                with bench.case(f"{what}, without labels", bench.convert(inputs[:1], [f"png={folder / 'alone'}"])):
                    check_pixels(folder_files(folder / "alone"), tensor.values, mode)
                made = bench.convert(["-"], ["tar=-"], stdin=tensor.idx())
                with bench.case(f"{what}, tar through pipes", made):
                    check_pixels(tar_files(made.stdout), tensor.values, mode)


GROUPS = {"PNG and tar by the book": check_kinds}
