"""Tables that are read as often as they are asked."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.dataset as ds

from ._program import Option, Path
from ._read import Batches, condition, query
from ._report import sheet

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Scan(ds.Dataset):  # type: ignore[misc]
    """A table of IDX files, read by a new run of the program whenever somebody asks: see `scan`.

    It is a `pyarrow.dataset.Dataset`, of which DuckDB reads only the columns that a query needs; other
    programs read it by `__arrow_c_stream__`. Without `columns`, single values come before images, as
    DuckDB counts the rows of the first column.
    """

    def __init__(self, inputs: Sequence[Path], options: dict[str, Option], schema: pa.Schema | None = None) -> None:
        self._inputs, self._options, self._schema = inputs, options, schema
        if schema is None:
            self._schema = found = Batches(query(inputs, options)).schema
            if options.get("columns") is None:
                self._schema = pa.schema(sorted(found, key=_is_tensor), found.metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scan, (self._inputs, self._options, self._schema)

    def __repr__(self) -> str:
        what, names = ", ".join(map(str, self._inputs)), ", ".join(self.schema.names)
        return f"<idxport.Scan of {what[-35:]}: {names[:22]}>"

    def _repr_html_(self) -> str | None:
        return sheet(self._inputs, self._options)

    def __len__(self) -> int:
        return self.count_rows()

    def __bool__(self) -> bool:
        return True

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self._schema

    def reader(self, columns: Sequence[str] | None = None, where: Sequence[str] = ()) -> pa.RecordBatchReader:
        """Begin to read: a stream of record batches, whose process ends with it.

        With the given columns or all, and rows that meet conditions such as ``"label=3-7"``, or all.
        """
        names = self.schema.names if columns is None else columns
        batches = Batches(query(self._inputs, self._options, names, where))
        schema = pa.schema([batches.schema.field(name) for name in names], batches.schema.metadata)
        return pa.RecordBatchReader.from_batches(schema, (batch.select(names) for batch in batches))

    def scanner(self, columns: Any = None, filter: ds.Expression | None = None, **_: object) -> ds.Scanner:
        """Begin to read for a query: see `pyarrow.dataset.Dataset.scanner`."""
        names, where = self.schema.names, []
        if isinstance(columns, list):  # a condition may be about any column of single values
            names = [f.name for f in self.schema if f.name in columns or (filter is not None and not _is_tensor(f))] or names[:1]
        if filter is not None:
            name = self._about(filter)
            where = condition(self._options, name, self._values, lambda values: values.filter(filter)[0].to_pylist()) if name else []
        return ds.Scanner.from_batches(self.reader(names, where), columns=columns, filter=filter)

    def _about(self, filter: ds.Expression) -> str | None:
        """The column of whole numbers that a filter is about, if it is about no other column."""
        empty = self.schema.empty_table()
        for field in self.schema:
            if pa.types.is_integer(field.type):
                with contextlib.suppress(pa.ArrowException):  # it is about another column
                    empty.select([field.name]).filter(filter)
                    return str(field.name)
        return None

    def _values(self, column: str) -> pa.Table:
        return self.reader([column]).read_all().group_by(column).aggregate([])

    def count_rows(self, filter: ds.Expression | None = None, **_: object) -> int:
        """The number of rows, for which only single values are read, if there are any."""
        return int(self.scanner(columns=[], filter=filter).count_rows())

    def to_pandas(self) -> pd.DataFrame:
        """Read all into pandas."""
        return self.reader().read_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Read all into polars."""
        return __import__("polars").DataFrame(self)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse what needs the files of a data set."""
        raise NotImplementedError("an idxport.Scan has no fragments: use its scanner, its reader or pyarrow.table(scan)")

    get_fragments = _get_fragments = replace_schema = filter = join = join_asof = sort_by = take = _refuse
    partition_expression = property(_refuse)


def _is_tensor(field: pa.Field) -> bool:
    bytes_ = pa.types.is_binary(field.type) or pa.types.is_fixed_size_binary(field.type)
    return bool(field.type.num_fields or bytes_ or isinstance(field.type, pa.BaseExtensionType))
