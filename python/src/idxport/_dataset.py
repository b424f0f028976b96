"""Tables for pyarrow, polars and DuckDB before 2.0, which ask a data set of pyarrow for columns."""

from __future__ import annotations

from typing import Any, NoReturn

from ._read import needs
from ._scan import Scan

ds = needs("pyarrow.dataset", "arrow")


class Table(Scan, ds.Dataset):  # type: ignore[misc, name-defined]
    """A table that is a `pyarrow.dataset.Dataset`, without what needs its files."""

    def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        names, condition = self._names, str(filter)
        if isinstance(columns, list) and "FieldPath(" not in condition:  # the number of a column
            names = [each for each in names if each in columns or each in condition] or names[:1]
        return ds.Scanner.from_batches(self.reader(names), columns=columns, filter=filter, **options)

    def count_rows(self, filter: Any = None, **_: object) -> int:
        return int(self.scanner(columns=[], filter=filter).count_rows())

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise NotImplementedError("an idxport.Scan has no fragments: use its scanner, its reader or pyarrow.table(scan)")

    get_fragments = _get_fragments = replace_schema = filter = join = join_asof = sort_by = take = _refuse
    partition_expression = property(_refuse)
