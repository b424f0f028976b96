"""Reading a Parquet file. usage: reading.py pyarrow|polars|duckdb all|count FILE

all has every value in Arrow's or polars' memory; count groups by label and must not have to look at the pixels.
"""

import sys

tool, what, path = sys.argv[1:]
if tool == "pyarrow":
    import pyarrow.parquet as pq
elif tool == "polars":
    import polars as pl
else:
    import duckdb

from idx import Inside

inside = Inside()
if tool == "pyarrow":
    if what == "all":
        rows = pq.read_table(path).num_rows
    else:
        groups = pq.read_table(path, columns=["label"]).group_by("label").aggregate([([], "count_all")])
        rows = sum(groups["count_all"].to_pylist())
elif tool == "polars":
    if what == "all":
        rows = pl.read_parquet(path).height
    else:
        rows = pl.scan_parquet(path).group_by("label").len().collect()["len"].sum()
elif what == "all":
    rows = duckdb.sql(f"FROM read_parquet('{path}')").to_arrow_table().num_rows
else:
    rows = sum(n for _, n in duckdb.sql(f"SELECT label, count(*) FROM read_parquet('{path}') GROUP BY label").fetchall())
if rows != 60_000:
    sys.exit(f"{path} has {rows} rows, expected 60,000")
inside.done()
