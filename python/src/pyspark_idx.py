"""The format idx for Spark 4, which imports modules named pyspark_* to look for data sources: nothing is registered."""

from idxport.spark import IdxDataSource as DefaultSource

__all__ = ["DefaultSource"]
