"""Objects of object storage: only the program reads them, with the credentials of its environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._program import IdxError

# The URL schemes of the program.
SCHEMES = ("s3",)


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
    return path.partition("://")[0] in SCHEMES and "://" in path


class Parameters:
    """The queries of URLs. The program applies them to all URLs of a bucket, and does not report them."""

    def __init__(self, urls: Iterable[str]) -> None:
        self._of = {_bucket(url): url.partition("?")[2] for url in urls if is_url(url) and "?" in url}

    def added(self, path: str) -> str:
        """A path, or a URL with the parameters of its bucket."""
        query = self._of.get(_bucket(path)) if is_url(path) and "?" not in path else None
        return f"{path}?{query}" if query else path


def _bucket(url: str) -> str:
    return "/".join(url.partition("?")[0].split("/")[:3])
