"""Reading in one process: every type, rank and layout; options; errors."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import warnings
from unittest import mock

import numpy as np
from pyspark.sql.types import ShortType, StructField, StructType

from idxport.spark import IdxDataSource, IdxError
from support import DTYPES, MNIST, SparkCase, column, equal, expected_sums, pixel_sums, program, random, read, table, write


class Values(SparkCase):
    """Every value comes out, in order."""

    def test_types_ranks_layouts(self) -> None:
        values, columns = table(self.folder, 101)
        for layout in ("list", "nested", "binary"):
            frame = self.load(columns=columns, layout=layout, rowsPerPartition="40")
            rows = frame.collect()
            self.assertEqual(frame.rdd.getNumPartitions(), 3)
            for name, expected in values.items():
                with self.subTest(column=name, layout=layout):
                    kind = DTYPES[name.split("_")[0]]
                    depth = 0 if expected.ndim == 1 or layout == "binary" else 1 if layout == "list" else expected.ndim - 1
                    kind = "binary" if layout == "binary" and expected.ndim > 1 else kind
                    self.assertEqual(frame.schema[name].dataType.simpleString(), "array<" * depth + kind + ">" * depth)
                    self.assertTrue(equal(column(rows, name, expected), expected))

    def test_records_of_no_elements(self) -> None:
        path = write(self.folder / "none", "uint8", np.zeros((5, 0, 3), np.uint8))
        self.assertEqual([row.x for row in self.load(columns=f"x={path}").collect()], [[]] * 5)
        self.assertEqual([bytes(row.x) for row in self.load(columns=f"x={path}", layout="binary").collect()], [b""] * 5)

    def test_no_records(self) -> None:
        frame = self.load(columns=f"x={write(self.folder / 'none', 'int16', np.zeros((0, 3), '>i2'))}")
        self.assertEqual((frame.schema["x"].dataType.simpleString(), frame.collect()), ("array<smallint>", []))

    def test_mnist(self) -> None:
        for split, stem in (("train", "train"), ("test", "t10k")):
            images, labels = MNIST / f"{stem}-images-idx3-ubyte", MNIST / f"{stem}-labels-idx1-ubyte"
            expected = expected_sums(read(images), read(labels))
            self.assertEqual(pixel_sums(self.load(images=str(images), labels=f"file:{labels}", rowsPerPartition="7000")), expected)
            self.assertEqual(pixel_sums(self.load(path=str(MNIST), split=split)), expected)

    def test_names_with_signs(self) -> None:
        folder = self.folder / "a=b, ü %41"
        folder.mkdir()
        values = random("int32", (10,))
        path = write(folder / "x=y", "int32", values)
        self.assertEqual([row.data for row in self.load(path=path).collect()], values.tolist())
        self.assertEqual([row.label for row in self.load(labels=folder.as_uri() + "/x%3Dy").collect()], values.tolist())


class Options(SparkCase):
    """Options of the data source."""

    def setUp(self) -> None:
        super().setUp()
        self.images, self.labels, self.extra = random("uint8", (1000, 4, 4)), random("uint8", (1000,)) % 10, random("float32", (1000, 3))
        self.paths = {
            "images": write(self.folder / "images", "uint8", self.images),
            "labels": write(self.folder / "labels", "uint8", self.labels),
            "columns": f"extra={write(self.folder / 'extra', 'float32', self.extra)}",
        }

    def test_rows(self) -> None:
        for rows, chosen in (("10:20", range(10, 20)), (":", range(1000)), ("-3:", range(997, 1000)), ("990:2000", range(990, 1000)), ("5:5", []), ("700:20", []), ("2000:", [])):
            for step in ("7", "100000"):
                found = self.direct(**self.paths, rows=rows, rowsPerPartition=step, rowIndex="true")
                self.assertEqual([(row["_row"], row["label"]) for row in found], [(i, int(self.labels[i])) for i in chosen])
        found = self.load(**self.paths, rows="-3:", rowsPerPartition="2", rowIndex="true").collect()
        self.assertEqual([(row._row, row.label) for row in found], [(i, int(self.labels[i])) for i in range(997, 1000)])

    def test_default_partitions_are_bytes(self) -> None:
        path = write(self.folder / "large", "float64", np.zeros((3 * 1024, 64, 128), ">f8"))  # 64 KiB a row, 192 MiB
        self.assertEqual(self.load(columns=f"x={path}").rdd.getNumPartitions(), 3)

    def test_select_reads_no_other_file(self) -> None:
        frame = self.load(**self.paths, select="label,_row", rowIndex="true", rowsPerPartition="300")
        os.unlink(self.paths["images"])
        found = frame.collect()
        self.assertEqual(frame.columns, ["label", "_row"])
        self.assertEqual([(row.label, row._row) for row in found], list(zip(self.labels.tolist(), range(1000))))

    def test_schema_by_hand(self) -> None:
        frame = self.spark.read.format("idx").options(**self.paths).schema("label smallint").load()
        self.assertEqual([row.label for row in frame.collect()], self.labels.tolist())
        with self.fails("column label as int, expected smallint"):
            self.spark.read.format("idx").options(**self.paths).schema("label int").load().collect()
        with self.fails("the schema has a column other"):
            self.spark.read.format("idx").options(**self.paths).schema(StructType([StructField("other", ShortType())])).load().collect()

    def test_limit_ends_the_program(self) -> None:
        self.assertEqual(len(self.load(**self.paths, rowsPerPartition="1000").limit(3).collect()), 3)
        self.assert_no_program_runs()

    def test_flags_of_the_program(self) -> None:
        found = self.load(images=self.paths["images"], transpose="true").collect()
        self.assertEqual([row.image for row in found], self.images.transpose(0, 2, 1).reshape(1000, -1).tolist())
        found = self.load(images=self.paths["images"], shape="2x4", rowsPerPartition="300").collect()
        self.assertEqual([row.image for row in found], self.images.reshape(2000, 8).tolist())
        found = self.direct(**self.paths, select="label", transpose="true")  # of the images, which are not selected
        self.assertEqual([row["label"] for row in found], self.labels.tolist())

    def test_several_paths(self) -> None:
        frame = self.spark.read.format("idx").load([self.paths["images"], self.paths["labels"]])
        self.assertEqual([row.label for row in frame.collect()], self.labels.tolist())

    def test_sql(self) -> None:
        self.spark.sql(f"CREATE TEMPORARY VIEW digits USING idx OPTIONS (images '{self.paths['images']}', labels '{self.paths['labels']}')")
        self.assertEqual([row.label for row in self.spark.sql("SELECT label FROM digits").collect()], self.labels.tolist())

    def test_metadata_tells_the_shape(self) -> None:
        self.assertEqual(self.load(**self.paths).schema["image"].metadata, {"idx.dtype": "uint8", "idx.shape": "[4,4]"})


class Packed(SparkCase):
    """Compressed files."""

    def setUp(self) -> None:
        super().setUp()
        self.labels = random("uint8", (70_000,))
        self.path = write(self.folder / "labels", "uint8", self.labels)
        with open(self.path, "rb") as plain, gzip.open(f"{self.path}.gz", "wb", 1) as packed:
            shutil.copyfileobj(plain, packed)

    def test_one_partition_unless_told(self) -> None:
        for options, partitions in (({}, 1), ({"rowsPerPartition": "30000"}, 3), ({"rowsPerPartition": "30000", "rows": "69990:"}, 1)):
            frame = self.load(labels=f"{self.path}.gz", **options)
            self.assertEqual(frame.rdd.getNumPartitions(), partitions)
            self.assertEqual([row.label for row in frame.collect()], self.labels[-10 if "rows" in options else 0 :].tolist())

    def test_warning(self) -> None:
        with mock.patch("idxport.spark._read.PARTITION_BYTES", 1000), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(len(self.reader(labels=f"{self.path}.gz").partitions()), 1)
        self.assertIn("cannot be entered in the middle: one task reads all 70,000 rows", str(caught[0].message))


class Memory(SparkCase):
    """A partition of any size needs the memory of a few batches (Linux: peaks in KiB)."""

    def test_one_partition_of_a_gigabyte(self) -> None:
        path = self.folder / "large"
        with open(path, "wb") as file:
            file.write(bytes([0, 0, 8, 3]) + (1 << 20).to_bytes(4, "big") + (32).to_bytes(4, "big") * 2)
            file.truncate(16 + (1 << 30))
        code = (
            "import resource, sys\n"
            "from idxport.spark import IdxDataSource\n"
            "from pyspark.sql.datasource import CaseInsensitiveDict\n"
            "source = IdxDataSource(CaseInsensitiveDict({'path': sys.argv[1], 'rowsPerPartition': '10000000'}))\n"
            "reader = source.reader(source.schema())\n"
            "partition, = reader.partitions()\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "print(sum(batch.num_rows for batch in reader.read(partition)))\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        )
        run = subprocess.run([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True, check=True)
        rows, grown, peak = map(int, run.stdout.split())
        self.assertEqual(rows, 1 << 20)
        self.assertLess(grown, 100 << 10)
        self.assertLess(peak, 150 << 10)


class Refusals(SparkCase):
    """Errors say what to do."""

    def setUp(self) -> None:
        super().setUp()
        self.path = write(self.folder / "x", "uint8", random("uint8", (1000, 20)))

    def test_options(self) -> None:
        (self.folder / "x.csv").write_text("label,a\n1,2\n")
        for options, words in (
            ({"colums": "x"}, "unknown option colums"),
            ({"path": self.path, "images": self.path}, "give either a path"),
            ({"path": str(self.folder / "nothing")}, "nothing: no such file or directory"),
            ({"labels": ""}, "label=: no such file or directory"),
            ({"path": "s3a://bucket/x"}, "begins with s3a://: expected a path, or a URL of s3"),
            ({"path": self.path, "layout": "huge"}, "expected list or nested or binary"),
            ({"path": self.path, "rows": "7"}, "expected A:B"),
            ({"path": self.path, "rowIndex": "yes"}, "expected false or true"),
            ({"path": self.path, "select": "image"}, "expected some of data"),
            ({"path": self.path, "select": ","}, "option select is empty"),
            ({"path": self.path, "split": ""}, "option split is empty"),
            ({"path": self.path, "identity": "none"}, "expected mtime or content"),
            ({"path": str(self.folder / "x.csv")}, "x.csv: the file does not say how many rows"),
            ({"path": str(MNIST.parent.parent / "testdata/foreign/grey-plain")}, "grey-plain: the folder is one table"),
            ({"path": self.path, "binary": "/nowhere/idxport"}, "the program /nowhere/idxport is not an executable file"),
            ({"path": str(MNIST)}, "train and split test would both be written"),
            ({"images": str(MNIST / "train-images-idx3-ubyte"), "labels": str(MNIST / "t10k-labels-idx1-ubyte")}, "columns have different numbers of records"),
        ):
            with self.subTest(words), self.fails(words):
                self.direct(**options)

    def test_writing(self) -> None:
        for mode in ("append", "overwrite"):
            with self.fails("the data source idx only reads", "write Parquet", "idxport convert frame -o idx=FOLDER/"):
                self.spark.range(3).write.format("idx").mode(mode).save(str(self.folder / "out"))
        self.assertFalse((self.folder / "out").exists())

    def test_no_program(self) -> None:
        with mock.patch.dict(os.environ, {"PATH": "/nowhere", "IDXPORT": ""}), mock.patch("idxport._program._folders", return_value=()):
            with self.assertRaisesRegex(IdxError, "the program idxport is not on this machine\nhint: install"):
                IdxDataSource({"path": self.path}).schema()

    def test_damage_in_the_middle_of_a_stream(self) -> None:
        values = random("uint8", (1 << 22,))
        whole = gzip.compress((self.folder / "x").read_bytes())
        (self.folder / "bad.gz").write_bytes(whole[:-8] + bytes(8))
        with self.fails("bad.gz: ", "hint: "):
            self.load(path=str(self.folder / "bad.gz")).collect()
        head = bytes([0, 0, 8, 1]) + (1 << 22).to_bytes(4, "big")
        data = gzip.compress(head + values.tobytes(), 1)
        (self.folder / "cut.gz").write_bytes(data[: len(data) // 2])
        with self.fails("cut.gz: ", "the data ends too early"):
            self.load(path=str(self.folder / "cut.gz")).collect()
        self.assert_no_program_runs()

    def test_a_program_that_fails_without_a_report(self) -> None:
        fake = self.folder / "idxport"
        fake.write_text(f'#!/bin/sh\ncase "$*" in *0:0*) exec {program()} "$@";; esac\nhead -c 300000 /dev/zero | tr "\\0" "x" >&2\necho " the end" >&2\nexit 9\n')
        fake.chmod(0o755)
        with self.fails("failed with exit code 9", "xxx the end"):
            self.load(path=self.path, binary=str(fake)).collect()
        fewer = 'for w; do shift; case "$w" in --rows=*) w=--rows=0:7;; [0-9]*:[0-9]*) w=0:7;; esac; set -- "$@" "$w"; done'
        fake.write_text(f'#!/bin/sh\ncase "$*" in *0:0*) exec {program()} "$@";; esac\n{fewer}\nexec {program()} "$@"\n')
        with self.fails("found 7 rows"):
            self.load(path=self.path, binary=str(fake)).collect()


class Identity(SparkCase):
    """A frame reads the files that load() saw, or fails."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "x"
        self.values = random("uint8", (100_000, 10))
        write(self.path, "uint8", self.values)

    def test_other_files(self) -> None:
        status = os.stat(self.path)
        for what, values, times in (("bytes", self.values[:99], None), ("content", self.values[::-1], status), ("time", self.values, None)):
            with self.subTest(what):
                write(self.path, "uint8", self.values)
                os.utime(self.path, ns=(status.st_atime_ns, status.st_mtime_ns))
                frame = self.load(path=str(self.path))
                write(self.path, "uint8", values)
                os.utime(self.path, ns=(times.st_atime_ns, times.st_mtime_ns) if times else (0, 0))
                with self.fails(f"is not the file that load() saw: {what}"):
                    frame.count()

    def test_a_copy_will_do_if_content_is_asked_for(self) -> None:
        frame = self.load(path=str(self.path), identity="content")
        os.utime(self.path, ns=(0, 0))
        self.assertEqual(frame.count(), 100_000)
        write(self.path, "uint8", self.values[::-1])
        with self.fails("is not the file that load() saw: content"):
            frame.count()

    def test_gone(self) -> None:
        frame = self.load(path=str(self.path))
        self.path.unlink()
        with self.fails("every executor must see the file"):
            frame.count()

    def test_changed_while_it_is_read(self) -> None:
        reader = self.reader(path=str(self.path))
        (partition,) = reader.partitions()
        batches = reader.read(partition)
        next(batches)
        os.utime(self.path, ns=(0, 0))
        with self.assertRaisesRegex(IdxError, "is not the file that load|changed while it was read"):
            list(batches)
