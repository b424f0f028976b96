"""Reading into Arrow and NumPy."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from ._program import TYPE_CHECKING, IdxError, Option, Path, Rows, arguments, needs, run

if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from ._scan import Scan


def scan(
    *inputs: Path, columns: str | Sequence[str] | None = None, rows: Rows | None = None, split: str | None = None, layout: str = "list", **options: Option
) -> Scan:
    """Describe a table of IDX files, which DuckDB, polars, pandas and pyarrow read as often as they like.

    Each reading is a run of the program, in bounded memory, which ends with its reader. Raises IdxError if the inputs
    cannot be read; damage that is found later is raised by the reader.

    Parameters
    ----------
    inputs
        Folders, files, ``NAME=FILE`` or URLs, also of the other formats that idxport reads.
    columns
        The names of the columns to read, in this order; by default all.
    rows
        The rows to read: ``slice(0, 1000)``, ``range(1000)``, or a string such as ``"-100:"``.
    split
        The split to read, such as ``"train"``; needed if the inputs have several.
    layout
        How images are represented: ``"list"``, ``"nested"``, ``"tensor"``, ``"fixed-binary"``,
        ``"binary"``, ``"huggingface"`` or ``"columns"``.
    options
        Other flags of ``idxport convert`` with ``_`` for ``-``: ``where=["label=3-7"]``,
        ``shuffle=True``, ``seed=1``, ``take=1000``, ``shape=(28, 28)``.

    >>> import duckdb, idxport
    >>> digits = idxport.scan("./mnist", split="train")
    >>> duckdb.sql("SELECT label, count(*) FROM digits GROUP BY label ORDER BY label")
    """
    needs("nanoarrow", "arrow")
    from ._scan import table

    return table(inputs, {"columns": columns, "rows": rows, "split": split, "layout": layout, **options})


def scan_polars(*inputs: Path, **options: Any) -> pl.LazyFrame:
    """Describe a table like `scan`, as a LazyFrame of polars, which reads the columns and rows that a query needs.

    >>> digits = idxport.scan_polars("./mnist", split="train")
    >>> digits.group_by("label").len().collect()
    """
    from ._polars import lazy

    return lazy(inputs, options)


class Arrays(dict["str", "Any"]):
    """Arrays by column, or by table and column; `classes` has the names of the labels, if they are known."""

    classes: list[str]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {'x'.join(map(str, a.shape))} {a.dtype}" if hasattr(a, "dtype") else f"{name}: {', '.join(a)}" for name, a in self.items())


def load(*inputs: Path, columns: str | Sequence[str] | None = None, rows: Rows | None = None, split: str | None = None, **options: Option) -> Arrays:
    """Read IDX files into NumPy arrays. The parameters are those of `scan`.

    Returns a dict of the arrays by the names of their columns, such as ``image`` and ``label``, which can be written
    to. If the inputs have several splits or tables and `split` is not given, it is a dict of such dicts, by their
    names. Its attribute `classes` has the names of the labels, if they are known, and the same for all: those of the
    column ``label``, or of the only column that has names. Raises IdxError if the inputs cannot be read.

    >>> digits = idxport.load("./mnist", split="train")
    >>> digits["image"].shape
    (60000, 28, 28)
    >>> idxport.load("./mnist")["test"]["image"].shape
    (10000, 28, 28)
    """

    def read(made: str) -> Arrays:
        flags = dict(columns=columns, rows=rows, split=split, **options, output=f"npy={made}/{{split}}/")
        _, report = run(arguments("convert", inputs, flags), meanwhile=lambda: needs("numpy", "numpy"))  # takes as long
        return _arrays(made, report, options.get("label_column") or "label")

    return with_folder(read)  # type: ignore[no-any-return]


def with_folder(work: Callable[[str], Any]) -> Any:
    """Call `work` with a new folder in memory, or if there is no room in memory, on a disk. Nobody else may read it, and it is removed at the end."""
    for in_memory in (True, False):
        if not in_memory:
            import tempfile
        made = os.path.join("/dev/shm" if in_memory else tempfile.gettempdir(), f"idxport-{os.urandom(8).hex()}")
        try:
            os.mkdir(made, 0o700)
            return work(made)
        except (IdxError, OSError) as error:
            if not in_memory or getattr(error, "code", "io") != "io" or getattr(error, "errno", 0) is None:  # of a signal's handler
                raise
        finally:
            for inner, _, files in os.walk(made, topdown=False):
                for file in files:
                    with contextlib.suppress(OSError):  # somebody else has removed it
                        os.remove(os.path.join(inner, file))
                with contextlib.suppress(OSError):
                    os.rmdir(inner)


def _arrays(made: str, report: dict[str, Any], label: Option) -> Arrays:
    """Open the .npy files of a report, which are removed afterwards: by column or, if there are several tables, by table and column."""
    import numpy as np

    # Mapped, as reading would copy them again; but Windows cannot remove a file that is open. A write changes only this process's copy of a page.
    tables = Arrays()
    named: dict[str, dict[Option, list[str]]] = {}  # the lists of class names by table and column
    assert len(report["inputs"]) == len(report["outputs"])
    files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(made) for name in names)
    for column, output in zip(report["inputs"], report["outputs"]):
        shown = os.path.normpath(output["path"])  # where bytes that are not UTF-8 are U+FFFD
        file = files.pop([each.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for each in files].index(shown))
        split = os.path.dirname(file)[len(made) + 1 :]
        table, names = tables.setdefault(split, Arrays()), named.setdefault(split, {})
        table[column["column"]] = np.asarray(np.load(file, mmap_mode=None if os.name == "nt" else "c"))
        if "classes" in column:
            names[column["column"]] = column["classes"]
        table.classes = names.get(label, []) if label in table or len(names) != 1 else next(iter(names.values()))
    tables.classes = table.classes if all(each.classes == table.classes for each in tables.values()) else []
    return tables if len(tables) > 1 else table
