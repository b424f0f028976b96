"""The data source idx: a partition is a range of rows, and a run of the program."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from .._program import IdxError, find_program
from .._stream import Output
from ._files import File, Object
from ._inputs import Inputs, choice, resolve, without_rows, words
from ._types import row_bytes, spark_schema

# The column of the option rowIndex.
ROW = "_row"

# The default size of a partition in bytes of the files. The program starts in milliseconds, but Spark has an overhead for each task.
PARTITION_BYTES = 64 << 20

# More ranges than this, of `_row in (…)`, are read as one, and Spark filters.
_MAX_RANGES = 64


class IdxDataSource(DataSource):
    """IDX files as data frames. docs/spark.md of the project lists the options."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "idx"

    def schema(self) -> StructType:
        """The columns, by the headers of the files."""
        return table_schema(self._inputs, self.options)

    def reader(self, schema: StructType) -> IdxReader:
        """A reader of the columns of a schema: that of schema(), or one written by hand with fewer columns."""
        filtering = choice(self.options, "pushFilters", "false", "true") == "true"
        if filtering and not hasattr(datasource, "EqualTo"):
            raise IdxError("option pushFilters needs Spark 4.1: use the option rows, as in rows=1000:2000")
        # It is an option because Spark refuses readers with pushFilters unless that is enabled.
        return (FilteringReader if filtering else IdxReader)(schema, self._inputs, self.options)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Refuse to write, and say what does."""
        hint = 'write Parquet, frame.write.parquet("frame"), and convert that: idxport convert frame -o idx=FOLDER/'
        raise IdxError("the data source idx only reads", 64, "usage", hint=hint)

    # First used by schema(), which Spark calls in load(); Spark keeps this object, so that all tasks of a frame expect the files of that time.
    # With a schema written by hand Spark does not call schema(): each query uses the files at the time it is planned.
    @cached_property
    def _inputs(self) -> Inputs:
        return resolve(self.options)


@dataclass(frozen=True)
class Range(InputPartition):
    """A partition: rows of files and objects with their identity."""

    arguments: tuple[str, ...]
    files: tuple[File | Object, ...]
    start: int
    stop: int


def table_schema(inputs: Inputs, options: Mapping[str, str]) -> StructType:
    """All columns, or those of the option select, in its order."""
    everything = spark_schema(inputs.schema)
    if choice(options, "rowIndex", "false", "true") == "true":
        if ROW in everything.names:
            raise IdxError(f"option rowIndex: there is a column {ROW} already")
        everything = StructType([*everything.fields, StructField(ROW, LongType(), False)])
    if "select" not in options:
        return everything
    chosen = words(options, "select")
    if not set(chosen) <= set(everything.names) or len(set(chosen)) < len(chosen):
        raise IdxError(f"option select: found {', '.join(chosen)}, expected some of {', '.join(everything.names)}, each once")
    return StructType([everything[name] for name in chosen])


class IdxReader(DataSourceReader):
    """Reads the columns of a schema."""

    def __init__(self, schema: StructType, inputs: Inputs, options: Mapping[str, str]) -> None:
        self._schema = to_arrow_schema(_checked(schema, table_schema(inputs, options)))
        self._inputs = inputs
        self._names = [name for name in inputs.schema.names if name in self._schema.names]
        self._binary = options.get("binary")
        self._times = choice(options, "identity", "mtime", "content") == "mtime"
        self._ranges = [_rows(options.get("rows", ":"), inputs.rows)]
        self._explicit = "rowsPerPartition" in options
        self._step = _step(options.get("rowsPerPartition"), pa.schema([inputs.schema.field(name) for name in self._names]))

    def partitions(self) -> list[InputPartition]:
        """Rows of about 64 MiB, or the number of the option rowsPerPartition; of a compressed file all rows."""
        step = self._step
        arguments, files = self._pruned()
        packed = [file.path for file in files if file.sequential]
        if packed and not self._explicit and self._inputs.rows > step:
            step = self._inputs.rows
            warnings.warn(
                f"{packed[0]} is compressed and cannot be entered in the middle: one task reads all {step:,} rows. Decompress it "
                f"(idxport convert {packed[0]} -o idx=FOLDER/), or set rowsPerPartition, and every task decompresses all that is before its rows",
                stacklevel=2,
            )
        found: list[InputPartition] = [Range(arguments, files, row, min(row + step, stop)) for start, stop in self._ranges for row in range(start, stop, step)]
        return found or [Range((), (), 0, 0)]  # without a partition Spark makes one of None

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The batches of one run. Raises IdxError if the files have changed, the run fails, or rows are missing."""
        assert isinstance(partition, Range)
        if partition.start >= partition.stop:
            return
        files = [file for file in partition.files if isinstance(file, File)]
        for file in files:
            file.check(self._times)
        row = partition.start
        with contextlib.closing(self._batches(partition)) as batches:
            for batch in batches:
                yield self._finished(batch, row)
                row += batch.num_rows
        if row != partition.stop:
            names = ", ".join(file.path for file in partition.files)
            raise IdxError(f"rows {partition.start}:{partition.stop} of {names}: found {row - partition.start} rows")
        for file in files:
            file.check(self._times)  # nor changed meanwhile

    def _batches(self, partition: Range) -> Generator[pa.RecordBatch, None, None]:
        """The batches of a run. The versions of objects are compared with those that load() saw before the first batch and after the last."""
        objects = [file for file in partition.files if isinstance(file, Object)]
        binary = find_program(self._binary)

        def command(rows: str) -> list[str]:
            # One worker: there is one task for each core, and turning IDX into Arrow takes no more.
            return [binary, "convert", *partition.arguments, "--rows", rows, "-o", "arrows=-", "--quiet", "--json", "--workers", "1", *self._inputs.flags]

        def check(report: Mapping[str, Any]) -> None:
            for each in objects:
                each.check(report)

        try:
            output = Output(command(f"{partition.start}:{partition.stop}"), tied=True)
            with output.arrow() as batches:
                first = next(batches, None)
                # The run opened its objects before this one: an object that is unchanged now was unchanged then. A
                # reader of only the first rows never gets the report of the run itself.
                if objects:
                    check(without_rows(command("0:0"))[1])
                if first is not None:
                    yield first
                yield from batches
            check(output.report or {})
        except RuntimeError:
            if objects:
                check(without_rows(command("0:0"))[1])  # a changed object is the better error
            raise

    def _finished(self, batch: pa.RecordBatch, row: int) -> pa.RecordBatch:
        """A batch of the program with Spark's types."""
        arrays = []
        for field in self._schema:
            if field.name == ROW and ROW not in self._inputs.schema.names:
                arrays.append(pa.array(range(row, row + batch.num_rows), field.type))
                continue
            expected = self._inputs.schema.field(field.name)
            position = batch.schema.get_field_index(field.name)
            if position < 0 or batch.schema.field(position).type != expected.type:
                raise IdxError(f"column {field.name}: found {batch.schema}, expected {expected.type}: the program or the files are not those of load()")
            arrays.append(batch.column(position).cast(field.type))  # which copies only what has another type
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _pruned(self) -> tuple[tuple[str, ...], tuple[File | Object, ...]]:
        """The files of the columns that are read; at least one, for the row index alone."""
        arguments, files, homes = self._inputs.arguments, self._inputs.files, self._inputs.homes
        if not homes:
            return arguments, files
        used = {homes[name] for name in self._names or self._inputs.schema.names[-1:]}
        kept = [i for i, argument in enumerate(arguments) if argument in used]
        return tuple(arguments[i] for i in kept), tuple(files[i] for i in kept)


