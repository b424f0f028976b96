"""Tables that are read as often as they are asked."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._program import IdxError, Option, Path, divisible, lasting, needs, query
from ._stream import Output

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Scan:
    """A table of IDX files, read by a new run of the program whenever somebody asks: see `scan`.

    DuckDB reads only the columns that a query needs; other programs read it by `__arrow_c_stream__`.
    Without `columns`, single values come before images, as DuckDB counts the rows of the first column.
    """

    def __init__(self, inputs: Sequence[Path], options: dict[str, Option]) -> None:
        self._inputs, self._options = inputs, options
        schema = Output(query(inputs, options)).c_stream().get_schema()
        # nanoarrow tells of a dictionary, not of its column, whether a value may be null.
        columns = [each.modify(flags=each.dictionary.flags) if each.dictionary else each for each in schema.children]
        self._divisible = divisible(options, [column.name for column in columns])
        if options.get("columns") is None and self._divisible:
            columns.sort(key=lambda column: column.format[0] in "+wzZ" or b"ARROW:extension:name" in dict(column.metadata or {}))
        self._schema = schema.modify(children=columns)
        self._names = [column.name for column in columns]

    def __reduce__(self) -> tuple[Any, ...]:
        return table, (self._inputs, self._options)

    def __repr__(self) -> str:
        what = ", ".join(map(str, self._inputs))
        return f"<idxport.Scan of {what[-35:]}: {', '.join(self._names)[:22]}>"

    def _repr_html_(self) -> str | None:
        from ._report import sheet

        return sheet(self._inputs, self._options)

    def __len__(self) -> int:
        return sum(batch.num_rows for batch in self.reader(self._names[:1]))

    def __bool__(self) -> bool:
        return True

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return needs("pyarrow", "arrow").schema(self)

    def reader(self, columns: Sequence[str] | None = None) -> pa.RecordBatchReader:
        """Begin to read all columns or the given ones: a stream of batches, whose process ends when it is read, deleted or, with all, closed."""
        pyarrow = needs("pyarrow", "arrow")
        names = self._names if columns is None else [columns] if isinstance(columns, str) else columns
        stream = self._run(names).arrow()
        schema, expected = (pyarrow.schema([each.field(name) for name in names], stream.schema.metadata) for each in (stream.schema, self.schema))
        if not schema.equals(expected):  # DuckDB would not see it
            found, described = (", ".join(f"{field.name}: {field.type}" for field in each) for each in (schema, expected))
            raise IdxError(f"the files are not those that scan described: found {found:.200}, expected {described:.200}; scan them again")
        if schema.names == stream.schema.names:
            return stream
        return pyarrow.RecordBatchReader.from_batches(schema, (batch.select(names) for batch in stream))

    def _run(self, names: Sequence[str]) -> Output:
        return Output(query(self._inputs, self._options, names if self._divisible else None))

    def to_pandas(self) -> pd.DataFrame:
        return self.reader().read_pandas()

    def to_polars(self) -> pl.DataFrame:
        polars, output = needs("polars", "polars"), self._run(self._names)
        try:
            return polars.DataFrame(output.c_stream())
        except Exception as error:
            raise (output.failure or error) from None  # of which polars makes another

    def stream(self, columns: Sequence[int] | None, filters: object = ()) -> tuple[object, bool]:
        """Begin to read: a capsule of a stream, and whether it has these columns, or all."""
        names = self._names if columns is None else [self._names[each] for each in columns]
        return self._run(names).c_stream().__arrow_c_stream__(), columns is not None and self._divisible

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        asked = None if requested_schema is None else [self._names.index(each.name) for each in needs("nanoarrow", "arrow").c_schema(requested_schema).children]
        return self.stream(asked)[0]


def table(inputs: Sequence[Path], options: dict[str, Option]) -> Scan:
    """See `scan`. DuckDB asks a `pyarrow.dataset.Dataset` for columns, whose import takes long, or since 2.0 a source of its own."""
    duckdb = sys.modules.get("duckdb")
    kind = "_duckdb" if duckdb and duckdb.__version__.startswith("2.0.") and "pyarrow.dataset" not in sys.modules else "_dataset"
    return importlib.import_module("." + kind, __package__).Table(*lasting(inputs, options))  # type: ignore[no-any-return]
