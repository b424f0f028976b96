"""PNG files by the book: every byte of every chunk by the specification (https://www.w3.org/TR/png-3/), pngcheck if it is installed, and the values
as Pillow and OpenCV decode them."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from .check_png import grey16
from .command import Bench
from .compare import equal
from .report import Mismatch
from .tensors import Tensor, make

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The bit depth and the colour type of IHDR, and the samples of a pixel, for each kind of picture.
KINDS = {"grey 8": (8, 0, 1), "grey 16": (16, 0, 1), "RGB": (8, 2, 3), "RGBA": (8, 6, 4)}
# Height and width: single pixels, lines, odd sizes, and those on both sides of what the encoder for small images takes.
SIZES = [(1, 1), (1, 2), (1, 1000), (1000, 1), (2, 3), (7, 9), (28, 28), (32, 32), (33, 31), (127, 129), (300, 500)]
MEMORY_BLOCK = 1 << 15  # bytes, the largest window of deflate


def kind_shape(kind: str, size: tuple[int, int], rows: int) -> tuple[int, ...]:
    """The shape of rows pictures."""
    samples = KINDS[kind][2]
    return (rows, *size) if samples == 1 else (rows, *size, samples)


def pictures(kind: str, size: tuple[int, int]) -> Tensor:
    """Noise, one value everywhere, a ramp, a drawing of a few values in runs, lines that repeat the one above."""
    noise = grey16(kind_shape(kind, size, 1)) if kind == "grey 16" else make("uint8", kind_shape(kind, size, 1))
    shape, dtype = noise.values.shape, noise.values.dtype
    count = noise.values.size
    ramp = (np.arange(count) % (1 << 15 if dtype == np.int16 else 256)).astype(dtype).reshape(shape)
    runs = np.repeat(np.arange(count // 37 + 1) % 5 * 50, 37)[:count].astype(dtype).reshape(shape)
    lines = np.broadcast_to(noise.values[:, :1], shape)
    filled = [np.full(shape, value, dtype) for value in (0, 255)]
    return Tensor(np.concatenate([noise.values, ramp, runs, lines, *filled]))


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """The chunks of a PNG file: their checksums, and nothing before, between or after them."""
    equal("the signature", data[:8], SIGNATURE)
    found, at = [], 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if length >= 1 << 31 or at + 12 + length > len(data):
            raise Mismatch(f"chunk {kind!r} at byte {at} claims {length} bytes")
        body = data[at + 8 : at + 8 + length]
        equal(f"the checksum of {kind!r}", struct.unpack_from(">I", data, at + 8 + length)[0], zlib.crc32(kind + body))
        found.append((kind, body))
        at += 12 + length
    return found


def filtered(stream: bytes) -> bytes:
    """The decompressed image data: one zlib stream, its header by RFC 1950, its checksum, and nothing after it."""
    method, flags = stream[0], stream[1]
    equal("the compression method of zlib", method & 15, 8)
    equal("the check bits of zlib's header", (method * 256 + flags) % 31, 0)
    equal("a preset dictionary", flags & 32, 0)
    if 1 << ((method >> 4) + 8) > MEMORY_BLOCK:
        raise Mismatch(f"zlib's window has {1 << ((method >> 4) + 8)} bytes")
    inflater = zlib.decompressobj()
    data = inflater.decompress(stream) + inflater.flush()
    equal("the end of the zlib stream", (inflater.eof, inflater.unused_data), (True, b""))
    return data


def check_file(data: bytes, kind: str, size: tuple[int, int]) -> None:
    """The chunks that may be there, in their order, and what they say."""
    depth, colour, samples = KINDS[kind]
    found = chunks(data)
    names = [name for name, _ in found]
    equal("the chunks", names, [b"IHDR", *[b"IDAT"] * (len(names) - 2), b"IEND"])
    equal("the number of IDAT chunks is not 0", len(names) > 2, True)
    equal("IHDR", struct.unpack(">IIBBBBB", found[0][1]), (size[1], size[0], depth, colour, 0, 0, 0))
    equal("IEND", found[-1][1], b"")
    lines = filtered(b"".join(body for name, body in found if name == b"IDAT"))
    stride = 1 + size[1] * samples * depth // 8
    equal("the bytes of the lines", len(lines), size[0] * stride)
    if max(lines[::stride]) > 4:
        raise Mismatch(f"a line has the filter {max(lines[::stride])}")


def check_values(path: Path, expected: np.ndarray) -> None:
    """The values by Pillow and by OpenCV, whose colours are in the order blue, green, red."""
    with Image.open(path) as picture:
        equal("Pillow's values are equal", np.array_equal(np.asarray(picture), expected), True)
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if pixels.ndim == 3:
        pixels = pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]
    equal("OpenCV's values are equal", np.array_equal(pixels.reshape(expected.shape), expected), True)


def check_kind(bench: Bench, kind: str, pngcheck: str | None) -> None:
    """All sizes of one kind."""
    for size in SIZES:
        with bench.folder("pngs") as folder:
            tensor = pictures(kind, size)
            result = bench.convert([tensor.write(folder / "a.idx")], [f"png={folder / 'out'}"])
            files = sorted((folder / "out").rglob("*.png"), key=lambda path: int(path.stem))
            with bench.report.case(f"{kind} {size[0]}×{size[1]}, {tensor.rows} files", result.command):
                result.succeeded()
                equal("the number of files", len(files), tensor.rows)
                for path, expected in zip(files, tensor.values, strict=True):
                    check_file(path.read_bytes(), kind, size)
                    check_values(path, expected)
            if pngcheck:
                with bench.report.case(f"{kind} {size[0]}×{size[1]}, pngcheck", result.command):
                    done = subprocess.run([pngcheck, "-q", *files], capture_output=True, text=True, check=False)
                    equal("what pngcheck says", (done.returncode, done.stdout + done.stderr), (0, ""))


def check(bench: Bench) -> None:
    """All kinds of pictures."""
    pngcheck = shutil.which("pngcheck")
    if not pngcheck:
        print("pngcheck is not installed: the files are checked by this suite's own reading of the specification")
    for kind in KINDS:
        with bench.report.group(f"png by the book, {kind}"):
            check_kind(bench, kind, pngcheck)
