#!/usr/bin/env python3
"""Make the test files of tiny/ and hostile/, and cut the samples of real data.

usage: make.py                          write tiny/ and hostile/ beside this script
       make.py --check                  compare them with what would be written; 1 if they differ
       make.py samples FASHION QMNIST   cut fashion-mnist/ and qmnist/ from the folder FASHION and the file QMNIST
                                        (qmnist-train-labels-idx2-int.gz)

Only the standard library is used, and the bytes are the same on every machine: values come from the counter below,
and gzip members of tiny/ and hostile/ hold stored blocks, which no version of zlib can render otherwise.

Each folder has a MANIFEST.tsv, written with the files: a line per file with what it is and what must happen to it.
"""

from __future__ import annotations

import gzip
import math
import struct
import sys
import zlib
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent

# dtype: code in the header, struct format of one element
DTYPES = {
    "uint8": (0x08, "B"),
    "int8": (0x09, "b"),
    "int16": (0x0B, "h"),
    "int32": (0x0C, "i"),
    "float32": (0x0D, "f"),
    "float64": (0x0E, "d"),
}

Files = dict[str, bytes]
Rows = list[tuple[str, ...]]


def header(code: int, dims: tuple[int, ...], order: str = ">") -> bytes:
    """An IDX header; order is struct's sign for the byte order, big-endian in real files."""
    return struct.pack(f"{order}I{len(dims)}I", code << 8 | len(dims), *dims)


