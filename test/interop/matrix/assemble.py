#!/usr/bin/env python3
"""Put the records of all readers together as MATRIX.md and as the table of docs/formats.md.

usage: $(test/interop/venv) -m matrix.assemble --corpus FOLDER --cells FOLDER [--write]        (in test/interop)

Every reader must have recorded every file of its formats. A file that was not read must be listed in
matrix/refusals.py, with the message of the reader, and a listed file must not be read. Then the pages are compared
with the records; --write writes them. Exits with 1 if a record is unexpected or a page differs.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from .cells import NUMBERS, arguments
from .corpus import CODECS
from .refusals import REFUSALS, Refusal

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "MATRIX.md"
FORMATS = HERE.parents[2] / "docs" / "formats.md"
BEGIN, END = "<!-- matrix -->", "<!-- /matrix -->"

# The readers, in the order of the columns, and the formats that they are for.
TABLES = ("parquet", "arrow", "csv")
READERS = {
    "pyarrow": (*TABLES, "arrows"),
    "pandas": TABLES,
    "polars": (*TABLES, "arrows"),
    "DuckDB": ("parquet", "csv"),
    "Spark": ("parquet", "csv", "png"),
    "Spark, row reader": ("parquet",),
    "datasets": (*TABLES, "png", "tar"),
    "hyparquet": ("parquet",),
    "apache-arrow": ("arrow", "arrows"),
    "parquet-go": ("parquet",),
    "arrow-go": ("parquet", "arrow"),
    "numpy": ("csv", "npy", "idx"),
    "Pillow": ("png", "tar"),
    "OpenCV": ("png", "tar"),
}
TYPED = ("pyarrow", "polars", "DuckDB")  # readers that have every element type of IDX
LAYOUTS = ["list", "nested", "tensor", "fixed-binary", "binary", "huggingface", "columns"]
ROWS = [(form, layout) for form in ("parquet", "arrow") for layout in LAYOUTS] + [(form, "") for form in ("csv", "png", "tar", "npy", "idx")]
TITLES = {"parquet": "Parquet", "arrow": "Arrow", "csv": "CSV", "png": "PNG folder", "tar": "tar", "npy": "npy", "idx": "IDX"}
# A short name where the type of the column is too long for the table.
SHORT = {"huggingface": "struct"}

COLUMNS = " columns"  # after the type of each, where the record is many columns

Line = dict[str, str]


class Matrix:
    """All records, by reader and file."""

    def __init__(self, corpus: Path, cells: Path, readers: Iterable[str] = READERS) -> None:
        """Read the cases and the records of readers, and judge every one."""
        self.cases: dict[str, Line] = {}
        for line in (corpus / "cases.jsonl").read_text().splitlines():
            case = json.loads(line)
            self.cases[case["file"]] = case
        self.problems: list[str] = []
        self.lines: dict[tuple[str, str], Line] = {}
        self.refused: dict[tuple[str, str, str], set[Refusal]] = defaultdict(set)
        self.happened: set[Refusal] = set()
        for reader in readers:
            path = cells / f"{reader}.jsonl"
            for text in path.read_text().splitlines() if path.exists() else []:
                line = json.loads(text)
                self.lines[reader, line["file"]] = line
            for file, case in self.cases.items():
                if case["format"] in READERS[reader]:
                    self.judge(reader, case, self.lines.get((reader, file)))
        absent = [r for r in REFUSALS if r.reader in readers and r not in self.happened]
        self.problems += [f"{r.reader}: never happened: {r.words!r}" for r in absent]

    def judge(self, reader: str, case: Line, line: Line | None) -> None:
        """One record."""
        where = f"{reader}, {case['file']}, made by {case['command']}"
        if line is None:
            self.problems.append(f"{where}: no record")
            return
        known = [refusal for refusal in REFUSALS if refusal.reader == reader and refusal.covers(case)]
        said = line.get("refuses") or line.get("differs")
        if said is None:
            self.problems += [f"{where}: was read, though matrix/refusals.py says: {r.why}" for r in known]
            if reader in TYPED and case["format"] in CODECS and case["layout"] in NUMBERS and not line["exact"]:
                self.problems.append(f"{where}: the types are not those of the input")
            return
        fitting = [refusal for refusal in known if re.search(refusal.words, said)]
        if not fitting:
            self.problems.append(f"{where}: {said[:300]}")
        self.happened.update(fitting)
        if not case["more"]:
            self.refused[reader, case["format"], case["layout"]].update(fitting)

    def of(self, reader: str, form: str, layout: str) -> Iterator[tuple[Line, Line]]:
        """The cases of a cell and their records."""
        for file, case in self.cases.items():
            if (case["format"], case["layout"]) == (form, layout) and (reader, file) in self.lines and not case["more"]:
                yield case, self.lines[reader, file]

    def cell(self, reader: str, form: str, layout: str, notes: list[str], short: bool) -> str:
        """How the reader reads this layout: the type of the shown input, and the notes on files that it does not read."""
        if form not in READERS[reader]:
            return "–"
        found = list(self.of(reader, form, layout))
        shown = next((line for case, line in found if case["shown"] and "kind" in line), None)
        refusals = sorted(self.refused[reader, form, layout], key=REFUSALS.index)
        marks = "".join(f"<sup>{number(notes, f'{r.reader}: {r.why}')}</sup>" for r in refusals)
        if shown is None:
            return f"refuses{marks}" if short else f"refuses: {'; '.join(r.why for r in refusals)}"
        kind = SHORT.get(layout, shown["kind"]) if short and not shown["exact"] else shown["kind"]
        name, of = kind.removesuffix(COLUMNS), "columns of " if kind.endswith(COLUMNS) else ""
        return f"exact{marks}" if short and shown["exact"] else f"{'exact:' if shown['exact'] else 'as'} {of}`{name}`{marks}"


def number(notes: list[str], note: str) -> int:
    """The number of a note, which is added if it is new."""
    if note not in notes:
        notes.append(note)
    return notes.index(note) + 1


def row_name(form: str, layout: str) -> str:
    """The first cell of a row."""
    return f"{TITLES[form]} `{layout}`" if layout else TITLES[form]


def page(matrix: Matrix) -> str:
    """MATRIX.md: a table for each group of readers, whose cells name the types."""
    notes: list[str] = []
    codecs = {form: sorted({case["codec"] for case in matrix.cases.values() if case["format"] == form}) for form in ("parquet", "arrow")}
    lines = [
        "# What reads what",
        "",
        "Made by `test/run interop --write` from what the readers did, and checked by `test/run interop`: "
        "do not edit it by hand.",
        "",
        "**exact**: every value of every file is the same as in the IDX input, bit for bit, in the same type. **as**: every value is the same as in the",
        "input, in the type that is shown; bytes and structs were decoded for this test. **refuses**: the reader reports an error, and why. **–**: the reader was",
        "not tried with this format. The types are those of 11 images of 7×9 unsigned bytes. Any NaN equals any NaN in CSV, in the JVM and in JavaScript.",
        "",
        f"Files: {', '.join(f'{count} {TITLES[form]}' for form, count in counts(matrix))}: every data type, ranks 1 to 4, no record, one record, "
        f"300,000 records, with labels; Parquet as {', '.join(codecs['parquet'])}, Arrow as {', '.join(codecs['arrow'])}.",
    ]
    names = list(READERS)
    for group in (names[:4], names[4:7], names[7:11], names[11:]):
        lines += ["", f"| | {' | '.join(group)} |", f"|---|{'---|' * len(group)}"]
        for form, layout in ROWS:
            if any(form in READERS[reader] for reader in group):
                cells = [matrix.cell(reader, form, layout, notes, False) for reader in group]
                lines.append(f"| {row_name(form, layout)} | {' | '.join(cells)} |")
    lines += ["", *[f"{i}. {note}." for i, note in enumerate(notes, 1)]]
    return "\n".join(lines) + "\n"


def counts(matrix: Matrix) -> Iterator[tuple[str, int]]:
    """The number of files of each format, without those that only the full corpus has: no page is about them."""
    for form in TITLES:
        yield form, sum(case["format"] == form and not case["more"] for case in matrix.cases.values())


def compact(matrix: Matrix) -> str:
    """The table of docs/formats.md: a row for each layout of Parquet and for each other format."""
    notes: list[str] = []
    names = [name for name in READERS if name not in ("apache-arrow", "Spark, row reader", "Pillow", "OpenCV", "numpy")]
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for layout in LAYOUTS:
        cells = [matrix.cell(reader, "parquet", layout, notes, True) for reader in names]
        lines.append(f"| Parquet `{layout}` | {' | '.join(cells)} |")
    lines.append(f"| Arrow `list` | {' | '.join(matrix.cell(reader, 'arrow', 'list', notes, True) for reader in names)} |")
    for form in ("csv", "png", "tar"):
        lines.append(f"| {TITLES[form]} | {' | '.join(matrix.cell(reader, form, '', notes, True) for reader in names)} |")
    return "\n".join([*lines, "", *[f"{i}. {note}." for i, note in enumerate(notes, 1)]])


def differs(path: Path, text: str, write: bool) -> bool:
    """Write the page, or report whether it differs."""
    if path.exists() and path.read_text() == text:
        return False
    if write:
        path.write_text(text)
        return False
    print(f"{path} differs from what the readers did: test/run interop --write writes it anew", file=sys.stderr)
    return True


def main() -> int:
    """Judge, and write or compare."""
    parser = arguments(__doc__)
    parser.add_argument("--write", action="store_true", help="write MATRIX.md and the table of docs/formats.md")
    options = parser.parse_args()
    matrix = Matrix(options.corpus, options.cells)
    for problem in matrix.problems:
        print(f"matrix: {problem}", file=sys.stderr)
    if matrix.problems:
        return 1
    print(f"matrix: {len(matrix.lines)} records, {len(matrix.happened)} kinds of refusals, all explained")
    stale = differs(PAGE, page(matrix), options.write)
    head, rest = FORMATS.read_text().split(BEGIN, 1)
    stale |= differs(FORMATS, f"{head}{BEGIN}\n{compact(matrix)}\n{END}{rest.split(END, 1)[1]}", options.write)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
