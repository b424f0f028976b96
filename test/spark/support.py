"""Shared by the tests: IDX files made without idxport, sessions, processes, and base classes."""

from __future__ import annotations

import atexit
import math
import os
import signal
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.datasource import CaseInsensitiveDict

from idx_format import CODES, decode, encode  # in test/
from idxport import find_program as program
from idxport.spark import IdxDataSource

HERE = Path(__file__).resolve().parent
MNIST = HERE.parent.parent / "data" / "mnist"

# The data types of IDX, and what Spark sees.
DTYPES = {"uint8": "smallint", "int8": "tinyint", "int16": "smallint", "int32": "int", "float32": "float", "float64": "double"}


def random(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """All bit patterns, the same in every run; of NaNs only the usual one, as the JVM may change others."""
    generator = np.random.default_rng([CODES[dtype], seed])
    values = generator.integers(0, 256, (math.prod(shape), np.dtype(dtype).itemsize), np.uint8).reshape(-1).view(dtype)
    if dtype.startswith("float"):
        values = np.where(np.isnan(values), np.nan, values).astype(dtype)
        values[:4] = [np.nan, np.inf, -np.inf, -0.0][: len(values[:4])]
    return values.reshape(shape)


def write(path: Path, dtype: str, values: np.ndarray) -> str:
    """An IDX file of values, as elements of a data type."""
    path.write_bytes(encode(values.astype(dtype)))
    return str(path)


def table(folder: Path, rows: int) -> tuple[dict[str, np.ndarray], str]:
    """A column of every data type and of the ranks 1 to 4, as uint8_1, uint8_2, …, and the option that reads them all."""
    shapes = {1: (), 2: (7,), 3: (4, 5), 4: (2, 3, 3)}
    values = {f"{dtype}_{rank}": random(dtype, (rows, *shape)) for dtype in DTYPES for rank, shape in shapes.items()}
    return values, ",".join(f"{name}={write(folder / name, name.split('_')[0], array)}" for name, array in values.items())


def read(path: Path) -> np.ndarray:
    """The array of an IDX file."""
    return decode(path.read_bytes())


def column(rows: list[Any], name: str, expected: np.ndarray) -> np.ndarray:
    """A column of collected rows, in the form and shape that is expected. Bytes are little-endian."""
    values = [row[name] for row in rows]
    if isinstance(values[0], (bytes, bytearray)):
        return np.frombuffer(b"".join(values), expected.dtype.newbyteorder("<")).reshape(expected.shape)
    return np.array(values, expected.dtype).reshape(expected.shape)


def equal(found: np.ndarray, expected: np.ndarray) -> bool:
    """The same values, −0 not being 0."""
    if expected.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    numbers = ~np.isnan(expected)
    return bool(np.array_equal(found, expected, equal_nan=True) and np.array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers]))


_sessions: dict[tuple[str, ...], SparkSession] = {}  # the one that runs, by its master and settings


def session(master: str, **settings: str) -> SparkSession:
    """A session with the data source: the running one if it has this master and these settings, otherwise a new one
    in the same JVM.

    Executors find the package on the PYTHONPATH of this process.
    """
    key = (master, *(f"{name}={value}" for name, value in settings.items()))
    if key not in _sessions:
        stop()
        _sessions[key] = _start(master, settings)
    return _sessions[key]


@atexit.register
def stop() -> None:
    """Stop the session that runs, and with it its executors."""
    while _sessions:
        _sessions.popitem()[1].stop()


def _start(master: str, settings: dict[str, str]) -> SparkSession:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    # The master, the workers and the executors of local-cluster write below the tests' folder.
    place = tempfile.mkdtemp(prefix="spark-", dir=os.environ.get("TMPDIR"))
    os.environ |= {"SPARK_WORKER_DIR": f"{place}/work"}
    builder = SparkSession.builder.master(master)
    defaults = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF", "spark.local.dir": f"{place}/local",
        "spark.sql.warehouse.dir": f"{place}/warehouse", "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"], "spark.sql.shuffle.partitions": "3",
    }  # fmt: skip
    for name, value in {**defaults, **{name.replace("_", "."): value for name, value in settings.items()}}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def pixel_sums(frame: DataFrame) -> dict[int, tuple[int, int]]:
    """For each label, how many rows and the sum of all pixels."""
    total = sql.aggregate("image", sql.lit(0).cast("bigint"), lambda sum, pixel: sum + pixel)
    rows = frame.groupBy("label").agg(sql.count("*").alias("n"), sql.sum(total).alias("pixels")).collect()
    return {row["label"]: (row["n"], row["pixels"]) for row in rows}


def expected_sums(images: np.ndarray, labels: np.ndarray) -> dict[int, tuple[int, int]]:
    """The same by numpy."""
    sums = images.reshape(len(images), -1).sum(axis=1, dtype=np.int64)
    return {int(label): (int((labels == label).sum()), int(sums[labels == label].sum())) for label in np.unique(labels)}


