"""The data source idx."""

from __future__ import annotations

from pyspark.sql.datasource import DataSource, DataSourceWriter
from pyspark.sql.types import StructType

from .._program import IdxError
from ._inputs import Inputs, resolve, truth
from ._read import IdxReader, reader_class, table_schema


class IdxDataSource(DataSource):
    """IDX files as data frames. docs/spark.md of the project lists the options."""

    # Set by schema(), which Spark calls in load(); Spark keeps this object, so that all tasks of a frame expect the
    # files of that time. With a schema written by hand Spark does not call schema(): each query uses the files at the
    # time it is planned.
    _inputs: Inputs | None = None

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "idx"

    def schema(self) -> StructType:
        """The columns, by the headers of the files."""
        return table_schema(self._resolved(), self.options)

    def reader(self, schema: StructType) -> IdxReader:
        """A reader of the columns of a schema: that of schema(), or one written by hand with fewer columns."""
        return reader_class(truth(self.options, "pushFilters"))(schema, self._resolved(), self.options)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Refuse to write, and say what does."""
        hint = 'write Parquet, frame.write.parquet("frame"), and convert that: idxport convert frame -o idx=FOLDER/'
        raise IdxError("the data source idx only reads", 64, "usage", hint=hint)

    def _resolved(self) -> Inputs:
        if self._inputs is None:
            self._inputs = resolve(self.options)
        return self._inputs
