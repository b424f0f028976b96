#!/usr/bin/env python3
"""Compare how fast Spark reads IDX files by this data source and without it. Prints a table for RESULTS.md.

usage: $(test/interop/venv ../spark) test/spark/bench.py --binary PATH [--copies 20] [--rounds 3]

MNIST's training images are repeated into one file of 60,000 × copies rows and, for binaryFile, into files of 10,000
rows. Each contest reads all pixels in local[2] and sums their first bytes in the JVM; the rounds are interleaved, and
the table has the medians of the ratios to the first contest of the same round. No test asserts a time. Needs the
package on PYTHONPATH, or the checkout's spark/src.
"""

from __future__ import annotations

import argparse
import os
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = str(HERE.parent.parent / "spark" / "src")
sys.path.insert(0, SOURCE)
os.environ["PYTHONPATH"] = f"{SOURCE}:{HERE}:{os.environ.get('PYTHONPATH', '')}"

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from support import MNIST, session

ROW = 28 * 28


def inputs(folder: Path, copies: int) -> tuple[str, str]:
    """One large file, and a folder of small ones with the same rows."""
    data = (MNIST / "train-images-idx3-ubyte").read_bytes()[16:]
    with open(folder / "large-idx3-ubyte", "wb") as large:
        large.write(struct.pack(">4B3I", 0, 0, 8, 3, 60_000 * copies, 28, 28))
        for _ in range(copies):
            large.write(data)
    (folder / "small").mkdir()
    for copy in range(copies):
        for part in range(6):
            pixels = data[part * 10_000 * ROW : (part + 1) * 10_000 * ROW]
            (folder / "small" / f"{copy:03d}-{part}-idx3-ubyte").write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, 10_000, 28, 28) + pixels)
    return str(folder / "large-idx3-ubyte"), str(folder / "small")


def total(frame: DataFrame) -> tuple[int, int]:
    """The number of rows and a sum that needs every record in the JVM, though not every pixel: of the 401st pixels."""
    pixel = sql.col("image")[400] if frame.schema["image"].dataType.simpleString() != "binary" else sql.conv(sql.hex(sql.substring("image", 401, 1)), 16, 10).cast("int")
    row = frame.agg(sql.count("*").alias("n"), sql.sum(pixel).alias("s")).collect()[0]
    return row.n, row.s


def by_idx(spark: SparkSession, large: str, layout: str) -> DataFrame:
    """This data source."""
    return spark.read.format("idx").options(images=large, layout=layout).load()


def by_binary_file(spark: SparkSession, small: str) -> DataFrame:
    """Spark's source of whole files, and a UDF in Python that parses them: a row for each image, through mapInPandas.
    """

    def parse(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            for content in frame["content"]:
                pixels = np.frombuffer(content, np.uint8, offset=16).reshape(-1, ROW)
                yield pd.DataFrame({"image": [row.tobytes() for row in pixels]})

    return spark.read.format("binaryFile").load(small).select("content").mapInPandas(parse, "image binary")


def by_pandas(spark: SparkSession, large: str) -> DataFrame:
    """A common way: a frame of row ranges, and a pandas UDF that opens the file and reads its range as arrays of
    numbers."""
    rows = struct.unpack(">I", open(large, "rb").read(8)[4:])[0]

    def parse(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            for start in frame["id"]:
                with open(large, "rb") as file:
                    file.seek(16 + start * ROW)
                    pixels = np.frombuffer(file.read(min(10_000, rows - start) * ROW), np.uint8).reshape(-1, ROW)
                for i in range(0, len(pixels), 1000):
                    yield pd.DataFrame({"image": list(pixels[i : i + 1000].astype(np.int16))})

    return spark.range(0, rows, 10_000, max(2, rows // 80_000)).mapInPandas(parse, "image array<smallint>")


def by_parquet(spark: SparkSession, folder: str) -> DataFrame:
    """The file that idxport convert makes once, by Spark's own reader."""
    return spark.read.parquet(folder)


def main() -> None:
    """Run the rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ["IDXPORT"] = str(options.binary.resolve())
    with tempfile.TemporaryDirectory() as place:
        large, small = inputs(Path(place), options.copies)
        parquet = f"{place}/large.parquet"
        os.spawnl(os.P_WAIT, os.environ["IDXPORT"], "idxport", "convert", f"image={large}", "-o", parquet, "--compression", "none", "--quiet")
        spark = session("local[2]", spark_driver_memory="4g", spark_sql_files_maxPartitionBytes="64m")
        contests: dict[str, Callable[[], DataFrame]] = {
            "idx, `layout=binary`": lambda: by_idx(spark, large, "binary"),
            "idx, `layout=list` (default)": lambda: by_idx(spark, large, "list"),
            "`binaryFile` of small files, parsed in `mapInPandas` to `binary`": lambda: by_binary_file(spark, small),
            "loop over ranges in `mapInPandas` to `array<smallint>`": lambda: by_pandas(spark, large),
            "uncompressed Parquet made by idxport, Spark's reader, `array<smallint>`": lambda: by_parquet(spark, parquet),
        }
        seconds: dict[str, list[float]] = {name: [] for name in contests}
        answers = set()
        for round_ in range(options.rounds + 1):  # the first warms caches and compilers
            for name, contest in contests.items():
                start = time.monotonic()
                answers.add(total(contest()))
                took = time.monotonic() - start
                print(f"round {round_}: {name}: {took:.1f} s", file=sys.stderr)
                if round_:
                    seconds[name].append(took)
        spark.stop()
    if len(answers) != 1:
        sys.exit(f"the contests differ: {answers}")
    first = seconds[next(iter(contests))]
    size = options.copies * 60_000 * ROW / 1e6
    print(f"{options.copies} × MNIST, {size:,.0f} MB of pixels, {options.rounds} rounds, local[2]; {next(iter(answers))[0]:,} rows\n")
    print("| | time, as a multiple of the first | lowest … highest | MB/s here |\n|---|---|---|---|")
    for name, times in seconds.items():
        ratios = sorted(time / one for time, one in zip(times, first))
        print(f"| {name} | {statistics.median(ratios):.2f} | {ratios[0]:.2f} … {ratios[-1]:.2f} | {size / statistics.median(times):.0f} |")


if __name__ == "__main__":
    main()
