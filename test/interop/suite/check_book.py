"""The footers of Parquet files, compared with numpy and with the file; and readers that skip row groups with a
filter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.dataset
import pyarrow.parquet as pq

from matrix.corpus import CODECS, NUMERIC, PICTURES

from . import tensors
from .bench import ROOT, Bench, Mismatch, equal, table
from .tensors import Tensor, idx_file, make

# parquet-java's pattern for created_by (org.apache.parquet.VersionParser).
CREATED_BY = re.compile(r"(.*?)\s+version\s*(?:([^(]*?)\s*(?:\(\s*build\s*([^)]*?)\s*\))?)?")
MNIST = ROOT / "data/mnist"

def check_footer(path: Path, image: Tensor, label: Tensor, layout: str, codec: str) -> None:
    """The number of rows, created_by, and the key-value metadata."""
    file = pq.ParquetFile(path)
    equal("the number of rows", file.metadata.num_rows, image.rows)
    match = CREATED_BY.fullmatch(file.metadata.created_by)
    if not match or match[1] != "idxport" or not match[2]:
        raise Mismatch(f"created_by is {file.metadata.created_by!r}, which parquet-java cannot parse")
    pairs = dict(file.metadata.metadata or {})
    equal("unknown keys", sorted(pairs.keys() - {b"ARROW:schema", b"idx.sources", b"idx.applied", b"huggingface"}), [])
    equal("the sources", json.loads(pairs[b"idx.sources"]), ["image.idx", "label.idx"])
    equal("the key huggingface is there", b"huggingface" in pairs, layout == "huggingface")
    if len(pairs[b"ARROW:schema"]) > 2000 + 300 * len(file.schema_arrow):
        raise Mismatch(f"ARROW:schema has {len(pairs[b'ARROW:schema'])} bytes")
    if layout != "columns":
        metadata = file.schema_arrow.field("image").metadata or {}
        equal("idx.dtype", metadata.get(b"idx.dtype", b"").decode(), image.dtype)
        equal("idx.shape", json.loads(metadata.get(b"idx.shape", b"null")), list(image.values.shape[1:]))


def scalar_of(name: str, image: Tensor, label: Tensor) -> np.ndarray | None:
    """The values of a leaf that is a scalar column; None for the pixels of lists, bytes and pictures."""
    if name == "label":
        return label.values
    if match := re.fullmatch(r"pixel(\d+)", name):
        return image.values.reshape(image.rows, -1)[:, int(match[1])]
    constants = {"image.height": image.values.shape[1], "image.width": image.values.shape[2] if image.rank > 2 else 0}
    return np.full(image.rows, constants[name], np.int32) if name in constants else None


def check_statistics(path: Path, image: Tensor, label: Tensor, layout: str, codec: str) -> None:
    """Bounds and null counts of scalar columns are numpy's; pixels have no bounds, nor have floats with a NaN. DuckDB
    reads the same bounds of labels."""
    meta = pq.ParquetFile(path).metadata
    with duckdb.connect() as connection:
        query = "select stats_min_value, stats_max_value, stats_null_count from parquet_metadata(?) where path_in_schema = 'label' order by row_group_id"
        by_duckdb = connection.execute(query, [str(path)]).fetchall()
    start = 0
    for group in range(meta.num_row_groups):
        row_group = meta.row_group(group)
        rows = slice(start, start + row_group.num_rows)
        start += row_group.num_rows
        for i in range(row_group.num_columns):
            chunk = row_group.column(i)
            values = scalar_of(chunk.path_in_schema, image, label)
            statistics = chunk.statistics
            bounds = (statistics.min, statistics.max) if statistics is not None and statistics.has_min_max else None
            what = f"row group {group}, {chunk.path_in_schema}"
            if values is None:
                constant = chunk.path_in_schema in ("image.origin", "image.nChannels", "image.mode")
                if bounds is not None and not constant:
                    raise Mismatch(f"{what}: pixels have the bounds {bounds}")
                continue
            part = values[rows]
            ordered = part.dtype.kind != "f" or not np.isnan(part).any()
            equal(f"{what}: bounds", bounds, (part.min().item(), part.max().item()) if ordered else None)
            equal(f"{what}: nulls", statistics.null_count, 0)
            equal(f"{what}: column index", chunk.has_column_index, ordered)
            if chunk.path_in_schema == "label" and ordered:
                low, high, nulls = by_duckdb[group]
                equal(f"{what}: bounds in DuckDB", (part.dtype.type(low), part.dtype.type(high), nulls), (part.min(), part.max(), 0))


LOOKS = (check_footer, check_statistics)


def book_inputs(layout: str, full: bool) -> list[tuple[Tensor, Tensor]]:
    """Tables whose footers are checked: two sizes, and labels of every type, with NaN and without."""
    if layout == "huggingface":
        return [(make("uint8", shape), tensors.labels(shape[0])) for shape in [(301, 7, 9), (45_001, 3, 5)]]
    small = make("int16", (301, 7, 9))
    tables = [(small, tensors.labels(301)), (make("uint8", (24_001, 3, 5)), tensors.labels(24_001))]
    for dtype in tensors.CODES if full or layout == "list" else ["float32"]:
        tables.append((make("uint8", (90_001, 3, 5)) if layout != "columns" else small, make(dtype, (90_001 if layout != "columns" else 301,))))
    ordered = Tensor(np.linspace(-2.5, 7.25, 301, dtype=np.float64))
    return [*tables, (small, ordered)]


def sorted_tables(bench: Bench) -> list[tuple[str, Tensor, Tensor]]:
    """Records sorted by label; in the full run also MNIST's, which `make data` fetches."""
    tables = [(layout, make("uint8", (90_000, 3, 5)), Tensor(np.sort(tensors.labels(90_000).values))) for layout in ("list", "fixed-binary", "huggingface")]
    if bench.full:
        values = [idx_file(MNIST / f"train-{name}-ubyte")[0] for name in ("images-idx3", "labels-idx1")]
        order = np.argsort(values[1], kind="stable")
        tables.append(("list", Tensor(values[0][order]), Tensor(values[1][order])))
    return tables


