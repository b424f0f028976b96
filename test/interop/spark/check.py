#!/usr/bin/env python3
"""Convert IDX files with the binary and read them with Apache Spark, by its vectorised and its row reader.

usage: $(test/interop/venv spark) test/interop/spark/check.py --binary PATH

Every value is compared as bits. Then a job over images with labels: a count and a pixel sum for each class, equal to numpy's.
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
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

# The data types of IDX: their code in the header and their form there.
DTYPES = {"uint8": (0x08, ">u1"), "int8": (0x09, ">i1"), "int16": (0x0B, ">i2"), "int32": (0x0C, ">i4"), "float32": (0x0D, ">f4"), "float64": (0x0E, ">f8")}

# What Spark makes of each: it has no unsigned numbers, and takes the next larger type.
SPARK_TYPES = {"uint8": "smallint", "int8": "tinyint", "int16": "smallint", "int32": "int", "float32": "float", "float64": "double"}

SHAPES = [(1003,), (0, 3), (1, 7, 9), (301, 7, 9), (57, 2, 3, 5)]
CODECS = ["zstd", "none", "snappy", "gzip", "lz4_raw"]


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


def same(what: str, found: np.ndarray, expected: np.ndarray) -> None:
    """Compare as bits."""
    expected = expected.astype(expected.dtype.newbyteorder("="))
    if found.shape != expected.shape or found.astype(expected.dtype).tobytes() != expected.tobytes():
        sys.exit(f"{what}: found {found.shape} {found.ravel()[:5]}, expected {expected.shape} {expected.ravel()[:5]}")


def elements(frame: DataFrame, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """The column of a frame as an array of the input's shape; each partition keeps the order of its rows, and there is one."""
    rows = [row[0] for row in frame.select("data").collect()]
    if frame.schema["data"].dataType.simpleString() == "binary":
        return np.frombuffer(b"".join(bytes(row) for row in rows), np.dtype(DTYPES[dtype][1]).newbyteorder("<")).reshape(shape)
    return np.array(rows, np.dtype(DTYPES[dtype][1]).newbyteorder("=")).reshape(shape)


def outputs(shape: tuple[int, ...], layouts: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What is tried: every codec for the default layout, on one shape, and every layout."""
    yield from ((f"codec {codec}", ["--compression", codec]) for codec in (CODECS if shape == SHAPES[3] else CODECS[:1]))
    yield from ((f"layout {layout}", ["--layout", layout]) for layout in layouts)


def check_values(binary: Path, spark: SparkSession, folder: Path) -> int:
    """Every data type and rank."""
    offered = subprocess.run([binary, "formats"], check=True, capture_output=True, text=True).stdout
    layouts = [name for name in ("fixed-binary", "binary") if f"\n{name} " in offered]
    cases = 0
    for dtype in DTYPES:
        for shape in SHAPES:
            values = random(dtype, shape)
            source = write(folder / "data.idx", dtype, values)
            for name, flags in outputs(shape, layouts):
                path = convert(binary, folder / f"{cases}.parquet", f"data={source}", *flags)
                for vectorised in ("true", "false"):
                    spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorised)
                    frame = spark.read.parquet(str(path))
                    what = f"{dtype} {shape} {name}, vectorised {vectorised}"
                    kind = frame.schema["data"].dataType.simpleString()
                    if "layout" not in name and kind != (SPARK_TYPES[dtype] if len(shape) == 1 else f"array<{SPARK_TYPES[dtype]}>"):
                        sys.exit(f"{what}: found the type {kind}")
                    same(what, elements(frame, dtype, shape), values)
                    cases += 1
    return cases


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


def main() -> None:
    """Run all checks in one session."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    binary = parser.parse_args().binary.resolve()
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    spark = builder.config("spark.sql.files.maxPartitionBytes", "1g").getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        try:
            cases = check_values(binary, spark, Path(folder)) + check_job(binary, spark, Path(folder))
        finally:
            spark.stop()
    print(f"Spark {pyspark.__version__}: {cases} cases, all values equal")


if __name__ == "__main__":
    main()
