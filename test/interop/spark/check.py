#!/usr/bin/env python3
"""Convert IDX files with the binary and query them with Apache Spark.

usage: $(test/interop/venv spark) test/interop/spark/check.py --binary PATH

Outputs of many files are read whole: the count and the pixel sum of each class are numpy's. Filters on sorted labels
skip pages. Prints the number of cases; exits with 1 and the difference at the first one. Needs Java 17 or newer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyspark
from pyspark.sql import SparkSession

INTEROP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(INTEROP), str(INTEROP.parent / "spark")]
from matrix.spark import start, vectorise  # noqa: E402
from support import expected_sums, pixel_sums  # noqa: E402
from suite.bench import Mismatch, equal, published, table  # noqa: E402
from suite.tensors import Tensor, labels, make  # noqa: E402


def convert(binary: Path, inputs: list[str | Path], output: str | Path, *flags: str) -> str:
    """Run the binary; returns the path of the output."""
    subprocess.run([binary, "convert", *inputs, "-o", output, *flags, "--quiet"], check=True)
    return str(output)


def check_folders(binary: Path, spark: SparkSession, folder: Path) -> Iterator[str]:
    """Parts, Hive's folders and the Hub's are read whole, by both readers, with locks of other runs beside them."""
    image, label = make("uint8", (30_000, 28, 28)), labels(30_000)
    rows = {"train": 30_000, "test": 15_000}
    expected = {split: expected_sums(image.values[:n], label.values[:n]) for split, n in rows.items()}
    data = published(folder / "data", "", image, label)
    parts, hive, hub = folder / "parts", folder / "hive", folder / "hub"
    convert(binary, [data], f"{parts}/", "--rows-per-file", "7000")
    convert(binary, [data], f"{hive}/split={{split}}/data.parquet")
    convert(binary, [data], f"{hub}/", "--layout", "huggingface", "--rows-per-file", "7000")
    for place in (parts / "train.parquet", hive, hub / "data"):
        (place / ".x.idxport").touch()
    for vectorised in ("true", "false"):
        vectorise(spark, vectorised)
        whole = spark.read.parquet(str(hive))
        for split in rows:
            for kind, frame in (("Hive", whole.where(whole.split == split)), ("parts", spark.read.parquet(str(parts / f"{split}.parquet")))):
                equal(f"{kind} of {split}, vectorised {vectorised}", pixel_sums(frame), expected[split])
                yield kind
        counts = {row["label"]: row["count"] for row in spark.read.parquet(str(hub / "data")).groupBy("label").count().collect()}
        wanted = {one: sum(expected[split][one][0] for split in rows) for one in expected["train"]}
        equal(f"the Hub's folder, vectorised {vectorised}", counts, wanted)
        yield "hub"


def check_skipping(binary: Path, spark: SparkSession, folder: Path) -> Iterator[str]:
    """A filter on sorted labels: the scan returns the rows of the pages whose bounds include the label, and no
    others.

    Spark pushes no filters down to columns of unsigned bytes (its ParquetFilters has no unsigned types), so labels
    have other types here, and int64 in the layout huggingface.
    """
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    image, sorted_labels = make("uint8", (90_000, 3, 5)), np.sort(labels(90_000).values)
    for dtype, layout in (("int8", "list"), ("int16", "nested"), ("int32", "fixed-binary"), ("uint8", "huggingface")):
        inputs = table(folder / dtype, image, Tensor(sorted_labels.astype(dtype)))
        path = convert(binary, inputs, folder / f"sorted-{dtype}.parquet", "--layout", layout)
        for vectorised in ("true", "false"):
            vectorise(spark, vectorised)
            for label in (0, 4, 9, 77):
                frame = spark.read.parquet(path).where(f"label = {label}").select("label")
                expected, what = int((sorted_labels == label).sum()), f"{dtype} {layout}, label {label}, vectorised {vectorised}"
                equal(f"{what}: rows", len(frame.collect()), expected)
                leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
                scanned = leaves.apply(0).metrics().apply("numOutputRows").value()
                # The rows are in a few pages of at most 20,000 rows.
                if not expected <= scanned <= min(expected + 4 * 20_000, 60_000) or (label == 77 and scanned):
                    raise Mismatch(f"{what}: {scanned} rows are scanned for {expected}")
                yield what


def main() -> None:
    """Run all checks in one session."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    binary = parser.parse_args().binary.resolve()
    spark = start()
    with tempfile.TemporaryDirectory() as folder:
        try:
            cases = sum(1 for check in (check_folders, check_skipping) for _ in check(binary, spark, Path(folder)))
        finally:
            spark.stop()
    print(f"Spark {pyspark.__version__}: {cases} cases, all values equal")


if __name__ == "__main__":
    main()