def check_skipping(bench: Bench) -> None:
    """A filter on sorted labels skips row groups, by pyarrow's fragments and by DuckDB's count of those it scanned."""
    for layout, image, label in sorted_tables(bench):
        with bench.folder("sorted") as folder:
            path = folder / "out.parquet"
            result = bench.convert(table(folder, image, label), [path], "--layout", layout)
            for wanted in (0, 4, 9, 77):
                name = f"for label {wanted}, {layout}, {image.name}"
                with bench.case(f"pyarrow skips row groups {name}", result):
                    holding, groups = holding_groups(path, wanted, label)
                    fragment = next(pyarrow.dataset.dataset(path).get_fragments())
                    found = [part.row_groups[0].id for part in fragment.split_by_row_group(pyarrow.dataset.field("label") == wanted)]
                    equal("the row groups that are left", found, holding)
                    if len(holding) == groups:
                        raise Mismatch("all row groups have the label: nothing can be skipped")
                with bench.case(f"DuckDB skips row groups {name}", result):
                    check_duckdb_skips(path, wanted, len(holding_groups(path, wanted, label)[0]), int((label.values == wanted).sum()))


def holding_groups(path: Path, wanted: int, label: Tensor) -> tuple[list[int], int]:
    """The row groups with rows of the label, and the number of row groups."""
    meta = pq.ParquetFile(path).metadata
    starts = np.cumsum([0, *(meta.row_group(i).num_rows for i in range(meta.num_row_groups))])
    return [i for i in range(meta.num_row_groups) if wanted in label.values[starts[i] : starts[i + 1]]], meta.num_row_groups


def check_duckdb_skips(path: Path, wanted: int, holding: int, expected: int) -> None:
    """DuckDB's own count of the row groups that it scanned."""
    with duckdb.connect() as connection:
        query = f"select count(*) from read_parquet('{path}') where label = {wanted}"
        equal("DuckDB's count", connection.execute(query).fetchone(), (expected,))
        profile = connection.execute(f"explain (analyze, format json) {query}").fetchone()
    equal("the row groups that DuckDB scanned", json.loads(profile[1])["query"]["total_row_groups_scanned"] if profile else None, holding)


def check_layouts(bench: Bench) -> None:
    """The footers of all layouts that `idxport formats` lists, and in all codecs."""
    with bench.case("idxport formats"):
        text = bench.run("formats").stdout.decode()
        lines = text[text.index("\nLAYOUT") :].splitlines()[2:]
        offered = [line.split()[0] for line in lines[: lines.index("") if "" in lines else None]]
        equal("the layouts offered", sorted(offered), sorted(NUMERIC + PICTURES))
    for layout in NUMERIC + PICTURES:
        for i, (image, label) in enumerate(book_inputs(layout, bench.full)):
            for codec in CODECS["parquet"] if i == 0 else [CODECS["parquet"][i % 5]]:
                with bench.folder("book") as folder:
                    path = folder / "out.parquet"
                    result = bench.convert(table(folder, image, label), [path], "--layout", layout, "--compression", codec)
                    for look in LOOKS:
                        with bench.case(f"{layout}, {image.name}, {label.dtype}, {codec}, {look.__name__.removeprefix('check_')}", result):
                            look(path, image, label, layout, codec)


GROUPS = {"by the book": check_layouts, "by the book, skipping": check_skipping}
