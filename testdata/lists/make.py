"""Make the files of this folder again: images of 2×2 as DuckDB, polars and pandas write lists, which tell a length
and no shape.

usage: python3 make.py, with the packages of test/interop/requirements.txt
"""

import duckdb
import pandas as pd
import polars as pl

IMAGES = [[4 * row + i for i in range(4)] for row in range(5)]
frame = pl.DataFrame({"image": IMAGES, "label": [0, 1, 2, 1, 0]}, schema={"image": pl.List(pl.UInt8), "label": pl.UInt8})

frame.write_parquet("polars.parquet")
frame.write_ipc("polars.arrow", compression="uncompressed")
duckdb.sql("COPY (SELECT * FROM frame) TO 'duckdb.parquet' (FORMAT parquet)")
pd.DataFrame(frame.to_dict(as_series=False)).astype({"label": "uint8"}).assign(image=list(frame["image"].to_numpy())).to_parquet("pandas.parquet")
