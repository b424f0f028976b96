"""Reading a Parquet file. usage: reading.py pyarrow|polars|duckdb all|count FILE

all has every value in Arrow's or polars' memory; count groups by label and must not have to look at the pixels. It
takes a millisecond or two, so it is done REPEATS times. What a tool loads or opens on first use, whatever the file,
is start-up.
"""

import sys

REPEATS = 20

tool, what, path = sys.argv[1:]
if tool == "pyarrow":
    import pandas  # noqa: F401  read_table would import it
    import pyarrow.parquet as pq
elif tool == "polars":
    import polars as pl
else:
    import duckdb

    if what == "all":
        import pyarrow  # noqa: F401  to_arrow_table would import it
    connection = duckdb.connect()

from idx import Inside  # noqa: E402


def read() -> int:
    """Every value; the number of rows."""
    if tool == "pyarrow":
        return pq.read_table(path).num_rows
    if tool == "polars":
        return pl.read_parquet(path).height
    return connection.sql(f"FROM read_parquet('{path}')").to_arrow_table().num_rows


def count() -> int:
    """The sum of the groups' sizes."""
    if tool == "pyarrow":
        groups = pq.read_table(path, columns=["label"]).group_by("label").aggregate([([], "count_all")])
        return sum(groups["count_all"].to_pylist())
    if tool == "polars":
        return pl.scan_parquet(path).group_by("label").len().collect()["len"].sum()
    return sum(n for _, n in connection.sql(f"SELECT label, count(*) FROM read_parquet('{path}') GROUP BY label").fetchall())


inside = Inside()
for _ in range(1 if what == "all" else REPEATS):
    rows = read() if what == "all" else count()
inside.done()
if rows != 60_000:
    sys.exit(f"{path} has {rows} rows, expected 60,000")
