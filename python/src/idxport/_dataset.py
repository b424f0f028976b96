"""Tables for pyarrow, polars and DuckDB before 2.0, which ask a data set of pyarrow for columns."""

from __future__ import annotations

from typing import Any

from ._program import needs
from ._scan import Scan

ds = needs("pyarrow.dataset", "arrow")


class Table(Scan):
    """A table that is taken for a `pyarrow.dataset.Dataset`, without what needs files: C++ would crash on a subclass without them."""

    __class__ = property(lambda _: _Dataset)
    __module__ = "pyarrow._dataset"  # where DuckDB 2.0 looks for the class

    def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        expressions = " ".join(map(str, [filter, *columns.values()] if isinstance(columns, dict) else [filter]))
        names = self._names
        if columns is not None and "FieldPath(" not in expressions:  # else a column is given by its number
            names = [each for each in names if each in columns or each in expressions] or names[:1]
        return ds.Scanner.from_batches(self.reader(names), columns=columns, filter=filter, **options)

    def count_rows(self, filter: Any = None, **_: object) -> int:
        return int(self.scanner([], filter).count_rows())

    def head(self, num_rows: int, *args: Any, **options: Any) -> Any:
        return self.scanner(*args, **options).head(num_rows)

    def to_table(self, *args: Any, **options: Any) -> Any:
        return self.scanner(*args, **options).to_table()

    def to_batches(self, *args: Any, **options: Any) -> Any:
        return self.scanner(*args, **options).to_batches()


class _Dataset(ds.Dataset):  # type: ignore[misc, name-defined]
    scanner = Table.scanner  # DuckDB calls the function of the class
