#!/usr/bin/env python3
"""Convert IDX files with the binary and let Apache Spark work on them. (matrix/spark.py compares the values of all layouts.)

usage: $(test/interop/venv spark) test/interop/spark/check.py --binary PATH

A job over images with labels: a count and a pixel sum for each class, equal to numpy's. Filters on sorted labels, which leave out pages. Outputs of many files, read whole.
Prints the number of cases; exits with 1 and the difference at the first one. Needs Java 17 or newer.
"""

from __future__ import annotations

import argparse
import math
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

# The data types of IDX: their code in the header and their form there.
DTYPES = {"uint8": (0x08, ">u1"), "int8": (0x09, ">i1"), "int16": (0x0B, ">i2"), "int32": (0x0C, ">i4"), "float32": (0x0D, ">f4"), "float64": (0x0E, ">f8")}


def random(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """All bit patterns, the same in every run; of NaNs only the usual one, as the JVM may change others."""
    code, form = DTYPES[dtype]
    generator = np.random.default_rng(code)
    values = generator.integers(0, 256, (math.prod(shape), np.dtype(form).itemsize), np.uint8).reshape(-1).view(form)
    if dtype.startswith("float"):
        values = np.where(np.isnan(values), np.nan, values).astype(form)
        values[:4] = [np.nan, np.inf, -np.inf, -0.0][: len(values[:4])]
    return values.reshape(shape)


def write(path: Path, dtype: str, values: np.ndarray) -> Path:
    """An IDX file: the magic number, the dimensions and the values, all big-endian."""
    head = bytes([0, 0, DTYPES[dtype][0], values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes(head + values.tobytes())
    return path


def convert(binary: Path, output: Path, *arguments: str | Path) -> Path:
    """Run the binary."""
    subprocess.run([binary, "convert", *arguments, "-o", output, "--overwrite", "--quiet"], check=True)
    return output


def check_job(binary: Path, spark: SparkSession, folder: Path) -> int:
    """A count and a pixel sum for each class, over images with labels that come in files of 20,000 rows."""
    images, labels = random("uint8", (30_000, 28, 28)), random("uint8", (30_000,)) % 10
    sources = [f"image={write(folder / 'i.idx', 'uint8', images)}", f"label={write(folder / 'l.idx', 'uint8', labels)}"]
    path = convert(binary, folder / "job.parquet", *sources)
    total = sql.aggregate("image", sql.lit(0).cast("bigint"), lambda sum, pixel: sum + pixel)
    frame = spark.read.parquet(str(path)).groupBy("label").agg(sql.count("*").alias("n"), sql.sum(total).alias("pixels"))
    found = {row["label"]: (row["n"], row["pixels"]) for row in frame.collect()}
    expected = {int(label): (int((labels == label).sum()), int(images[labels == label].sum(dtype=np.int64))) for label in np.unique(labels)}
    if found != expected:
        sys.exit(f"counts and pixel sums: found {found}, expected {expected}")
    return 1


def check_folders(binary: Path, spark: SparkSession, folder: Path) -> int:
    """Parts, Hive's folders and the Hub's are read whole, by both readers, with locks of other runs beside them."""
    splits = {}
    inputs = folder / "in"
    inputs.mkdir()
    for split, stem, rows in (("train", "train", 1003), ("test", "t10k", 200)):
        images, labels = random("uint8", (rows, 5, 7)), random("uint8", (rows,)) % 10
        write(inputs / f"{stem}-images-idx3-ubyte", "uint8", images)
        write(inputs / f"{stem}-labels-idx1-ubyte", "uint8", labels)
        splits[split] = sorted(zip(labels.tolist(), images.reshape(rows, -1).sum(axis=1).tolist(), strict=True))
    parts, hive, hub = folder / "parts", folder / "hive", folder / "hub"
    convert(binary, Path(f"{parts}/"), inputs, "--rows-per-file", "300")
    convert(binary, Path(f"{hive}/split={{split}}/data.parquet"), inputs)
    subprocess.run([binary, "convert", inputs, "-o", f"{hub}/", "--layout", "huggingface", "--rows-per-file", "300", "--quiet"], check=True)
    for place in (parts / "train.parquet", hive, hub / "data"):
        (place / ".x.idxport-lock").touch()
    total = sql.aggregate("image", sql.lit(0).cast("bigint"), lambda sum, pixel: sum + pixel)
    cases = 0
    for vectorised in ("true", "false"):
        spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorised)
        spark.conf.set("spark.sql.parquet.enableNestedColumnVectorizedReader", vectorised)
        whole = spark.read.parquet(str(hive))
        frames = {(split, "hive"): whole.where(whole.split == split) for split in splits}
        frames |= {(split, "parts"): spark.read.parquet(str(parts / f"{split}.parquet")) for split in splits}
        for (split, kind), frame in frames.items():
            found = sorted((row["label"], row["pixels"]) for row in frame.select("label", total.alias("pixels")).collect())
            if found != splits[split]:
                sys.exit(f"{kind} folder of {split}, vectorised {vectorised}: {len(found)} rows of {len(splits[split])}, or other values")
            cases += 1
        found = sorted(row["label"] for row in spark.read.parquet(str(hub / "data")).select("label").collect())
        if found != sorted(label for rows in splits.values() for label, _ in rows):
            sys.exit(f"hub folder, vectorised {vectorised}: {len(found)} rows, or other labels")
        cases += 1
    return cases


def check_skipping(binary: Path, spark: SparkSession, folder: Path) -> int:
    """A filter on sorted labels: the scan puts out the rows of the pages that may hold the label, by their bounds, and no others.

    Spark pushes no filters down to columns of unsigned bytes (its ParquetFilters knows no unsigned types), so labels are of the others here, and
    int64 as the layout huggingface has them.
    """
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    images = write(folder / "i.idx", "uint8", random("uint8", (90_000, 3, 5)))
    labels = np.sort(random("uint8", (90_000,)) % 10)
    cases = 0
    for dtype, layout in (("int8", "list"), ("int16", "nested"), ("int32", "fixed-binary"), ("uint8", "huggingface")):
        source = write(folder / "l.idx", dtype, labels.astype(DTYPES[dtype][1]))
        path = convert(binary, folder / f"sorted-{dtype}.parquet", f"image={images}", f"label={source}", "--layout", layout)
        for vectorised in ("true", "false"):
            spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorised)
            spark.conf.set("spark.sql.parquet.enableNestedColumnVectorizedReader", vectorised)
            for label in (0, 4, 9, 77):
                frame = spark.read.parquet(str(path)).where(f"label = {label}").select("label")
                expected = int((labels == label).sum())
                found = len(frame.collect())
                leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
                scanned = leaves.apply(0).metrics().apply("numOutputRows").value()
                # The rows lie in one page or a few of 20,000 rows, in row groups of which the last page may be short.
                if found != expected or scanned < expected or scanned > expected + 4 * 20_000 or scanned > len(labels) * 2 // 3 or (label == 77 and scanned):
                    sys.exit(f"{dtype} {layout}, label {label}, vectorised {vectorised}: {found} rows of {expected}, {scanned} scanned")
                cases += 1
    return cases


def main() -> None:
    """Run all checks in one session."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    binary = parser.parse_args().binary.resolve()
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    spark = builder.config("spark.sql.files.maxPartitionBytes", "1g").getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        try:
            cases = check_job(binary, spark, Path(folder)) + check_folders(binary, spark, Path(folder)) + check_skipping(binary, spark, Path(folder))
        finally:
            spark.stop()
    print(f"Spark {pyspark.__version__}: {cases} cases, all values equal")


if __name__ == "__main__":
    main()
