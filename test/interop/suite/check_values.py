"""The corpus of the matrix and more, by the readers that run in this process: every value, and the element type."""

from __future__ import annotations

import re

from matrix import cells
from matrix.corpus import CODECS, Corpus, Input, table
from matrix.python import READERS
from matrix.refusals import REFUSALS

from . import tensors
from .bench import Bench, Mismatch, equal

TYPED = ("pyarrow", "polars", "DuckDB")  # readers that have every element type of IDX


def more(corpus: Corpus, full: bool) -> None:
    """Lists and bytes of every small shape, also without elements, and of many batches, pages and row groups."""
    large = [*tensors.large()]
    for i, tensor in enumerate([*tensors.small(), *large]):
        for layout in ("list", "fixed-binary"):
            source = Input(f"more-{tensor.name}", tensor, None)
            for j, codec in enumerate(CODECS["parquet"]):
                if full or (i + j) % 5 == 0 or tensor in large and codec == "none" and layout == "list":
                    corpus.convert(source, {"parquet": f"more-{tensor.name}.{layout}.{codec}.parquet"}, layout, codec)
            for form in ("arrow", "arrows"):
                codec = CODECS[form][i % 3]
                corpus.convert(source, {form: f"more-{tensor.name}.{layout}.{codec}.{form}"}, layout, codec)
    big = table(tensors.make("uint8", (24_001, 3, 5)))
    corpus.convert(big, {"parquet": "big.columns.parquet", "arrow": "big.columns.arrow"}, "columns")


def check_case(reader: str, case: cells.Case) -> None:
    """Every value and the element type; or the words with which the reader is known to refuse the file."""
    facts = {"format": case.format, "layout": case.layout, "codec": case.codec, "file": case.path.name}
    known = [refusal for refusal in REFUSALS if refusal.reader == reader and refusal.covers(facts)]
    try:
        found = READERS[reader][0](case)
        for name, expected in case.columns.items():
            cells.compare(name, found.columns[name], expected, case.format == "csv")
    except Exception as error:
        if not any(re.search(refusal.words, str(error)) for refusal in known):
            raise
        return
    if known:
        raise Mismatch(f"the file was read, but matrix/refusals.py says: {known[0].why}")
    if reader in TYPED and case.format in CODECS and case.layout in cells.NUMBERS:
        equal("columns of the input's types", found.exact, True)


def check(bench: Bench) -> None:
    """All files by all readers."""
    with bench.folder("corpus") as folder:
        corpus = Corpus(bench.binary, folder, [])
        corpus.layouts(bench.full)
        corpus.others()
        more(corpus, bench.full)
        corpus.close()
        commands = {str(entry["file"]): str(entry["command"]) for entry in corpus.list}
        for reader, (_, formats) in READERS.items():
            for case in cells.cases(folder, *formats):
                with bench.report.case(f"{case.path.name} read by {reader}", commands[case.path.name]):
                    check_case(reader, case)


GROUPS = {"values of every layout, codec and reader": check}
