"""Tables that are read as often as they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.dataset as ds

from ._program import Option, Path, arguments
from ._read import Batches


class Scan(ds.Dataset):  # type: ignore[misc]
    """A table of IDX files, read by a new run of the program whenever somebody asks: see `scan`.

    It is a `pyarrow.dataset.Dataset`, of which DuckDB reads only the columns that a query needs; other
    programs read it by `__arrow_c_stream__`.
    """

    def __init__(self, inputs: Sequence[Path], options: dict[str, Option], schema: pa.Schema | None = None) -> None:
        if "-" in inputs:
            raise ValueError("standard input can be read only once, but a scan is read as often as it is asked: use load, or a file")
        self._inputs, self._options, self._schema = inputs, options, schema
        if schema is None:
            self._schema = self._batches().schema

    def __reduce__(self) -> tuple[Any, ...]:
        return Scan, (self._inputs, self._options, self._schema)

    def __repr__(self) -> str:
        return f"<idxport.Scan of {', '.join(map(str, self._inputs))}: {', '.join(self.schema.names)}>"

    def _batches(self, columns: Sequence[str] | None = None) -> Batches:
        chosen = {} if columns is None else {"columns": columns}
        return Batches(arguments("convert", self._inputs, {"output": "arrows=-", **self._options, **chosen}))

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self._schema

    def reader(self, columns: Sequence[str] | None = None) -> pa.RecordBatchReader:
        """Begin to read: a stream of record batches, with the given columns or all, whose process ends with it."""
        batches = self._batches(columns)
        return pa.RecordBatchReader.from_batches(batches.schema, batches)

    def scanner(self, columns: Any = None, filter: ds.Expression | None = None, **_: object) -> ds.Scanner:
        """Begin to read for a query: see `pyarrow.dataset.Dataset.scanner`."""
        names = None
        if isinstance(columns, list):  # a condition may be about any column of single values
            names = [f.name for f in self.schema if f.name in columns or (filter is not None and f.type.num_fields == 0)]
        return ds.Scanner.from_batches(self.reader(names or None), columns=columns, filter=filter)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse what needs the files of a data set."""
        raise NotImplementedError("an idxport.Scan has no fragments: use its scanner, its reader or pyarrow.table(scan)")

    get_fragments = _get_fragments = replace_schema = filter = join = join_asof = sort_by = take = _refuse
    partition_expression = property(_refuse)
