#!/usr/bin/env python3
"""Read the corpus with Apache Spark: Parquet by its vectorised and by its row reader, CSV and PNG folders by its data
sources.

usage: $(test/interop/venv ../spark) -m matrix.spark --corpus FOLDER --cells FOLDER        (in test/interop)

Values are read through Spark's conversion to Arrow. All NaNs are equal here: the JVM may change their bits.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyspark
from pyspark.sql import SparkSession

from . import arrays
from .cells import Case, Cells, Differs, Found, arguments, cases, compare, numbers, rounded, spark_images


def read_parquet(spark: SparkSession, case: Case) -> Found:
    """A table of any layout."""
    frame = spark.read.parquet(f"file:{case.path}")
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema}
    kind = kinds.get("image", " and ".join({kind for name, kind in kinds.items() if name != "label"}) + " columns")
    return numbers(kind, arrays.columns(frame.toArrow(), case), case)


def csv_cells(spark: SparkSession, case: Case, **options: str) -> tuple[list[str], np.ndarray]:
    """The types and the cells of a table, as Spark infers them."""
    frame = spark.read.csv(f"file:{case.path}", header=True, inferSchema=True, **options)
    kinds = sorted({field.dataType.simpleString() for field in frame.schema})
    return kinds, np.stack([column.to_numpy() for column in frame.toArrow().columns], axis=1)


def read_csv(spark: SparkSession, case: Case) -> Found:
    """A table of numbers. Spark reads infinities as text unless options say how they are written."""
    kinds, cells = csv_cells(spark, case)
    text = "string" in kinds
    if text:
        kinds, cells = csv_cells(spark, case, positiveInf="inf", negativeInf="-inf")
    found = Found(f"{' and '.join(kinds)} columns", False, {"label": cells[:, 0], "image": rounded(case, cells[:, 1:])})
    if text:
        for name, expected in case.columns.items():
            compare(name, found.columns[name], expected, any_nan=True)
        raise Differs("columns with infinities are text; told positiveInf and negativeInf, every value is read")
    return found


def read_pictures(spark: SparkSession, case: Case) -> Found:
    """A folder of images by Spark's data source image; the path has the row and the label."""
    frame = spark.read.format("image").option("recursiveFileLookup", "true").load(f"file:{case.path}")
    rows = sorted((row["image"].asDict() for row in frame.collect()), key=lambda row: int(Path(row["origin"]).stem))
    labels = np.array([int(Path(row["origin"]).parent.name) for row in rows], np.uint8)
    return Found("image struct", False, {"image": spark_images(rows, case.image), "label": labels})


SOURCES = {"parquet": read_parquet, "csv": read_csv, "png": read_pictures}


def vectorise(spark: SparkSession, vectorised: str) -> None:
    """Choose between Parquet's two readers: the vectorised one, "true", and that of rows."""
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorised)
    spark.conf.set("spark.sql.parquet.enableNestedColumnVectorizedReader", vectorised)


def start() -> SparkSession:
    """A session in this process."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
        "spark.sql.files.maxPartitionBytes": "1g", "spark.sql.execution.arrow.pyspark.enabled": "true",
    }  # fmt: skip
    return SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()


def record_all(spark: SparkSession, options: argparse.Namespace, reader: str, vectorised: str, formats: tuple[str, ...]) -> None:
    """Read every file with one of Parquet's two readers."""
    vectorise(spark, vectorised)
    record = Cells(options.cells, reader, any_nan=True)
    for case in cases(options.corpus, *formats):
        record.add(case, lambda case: SOURCES[case.format](spark, case))
    record.close()


def main() -> None:
    """Read everything in one session."""
    options = arguments(__doc__).parse_args()
    spark = start()
    try:
        with ThreadPoolExecutor(2) as pool:  # a session each, so that each has its own settings
            readers = (("Spark", "true", tuple(SOURCES)), ("Spark, row reader", "false", ("parquet",)))
            for done in [pool.submit(record_all, spark.newSession(), options, *reader) for reader in readers]:
                done.result()
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
