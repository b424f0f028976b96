"""The files and objects of a table, and the check in a task that they are those that the driver saw.

Only the program reads objects of object storage, with the credentials of its environment.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from .._program import IdxError

# The blocks of a file in its digest, and their size in bytes: evenly spread, with the first and the last one.
_BLOCKS, _BLOCK = 16, 4096


@dataclass(frozen=True)
class File:
    """A file as the driver saw it."""

    path: str
    size: int
    mtime: int  # in nanoseconds
    digest: str  # of samples: a file of gigabytes is not read for it
    sequential: bool  # it is compressed and must be read from its beginning

    @staticmethod
    def at(path: str, sequential: bool = False) -> File:
        """Record the identity of a file."""
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            sha = hashlib.sha256()
            for i in range(_BLOCKS):
                file.seek(max(status.st_size - _BLOCK, 0) * i // (_BLOCKS - 1))
                sha.update(file.read(_BLOCK))
        return File(path, status.st_size, status.st_mtime_ns, sha.hexdigest(), sequential)

    def check(self, times: bool) -> None:
        """Raise IdxError if the file has changed. Without times, a copy of the file is accepted, for executors without a shared file system."""
        try:
            now = File.at(self.path)
        except OSError as error:
            raise IdxError(f"{self.path}: {error.strerror}, though it was there when load() read its header: every executor must see the file") from error
        for what, found, expected in (("bytes", now.size, self.size), ("content", now.digest, self.digest), ("time", now.mtime, self.mtime)):
            if found != expected and (what != "time" or times):
                hint = ", or use the option identity=content if this is a copy" if what == "time" else ""
                raise IdxError(f"{self.path} is not the file that load() saw: {what}: found {found}, expected {expected}; load it again{hint}")


@dataclass(frozen=True)
class Object:
    """An object of object storage, in the version that the driver found."""

    path: str  # its URL, without parameters
    etag: str
    sequential: bool

    def check(self, report: Mapping[str, Any]) -> None:
        """Raise IdxError if a run of the program read another version, by its report. A run reads only one version, or fails."""
        found = {entry.get("etag") for entry in report["inputs"] if entry["path"] == self.path}
        if found != {self.etag}:
            etags = ", ".join(map(str, found)) or "none"
            raise IdxError(f"{self.path} is not the object that load() saw: ETag: found {etags}, expected {self.etag}; load it again")


def is_url(path: str) -> bool:
    """Report whether this is the URL of an object or a prefix."""
    return path.startswith("s3://")


def with_query(path: str, urls: Iterable[str]) -> str:
    """A path, or a URL with the query that its bucket has in `urls`. The program applies it to all URLs of a bucket, and does not report it."""
    def bucket(url: str) -> list[str]:
        return url.partition("?")[0].split("/")[:3]

    queries = (url.partition("?")[2] for url in urls if is_url(path) and "?" not in path and bucket(url) == bucket(path))
    return "?".join([path, *filter(None, queries)][:2])


def seen(entry: Mapping[str, Any]) -> File | Object:
    """The identity of an input in the program's report."""
    path, sequential = entry["path"], entry.get("sequential", False)
    if os.path.isdir(path):
        raise IdxError(f"{path}: the folder is one table, expected files", hint="Spark reads Parquet itself; convert others to Parquet")
    if not is_url(path):
        return File.at(readable(path), sequential)
    if "etag" not in entry:
        raise IdxError(f"{path}: the storage returns no ETag, with which tasks identify the version that load() saw; copy it to a file")
    return Object(path, entry["etag"], sequential)


def readable(path: str) -> str:
    """An absolute path or a URL for the program; Spark's file:/… becomes a path."""
    if is_url(path):
        return path
    url = urlsplit(path)
    if url.scheme == "file":
        return unquote(url.path)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", path):
        raise IdxError(f"a URL that begins with {path.partition(':')[0]}://: expected a path, or a URL of s3; Hadoop's s3a: is s3: here")
    return path and os.path.abspath(path)
