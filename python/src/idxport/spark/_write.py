"""Writing: every attempt of a task writes into a folder of its own; the driver joins those that Spark committed and
renames the result."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from .._program import IdxError, find_program, run
from ._files import local, plain_header
from ._inputs import PART, check_names
from ._objects import is_url
from ._tensors import Plan, field, plans, tensor

_OPTIONS = ("path", "dtype", "shape", "binary")


@dataclass(frozen=True)
class Part(WriterCommitMessage):
    """The result of an attempt: its folder within the staging folder, and the files in it with their sizes."""

    partition: int
    folder: str
    files: tuple[tuple[str, int], ...]
    rows: int
    plans: tuple[Plan, ...]


class IdxWriter(DataSourceArrowWriter):
    """Writes a data frame into a folder: part-00000-images-idx3-ubyte, part-00000-labels-idx1-ubyte, …, _SUCCESS."""

    def __init__(self, schema: StructType, overwrite: bool, options: Mapping[str, str]) -> None:
        check_names(options, _OPTIONS)
        if "path" not in options:
            raise IdxError("give a folder, as in save(folder)")
        if is_url(options["path"]):
            raise IdxError(
                "data frames are not written to object storage: save into a folder that the driver and every executor see, and copy that; "
                "or convert without Spark, in parts: idxport plan",
                64,
                "usage",
            )
        self._target = os.path.realpath(local(options["path"]))
        self._overwrite = overwrite
        self._plans = plans(schema, options)
        self._binary = options.get("binary")
        find_program(self._binary)
        _check_target(self._target, overwrite)
        parent, base = os.path.split(self._target)
        os.makedirs(parent, exist_ok=True)
        # Beside the target, so that the last step is a rename; hidden, so that readers of the parent ignore it. Tasks
        # never make it: for a late attempt it is gone.
        self._staging = os.path.join(parent, f".{base}.idxport-spark-{secrets.token_hex(8)}")
        os.mkdir(self._staging)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Part:
        """One attempt of one task. Raises IdxError if a value does not fit or the program fails."""
        context = TaskContext.get()
        partition = context.partitionId() if context else 0
        folder = f"attempt-{partition:05d}-{secrets.token_hex(8)}"
        path = os.path.join(self._staging, folder)
        try:
            os.mkdir(path)
        except FileNotFoundError:
            raise IdxError(f"{self._staging} does not exist here: the job has ended, or this executor does not see the driver's files") from None
        try:
            rows, known = _convert(find_program(self._binary), iterator, self._plans, path, f"part-{partition:05d}")
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        return Part(partition, folder, _files(path), rows, known)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Publish exactly these attempts, in one step. If they do not fit together, raises IdxError and leaves the
        target as it was."""
        try:
            final = os.path.join(self._staging, "final")
            os.mkdir(final)
            parts = [message for message in messages if isinstance(message, Part)]
            if len(parts) != len(messages) or len({part.partition for part in parts}) != len(parts):
                raise IdxError(f"{len(messages)} tasks left {len(parts)} results, {len({part.partition for part in parts})} of them different")
            written = [part for part in parts if part.files] or self._empty(parts)
            for part in written:
                self._take(part, written[0], final)
            with open(os.path.join(final, "_SUCCESS"), "wb"):
                pass
            _sync(final)
            _check_target(self._target, self._overwrite)
            _publish(final, self._target, self._overwrite)
        finally:
            self._clean()

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Leave nothing."""
        self._clean()

    def _take(self, part: Part, first: Part, final: str) -> None:
        """Move the files of a part, if they are as its task left them and have the types and shapes of the first
        part."""
        if part.plans != first.plans:
            raise IdxError(f"partition {part.partition} has {part.plans}, partition {first.partition} {first.plans}: set the option shape")
        if len(part.files) != len(part.plans):
            raise IdxError(f"partition {part.partition}: found files {part.files}, expected {len(part.plans)}")
        for name, size in part.files:
            path = os.path.join(self._staging, part.folder, name)
            head = plain_header(path)
            if os.path.getsize(path) != size or head is None or head[1][0] != part.rows or not PART.fullmatch(name):
                raise IdxError(f"{path}: not what its task left: expected {size} bytes and {part.rows} rows")
            os.rename(path, os.path.join(final, name))

    def _empty(self, parts: list[Part]) -> list[Part]:
        """The one part of a frame without rows, if the shapes are known."""
        unknown = [plan.name for plan in self._plans if plan.shape is None]
        if unknown:
            raise IdxError(f"there are no rows, so the shape of {', '.join(unknown)} is not known: set the option shape, as in shape={unknown[0]}=28x28")
        path = os.path.join(self._staging, "empty")
        os.mkdir(path)
        with _Sink(find_program(self._binary), self._plans, path, "part-00000") as sink:
            sink.close()
        return [Part(0, "empty", _files(path), 0, self._plans)]

    def _clean(self) -> None:
        """Remove the staging folder; it is renamed first, so that a late attempt fails at once."""
        dead = self._staging + "-dead"
        with contextlib.suppress(OSError):
            os.rename(self._staging, dead)
        for _ in range(3):  # an attempt may still be making a file
            shutil.rmtree(dead, ignore_errors=True)


def _convert(binary: str, batches: Iterator[pa.RecordBatch], wanted: tuple[Plan, ...], path: str, stem: str) -> tuple[int, tuple[Plan, ...]]:
    """Write batches through the program into IDX files of a folder; returns the number of rows and their shapes.
    Without rows there are no files."""
    rows, sink = 0, None
    with contextlib.ExitStack() as stack:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            columns = [tensor(array, plan) for array, plan in zip(batch.columns, wanted)]
            if sink is None:
                wanted = tuple(plan for _, plan in columns)
                sink = stack.enter_context(_Sink(binary, wanted, path, stem))
            sink.put([array for array, _ in columns])
            rows += batch.num_rows
        if sink is not None:
            sink.close()
    return rows, wanted


class _Sink:
    """An Arrow stream in a file beside the outputs, which the program then reads: it needs the number of rows before
    it writes the first one."""

    def __init__(self, binary: str, known: tuple[Plan, ...], path: str, stem: str) -> None:
        self._binary = binary
        self._folder = path
        self._stream = os.path.join(path, f"{stem}.arrows")
        self._schema = pa.schema([field(plan) for plan in known])
        self._file = pa.OSFile(self._stream, "wb")
        self._writer = pa.ipc.new_stream(self._file, self._schema)

    def __enter__(self) -> _Sink:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, arrays: list[pa.Array]) -> None:
        """Append a batch."""
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """End the stream and make the files. Raises IdxError if the program fails."""
        self._writer.close()
        self._file.close()
        run([self._binary, "convert", self._stream, "-o", f"idx={self._folder}/", "--quiet", "--json", "--workers", "1"], tied=True)
        os.unlink(self._stream)


def _files(path: str) -> tuple[tuple[str, int], ...]:
    """The columns' files in the folder of an attempt, and their sizes."""
    return tuple((name, os.path.getsize(os.path.join(path, name))) for name in sorted(os.listdir(path)) if PART.fullmatch(name))


