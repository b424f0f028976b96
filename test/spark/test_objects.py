"""Reading objects from a real S3 server, whose key the program finds in its environment."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np

from idxport.spark import IdxError
from support import HERE, MNIST, SparkCase, expected_sums, pixel_sums, random, read, write

TRAIN, TEST = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"), ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


class Storage:
    """The server of test/object, which needs Go, until close(). Its key is put into the environment of this process,
    which the JVM and the workers inherit."""

    def __init__(self) -> None:
        command = ["go", "run", "./test/object", "-serve"]
        self._process = subprocess.Popen(command, cwd=HERE.parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        about = json.loads(self._line())
        self._root = f"s3://{about['bucket']}/"
        # No message may contain the key or values of a URL's query.
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
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._line()
        if answer != "ok":
            raise AssertionError(f"{line}: {answer}")

    def _line(self) -> str:
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"no answer from the server; exit code {self._process.wait()}")
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
        storage.put(self.key(name), write(self.folder / name, dtype, values))
        return storage.url(self.key(name))

    def key(self, name: str) -> str:
        """The key of an object of this test."""
        return f"{self.id()}/{name}"

    @contextmanager
    def fails(self, *words: str) -> Iterator[None]:
        """As for files; and the message contains no secrets."""
        with super().fails(*words, hidden=storage.hidden):
            yield


class Values(ObjectCase):
    """Equal to those of files."""

    def test_mnist(self) -> None:
        images, labels = (read(MNIST / name) for name in TRAIN)
        # One URL with the parameters is enough, as on the command line.
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

class Versions(ObjectCase):
    """A frame reads the versions that load() saw, or fails."""

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
        # More than the program fetches before it returns the first rows.
        values = np.repeat(np.arange(250, dtype=np.uint8), 1 << 19).reshape(-1, 1 << 10)
        batches = self.batches(path=self.put("x", values), rowsPerPartition="1000000")
        next(batches)
        self.put("x", values[::-1])
        with self.assertRaisesRegex(IdxError, r"is not the object that load\(\) saw"):
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
        with self.fails(f"s3://idx/{self.key('x')}", "not found"):
            self.load(path=storage.url(self.key("x")))
        frame = self.load(path=self.put("x", random("uint8", (10,))))
        storage.delete(self.key("x"))
        with self.fails(f"s3://idx/{self.key('x')}", "not found"):
            frame.count()
