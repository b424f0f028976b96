"""The program's reports as objects. docs/report.schema.json of the project describes their fields."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from ._program import IdxError, Option, Path, arguments, in_python, run

# Options of convert that preview does not have.
_NOT_SHOWN = {"columns", "layout", "part", "class_column", "compression", "expect", "if_changed", "verify", "workers"}

_T = TypeVar("_T")


@dataclass(frozen=True)
class Input:
    """A column that was read; `rows` is -1 if its number was not known before."""

    path: str
    column: str
    dtype: str
    shape: list[int]  # of one record
    rows: int
    split: str | None = None
    source_rows: int | None = None  # of the whole input, if only some rows were selected
    dataset: str | None = None
    etag: str | None = None
    sequential: bool = False
    classes: list[str] = field(default_factory=list)  # the names of labels


@dataclass(frozen=True)
class Part:
    """A file of an output that was divided."""

    path: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class Output:
    """An output that was published."""

    path: str
    format: str
    rows: int
    bytes: int
    split: str | None = None
    files: int | None = None  # of a folder
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class Verified:
    """An output that equals its inputs."""

    path: str
    rows: int
    columns: list[str]
    split: str | None = None
    missing: list[str] = field(default_factory=list)  # columns that its format cannot hold


@dataclass(frozen=True)
class Label:
    """A label and the number of rows that have it."""

    label: int
    count: int
    name: str | None = None


@dataclass(frozen=True)
class Column:
    """The values of a column; the smallest, largest and mean value are None if there are none."""

    name: str
    min: float | None
    max: float | None
    mean: float | None
    zeros: int
    elements: int
    dtype: str | None = None
    shape: list[int] | None = None
    nans: int = 0
    infinities: int = 0
    labels: list[Label] = field(default_factory=list)


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file."""

    message: str
    hint: str | None = None
    path: str | None = None
    offset: int | None = None


@dataclass(frozen=True)
class File:
    """A file that was inspected."""

    path: str
    role: str
    dtype: str
    shape: list[int] | None
    compression: str
    file_bytes: int
    payload_bytes: int
    whole: bool
    split: str | None = None
    format: str | None = None
    dataset: str | None = None
    dataset_by: str | None = None
    sequential: bool = False
    etag: str | None = None
    problem: Problem | None = None
    columns: list[Column] = field(default_factory=list)


def sheet(inputs: Sequence[Path], options: Mapping[str, Option]) -> str | None:
    """A contact sheet of images as HTML, None if there are none."""
    try:
        picture, _ = run(arguments("preview", inputs, {**{k: v for k, v in options.items() if k not in _NOT_SHOWN}, "output": "-"}), stdin=False)
    except IdxError:
        return None
    return f'<img alt="images" src="data:image/png;base64,{base64.b64encode(picture).decode()}">'


def _lines(title: str, rows: Sequence[str]) -> str:
    """A title and rows that fit 80 columns."""
    shown = [title, *rows[:20], *(["…"] if len(rows) > 20 else [])]
    return "\n  ".join(row if len(row) <= 78 else row[:77] + "…" for row in shown)


@dataclass(frozen=True, repr=False)
class Report:
    """What a run has read and written."""

    status: str
    seconds: float
    inputs: list[Input]
    outputs: list[Output]
    applied: list[Mapping[str, Any]]
    notes: list[str]
    warnings: list[str]
    unchanged: list[str] = field(default_factory=list)
    verified: list[Verified] = field(default_factory=list)  # of verify; convert(verify=True) has its outputs, or fails

    def __repr__(self) -> str:
        done = [(each.path, each.rows) for each in self.outputs] + [(each.path, each.rows) for each in self.verified]
        rows = [f"{path}  {n:,} rows" for path, n in done] + [f"{path}  unchanged" for path in self.unchanged]
        return _lines(f"<idxport.Report: {self.status}>", rows)


@dataclass(frozen=True, repr=False)
class Inspection:
    """What files hold. In a notebook it is shown as contact sheets of their images."""

    files: list[File]
    notes: list[str]
    warnings: list[str]
    seconds: float
    _inspected: tuple[Sequence[Path], Mapping[str, Option]] = ((), {})

    def __repr__(self) -> str:
        rows = [f"{each.path}  {each.dtype} {each.shape or ''}  {'complete' if each.whole else 'damaged'}" for each in self.files]
        return _lines("<idxport.Inspection>", rows)

    def _repr_html_(self) -> str | None:
        inputs, options = self._inspected
        sheets = [sheet(inputs, {**options, "split": split}) for split in dict.fromkeys(each.split for each in self.files)]
        return "<br>".join(filter(None, sheets)) or None


_NESTED = {"inputs": Input, "outputs": Output, "parts": Part, "verified": Verified, "files": File, "columns": Column, "labels": Label, "problem": Problem}


def build(kind: type[_T], values: Mapping[str, Any], **more: Any) -> _T:
    """Make a dataclass of a JSON object. Fields that it does not know are left out: they are of a later version of the program."""
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{key: _nested(key, value) for key, value in values.items() if key in known}, **more)


def _nested(key: str, value: Any | list[Any]) -> Any:
    if isinstance(value, list):
        return [_nested(key, each) for each in value]
    if key in ("message", "hint"):  # of a problem
        return in_python(value)
    return build(_NESTED[key], value) if key in _NESTED and isinstance(value, dict) else value
