"""The recipe of docs/spark.md for Spark 3.5, which has no data sources in Python: mapInArrow over a frame of row ranges.

usage: spark-submit recipe.py IMAGES LABELS        prints the number of rows and the sum of all pixels for each label
"""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql


# recipe
def read_idx(spark, inputs, rows, schema, step=50_000, binary="idxport", layout="list"):
    """A frame of IDX files: inputs as for `idxport convert`, such as ["image=/data/i", "label=/data/l"]; rows as `idxport inspect` tells."""
    ranges = [(start, min(start + step, rows)) for start in range(0, rows, step)]
    frame = spark.createDataFrame(ranges, "start long, stop long").repartitionByRange(len(ranges), "start")

    def batches(parts):
        import subprocess

        import pyarrow as pa

        for part in parts:
            for start, stop in zip(part["start"].to_pylist(), part["stop"].to_pylist()):
                command = [binary, "convert", *inputs, "--rows", f"{start}:{stop}", "--layout", layout, "-o", "arrows=-", "--quiet"]
                with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
                    try:
                        for batch in pa.ipc.open_stream(program.stdout):
                            # Spark has no unsigned types and no lists of fixed size.
                            arrays = [column.cast(pa.list_(pa.int16())) if pa.types.is_fixed_size_list(column.type) else column for column in batch.columns]
                            arrays = [array.cast(pa.int16()) if array.type == pa.uint8() else array for array in arrays]
                            yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)
                    finally:
                        program.stdout.close()
                    if program.wait() != 0:
                        raise RuntimeError(f"idxport ended with exit code {program.returncode}: {command}")

    return frame.mapInArrow(batches, schema)
# end


def sums(frame: DataFrame) -> dict[int, tuple[int, int]]:
    """For each label, how many rows and the sum of all pixels."""
    total = sql.aggregate("image", sql.lit(0).cast("bigint"), lambda sum, pixel: sum + pixel)
    rows = frame.groupBy("label").agg(sql.count("*").alias("n"), sql.sum(total).alias("pixels")).collect()
    return {row["label"]: (row["n"], row["pixels"]) for row in rows}


def main() -> None:
    """Count."""
    spark = SparkSession.builder.getOrCreate()
    frame = read_idx(spark, [f"image={sys.argv[1]}", f"label={sys.argv[2]}"], 60_000, "image array<smallint>, label smallint")
    print(sums(frame))
    spark.stop()


if __name__ == "__main__":
    main()