class FilteringReader(IdxReader):
    """Reads only the rows that pass filters on the row index. Spark 4.1 and later push filters down if spark.sql.python.filterPushdown.enabled is true."""

    def pushFilters(self, filters: Iterable[Any]) -> Iterator[Any]:
        """Apply filters that are ranges of rows, and return the rest; all of them if the files have a column _row."""
        if ROW in self._inputs.schema.names:
            yield from filters
            return
        for theirs in filters:
            ranges = _ranges(theirs)
            met = None if ranges is None else [(max(a, c), min(b, d)) for a, b in self._ranges for c, d in ranges if max(a, c) < min(b, d)]
            if met is None or len(met) > _MAX_RANGES:
                yield theirs
            else:
                self._ranges = met


def _ranges(theirs: Any) -> list[tuple[int, int]] | None:
    """The rows that pass a filter, sorted; None if it is not a filter on the row index."""
    end = 1 << 62
    name, value = type(theirs).__name__, getattr(theirs, "value", None)
    if getattr(theirs, "attribute", None) != (ROW,):
        return None
    if name == "IsNotNull":
        return [(0, end)]
    if name == "In" and isinstance(value, (tuple, list)) and all(isinstance(row, int) for row in value):
        rows = set(value)
        starts = sorted(row for row in rows if row - 1 not in rows)
        stops = sorted(row + 1 for row in rows if row + 1 not in rows)
        return list(zip(starts, stops))
    if not isinstance(value, int):
        return None
    after, before = {"GreaterThan": (value + 1, end), "GreaterThanOrEqual": (value, end)}, {"LessThan": (0, value), "LessThanOrEqual": (0, value + 1)}
    table = {"EqualTo": (value, value + 1), "EqualNullSafe": (value, value + 1), **after, **before}
    return [table[name]] if name in table else None


def _checked(wanted: StructType, there: StructType) -> StructType:
    """A schema, if all its columns exist. One written by hand may omit some."""
    for field in wanted.fields:
        if field.name not in there.names:
            raise IdxError(f"the schema has a column {field.name}; there are {', '.join(there.names)}")
        found, expected = field.dataType.simpleString(), there[field.name].dataType.simpleString()
        if found != expected:  # they do not say what may be null: in a schema written by hand everything
            raise IdxError(f"the schema has column {field.name} as {found}, expected {expected}")
    return wanted


def _step(option: str | None, schema: pa.Schema) -> int:
    """Rows of a partition."""
    if option is None:
        return max(1, PARTITION_BYTES // row_bytes(schema))
    if not (option.isascii() and option.isdigit()) or int(option) == 0:
        raise IdxError(f"option rowsPerPartition: found {option}, expected a positive number")
    return int(option)


def _rows(option: str, rows: int) -> tuple[int, int]:
    """A:B as Python's slices and the flag --rows understand it."""
    try:
        start, stop = (int(end) if end else None for end in option.split(":"))
        first, last, _ = slice(start, stop).indices(rows)
    except ValueError:
        raise IdxError(f"option rows: found {option}, expected A:B, as in 1000:2000 or -100:") from None
    return first, max(first, last)
