"""The recipe of docs/spark.md, on Spark 3.5."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from recipe import read_idx, sums
from support import HERE, MNIST, Case, expected_sums, read

# The one in the wheel; idxport_spark itself needs Spark 4.
BINARY = next(str(path) for folder in os.environ["PYTHONPATH"].split(":") for path in Path(folder).glob("idxport_spark/bin/idxport"))


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
        self.assertEqual(sums(frame), expected_sums(read(images), read(labels)))
        frame = read_idx(self.spark, inputs[:1], 60_000, "image binary", binary=BINARY, layout="binary")
        self.assertEqual(b"".join(bytes(row.image) for row in frame.limit(100).collect()), read(images)[:100].tobytes())
        with self.assertRaises(Exception):
            read_idx(self.spark, ["/nowhere"], 10, "image binary", binary=BINARY).count()

    def test_the_page_shows_it(self) -> None:
        recipe = (HERE / "recipe.py").read_text().partition("# recipe\n")[2].partition("# end\n")[0].strip("\n")
        self.assertIn(recipe, (HERE.parent.parent / "docs" / "spark.md").read_text())


if __name__ == "__main__":
    unittest.main()
