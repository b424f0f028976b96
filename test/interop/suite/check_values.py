"""The corpus of the matrix and more, by the readers that run in this process: every value, and the type of every column of numbers."""

from __future__ import annotations

import re

import numpy as np
import polars

from matrix import cells
from matrix.corpus import CODECS, Corpus, Input, table
from matrix.python import READERS
from matrix.refusals import REFUSALS

from . import tensors
from .bench import Bench, Mismatch, equal

ARROW = {"float32": "float", "float64": "double"}
POLARS = {dtype: str(getattr(polars, dtype.replace("uint", "UInt").replace("int", "Int").replace("float", "Float"))) for dtype in tensors.CODES}
DUCKDB = {"uint8": "UTINYINT", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "float32": "FLOAT", "float64": "DOUBLE"}


def kind(reader: str, case: cells.Case) -> str | None:
    """The type of the tensor's column in the reader's words; None where the reader has none for it, or several."""
    dtype, shape = case.image.dtype.name, case.image.shape[1:]
    names = {"pyarrow": {dtype: ARROW.get(dtype, dtype)}, "polars": POLARS, "DuckDB": DUCKDB}.get(reader)
    if names is None or case.format not in CODECS or case.layout in ("huggingface", "spark-image"):
        return None
    scalar, width = names[dtype], int(np.prod(shape))
    if not shape:
        return scalar
    if case.layout == "columns":
        return f"{scalar} columns"
    if "binary" in case.layout:
        size = width * case.image.itemsize
        fixed = f"fixed_size_binary[{size}]" if size and case.layout == "fixed-binary" else "binary"
        return {"pyarrow": fixed, "polars": "Binary", "DuckDB": "BLOB"}[reader]
    if not width:  # records of no elements are plain lists
        return {"pyarrow": f"list<element: {scalar}>", "polars": f"List({scalar})", "DuckDB": f"{scalar}[]"}[reader]
    if case.layout == "tensor":
        return None if reader != "pyarrow" else f"arrow.fixed_shape_tensor[value_type={scalar}, shape=[{','.join(map(str, shape))}]"
    sizes = shape if case.layout == "nested" else (width,)
    if reader == "DuckDB":
        return scalar + "[]" * len(sizes)
    if reader == "polars":
        return f"Array({scalar}, shape={sizes})"
    for size in reversed(sizes):
        scalar = f"fixed_size_list<element: {scalar}>[{size}]"
    return scalar


def more(corpus: Corpus, full: bool) -> None:
    """Lists and bytes of every small shape, those without elements among them; and of many batches, pages and row groups."""
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
    """Every value and the type; or the words with which the reader is known to refuse the file."""
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
        raise Mismatch(f"was read, though matrix/refusals.py says: {known[0].why}")
    expected = kind(reader, case)
    if expected and (case.image.size or reader == "pyarrow"):
        equal("the type", found.kind.replace("]]", "]") if case.layout == "tensor" else found.kind, expected)


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
