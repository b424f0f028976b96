"""Readers that skip row groups of Parquet files by the bounds of sorted labels, and the writer's name in the footer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.dataset
import pyarrow.parquet as pq

from . import tensors
from .stage import Stage, demand, equal, table
from .tensors import Tensor, make

# parquet-java's pattern for created_by (org.apache.parquet.VersionParser).
CREATED_BY = re.compile(r"(.*?)\s+version\s*(?:([^(]*?)\s*(?:\(\s*build\s*([^)]*?)\s*\))?)?")


def skipping(stage: Stage) -> None:
    """A filter on sorted labels skips row groups, by pyarrow's fragments and by DuckDB's count of those it scanned."""
    image, labels = make("uint8", (90_000, 3, 5)), np.sort(tensors.labels(90_000).values)
    for layout in ("list", "fixed-binary", "huggingface"):
        path = stage.folder / f"{layout}.parquet"
        stage.convert(*table(stage.folder, image, Tensor(labels)), "-o", path, "--layout", layout)
        metadata = pq.ParquetFile(path).metadata
        match = CREATED_BY.fullmatch(metadata.created_by)
        demand(
            match and match[1] == "idxport" and match[2],
            f"parquet-java cannot parse created_by, {metadata.created_by!r}",
        )
        rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        groups = np.split(labels, np.cumsum(rows)[:-1])
        fragment = next(pyarrow.dataset.dataset(path).get_fragments())
        for label in (0, 4, 9, 77):
            what = f"label {label}, {layout}"
            holding = [i for i, group in enumerate(groups) if label in group]
            demand(len(holding) < len(groups), f"{what}: all row groups have the label: nothing can be skipped")
            left = fragment.split_by_row_group(pyarrow.dataset.field("label") == label)
            equal(f"{what}: the row groups that pyarrow reads", [part.row_groups[0].id for part in left], holding)
            expected = (int((labels == label).sum()), len(holding))
            equal(f"{what}: DuckDB's count and row groups", by_duckdb(path, label), expected)


def by_duckdb(path: Path, label: int) -> tuple[int, int]:
    """DuckDB's count of the rows with a label, and of the row groups that it scanned."""
    with duckdb.connect() as connection:
        query = f"select count(*) from read_parquet('{path}') where label = {label}"
        (rows,) = connection.execute(query).fetchall()[0]
        profile = connection.execute(f"explain (analyze, format json) {query}").fetchall()[0][1]
    return rows, json.loads(profile)["query"]["total_row_groups_scanned"]
