"""Tables for pyarrow, polars and DuckDB before 2.0, which ask a data set of pyarrow for columns."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from ._program import needs
from ._scan import Scan

ds = needs("pyarrow.dataset", "arrow")
RecordBatchReader = needs("pyarrow", "arrow").RecordBatchReader


class Table(Scan):
    """A table that is taken for a `pyarrow.dataset.Dataset`, without what needs files: C++ would crash on a subclass without them."""

    __class__ = property(lambda _: _Dataset)
    __module__ = "pyarrow._dataset"  # where DuckDB 2.0 looks for the class

    def to_batches(self, *args: Any, **options: Any) -> Any:
        """A stream that reads no further than it is asked. Scanners read ahead in threads, at which a Python that ends would crash."""
        scan, parts = _scan(self, *args, **options)
        return RecordBatchReader.from_batches(scan([]).projected_schema, (found for part in parts for found in scan([part]).to_batches()))

    def scanner(self, *args: Any, **options: Any) -> Any:
        scan, parts = _scan(self, *args, **options)
        return scan(parts)

    def count_rows(self, filter: Any = None, **_: object) -> int:
        return int(self.scanner([], filter).count_rows())

    def head(self, num_rows: int, *args: Any, **options: Any) -> Any:
        return self.scanner(*args, **options).head(num_rows)

    def to_table(self, *args: Any, **options: Any) -> Any:
        return self.to_batches(*args, **options).read_all()


def _scan(table: Table, columns: Any = None, filter: Any = None, **options: Any) -> tuple[Any, Any]:
    """What scans batches, and those that it needs."""
    expressions = " ".join(map(str, [filter, *columns.values()] if isinstance(columns, dict) else [filter]))
    every = columns is None or "FieldPath(" in expressions  # a column is given by its number
    stream = table.reader([each for each in table.schema.names if every or each in columns or each in expressions] or table.schema.names[:1])
    rows = options.get("batch_size", 1 << 17)  # which a scanner of batches does not divide
    scan = partial(ds.Scanner.from_batches, schema=stream.schema, columns=columns, filter=filter, **{**options, "use_threads": False})
    return scan, (batch[at : at + rows] for batch in stream for at in range(0, len(batch), rows))


class _Dataset(ds.Dataset):  # type: ignore[misc, name-defined]
    def scanner(self: Any, **options: Any) -> Any:
        """What DuckDB calls, and reads from."""
        return SimpleNamespace(to_reader=lambda: self.to_batches(**options))
