"""The inputs that load() resolves, and readers of them, without a session of Spark."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pyarrow as pa

from idxport import IdxError
from idxport._stream import Output
from idxport.spark import _inputs, _read
from idxport.spark._types import spark_schema
from support import Case, program, random, write


@dataclass
class EqualTo:
    """A filter as Spark 4.1 passes it; the reader checks the name of the class."""

    attribute: tuple[str, ...]
    value: int


class Filters(Case):
    """Filters on the row index, without Spark 4.1 (test_pushdown has the rest)."""

    def test_a_column_of_that_name_is_data(self) -> None:
        inputs = _inputs.resolve({"binary": program(), "columns": f"_row={write(self.folder / 'x', 'int32', random('int32', (10,)))}"})
        reader = _read.FilteringReader(_read.table_schema(inputs, {}), inputs, {})
        self.assertEqual(len(list(reader.pushFilters([EqualTo(("_row",), 3)]))), 1)
        found = [batch["_row"].to_pylist() for part in reader.partitions() for batch in reader.read(part)]
        self.assertEqual(found, [random("int32", (10,)).tolist()])


class Resolved(Case):
    """The files of a table, and their identity."""

    def resolve(self, **options: str) -> _inputs.Inputs:
        return _inputs.resolve({"binary": program(), **options})

    def test_one_file_as_two_columns(self) -> None:
        f, g = write(self.folder / "f", "uint8", random("uint8", (9,))), write(self.folder / "g", "uint8", random("uint8", (9,), 1))
        inputs = self.resolve(columns=f"x={f},y={f},z={g}")
        self.assertEqual([file.path for file in inputs.files], [f, f, g])
        for chosen, files in (("y", [f]), ("z", [g]), ("x,z", [f, g]), ("_row", [g])):
            options = {"binary": program(), "select": chosen, "rowIndex": "true"}
            reader = _read.IdxReader(_read.table_schema(inputs, options), inputs, options)
            (partition,) = reader.partitions()
            assert isinstance(partition, _read.Range)
            self.assertEqual([file.path for file in partition.files], files)
            self.assertEqual(sum(batch.num_rows for batch in reader.read(partition)), 9)

    def replaced(self, at: str, change: Any, **options: str) -> None:
        """Something changes between the look at the headers and the look at the files."""
        original, changed = getattr(_inputs, at), []

        def first_change(argument: Any) -> Any:
            if not changed:
                changed.append(change())
            return original(argument)

        with mock.patch.object(_inputs, at, first_change), self.fails("was replaced while load() looked at it"):
            self.resolve(**options)
        self.resolve(**options)

    def test_a_file_that_is_replaced_meanwhile(self) -> None:
        path = self.folder / "x"
        for rows, dtype in ((7, "uint8"), (5, "int16")):
            write(path, "uint8", random("uint8", (5,)))
            self.replaced("seen", lambda: write(path, dtype, random(dtype, (rows,))), path=str(path))

    def test_what_a_url_says_is_not_shown(self) -> None:
        for columns in ("x=s3://b/k?secret=one,two", "one,x=s3://b/k?secret=two", "x?one"):
            with self.assertRaises(IdxError) as caught:
                self.resolve(columns=columns)
            self.assertEqual(str(caught.exception), "option columns: expected name=path, each name once")
        with self.fails("found one, expected name=path"):
            self.resolve(columns="one")

    def test_rows_per_partition(self) -> None:
        inputs = self.resolve(path=write(self.folder / "x", "uint8", random("uint8", (9,))))
        for rows in ("²", "٣", "0", "-1", "", "1.5"):
            with self.subTest(rows), self.fails(f"rowsPerPartition: found {rows}, expected a positive number"):
                _read.IdxReader(spark_schema(inputs.schema), inputs, {"rowsPerPartition": rows})


class Streams(Case):
    """A program whose output is not a stream of Arrow."""

    def fake(self, code: str) -> str:
        path = self.folder / "idxport"
        start = r"sys.stdout.buffer.write(b'\xff\xff\xff\xff\x08\0\0\0xxxxxxxx')" + "\n"  # a message of 8 bytes, which are none
        path.write_text(f"#!{sys.executable} -IS\nimport sys\n{start}{code}\n")
        path.chmod(0o755)
        return str(path)

    def test_it_says_why_behind_more_than_a_pipe_holds(self) -> None:
        path = self.fake("for _ in range(8): sys.stdout.buffer.write(bytes(1 << 20))\nsys.exit('nothing of Arrow')")
        with self.fails("nothing of Arrow"):
            Output([path]).arrow()
        self.assert_no_program_runs()

    def test_it_does_not_end(self) -> None:
        path = self.fake("while True: sys.stdout.buffer.write(bytes(1 << 20))")
        with self.assertRaises((pa.ArrowInvalid, OSError)):
            Output([path]).arrow()
        self.assert_no_program_runs()
