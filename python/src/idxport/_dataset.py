"""Tables for pyarrow, polars and DuckDB before 2.0, which ask a data set of pyarrow for columns."""

from __future__ import annotations

from typing import Any, NoReturn

import pyarrow.dataset as ds

from ._scan import Scan


class Table(Scan, ds.Dataset):  # type: ignore[misc]
    """A table that is a `pyarrow.dataset.Dataset`."""

    def scanner(self, columns: Any = None, filter: ds.Expression | None = None, **_: object) -> ds.Scanner:
        """Begin to read for a query: see `pyarrow.dataset.Dataset.scanner`."""
        names = self._names
        if isinstance(columns, list):  # a condition may be about any column of single values
            names = [each for each in names if each in columns or (filter is not None and each in self._single)] or names[:1]
        return ds.Scanner.from_batches(self.reader(names), columns=columns, filter=filter)

    def count_rows(self, filter: ds.Expression | None = None, **_: object) -> int:
        """The number of rows, for which only single values are read, if there are any."""
        return int(self.scanner(columns=[], filter=filter).count_rows())

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse what needs the files of a data set."""
        raise NotImplementedError("an idxport.Scan has no fragments: use its scanner, its reader or pyarrow.table(scan)")

    get_fragments = _get_fragments = replace_schema = filter = join = join_asof = sort_by = take = _refuse
    partition_expression = property(_refuse)