# A wrapper of the program: it makes a file for each start, whose number is that of the attempts, waits, and becomes
# the program.
_WRAPPER = """\
#!{python} -IS
import os, sys, time
folder = {folder!r}
rows = sys.argv[sys.argv.index("--rows") + 1] if "--rows" in sys.argv else "none"
if rows != "0:0":
    open(f"{{folder}}/start-{{rows.replace(':', '-')}}-{{os.getpid()}}", "x").close()
    try:
        os.mkdir(f"{{folder}}/once-{{rows.replace(':', '-')}}")
        first = True
    except FileExistsError:
        first = False
    time.sleep({every})
    if first and {delayed!r} in (rows, "any"):
        time.sleep({delay})
os.execv({binary!r}, [{binary!r}, *sys.argv[1:]])
"""


class Slow:
    """The program, with delays."""

    def __init__(self, folder: Path, every: float = 0, delayed: str = "", delay: float = 0) -> None:
        folder.mkdir()
        self.folder = folder
        self.path = str(folder / "idxport")
        Path(self.path).write_text(_WRAPPER.format(python=sys.executable, folder=str(folder), every=every, delayed=delayed, delay=delay, binary=program()))
        Path(self.path).chmod(0o755)

    def starts(self) -> list[str]:
        """The row ranges of all attempts that started the program."""
        return sorted("-".join(path.name.split("-")[1:-1]) for path in self.folder.glob("start-*"))


def processes() -> dict[int, tuple[int, str, str]]:
    """All processes of this machine: parent, state, command line (Linux)."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                name = (folder / "stat").read_text().partition("(")[2].rpartition(")")[0]
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:  # it has ended meanwhile
                continue
            found[int(folder.name)] = (int(parent), state, line or f"[{name}]")
    return found


def started(pid: int) -> int:
    """When a process was started, in clock ticks; 0 if it has ended. Its number does not tell: numbers are used again."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return 0


def descendants() -> dict[int, tuple[int, str, str]]:
    """The processes that this one started, and those that they started."""
    everyone = processes()

    def ours(pid: int) -> bool:
        while pid in everyone and pid != os.getpid():
            pid = everyone[pid][0]
        return pid == os.getpid()

    return {pid: process for pid, process in everyone.items() if pid != os.getpid() and ours(pid)}


def running(text: str) -> list[int]:
    """Our processes whose command line has a text."""
    return sorted(pid for pid, (_, _, line) in descendants().items() if text in line)


def wait_for(what: Callable[[], Any], why: str, seconds: float = 180) -> Any:
    """Poll until something is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain for {why}")


def kill(pid: int) -> None:
    """Kill a process that the tests started, as the kernel does when memory is short."""
    assert pid in descendants(), pid
    os.kill(pid, signal.SIGKILL)


def beside(work: Callable[[], Any]) -> Callable[[], Any]:
    """Start something in a thread; the returned function waits for it, and returns its result or raises its error."""
    pool = ThreadPoolExecutor(1)
    done = pool.submit(work)
    pool.shutdown(wait=False)
    return lambda: done.result(240)


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    maxDiff = None

    def setUp(self) -> None:
        """Make the folder."""
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    @contextmanager
    def fails(self, *words: str, hidden: Iterable[str] = ()) -> Iterator[None]:
        """Demand an exception with all of these words in the message, and none of the hidden ones."""
        with self.assertRaises(Exception) as caught:
            yield
        for word in hidden:
            self.assertNotIn(word, str(caught.exception))
        for word in words:
            self.assertIn(word, str(caught.exception))

    def assert_no_program_runs(self) -> None:
        """Demand that no process of the program is left, not even a zombie."""

        def left() -> list[tuple[int, str, str]]:
            return [process for process in processes().values() if str(self.folder) in process[2] or process[1] == "Z" and process[2] == "[idxport]"]

        try:
            wait_for(lambda: not left(), "the end of all programs", 20)
        except AssertionError:
            self.fail(f"left: {left()}")


class SparkCase(Case):
    """A test with a session; classes with the same master and settings share it."""

    master: ClassVar[str] = "local[2]"
    settings: ClassVar[dict[str, str]] = {}
    spark: ClassVar[SparkSession]

    @classmethod
    def setUpClass(cls) -> None:
        """Find or start the session."""
        super().setUpClass()
        cls.spark = session(cls.master, **cls.settings)

    def load(self, **options: str) -> DataFrame:
        """A frame, by the options of the data source."""
        return self.spark.read.format("idx").options(**options).load()

    def direct(self, **options: str) -> list[dict[str, Any]]:
        """All rows, read without Spark, which needs seconds for each frame."""
        reader = self.reader(**options)
        return [row for partition in reader.partitions() for batch in reader.read(partition) for row in batch.to_pylist()]

    def reader(self, **options: str) -> Any:
        """The source's reader of all columns, without Spark."""
        source = self.source(**options)
        return source.reader(source.schema())

    def source(self, **options: str) -> Any:
        """The data source as Spark makes it."""
        return IdxDataSource(CaseInsensitiveDict({"binary": program(), **options}))
