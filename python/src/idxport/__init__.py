"""Read and convert IDX files, the format of MNIST and its relatives.

    idxport.scan("./mnist", split="train")          a table for DuckDB, polars, pandas, pyarrow
    idxport.load("./mnist", split="train")          a dict of NumPy arrays
    idxport.save("out/", image=x, label=y)          arrays as IDX files
    idxport.convert("./mnist", output="out/")       to Parquet, Arrow, CSV, PNG folders, .npy, and back
    idxport.inspect("./mnist")                      shapes, types, values and damage
    idxport.preview("./mnist", split="test")        a contact sheet
    idxport.verify("out/", "./mnist")               two tables, compared value by value

The program idxport does the work. `scan` needs nanoarrow and pyarrow, and `load` NumPy.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from ._program import TYPE_CHECKING, IdxError, IdxWarning, Option, Path, arguments, find_program, run
from ._read import load, scan, scan_polars
from ._save import save

if TYPE_CHECKING:
    from typing import Any

    from ._report import Column, File, Input, Inspection, Label, Output, Part, Problem, Report, Verified
    from ._scan import Scan

__all__ = [
    "Column", "File", "IdxError", "IdxWarning", "Input", "Inspection", "Label", "Output", "Part", "Picture", "Problem", "Report", "Scan", "Verified",
    "convert", "find_program", "inspect", "load", "preview", "save", "scan", "scan_polars", "verify",
]  # fmt: skip
__version__ = "0.1.0"


if not TYPE_CHECKING:  # of which a type checker would take every misspelt name

    def __getattr__(name: str) -> Any:
        """Import the types of reports and the data source when they are needed, as that takes longer than the rest together."""
        if name == "spark":
            return importlib.import_module(".spark", __name__)
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module("._scan" if name == "Scan" else "._report", __name__), name)


def convert(*inputs: Path, output: Path | Sequence[Path], **options: Option) -> Report:
    """Convert IDX files to other formats, and back. Raises IdxError if nothing was written.

    Parameters
    ----------
    inputs
        Folders, files, ``NAME=FILE`` or URLs.
    output
        Files, whose extension selects the format, folders, or ``FORMAT=PATH``. A list is several outputs.
    options
        The flags of ``idxport convert`` with ``_`` for ``-``: ``to="parquet,csv"``,
        ``overwrite=True``, ``verify=True``.

    >>> report = idxport.convert("./mnist", output="train.parquet", split="train")
    >>> report.outputs[0].rows
    60000
    """
    from ._report import Report, build

    data, report = run(arguments("convert", inputs, {"output": output, **options}))
    if not data.startswith(b'{"schema_version"'):
        raise ValueError("an output was standard output, which convert does not return: use load, scan or a file")
    return build(Report, report)


def verify(output: Path, *inputs: Path, **options: Option) -> Report:
    """Compare a file or folder with the inputs that it was made from, value by value.

    Raises IdxError if they differ: `code` is ``"differs"``, and the message names the first difference.
    """
    from ._report import Report, build

    return build(Report, run(arguments("verify", (output, *inputs), options))[1])


def inspect(*inputs: Path, **options: Option) -> Inspection:
    """Read files to their end, and describe what they hold, and their damage in `File.problem`.

    A notebook shows the result as contact sheets. Raises IdxError if the inputs cannot be found.
    """
    from ._report import Inspection, build

    return build(Inspection, run(arguments("inspect", inputs, options))[1], _inspected=(inputs, options))


class Picture(bytes):
    """A PNG file, which notebooks show."""

    def __repr__(self) -> str:
        return f"<idxport.Picture of {len(self):,} bytes>"

    def _repr_png_(self) -> bytes:
        return bytes(self)


def preview(*inputs: Path, **options: Option) -> Picture:
    """Draw a contact sheet of the images of one split: a row for each class, of ``images=10``. Inputs are those of `convert`.

    >>> idxport.preview("./mnist", split="test")
    >>> pathlib.Path("digits.png").write_bytes(idxport.preview("./mnist", split="test"))
    """
    return Picture(run(arguments("preview", inputs, dict(**options, output="-")))[0])
