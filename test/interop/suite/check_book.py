"""By the book: what the footers of Parquet files say, against numpy, the file's length and the rules of sink/parquet/rowgroup.go; and readers that
skip what a filter does not want."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.dataset
import pyarrow.parquet as pq

from matrix.corpus import CODECS, NUMERIC, PICTURES

from . import tensors
from .bench import ROOT, Bench, Mismatch, equal, table
from .tensors import Tensor, idx_file, make

# How parquet-java takes created_by apart (org.apache.parquet.VersionParser).
CREATED_BY = re.compile(r"(.*?)\s+version\s*(?:([^(]*?)\s*(?:\(\s*build\s*([^)]*?)\s*\))?)?")
# sink/parquet/rowgroup.go: batches of 1 MiB or 65,536 rows, each of which is a page.
BATCH_BYTES, BATCH_ROWS = 1 << 20, 65_536
MNIST = ROOT / "data/mnist"

Chunk = Any  # pyarrow's ColumnChunkMetaData, which has no types


def batch_rows(row: int) -> int:
    """The rows of a batch of records of row bytes: a multiple of 8 from 8 up."""
    rows = min(max(BATCH_BYTES // max(row, 1), 1), BATCH_ROWS)
    return rows // 8 * 8 if rows >= 8 else rows


def check_groups(path: Path, image: Tensor, label: Tensor, layout: str, codec: str) -> None:
    """The sizes of the row groups."""
    meta = pq.ParquetFile(path).metadata
    found = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
    equal("the sum of the row groups' rows", sum(found), image.rows)
    equal("the number of rows", meta.num_rows, image.rows)
    equal("the sizes of all row groups but the last", len(set(found[:-1])) < 2, True)
    if image.rows > BATCH_ROWS and len(found) < 2:
        raise Mismatch(f"{image.rows} rows are in one row group, expected several, so that readers can work in parallel")


def check_footer(path: Path, image: Tensor, label: Tensor, layout: str, codec: str) -> None:
    """Who wrote it, and metadata that are few and true."""
    file = pq.ParquetFile(path)
    match = CREATED_BY.fullmatch(file.metadata.created_by)
    if not match or match[1] != "idxport" or not match[2]:
        raise Mismatch(f"created_by is {file.metadata.created_by!r}, which parquet-java cannot take apart")
    pairs = dict(file.metadata.metadata or {})
    equal("keys that nobody knows", sorted(pairs.keys() - {b"ARROW:schema", b"idx.sources", b"idx.applied", b"huggingface"}), [])
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
    """Bounds and null counts of scalar columns are numpy's; pixels have no bounds, nor have floats among which is a NaN. DuckDB has the same of labels."""
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


