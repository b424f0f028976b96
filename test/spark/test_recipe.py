"""The recipe of docs/spark.md for Spark 3.5, which has no data sources in Python: mapInArrow over a frame of row ranges."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

import numpy as np
import pyspark
from pyspark.sql import SparkSession

from support import MNIST, Case, expected_sums, pixel_sums, read, write

# The program in the wheel; idxport.spark itself needs Spark 4.
BINARY = next(str(path) for folder in os.environ["PYTHONPATH"].split(":") for path in Path(folder).glob("bin/idxport"))


# recipe
def read_idx(spark, inputs, rows, schema, step=50_000, binary="idxport", layout="list"):
    """A frame of IDX files: inputs as for `idxport convert`, such as ["image=/data/i", "label=/data/l"]; rows is the number of rows of the table, as `idxport inspect`
    prints it."""
    ranges = [(start, min(start + step, rows)) for start in range(0, rows, step)]
    frame = spark.createDataFrame(ranges, "start long, stop long").repartitionByRange(len(ranges), "start")

    def batches(parts):
        import subprocess

        import pyarrow as pa

        def signed(kind):
            return pa.int16() if kind == pa.uint8() else kind

        for part in parts:
            for start, stop in zip(part["start"].to_pylist(), part["stop"].to_pylist()):
                command = [binary, "convert", *inputs, "--rows", f"{start}:{stop}", "--layout", layout, "-o", "arrows=-", "--quiet"]
                with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
                    try:
                        for batch in pa.ipc.open_stream(program.stdout):
                            # Spark has no unsigned types and no lists of fixed size.
                            arrays = [column.cast(pa.list_(signed(column.type.value_type)) if pa.types.is_fixed_size_list(column.type) else signed(column.type)) for column in batch.columns]
                            yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)
                    finally:
                        program.stdout.close()
                    if program.wait() != 0:
                        raise RuntimeError(f"idxport ended with exit code {program.returncode}: {command}")

    return frame.mapInArrow(batches, schema)
# end


class Recipe(Case):
    """Values by numpy."""

    def setUp(self) -> None:
        super().setUp()
        os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1"}
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        self.spark = builder.config("spark.local.dir", str(self.folder)).getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")
        self.addCleanup(self.spark.stop)

    def test_mnist(self) -> None:
        images, labels = MNIST / "train-images-idx3-ubyte", MNIST / "train-labels-idx1-ubyte"
        inputs = [f"image={images}", f"label={labels}"]
        frame = read_idx(self.spark, inputs, 60_000, "image array<smallint>, label smallint", step=7000, binary=BINARY)
        self.assertTrue(pyspark.__version__.startswith("3.5."))
        self.assertEqual(frame.rdd.getNumPartitions(), 9)
        self.assertEqual(pixel_sums(frame), expected_sums(read(images), read(labels)))
        frame = read_idx(self.spark, inputs[:1], 60_000, "image binary", binary=BINARY, layout="binary")
        self.assertEqual(b"".join(bytes(row.image) for row in frame.limit(100).collect()), read(images)[:100].tobytes())
        with self.assertRaises(Exception):
            read_idx(self.spark, ["/nowhere"], 10, "image binary", binary=BINARY).count()

    def test_other_types(self) -> None:
        numbers, values = np.array([7, 100_000], ">i4"), np.array([[0.5, -1.25], [3, 1e30]], ">f4")
        inputs = [f"n={write(self.folder / 'n', 'int32', numbers)}", f"x={write(self.folder / 'x', 'float32', values)}"]
        rows = read_idx(self.spark, inputs, 2, "n int, x array<float>", binary=BINARY).collect()
        self.assertEqual([row.n for row in rows], numbers.tolist())
        self.assertEqual([row.x for row in rows], values.tolist())


if __name__ == "__main__":
    unittest.main()
