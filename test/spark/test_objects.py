"""Reading objects from a real S3 server, whose key the program finds in its environment."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np

from idxport_spark import IdxError
from support import HERE, MNIST, SparkCase, expected_sums, pixel_sums, random, read, write

TRAIN, TEST = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"), ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


class Storage:
    """test/object/serve, which needs Go, until close(). Its key goes to the environment of this process, and of the JVM and the workers that it starts later."""

    def __init__(self) -> None:
        command = ["go", "run", "./test/object/serve"]
        self._process = subprocess.Popen(command, cwd=HERE.parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        about = json.loads(self._line())
        self._root = f"s3://{about['bucket']}/"
        # What no message may show: the key, and the values of what stands in URLs behind the question mark.
        key = [about["environment"][f"AWS_{name}"] for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")]
        self.hidden = (*key, "endpoint=", about["endpoint"], about["endpoint"].partition("://")[2])
        self._query = f"?use_path_style=true&endpoint={quote(about['endpoint'], safe='')}"
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            del os.environ[name]
        os.environ |= about["environment"]

    def url(self, key: str, query: bool = True) -> str:
        """The URL of an object or a prefix, with or without the parameters that lead to the server."""
        return self._root + key + self._query * query

    def put(self, key: str, path: Path | str) -> None:
        """Store a file as an object."""
        self._do(f"put {key} {path}")

    def delete(self, key: str) -> None:
        """Remove an object."""
        self._do(f"delete {key}")

    def close(self) -> None:
        """End the server."""
        self._process.communicate()
        if self._process.returncode != 0:
            raise AssertionError(f"the server ended with {self._process.returncode}")

    def _do(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._line()
        if answer != "ok":
            raise AssertionError(f"{line}: {answer}")

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the server says nothing; exit code {self._process.wait()}")
        return line.rstrip("\n")


def setUpModule() -> None:
    global storage
    storage = Storage()  # before the session: executors have the environment of its JVM
    unittest.addModuleCleanup(storage.close)
    for name in TRAIN + TEST:
        storage.put(f"mnist/{name}", MNIST / name)


class ObjectCase(SparkCase):
    """A test with objects below a prefix of its own."""

    def put(self, name: str, values: np.ndarray, dtype: str = "uint8") -> str:
        """Store an IDX file as an object; its URL."""
        path = write(self.folder / name, dtype, values)
        return self.put_file(name, path)

    def put_file(self, name: str, path: Path | str) -> str:
        """Store a file as an object; its URL."""
        storage.put(self.key(name), path)
        return storage.url(self.key(name))

    def key(self, name: str) -> str:
        """The key of an object of this test."""
        return f"{self.id()}/{name}"

    @contextmanager
    def fails(self, *words: str) -> Iterator[None]:
        """As for files; and nothing is shown that is nobody's business."""
        with super().fails(*words, hidden=storage.hidden):
            yield


class Values(ObjectCase):
    """The same as of files."""

    def test_mnist(self) -> None:
        images, labels = (read(MNIST / name) for name in TRAIN)
        # The parameters are said once, as on the command line of the program.
        frame = self.load(images=storage.url(f"mnist/{TRAIN[0]}"), labels=storage.url(f"mnist/{TRAIN[1]}", query=False), rowsPerPartition="7000")
        self.assertEqual(frame.rdd.getNumPartitions(), 9)
        self.assertEqual(pixel_sums(frame), expected_sums(images, labels))

    def test_prefix(self) -> None:
        images, labels = (read(MNIST / name) for name in TEST)
        frame = self.spark.read.format("idx").option("split", "test").load(storage.url("mnist/"))
        self.assertEqual((frame.count(), pixel_sums(frame)), (10_000, expected_sums(images, labels)))

    def test_select_reads_no_other_object(self) -> None:
        images, labels = random("uint8", (1000, 4, 4)), random("uint8", (1000,))
        named = {"images": self.put("images", images), "labels": storage.url(self.key("labels"), query=False)}
        self.put("labels", labels)
        frame = self.load(**named, select="label,_row", rowIndex="true", rowsPerPartition="300", rows="100:-1")
        storage.delete(self.key("images"))
        self.assertEqual([(row.label, row._row) for row in frame.collect()], list(zip(labels[100:-1].tolist(), range(100, 999))))

    def test_compressed(self) -> None:
        labels = random("uint8", (70_000,))
        packed = self.folder / "labels.gz"
        packed.write_bytes(gzip.compress(Path(write(self.folder / "labels", "uint8", labels)).read_bytes()))
        url = self.put_file("labels.gz", packed)
        for options, partitions in (({}, 1), ({"rowsPerPartition": "30000"}, 3)):
            frame = self.load(labels=url, **options)
            self.assertEqual(frame.rdd.getNumPartitions(), partitions)
            self.assertEqual([row.label for row in frame.collect()], labels.tolist())


class Versions(ObjectCase):
    """A frame reads the objects that load() saw, or fails."""

    def test_replaced_before_the_action(self) -> None:
        values = random("uint8", (100_000, 10))
        for what, other in (("as long", values[::-1]), ("shorter", values[:99]), ("of another shape", values.reshape(-1, 5, 2))):
            with self.subTest(what):
                frame = self.load(path=self.put("x", values), rowsPerPartition="60000")
                self.put("x", other)
                with self.fails("is not the object that load() saw: ETag"):
                    frame.count()
                with self.fails("is not the object that load() saw: ETag"):
                    frame.limit(3).collect()

    def test_replaced_while_it_is_read(self) -> None:
        # More than the program has fetched before its first rows are taken.
        values = np.repeat(np.arange(250, dtype=np.uint8), 1 << 19).reshape(-1, 1 << 10)
        batches = self.batches(path=self.put("x", values), rowsPerPartition="1000000")
        next(batches)
        self.put("x", values[::-1])
        with self.assertRaisesRegex(IdxError, "changed while it was read"):
            list(batches)
        self.assert_no_program_runs()

    def batches(self, **options: str) -> Iterator:
        """The batches of the only partition, without Spark."""
        reader = self.reader(**options)
        (partition,) = reader.partitions()
        return reader.read(partition)


class Refusals(ObjectCase):
    """Errors say what to do."""

    def test_missing(self) -> None:
        with self.fails(f"s3://idx/{self.key('x')}", "exit code 66"):
            self.load(path=storage.url(self.key("x")))
        frame = self.load(path=self.put("x", random("uint8", (10,))))
        storage.delete(self.key("x"))
        with self.fails(f"s3://idx/{self.key('x')}", "exit code 66"):
            frame.count()

    def test_parameters_that_do_not_exist(self) -> None:
        with self.fails("exit code 64"):
            self.load(path=storage.url("mnist/") + "&use_path_stile=true")

    def test_damaged(self) -> None:
        path = Path(write(self.folder / "x", "uint8", random("uint8", (10_000,))))
        path.write_bytes(path.read_bytes()[:-1])
        with self.fails("idxport: ", "exit code 65"):
            self.load(path=self.put_file("x", path))

    def test_writing(self) -> None:
        with self.fails("save into a folder that the driver and every executor see", "idxport plan"):
            self.save(self.spark.range(3).selectExpr("cast(id as int) n"), storage.url(self.key("out")))


if __name__ == "__main__":
    unittest.main()
