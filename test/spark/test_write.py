"""Writing: tables that were read come back byte for byte; attempts that were not committed are never visible."""

from __future__ import annotations

import os
import unittest

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from idxport.spark import IdxError
from support import MNIST, SparkCase, equal, random, read, read_parts, table, write

IDX_NAMES = {"uint8": "ubyte", "int8": "byte", "int16": "short", "int32": "int", "float32": "float", "float64": "double"}


class Written(SparkCase):
    """Files by the format's definition."""

    def test_types_ranks_layouts(self) -> None:
        values, columns = table(self.folder, 101)
        for layout in ("list", "nested", "binary"):
            out = self.folder / layout
            self.save(self.load(columns=columns, layout=layout, rowsPerPartition="40"), out)
            self.assertEqual(len(list(out.iterdir())), 3 * len(values) + 1)
            self.assertEqual((out / "_SUCCESS").stat().st_size, 0)
            for name, expected in values.items():
                with self.subTest(column=name, layout=layout):
                    found = read_parts(out, f"{name}-idx{expected.ndim}-{IDX_NAMES[name.split('_')[0]]}")
                    self.assertTrue(found.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=") and equal(found, expected))
        # The parts are one table again, in their order.
        rows = self.load(path=str(self.folder / "list"), select="_row,int32_1", rowIndex="true", rows="39:82").collect()
        self.assertEqual([(row._row, row.int32_1) for row in rows], list(zip(range(39, 82), values["int32_1"][39:82].tolist())))

    def test_mnist_filtered(self) -> None:
        images, labels = read(MNIST / "train-images-idx3-ubyte"), read(MNIST / "train-labels-idx1-ubyte")
        frame = self.load(path=str(MNIST), split="train", rowsPerPartition="13000")
        self.save(frame.where("label = 7"), self.folder / "sevens")
        self.assertTrue(np.array_equal(read_parts(self.folder / "sevens", "images-idx3-ubyte"), images[labels == 7]))
        self.assertTrue(np.array_equal(read_parts(self.folder / "sevens", "labels-idx1-ubyte"), labels[labels == 7]))

    def test_frames_of_others(self) -> None:
        frame = self.spark.createDataFrame([([[1.0, 2.0], [3.0, 4.0]], 7, bytearray(b"\1\0\2\0"))], "x array<array<double>>, n bigint, b binary").coalesce(1)
        self.save(frame, self.folder / "out", dtype="n=uint8,b=int16,x=float32", shape="b=1x2")
        (x,), (n,), (b,) = (list(self.folder.glob(f"out/part-*-{name}-*")) for name in "xnb")
        self.assertEqual((x.name[-11:], n.name[-10:], b.name[-10:]), ("-idx3-float", "idx1-ubyte", "idx3-short"))
        self.assertEqual((read(x).tolist(), read(n).tolist(), read(b).tolist()), ([[[1, 2], [3, 4]]], [7], [[[1, 2]]]))

    def test_no_rows(self) -> None:
        frame = self.load(images=write(self.folder / "images", "uint8", random("uint8", (100, 4, 6))))
        self.save(frame.where("false"), self.folder / "none")
        self.assertEqual(read(self.folder / "none" / "part-00000-images-idx3-ubyte").shape, (0, 4, 6))


class Modes(SparkCase):
    """Complete or absent, and foreign files are never replaced."""

    def setUp(self) -> None:
        super().setUp()
        self.out = self.folder / "out"
        self.one, self.two = self.spark.range(0, 50, 1, 3).selectExpr("cast(id as int) n"), self.spark.range(50, 90, 1, 2).selectExpr("cast(id as int) n")

    def test_append_makes_and_never_adds(self) -> None:
        self.out.mkdir()  # empty: that is as good as absent
        self.save(self.one, self.out)
        before = sorted(os.listdir(self.out))
        with self.fails("exists and is not empty"):
            self.save(self.two, self.out)
        self.assertEqual(sorted(os.listdir(self.out)), before)
        self.assertEqual(read_parts(self.out, "n-idx1-int").tolist(), list(range(50)))
        self.assertEqual(os.listdir(self.folder), ["out"])

    def test_overwrite(self) -> None:
        self.save(self.one, self.out, "overwrite")
        self.save(self.two, self.out, "overwrite")
        self.assertEqual(read_parts(self.out, "n-idx1-int").tolist(), list(range(50, 90)))
        self.assertEqual(len(os.listdir(self.out)), 3)
        (self.out / "thesis.txt").touch()
        with self.fails("holds thesis.txt, which was not written here"):
            self.save(self.one, self.out, "overwrite")
        self.assertEqual(os.listdir(self.folder), ["out"])

    def test_a_failed_job_leaves_what_was_there(self) -> None:
        self.save(self.one, self.out)
        bad = self.spark.range(0, 90, 1, 3).withColumn("n", sql.when(sql.col("id") > 80, 1 << 40).otherwise(sql.col("id"))).select("n")
        with self.fails("column n as int32"):
            self.save(bad, self.out, "overwrite")
        self.assertEqual(read_parts(self.out, "n-idx1-int").tolist(), list(range(50)))
        self.assertEqual(os.listdir(self.folder), ["out"])

class Attempts(SparkCase):
    """The writer's side of Spark's protocol, driven by hand."""

    def setUp(self) -> None:
        super().setUp()
        self.out = self.folder / "out"
        self.schema = self.spark.createDataFrame([], "n int, x array<smallint>").schema
        self.writer = self.make()

    def make(self, overwrite: bool = False, **options: str):
        return self.source(path=str(self.out), **options).writer(self.schema, overwrite)

    def batch(self, numbers: list, lists: list) -> pa.RecordBatch:
        return pa.record_batch({"n": pa.array(numbers, pa.int32()), "x": pa.array(lists, pa.list_(pa.int16()))})

    def test_only_the_committed_attempt_shows(self) -> None:
        first = self.writer.write(iter([self.batch([1, 2], [[1], [2]])]))
        second = self.writer.write(iter([self.batch([1, 2], [[1], [2]])]))
        self.assertNotEqual(first.folder, second.folder)
        self.assertEqual(os.listdir(self.folder)[0][:5], ".out.")
        self.writer.commit([second])
        self.assertEqual(sorted(os.listdir(self.out)), ["_SUCCESS", "part-00000-n-idx1-int", "part-00000-x-idx2-short"])
        self.assertEqual(os.listdir(self.folder), ["out"])
        with self.assertRaisesRegex(IdxError, "the job has ended"):
            self.writer.write(iter([self.batch([1, 2], [[1], [2]])]))
        self.assertEqual(read_parts(self.out, "n-idx1-int").tolist(), [1, 2])

    def test_an_attempt_that_ends_after_the_commit(self) -> None:
        def batches():
            yield self.batch([1], [[1]])
            self.writer.commit([done])
            yield self.batch([2], [[2]])

        done = self.writer.write(iter([self.batch([1, 2], [[1], [2]])]))
        with self.assertRaises(Exception):
            self.writer.write(batches())
        self.assertEqual(os.listdir(self.folder), ["out"])
        self.assertEqual(read_parts(self.out, "n-idx1-int").tolist(), [1, 2])

    def test_commit_refuses(self) -> None:
        def damage(part):
            path = next(self.folder.glob(".out.*/attempt-*/part-00000-n-*"))
            path.write_bytes(path.read_bytes()[:-1])
            return [part]

        def missing(part):
            next(self.folder.glob(".out.*/attempt-*/part-00000-n-*")).unlink()
            return [part]

        for name, change in (("damaged", damage), ("missing", missing), ("twice", lambda part: [part, part]), ("lost", lambda part: [part, None])):
            with self.subTest(name):
                writer = self.make()
                part = writer.write(iter([self.batch([1, 2], [[1], [2]])]))
                with self.assertRaises((IdxError, OSError)):
                    writer.commit(change(part))
                writer.abort([])
                self.assertFalse(self.out.exists())
        self.writer.abort([])
        self.assertEqual(os.listdir(self.folder), [])

    def test_somebody_was_faster(self) -> None:
        other = self.make()
        mine, theirs = (writer.write(iter([self.batch([n], [[1]])])) for n, writer in ((1, self.writer), (2, other)))
        other.commit([theirs])
        with self.assertRaisesRegex(IdxError, "exists and is not empty"):
            self.writer.commit([mine])
        self.assertEqual(read_parts(self.out, "n-idx1-int").tolist(), [2])
        self.assertEqual(os.listdir(self.folder), ["out"])

    def test_values_that_idx_cannot_hold(self) -> None:
        for batch, options, words in (
            (self.batch([1, None], [[1], [2]]), {}, "column n: found null"),
            (self.batch([1, 2], [[1], [None]]), {}, "column x: found null in an array"),
            (self.batch([1, 2], [[1], [2, 3]]), {}, "column x: found arrays of 1 and of 2 elements"),
            (self.batch([1, 256], [[1], [2]]), {"dtype": "n=uint8"}, "column n as uint8"),
            (self.batch([1, 2], [[1], [2]]), {"shape": "x=2x2"}, "found records of 1 elements, expected 2x2"),
        ):
            with self.subTest(words), self.assertRaisesRegex(IdxError, words):
                self.make(**options).write(iter([batch]))
        for options, words in (({"dtype": "y=uint8"}, "name a column y"), ({"dtype": "n=uint9"}, "found type uint9"), ({"shape": "x=a"}, "expected dimensions"), ({"codec": "x"}, "unknown option")):
            with self.subTest(words), self.assertRaisesRegex(IdxError, words):
                self.make(**options)
        with self.assertRaisesRegex(IdxError, "column s is string"):
            self.source(path=str(self.out)).writer(self.spark.createDataFrame([], "s string").schema, False)

    def test_parts_of_other_shapes(self) -> None:
        from dataclasses import replace

        part = self.writer.write(iter([self.batch([1], [[1]])]))
        with self.assertRaisesRegex(IdxError, "set the option shape"):
            self.writer.commit([part, replace(part, partition=1, plans=(part.plans[0], replace(part.plans[1], shape=(2,))))])
        self.assertFalse(self.out.exists())

    def test_no_rows_and_no_shape(self) -> None:
        part = self.writer.write(iter([]))
        with self.assertRaisesRegex(IdxError, "the shape of x is not known"):
            self.writer.commit([part])
        writer = self.make(shape="x=2x3")
        writer.commit([writer.write(iter([])), None][:1])
        self.assertEqual(read(self.out / "part-00000-x-idx3-short").shape, (0, 2, 3))


if __name__ == "__main__":
    unittest.main()
