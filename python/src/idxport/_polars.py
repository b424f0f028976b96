"""Tables for polars, without pyarrow, whose import takes longer than most queries."""

from __future__ import annotations

import contextlib
import importlib
import io
import struct
from collections.abc import Generator, Iterator, Sequence
from typing import IO, TYPE_CHECKING

from ._program import Option, Path, Program
from ._read import condition, needs, query

if TYPE_CHECKING:
    import polars as pl

# Kinds of messages (Arrow's Message.fbs, MessageHeader).
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def lazy(inputs: Sequence[Path], options: dict[str, Option]) -> pl.LazyFrame:
    """See `idxport.scan_polars`."""
    polars, plugins = needs("polars", "polars"), importlib.import_module("polars.io.plugins")

    def frames(columns: Sequence[str] | None = None, where: Sequence[str] = ()) -> Generator[pl.DataFrame]:
        """A frame without rows, and then one for each batch."""
        with Program(query(inputs, options, columns, where), stream=True) as program:
            start = b""  # the schema and the dictionaries, which polars reads before each batch
            for kind, head, body in _messages(program.stdout):
                message = b"".join((start, head, body))
                if kind != _RECORD_BATCH:
                    start = message
                if kind != _DICTIONARY_BATCH:
                    frame = polars.read_ipc_stream(io.BytesIO(message))
                    yield frame if columns is None else frame.select(columns)
            program.finish()  # or raise the error of the program

    def read(columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _: int | None) -> Iterator[pl.DataFrame]:
        where: list[str] = []
        about = set() if predicate is None else set(predicate.meta.root_names())
        if len(about) == 1 and schema[name := about.pop()].is_integer():
            where = condition(options, name, lambda name: polars.concat(frames([name])).unique(), lambda v: v.filter(predicate).to_series().to_list())
        for frame in frames([*schema] if columns is None else columns, where):
            frame = (frame if predicate is None else frame.filter(predicate)).slice(0, rows)
            rows = None if rows is None else rows - frame.height
            yield frame  # which has no rows afterwards in polars 1.20
            if rows == 0:
                return

    with contextlib.closing(frames()) as first:
        schema = dict(next(first).schema)
    if options.get("columns") is None:  # polars counts the rows of the first column
        schema = dict(sorted(schema.items(), key=lambda column: not column[1].is_numeric()))
    frame: pl.LazyFrame = plugins.register_io_source(read, schema=schema)
    return frame


def _messages(stream: IO[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    """The kinds, heads and bodies of the messages of an Arrow stream, up to its end or where it is cut off.

    A head is a marker, the size of the metadata, and the metadata. The metadata are a table
    of flatbuffers: the kind is its field 1, the size of the body is 3, if it is not 0.
    """

    def number(form: str, at: int) -> int:
        return int(struct.unpack_from("<" + form, head, at)[0])

    while len(head := stream.read(8)) == 8 and (size := number("i", 4)) > 0:
        head += stream.read(size)
        if len(head) < 8 + size:
            return
        table = 8 + number("i", 8)
        fields = table - number("i", table)
        place = number("H", fields + 10) if number("H", fields) > 10 else 0
        size = number("q", table + place) if place else 0
        body = stream.read(size)
        if len(body) < size:
            return
        yield number("B", table + number("H", fields + 6)), head, body