def check_chunks(path: Path, image: Tensor, label: Tensor, layout: str, codec: str) -> None:
    """Codecs, offset indexes, encodings that are those of the pages, and chunks that follow one another without a gap."""
    meta = pq.ParquetFile(path).metadata
    at = 4  # after the first magic word
    for group in range(meta.num_row_groups):
        row_group = meta.row_group(group)
        sizes = [0, 0]
        for i in range(row_group.num_columns):
            chunk = row_group.column(i)
            what = f"row group {group}, {chunk.path_in_schema}"
            first = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
            equal(f"{what}: the first page's offset", first, at)
            at += chunk.total_compressed_size
            sizes[0] += chunk.total_uncompressed_size
            sizes[1] += chunk.total_compressed_size
            pictures = chunk.path_in_schema == "image.bytes"  # PNG files, which are compressed
            expected = {"none": "UNCOMPRESSED", "lz4_raw": "LZ4"}.get("none" if pictures else codec, codec.upper())
            equal(f"{what}: codec", chunk.compression, expected)
            equal(f"{what}: offset index", chunk.has_offset_index, True)
            check_encodings(what, chunk, meta.schema.column(i))
        equal(f"row group {group}: total_byte_size", row_group.total_byte_size, sizes[0])
    data = path.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little")
    equal("the magic words", (data[:4], data[-4:]), (b"PAR1", b"PAR1"))
    equal("the length of the footer", footer, meta.serialized_size)
    if at > len(data) - footer - 8:
        raise Mismatch(f"the chunks end at {at}, after the footer's beginning")
    # What lies between the chunks and the footer are the indexes, and nothing else: some bytes for each page and each element.
    pages = sum(-(-meta.row_group(g).num_rows // batch_rows(image.width * image.values.itemsize + 1)) + 8 for g in range(meta.num_row_groups))
    if len(data) - footer - 8 - at > 64 * (pages + 8) * meta.num_columns:
        raise Mismatch(f"{len(data) - footer - 8 - at} bytes lie between the chunks and the footer")


def check_encodings(what: str, chunk: Chunk, column: Chunk) -> None:
    """RLE is there where the column has levels; the dictionary's encodings where it has a dictionary."""
    encodings = set(chunk.encodings)
    levels = column.max_definition_level + column.max_repetition_level > 0
    equal(f"{what}: levels, so RLE", "RLE" in encodings, levels)
    expected = {"PLAIN", "RLE_DICTIONARY"} if chunk.has_dictionary_page else {"PLAIN"}
    equal(f"{what}: encodings", encodings - {"RLE"}, expected)


LOOKS = (check_groups, check_footer, check_statistics, check_chunks)


def book_inputs(layout: str, full: bool) -> list[tuple[Tensor, Tensor]]:
    """Tables whose footers are looked at: two sizes, and labels of every type, with NaN and without."""
    if layout in ("spark-image", "huggingface"):
        return [(make("uint8", shape), tensors.labels(shape[0])) for shape in [(301, 7, 9), (45_001, 3, 5)]]
    small = make("int16", (301, 7, 9))
    tables = [(small, tensors.labels(301)), (make("uint8", (24_001, 3, 5)), tensors.labels(24_001))]
    for dtype in tensors.CODES if full or layout == "list" else ["float32"]:
        tables.append((make("uint8", (90_001, 3, 5)) if layout != "columns" else small, make(dtype, (90_001 if layout != "columns" else 301,))))
    ordered = Tensor(np.linspace(-2.5, 7.25, 301, dtype=np.float64))
    return [*tables, (small, ordered)]


def sorted_tables(bench: Bench) -> list[tuple[str, Tensor, Tensor]]:
    """Records that lie in the order of their labels, as after a sort by class; in the full run MNIST's, which `make data` fetches."""
    tables = [(layout, make("uint8", (90_000, 3, 5)), Tensor(np.sort(tensors.labels(90_000).values))) for layout in ("list", "fixed-binary", "huggingface")]
    if bench.full:
        values = [idx_file(MNIST / f"train-{name}-ubyte")[0] for name in ("images-idx3", "labels-idx1")]
        order = np.argsort(values[1], kind="stable")
        tables.append(("list", Tensor(values[0][order]), Tensor(values[1][order])))
    return tables


def check_skipping(bench: Bench) -> None:
    """A filter on sorted labels leaves out the row groups without them: pyarrow's fragments, and DuckDB's count of those it scanned."""
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
                        raise Mismatch("no row group is left out: the case shows nothing")
                with bench.case(f"DuckDB skips row groups {name}", result):
                    check_duckdb_skips(path, wanted, len(holding_groups(path, wanted, label)[0]), int((label.values == wanted).sum()))


def holding_groups(path: Path, wanted: int, label: Tensor) -> tuple[list[int], int]:
    """The row groups whose rows have the label, and how many row groups there are."""
    meta = pq.ParquetFile(path).metadata
    starts = np.cumsum([0, *(meta.row_group(i).num_rows for i in range(meta.num_row_groups))])
    return [i for i in range(meta.num_row_groups) if wanted in label.values[starts[i] : starts[i + 1]]], meta.num_row_groups


def check_duckdb_skips(path: Path, wanted: int, holding: int, expected: int) -> None:
    """DuckDB's own count of the row groups that it looked at."""
    with duckdb.connect() as connection:
        query = f"select count(*) from read_parquet('{path}') where label = {wanted}"
        equal("DuckDB's count", connection.execute(query).fetchone(), (expected,))
        profile = connection.execute(f"explain (analyze, format json) {query}").fetchone()
    equal("the row groups that DuckDB scanned", json.loads(profile[1])["query"]["total_row_groups_scanned"] if profile else None, holding)


def check_layouts(bench: Bench) -> None:
    """The footers of all layouts, which are all that the binary offers; and of one in all codecs."""
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
