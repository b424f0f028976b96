"""Options, and the files and objects that they name: resolved once, on the driver."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .._program import IdxError, IdxWarning, divisible, find_program, run
from ._files import File, Object, readable, seen, with_query

# Options that are flags of the program under another name.
_FLAGS = {"dataset": "--dataset", "transpose": "--transpose", "shape": "--shape", "maxRecordBytes": "--max-record-bytes"}
_OPTIONS = (
    "path", "paths", "images", "labels", "columns", "split", "layout", "select", "rows", "rowsPerPartition", "rowIndex", "pushFilters", "identity", "binary",
    *_FLAGS,
)  # fmt: skip


@dataclass(frozen=True)
class Inputs:
    """A table as load() saw it."""

    arguments: tuple[str, ...]  # of the program, with the parameters of URLs
    files: tuple[File | Object, ...]  # of the arguments
    rows: int
    schema: pa.Schema  # of the Arrow stream
    homes: Mapping[str, str]  # column → argument, where each has one column and can be read alone
    flags: tuple[str, ...]  # of every run


def choice(options: Mapping[str, str], name: str, *values: str) -> str:
    """The value of an option, one of several, by default the first."""
    value = str(options.get(name, values[0])).lower()
    if value not in values:
        raise IdxError(f"option {name}: found {value}, expected {' or '.join(values)}")
    return value


def words(options: Mapping[str, str], name: str) -> list[str]:
    """The parts of an option that is a list with commas, none if it is not given."""
    found = [word.strip() for word in options.get(name, "").split(",") if word.strip()]
    if name in options and not found:
        raise IdxError(f"option {name} is empty: perhaps a variable is not set")
    return found


def resolve(options: Mapping[str, str]) -> Inputs:
    """Find the files and read their headers. Raises IdxError, with the program's message if it refuses them."""
    for name in options:  # a misspelt one must not be ignored
        if name.lower() not in {option.lower() for option in _OPTIONS}:
            raise IdxError(f"unknown option {name}; there are {', '.join(sorted(_OPTIONS))}")
    binary = find_program(options.get("binary"))
    named = _columns(options)
    paths = json.loads(options["paths"]) if "paths" in options else [options["path"]] if "path" in options else []
    paths = [readable(path) for path in paths]
    if bool(named) == bool(paths):
        raise IdxError("give either a path, as in load(path), or the options images, labels and columns")
    urls = [*named.values(), *paths]
    given = [f"{name}={with_query(path, urls)}" for name, path in named.items()] or [with_query(path, urls) for path in paths]
    layout = choice(options, "layout", "list", "nested", "binary")
    flags = ("--layout", layout, *(f"{flag}={options[name]}" for name, flag in _FLAGS.items() if name in options))
    look = (binary, given, flags + tuple(f"--split={split}" for split in words(options, "split")))
    schema, report = _look(*look)
    # Tasks get the name of the data set, or none: they need not detect it again, by a hash of the labels.
    if "dataset" not in options:
        flags += ("--dataset", (schema.metadata or {}).get(b"idx.dataset", b"none").decode())
    # One file may be several columns: then it is one argument, unless the columns are named.
    found = {entry["path"]: seen(entry) for entry in report["inputs"]}
    files = tuple(found[entry["path"]] for entry in report["inputs"]) if named else tuple(found.values())
    arguments = tuple(given if named else (with_query(readable(path), urls) for path in found))
    columns, homes = [entry["column"] for entry in report["inputs"]], {}
    if sorted(columns) == sorted(schema.names) and len(columns) == len(arguments) and divisible(options, columns):
        homes = dict(zip(columns, arguments))
    first = report["inputs"][0]
    # The ETag of an object belongs to the version that was read. A local file is identified after its header was
    # read: it may have been replaced in between.
    if any(isinstance(file, File) for file in files):
        again, now = _look(*look)
        if not again.equals(schema, check_metadata=True) or now["inputs"] != report["inputs"]:
            raise IdxError(f"{first['path']}, or what belongs to it, was replaced while load() looked at it: load it again")
    rows = first.get("source_rows", -1)  # the program was given --rows 0:0
    if rows < 0:
        raise IdxError(f"{first['path']}: the file does not say how many rows it has, which partitions need", hint="convert it to Parquet, which Spark reads")
    return Inputs(arguments, files, rows, schema, homes, flags)


def _columns(options: Mapping[str, str]) -> dict[str, str]:
    """The files and URLs that are named as columns."""
    named = {name: readable(options[option]) for name, option in (("image", "images"), ("label", "labels")) if option in options}
    for word in words(options, "columns"):
        name, equals, path = word.partition("=")
        if not equals or not name or not path or name in named:
            # A URL's query is not shown; a comma in it would split it into words.
            found = "" if "?" in options["columns"] else f"found {word}, "
            raise IdxError(f"option columns: {found}expected name=path, each name once")
        named[name] = readable(path)
    return named


def _look(binary: str, inputs: list[str], flags: tuple[str, ...]) -> tuple[pa.Schema, dict[str, Any]]:
    """The schema of the table, without reading its data, and the report of the run. The program also compares the columns' lengths."""
    data, report = without_rows([binary, "convert", *inputs, "--rows", "0:0", "-o", "arrows=-", "--quiet", "--json", *flags])
    return pa.ipc.open_stream(data).schema, report


def without_rows(command: list[str]) -> tuple[bytes, dict[str, Any]]:
    """The stream and the report of a run that reads no rows, of which it warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdxWarning)
        return run(command, stdin=False, tied=True)
