"""The data source idx."""

from __future__ import annotations

from functools import cached_property

from pyspark.sql.datasource import DataSource, DataSourceWriter
from pyspark.sql.types import StructType

from .._program import IdxError
from ._inputs import Inputs, choice, resolve
from ._read import IdxReader, reader_class, table_schema


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
        return reader_class(choice(self.options, "pushFilters", "false", "true") == "true")(schema, self._inputs, self.options)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Refuse to write, and say what does."""
        hint = 'write Parquet, frame.write.parquet("frame"), and convert that: idxport convert frame -o idx=FOLDER/'
        raise IdxError("the data source idx only reads", 64, "usage", hint=hint)

    # First used by schema(), which Spark calls in load(); Spark keeps this object, so that all tasks of a frame expect
    # the files of that time. With a schema written by hand Spark does not call schema(): each query uses the files at
    # the time it is planned.
    @cached_property
    def _inputs(self) -> Inputs:
        return resolve(self.options)