def _check_target(target: str, overwrite: bool) -> None:
    """Refuse a target that exists, unless it is to be replaced and is a folder of this writer."""
    try:
        names = os.listdir(target)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise IdxError(f"{target} is a file; expected a folder, or nothing", 73, "cannot_create") from None
    if names and not overwrite:
        raise IdxError(f"{target} exists and is not empty: IDX files are written whole, nothing is added; mode overwrite replaces them", 73, "cannot_create")
    strange = [name for name in names if name != "_SUCCESS" and not PART.fullmatch(name)]
    if strange:
        raise IdxError(f"{target} holds {strange[0]}, which was not written here: it is not replaced", 73, "cannot_create")


def _publish(made: str, target: str, overwrite: bool) -> None:
    """Rename a folder to the target; if that exists, in one step where the system can exchange them (Linux)."""
    if not overwrite or not os.path.isdir(target) or not _exchange(made, target):
        if overwrite and os.path.isdir(target):
            os.rename(target, made + "-replaced")  # removed with the staging folder
        os.rename(made, target)  # the system refuses a target that was made in between and is not empty
    _sync(os.path.dirname(target))


def _exchange(one: str, other: str) -> bool:
    """renameat2(2) with RENAME_EXCHANGE; False where there is none."""
    if sys.platform != "linux":
        return False
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # glibc before 2.28
        return False
    if call(-100, os.fsencode(one), -100, os.fsencode(other), 2) == 0:  # AT_FDCWD
        return True
    if ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS):
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), other)


def _sync(folder: str) -> None:
    """Make the names in a folder durable; the program has synced the files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
