#!/usr/bin/env python3
"""Make CSV files with other programs, and beside each NAME.json: the expected columns as [name, type, shape,
values].

pandas 3.1.1, numpy 2.4.6, polars and Python's csv module made the committed files.
"""
import csv
import json
import pathlib

import numpy as np
import pandas as pd
import polars as pl

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(3)
N = 7
labels = rng.integers(0, 10, N)
images = rng.integers(0, 256, (N, 16))
images[rng.random((N, 16)) < 0.6] = 0
pixels = [f"pixel{i}" for i in range(16)]
label = ["label", "uint8", [], labels.tolist()]
image = ["image", "uint8", [4, 4], images.ravel().tolist()]
frame = pd.DataFrame(np.column_stack([labels, images]), columns=["label", *pixels])


def expect(name, *columns):
    (HERE / f"{name}.json").write_text(json.dumps(columns) + "\n")


frame.to_csv(HERE / "kaggle-train.csv", index=False)
expect("kaggle-train.csv", label, image)
frame[pixels].to_csv(HERE / "kaggle-test.csv", index=False)
expect("kaggle-test.csv", image)
frame.to_csv(HERE / "pjreddie.csv", index=False, header=False)
expect("pjreddie.csv", label, image)
frame.to_csv(HERE / "index.csv")  # with the column of row numbers that pandas writes
expect("index.csv", label, image)
frame.to_csv(HERE / "excel.csv", index=False, sep=";", lineterminator="\r\n", encoding="utf-8-sig")
expect("excel.csv", label, image)
frame.to_csv(HERE / "tabs.tsv.gz", index=False, sep="\t", compression={"method": "gzip", "mtime": 0})
expect("tabs.tsv.gz", label, image)
frame.to_csv(HERE / "quoted.csv", index=False, quoting=csv.QUOTE_ALL)
expect("quoted.csv", label, image)
pl.DataFrame(np.column_stack([labels, images]), schema=["label", *pixels]).write_csv(HERE / "polars.csv")
expect("polars.csv", label, image)
np.savetxt(HERE / "savetxt.csv", images, fmt="%d")  # spaces
expect("savetxt.csv", image)
np.savetxt(HERE / "savetxt-e.csv", images, delimiter=", ")  # 0.000000000000000000e+00
expect("savetxt-e.csv", ["image", "float64", [4, 4], images.ravel().tolist()])

# Floats of 32 bits, whose texts are read as 64 bits, and of 64 bits.
singles = rng.standard_normal((N, 3)).astype(np.float32)
pl.DataFrame(singles, schema=["x0", "x1", "x2"]).write_csv(HERE / "float32.csv")
expect("float32.csv", ["x", "float64", [3], [float(str(v)) for v in singles.ravel()]])
doubles = rng.standard_normal((N, 3))
pd.DataFrame(doubles, columns=["x0", "x1", "x2"]).to_csv(HERE / "float64.csv", index=False)
expect("float64.csv", ["x", "float64", [3], doubles.ravel().tolist()])

# Python's csv module: class names with commas, quotes and line feeds, and eight integer columns as QMNIST has them.
with (HERE / "classes.csv").open("w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["label", "class", *pixels])
    for l, i in zip(labels.tolist(), images.tolist()):
        w.writerow([l, f'a "{l}",\nb', *i])
expect("classes.csv", label, image)
ids = rng.integers(-5, 60000, (N, 3))
with (HERE / "scalars.csv").open("w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["label", "writer id", "duplicate, or not", "check"])
    for l, i in zip(labels.tolist(), ids.tolist()):
        w.writerow([l, *i])
expect("scalars.csv", label, *[[name, "int32", [], ids[:, k].tolist()] for k, name in enumerate(["writer id", "duplicate, or not", "check"])])
