"""Tables for DuckDB 2.0, which asks for columns by `stream`."""

from __future__ import annotations

from typing import Any

from duckdb._sources import ArrowScanSource

from ._scan import Scan


class Table(Scan, ArrowScanSource):  # type: ignore[misc]
    """A table that is a source of DuckDB."""

    schema_is_stable = True
    obj = None  # of which it would be the source

    def __getattr__(self, name: str) -> Any:
        """What a `pyarrow.dataset.Dataset` has."""
        if name.startswith("_"):
            raise AttributeError(name)
        from . import _dataset

        return getattr(_dataset.Table, name).__get__(self)
