#!/usr/bin/env python3
"""Convert IDX files with the binary and query them with Apache Spark.

usage: $(test/interop/venv ../spark) test/interop/spark/check.py --binary PATH

Outputs of many files are read whole: the count and the pixel sum of each class are numpy's. Filters on sorted labels
skip pages. Needs Java 17 or newer. (Hive's folders are read by the examples of docs/recipes.md.)
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from pyspark.sql import functions as sql

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from matrix.spark import start, vectorise  # noqa: E402
from suite.stage import Stage, demand, equal, published, table  # noqa: E402
from suite.tensors import Tensor, labels, make  # noqa: E402

import checks  # noqa: E402


def folders(stage: Stage) -> None:
    """Parts and the Hub's folders are read whole, by both readers, with locks of other runs beside them."""
    spark, image, label = start(), make("uint8", (30_000, 28, 28)), labels(30_000)
    data = published(stage.folder / "data", "", image, label)
    parts, hub = stage.folder / "parts", stage.folder / "hub"
    stage.convert(data, "-o", f"{parts}/", "--rows-per-file", "7000")
    stage.convert(data, "-o", f"{hub}/", "--layout", "huggingface", "--rows-per-file", "7000")
    for place in (parts / "train.parquet", hub / "data"):
        (place / ".x.idxport").touch()
    pixels = image.values.reshape(30_000, -1).sum(axis=1, dtype=np.int64)
    for vectorised in ("true", "false"):
        vectorise(spark, vectorised)
        for split, rows in (("train", 30_000), ("test", 15_000)):
            total = sql.aggregate("image", sql.lit(0).cast("bigint"), lambda total, pixel: total + pixel)
            groups = spark.read.parquet(str(parts / f"{split}.parquet")).groupBy("label").agg(sql.count("*"), sql.sum(total)).collect()
            chosen = {one: label.values[:rows] == one for one in range(10)}
            expected = {one: (int(some.sum()), int(pixels[:rows][some].sum())) for one, some in chosen.items()}
            equal(f"{split}, vectorised {vectorised}", {one: (count, sum_) for one, count, sum_ in groups}, expected)
        counts = dict(spark.read.parquet(str(hub / "data")).groupBy("label").count().collect())
        both = np.concatenate([label.values, label.values[:15_000]])
        equal(f"the Hub's folder, vectorised {vectorised}", counts, {one: int((both == one).sum()) for one in range(10)})


def skipping(stage: Stage) -> None:
    """A filter on sorted labels: the scan returns the rows of the pages whose bounds include the label, and no
    others.

    Spark pushes no filters down to columns of unsigned bytes (its ParquetFilters has no unsigned types), so labels
    have other types here, and int64 in the layout huggingface.
    """
    spark = start()
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    image, sorted_labels = make("uint8", (90_000, 3, 5)), np.sort(labels(90_000).values)
    for dtype, layout in (("int8", "list"), ("int16", "nested"), ("int32", "fixed-binary"), ("uint8", "huggingface")):
        path = stage.folder / f"sorted-{dtype}.parquet"
        stage.convert(*table(stage.folder / dtype, image, Tensor(sorted_labels.astype(dtype))), "-o", path, "--layout", layout)
        for vectorised in ("true", "false"):
            vectorise(spark, vectorised)
            for label in (0, 4, 9, 77):
                frame = spark.read.parquet(str(path)).where(f"label = {label}").select("label")
                expected = int((sorted_labels == label).sum())
                what = f"{dtype} {layout}, label {label}, vectorised {vectorised}"
                equal(f"{what}: rows", len(frame.collect()), expected)
                leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
                scanned = leaves.apply(0).metrics().apply("numOutputRows").value()
                # The rows are in a few pages of at most 20,000 rows.
                few = expected <= scanned <= min(expected + 4 * 20_000, 60_000) and (label != 77 or not scanned)
                demand(few, f"{what}: {scanned} rows are scanned for {expected}")


if __name__ == "__main__":
    sys.exit(checks.main(__doc__, [("outputs of many files", folders), ("pages that a filter skips", skipping)], Stage, {}))
