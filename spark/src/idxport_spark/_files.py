"""The files behind a table, and how a task tells that they are the ones that the driver saw."""

from __future__ import annotations

import hashlib
import os
import struct
from dataclasses import dataclass
from typing import Optional
from urllib.parse import unquote, urlsplit

from ._binary import IdxError, Program

# How much of a file goes into its digest: this many blocks of this many bytes, evenly spread, the first and the last among them.
_BLOCKS, _BLOCK = 16, 4096

# What compressed files begin with: gzip, zstd, xz, bzip2. They cannot be entered in the middle.
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh")

# The codes of IDX's data types, and the sizes of their elements in bytes.
_SIZES = {0x08: 1, 0x09: 1, 0x0B: 2, 0x0C: 4, 0x0D: 4, 0x0E: 8}


@dataclass(frozen=True)
class File:
    """A file as it was when the driver looked at it."""

    path: str
    size: int
    mtime: int  # in nanoseconds
    digest: str  # of samples: a file of gigabytes is not read for it
    packed: bool  # compressed, by its content

    @staticmethod
    def at(path: str) -> File:
        """Look at a file."""
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            packed = file.read(6).startswith(_COMPRESSED)
            sha = hashlib.sha256()
            for i in range(_BLOCKS):
                file.seek(max(status.st_size - _BLOCK, 0) * i // (_BLOCKS - 1))
                sha.update(file.read(_BLOCK))
        return File(path, status.st_size, status.st_mtime_ns, sha.hexdigest(), packed)

    def check(self, times: bool) -> None:
        """Raise IdxError if another file is there now. Without times, a copy of the file will do, as executors without a shared file system have it."""
        try:
            now = File.at(self.path)
        except OSError as error:
            raise IdxError(f"{self.path}: {error.strerror}, though it was there when load() read its header: every executor must see the file") from error
        for what, found, expected in (("bytes", now.size, self.size), ("content", now.digest, self.digest), ("time", now.mtime, self.mtime)):
            if found != expected and (what != "time" or times):
                hint = ", or use the option identity=content if this is a copy" if what == "time" else ""
                raise IdxError(f"{self.path} is not the file that load() saw: {what}: found {found}, expected {expected}; load it again{hint}")


def local(path: str) -> str:
    """The absolute path of a file that Spark may call file:/…"""
    url = urlsplit(path)
    if url.scheme == "file":
        return unquote(url.path)
    if "://" in path:
        raise IdxError(f"{path}: only files that the driver and every executor see under one path can be read and written")
    return os.path.abspath(path)


def header(head: bytes) -> Optional[tuple[int, tuple[int, ...]]]:
    """The code of the data type and the dimensions that the first bytes of an IDX file claim; None if they are none."""
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _SIZES or len(head) < 4 + 4 * head[3]:
        return None
    return head[2], struct.unpack_from(f">{head[3]}I", head, 4)


def count_rows(binary: str, path: str, flags: tuple[str, ...]) -> int:
    """How many rows a file has, by its header: as the program writes it, so that compression and --reshape are taken care of. No data is read."""
    with Program(binary, ["convert", path, *flags, "--dataset", "none", "--to", "idx", "-o", "-", "--quiet", "--json", "--workers", "1"]) as program:
        head = header(program.stdout.read(4 + 4 * 255))
        if head is None:
            program.finish()
            raise IdxError(f"{path}: idxport made no IDX file of it")
        return head[1][0] if head[1] else 1


def plain_header(path: str) -> Optional[tuple[int, tuple[int, ...]]]:
    """The header of an IDX file that is not compressed."""
    with open(path, "rb") as file:
        return header(file.read(4 + 4 * 255))
