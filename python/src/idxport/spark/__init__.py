"""A data source for Apache Spark 4 that reads IDX files, the format of MNIST and its relatives.

    spark.read.format("idx").option("images", path).option("labels", path).load()

The work is done by the program idxport, one process for each partition, which sends Arrow record batches through a
pipe. docs/spark.md of the project lists the options. The main invariant: load() records the identity of the files,
and a task that finds other files fails.
"""

from .._program import IdxError, find_program, needs

needs("pyspark", "spark")
from ._read import IdxDataSource  # noqa: E402 - of pyspark

__all__ = ["IdxDataSource", "IdxError", "find_program"]
