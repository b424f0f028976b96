"""Tables for polars, without pyarrow, whose import takes longer than most queries."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Generator, Iterator, Sequence
from struct import unpack_from
from typing import IO, TYPE_CHECKING

from ._program import Option, Path, divisible, lasting, needs, query
from ._stream import Output

if TYPE_CHECKING:
    import polars as pl

# Kinds of messages (Arrow's Message.fbs, MessageHeader).
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3

# The most values of a column that a predicate is tried with: more than there are labels.
_TRIED = 1000

# Options that choose among the rows that meet conditions.
_AFTER = {"holdout", "shuffle", "take", "part"}


def lazy(inputs: Sequence[Path], options: dict[str, Option]) -> pl.LazyFrame:
    """See `idxport.scan_polars`."""
    inputs, options = lasting(inputs, options)
    polars, plugins = needs("polars", "polars"), importlib.import_module("polars.io.plugins")
    if tuple(map(int, polars.__version__.split(".")[:2])) < (1, 22):  # which forgets the conditions that it does not pass on
        raise ImportError(f"found polars {polars.__version__}, expected 1.22 or later: pip install 'idxport[polars]'")

    def frames(columns: Sequence[str] | None = None, where: Sequence[str] = ()) -> Generator[pl.DataFrame]:
        """A frame without rows, and then one for each batch."""
        with Output(query(inputs, options, columns if columns and plain else None, where)) as program:
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
        name = about.pop() if len(about) == 1 else ""
        if plain and rows is None and _AFTER.isdisjoint(options) and name.isidentifier() and schema[name].is_integer():
            values = polars.concat(frames([name])).unique()
            kept = values.filter(predicate)[name].to_list()
            if 0 < len(kept) < len(values) <= _TRIED:
                where = [f"{name}={','.join(map(str, kept))}"]
        for frame in frames([*schema] if columns is None else columns or [*schema][:1], where):
            frame = frame.slice(0, rows)  # which polars means before the predicate
            rows = None if rows is None else rows - frame.height
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame.drop(frame.columns) if columns == [] and not polars.__version__.startswith("1.") else frame  # 2.0 keeps the rows
            if rows == 0:
                return

    with contextlib.closing(frames()) as first:
        schema = dict(next(first).schema)
    plain = divisible(options, list(schema))
    if options.get("columns") is None and plain:  # polars counts the rows of the first column
        schema = dict(sorted(schema.items(), key=lambda column: not column[1].is_numeric()))
    return plugins.register_io_source(read, schema=schema)


def _messages(stream: IO[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    """The kinds, heads and bodies of the messages of an Arrow stream, up to its end or where it is cut off.

    A head is a marker, the size of the metadata, and the metadata: a table of flatbuffers. Its vtable has two sizes and
    the places of the fields. The kind is field 1, the size of the body is 3, if it is not 0.
    """
    while len(head := stream.read(8)) == 8 and (size := unpack_from("<i", head, 4)[0]) > 0:
        head += stream.read(size)
        if len(head) < 8 + size:
            return
        table = 8 + unpack_from("<i", head, 8)[0]
        vtable = table - unpack_from("<i", head, table)[0]
        length, _, _, kind, _, place = unpack_from("<6H", head, vtable)
        size = unpack_from("<q", head, table + place)[0] if length > 10 and place else 0
        if len(body := stream.read(size)) < size:
            return
        yield head[table + kind], head, body