def extremes(dtype: str) -> list[bytes]:
    """The values of dtype that are easiest to get wrong, big-endian: limits, and for floats −0, infinities and NaNs
    with payloads."""
    code = DTYPES[dtype][1]
    size = struct.calcsize(code)
    if dtype == "float32":
        bits = [0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC12345, 0xFFC0BEEF, 0x7F800001, 0x7F7FFFFF, 1, 0x3F800000, 0]
        return [struct.pack(">I", value) for value in bits]
    if dtype == "float64":
        nans = [0x7FF8000000000000, 0x7FF80000DEADBEEF, 0xFFF8123456789ABC, 0x7FF0000000000001]
        bits = [1 << 63, 0x7FF << 52, 0xFFF << 52, *nans, 0x7FEFFFFFFFFFFFFF, 1, 0x3FF << 52, 0]
        return [struct.pack(">Q", value) for value in bits]
    low = 0 if dtype == "uint8" else -(1 << (8 * size - 1))
    high = low + (1 << (8 * size)) - 1
    values = sorted({low, low + 1, 0, 1, high // 2, high - 1, high} | ({-1} if low else set()))
    return [struct.pack(">" + code, value) for value in values]


def payload(dtype: str, count: int) -> bytes:
    """count elements, big-endian: the extremes first, then the bits of a counter times an odd constant (Weyl's
    sequence)."""
    size = struct.calcsize(DTYPES[dtype][1])
    rest = [struct.pack(">Q", (i + 1) * 0x9E3779B97F4A7C15 % 2**64)[:size] for i in range(count)]
    return b"".join((extremes(dtype) + rest)[:count])


def idx(dtype: str, *dims: int) -> bytes:
    """A whole IDX file."""
    return header(DTYPES[dtype][0], dims) + payload(dtype, math.prod(dims))


def gz(data: bytes) -> bytes:
    """One gzip member with a single stored block, no name and no time (RFC 1952, RFC 1951 §3.2.4); data is at most
    65,535 bytes."""
    stored = struct.pack("<BHH", 1, len(data), len(data) ^ 0xFFFF) + data
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + stored + struct.pack("<II", zlib.crc32(data), len(data))


def tiny() -> tuple[Files, Rows]:
    """Every dtype and ranks 1 to 4 in odd sizes, no records, records of no elements, images that have a PNG, and
    legal oddities."""
    files: Files = {}
    rows: Rows = []

    def add(dtype: str, *dims: int, note: str = "", data: bytes | None = None, tag: str = "", suffix: str = "") -> None:
        shape = "x".join(map(str, dims))
        name = f"{dtype}-{shape}{tag}.idx{suffix}"
        files[name] = idx(dtype, *dims) if data is None else data
        rows.append((name, dtype, shape, note))

    for dtype in DTYPES:
        floats = dtype.startswith("float")
        for dims in [(13,), (5, 13), (3, 7, 9), (2, 5, 7, 3)]:
            add(dtype, *dims, note="−0, infinities, NaN payloads, then any bits" if floats else "limits, then any values")
        add(dtype, 0, note="no records")
        add(dtype, 0, 7, 9, note="no records")
        add(dtype, 5, 0, note="records of no elements")
        add(dtype, 5, 0, 3, note="records of no elements")
        add(dtype, 1, note="one element")
    add("uint8", 0, 0, note="no records of no elements")
    add("uint8", 2, 5, 7, 4, note="RGBA images, channels last")
    add("uint8", 2, 3, 5, 7, note="RGB images, channels first")
    grey16 = b"".join(struct.pack(">H", i * 173 % 32768) for i in range(3 * 7 * 9))
    add("int16", 3, 7, 9, tag="-nonnegative", note="16-bit grey images", data=header(0x0B, (3, 7, 9)) + grey16)
    whole = idx("uint8", 3, 7, 9)
    add("uint8", 3, 7, 9, suffix=".gz", note="one gzip member", data=gz(whole))
    members = gz(whole[:10]) + gz(b"") + gz(whole[10:100]) + gz(whole[100:])
    add("uint8", 3, 7, 9, tag="-members", suffix=".gz", note="four gzip members, cut in the header and in a record, one empty", data=members)
    return files, [("# file", "dtype", "shape", "what it holds"), *rows]


class Refusal(NamedTuple):
    """A hostile input, and what must happen to it. Where it has several files, it is a folder, and the folder is the
    input."""

    name: str
    exit_code: int
    words: str  # of the message, a regular expression; names of files do not count
    wrong: str
    data: bytes | Files


MAX = 2**32 - 1


def damaged() -> list[Refusal]:
    """Files that were cut, lengthened, changed or replaced in transit."""
    images = idx("uint8", 3, 7, 9)
    member = gz(images)
    changed = member[:99] + bytes([member[99] ^ 1]) + member[100:]
    page = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body>Not Found</body></html>\n"
    cut = "truncated|incomplete|ends"
    return [
        Refusal("empty.idx", 65, "empty", "no bytes at all", b""),
        Refusal("one-byte.idx", 65, "header", "one zero byte", b"\0"),
        Refusal("header-cut.idx", 65, "header", "ends inside the third dimension", images[:14]),
        Refusal("truncated.idx", 65, cut, "the last byte is missing", images[:-1]),
        Refusal("no-payload.idx", 65, cut, "a header alone, claiming 60,000 images", header(8, (60000, 28, 28))),
        Refusal("trailing-byte.idx", 65, "1 extra byte", "one byte too many", images + b"\0"),
        Refusal("truncated.idx.gz", 65, cut, "the gzip member ends early", member[:-30]),
        Refusal("trailer-cut.idx.gz", 65, cut, "all data are there, half of the gzip trailer is not", member[:-4]),
        Refusal("crc.idx.gz", 65, "checksum|crc", "one pixel changed under gzip's checksum", changed),
        Refusal("trailing-junk.idx.gz", 65, "gzip.*extra data after", "text after the gzip member", member + b"not gzip"),
        Refusal("gzip-in-gzip.idx.gz", 65, "gzip", "compressed twice", gz(member)),
        Refusal("html-page", 65, "html", "a server's error page under the name of a data file", {"train-images-idx3-ubyte.gz": page}),
    ]


def wrong_headers() -> list[Refusal]:
    """Headers that do not fit the file, or are of another format."""
    images = idx("uint8", 3, 7, 9)
    digits = bytes(i % 251 for i in range(3 * 784))
    lush = struct.pack("<II4I", 0x1E3D4C55, 4, 3, 2, 7, 9) + bytes(3 * 2 * 7 * 9)
    huge = header(8, (1, 65536, 65536)) + bytes(8)
    return [
        Refusal("little-endian-header.idx", 65, "little-endian", "a header in the other byte order", header(8, (3, 7, 9), "<") + images[16:]),
        Refusal("little-endian-sizes.idx", 65, "the dimensions .* need more than", "a big-endian magic number, and sizes in the other byte order",
                b"\0\0\x08\x03" + header(8, (3, 7, 9), "<")[4:] + images[16:]),
        Refusal("little-endian-count.idx", 65, "truncated", "the same of labels", b"\0\0\x08\x01" + header(8, (7,), "<")[4:] + bytes(range(7))),
        Refusal("norb.mat", 65, "norb|lush", "a Lush binary matrix, as in NORB: bytes, 3×2×7×9", lush),
        Refusal("byte-count.idx", 65, "datumaro|count.*bytes", "Datumaro's first dimension: 2,352 bytes", header(8, (0x930, 28, 28)) + digits),
        Refusal("count-zero.idx", 65, "extra|filled", "a count that was never filled in: 0", header(8, (0, 28, 28)) + digits),
        Refusal("count-unfilled.idx", 65, "truncated|filled", "a count that was never filled in: 2^32 − 1", header(8, (MAX, 28, 28)) + digits),
        Refusal("rank-0.idx", 65, "dimension", "no dimensions", header(8, ()) + b"\x07"),
        Refusal("unknown-dtype.idx", 65, "0x0a", "data type 0x0A, which the format leaves out", header(0x0A, (3, 7, 9)) + images[16:]),
        Refusal("bomb-rank-255.idx", 65, "bytes|too large", "255 dimensions of 2^32 − 1", header(8, (MAX,) * 255)),
        Refusal("bomb-record-4gib.idx", 65, "record", "one record of 4 GiB, 8 bytes of it here", huge),
        Refusal("bomb-empty-records.idx", 65, "no elements", "2^32 − 1 records of no elements, a legal size", header(8, (MAX, 0))),
        Refusal("bomb-empty-records-wide.idx", 65, "no elements", "the same, and a dimension of 2^32 − 1", header(14, (MAX, 0, MAX))),
    ]  # fmt: skip


def pair(images: bytes, labels: bytes) -> Files:
    """The two files of a split under their published names."""
    return {"train-images-idx3-ubyte": images, "train-labels-idx1-ubyte": labels}


def mismatched() -> list[Refusal]:
    """Pairs of files that do not fit together."""
    images, labels = idx("uint8", 3, 7, 9), idx("uint8", 3)
    two = idx("uint8", 2)
    counts = r"\b3\b.*\b2\b|\b2\b.*\b3\b"
    return [
        Refusal("counts-differ", 65, counts, "three images, two labels", pair(images, two)),
        Refusal("swapped", 65, "swapped", "images and labels under each other's names", pair(labels, images)),
    ]


def hostile() -> tuple[Files, Rows]:
    """Files that must be refused."""
    files: Files = {}
    rows: Rows = [("# input", "exit code", "words of the message, a regular expression", "what is wrong")]
    for refusal in damaged() + wrong_headers() + mismatched():
        if isinstance(refusal.data, bytes):
            files[refusal.name] = refusal.data
        else:
            files.update({f"{refusal.name}/{name}": data for name, data in refusal.data.items()})
        rows.append((refusal.name, str(refusal.exit_code), refusal.words, refusal.wrong))
    return files, rows


def folder_bytes(made: tuple[Files, Rows]) -> Files:
    """The files of a folder with its manifest."""
    files, rows = made
    return {**files, "MANIFEST.tsv": "".join("\t".join(row) + "\n" for row in rows).encode()}


def gzip_bytes(data: bytes) -> bytes:
    """data compressed at zlib's best level, without name and time."""
    return gzip.compress(data, 9, mtime=0)


def first_records(path: Path, count: int) -> bytes:
    """The IDX file made of the first count records of the gzipped IDX file path."""
    with gzip.open(path) as file:
        data = file.read()
    rank = data[3]
    dims = struct.unpack_from(f">{rank}I", data, 4)
    size = struct.calcsize(next(form for code, form in DTYPES.values() if code == data[2]))
    record = math.prod(dims[1:]) * size
    start = 4 + 4 * rank
    if dims[0] < count or len(data) != start + dims[0] * record:
        raise ValueError(f"{path}: found {len(data)} bytes and {dims[0]} records, expected whole records and at least {count}")
    return header(data[2], (count, *dims[1:])) + data[start : start + count * record]


def cut_samples(fashion: Path, qmnist: Path) -> None:
    """Write the samples of real data: 1,000 records of each file of Fashion-MNIST, 100 of QMNIST's training labels."""
    for split in ("train", "t10k"):
        for kind in ("images-idx3", "labels-idx1"):
            name = f"{split}-{kind}-ubyte.gz"
            write(HERE / "fashion-mnist", {name: gzip_bytes(first_records(fashion / name, 1000))})
    write(HERE / "qmnist", {qmnist.name: gzip_bytes(first_records(qmnist, 100))})


def write(folder: Path, files: Files) -> None:
    """Write files below folder; names may hold one folder of their own."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def differences(folder: Path, files: Files) -> list[str]:
    """The paths of missing, additional and different files."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [str(folder / name) for name in sorted(found.keys() | files.keys()) if found.get(name) != files.get(name)]


def main(arguments: list[str]) -> int:
    """Run the command line."""
    if arguments[:1] == ["samples"] and len(arguments) == 3:
        cut_samples(Path(arguments[1]), Path(arguments[2]))
        return 0
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 64
    status = 0
    for name, made in (("tiny", tiny()), ("hostile", hostile())):
        files = folder_bytes(made)
        if not arguments:
            write(HERE / name, files)
        for path in differences(HERE / name, files):
            print(f"make.py: {path} is not what this script makes", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
