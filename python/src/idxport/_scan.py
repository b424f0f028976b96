"""Tables that are read as often as they are asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.dataset as ds

from ._program import Option, Path, arguments
from ._read import Batches
from ._report import sheet

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

# The most values of a column that a condition is tried with: more than there are labels.
_TRIED = 1000

# Options that choose among the rows that meet conditions.
_AFTER = {"holdout", "shuffle", "take", "part"}


class Scan(ds.Dataset):  # type: ignore[misc]
    """A table of IDX files, read by a new run of the program whenever somebody asks: see `scan`.

    It is a `pyarrow.dataset.Dataset`, of which DuckDB reads only the columns that a query needs; other
    programs read it by `__arrow_c_stream__`. Without `columns`, single values come before images, as
    DuckDB counts the rows of the first column.
    """

    def __init__(self, inputs: Sequence[Path], options: dict[str, Option], schema: pa.Schema | None = None) -> None:
        if "-" in inputs:
            raise ValueError("standard input can be read only once, but a scan is read as often as it is asked: use load, or a file")
        self._inputs, self._options, self._schema = inputs, options, schema
        if schema is None:
            self._schema = found = self._batches().schema
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

    def _batches(self, columns: Sequence[str] | None = None, where: Sequence[str] = ()) -> Batches:
        options = {"output": "arrows=-", **self._options}
        if columns is not None:
            options["columns"] = columns
        if where:
            given = self._options.get("where") or []
            options["where"] = [*([given] if isinstance(given, str) else given), *where]  # type: ignore[misc]
        return Batches(arguments("convert", self._inputs, options))

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self._schema

    def reader(self, columns: Sequence[str] | None = None, where: Sequence[str] = ()) -> pa.RecordBatchReader:
        """Begin to read: a stream of record batches, whose process ends with it.

        With the given columns or all, and rows that meet conditions such as ``"label=3-7"``, or all.
        """
        batches = self._batches(self.schema.names if columns is None else columns, where)
        return pa.RecordBatchReader.from_batches(batches.schema, batches)

    def conditions(self, filtered: Callable[[pa.Table], Any]) -> list[str]:
        """The condition for `reader` that a filter amounts to, if it is about one column of whole numbers.

        The filter is tried with the values of the column. It may raise an error for other columns.
        """
        if not _AFTER.isdisjoint(self._options):  # the rows that are counted or drawn would be others
            return []
        for field in self.schema:
            if not pa.types.is_integer(field.type) or not field.name.isidentifier():
                continue
            values = pa.table({field.name: self.reader([field.name]).read_all()[field.name].unique()})
            try:
                kept = pa.table(filtered(values))[field.name]
            except Exception:  # it is about another column
                continue
            if len(values) <= _TRIED and 0 < len(kept) < len(values):
                return [f"{field.name}={','.join(map(str, kept.to_pylist()))}"]
            break
        return []

    def scanner(self, columns: Any = None, filter: ds.Expression | None = None, **_: object) -> ds.Scanner:
        """Begin to read for a query: see `pyarrow.dataset.Dataset.scanner`."""
        names, where = self.schema.names, []
        if isinstance(columns, list):  # a condition may be about any column of single values
            names = [f.name for f in self.schema if f.name in columns or (filter is not None and not _is_tensor(f))] or names[:1]
        if filter is not None:
            where = self.conditions(lambda table: table.filter(filter))
        return ds.Scanner.from_batches(self.reader(names, where), columns=columns, filter=filter)

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
