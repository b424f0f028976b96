#!/usr/bin/env python3
"""Read the corpus with Hugging Face's datasets, without a network: Parquet, Arrow, CSV, PNG folders, WebDataset tars.

usage: $(test/interop/venv huggingface) -m matrix.huggingface --corpus FOLDER --cells FOLDER        (in test/interop)
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}  # read when datasets is imported
import datasets  # noqa: E402
from . import arrays  # noqa: E402
from .cells import Case, Cells, Differs, Found, arguments, cases, numbers, rounded  # noqa: E402


def stacked(pictures: list[object], case: Case) -> np.ndarray:
    """Pictures as one array of the input's type."""
    images = [np.asarray(picture) for picture in pictures]
    return np.stack(images).astype(case.image.dtype) if images else np.empty(case.image.shape, case.image.dtype)


def from_table(case: Case, data: datasets.Dataset) -> Found:
    """Parquet and Arrow."""
    if case.layout == "huggingface":
        if not isinstance(data.features["image"], datasets.Image):
            raise Differs(f"the image is {data.features['image']}")
        labels = np.array(data["label"][:], np.int64)
        return Found("Image", True, {"image": stacked([row["image"] for row in data], case), "label": labels})
    kind = str(data.features["image"] if "image" in data.features else f"{data.features['pixel0']} columns")
    return numbers(kind, arrays.columns(data.with_format("arrow")[:], case), case)


def read(case: Case, cache: str) -> Found:
    """Load one file or folder."""
    where = {"data_dir": str(case.path)} if case.format == "png" else {"data_files": str(case.path)}
    builder = {"png": "imagefolder", "tar": "webdataset"}.get(case.format, case.format)
    data = datasets.load_dataset(builder, split="train", cache_dir=cache, **where)
    if case.format in ("parquet", "arrow"):
        return from_table(case, data)
    if case.format == "csv":
        table = data.with_format("arrow")[:]
        kinds = sorted({str(feature.dtype) for feature in data.features.values()})
        cells = np.stack([column.to_numpy() for column in table.columns], axis=1)
        return Found(f"{' and '.join(kinds)} columns", False, {"label": cells[:, 0], "image": rounded(case, cells[:, 1:])})
    if case.format == "tar":
        columns = {"image": stacked([row["png"] for row in data], case), "label": np.array(data["cls"][:], np.int64)}
        return Found(f"{type(data.features['png']).__name__}, {data.features['cls'].dtype}", True, columns)
    files = [Path(picture["path"]) for picture in data.cast_column("image", datasets.Image(decode=False))["image"]]
    order = np.argsort([int(path.stem) for path in files])
    names = data.features["label"].names
    labels = np.array([int(names[label]) for label in data["label"][:]])
    return Found("Image, ClassLabel", True, {"image": stacked(data["image"][:], case)[order], "label": labels[order]})


def main() -> None:
    """Read everything."""
    options = arguments(__doc__).parse_args()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    record = Cells(options.cells, "datasets")
    for case in cases(options.corpus, "parquet", "arrow", "csv", "png", "tar"):
        with tempfile.TemporaryDirectory() as cache:
            record.add(case, lambda case: read(case, cache))  # noqa: B023 (called at once)
    record.close()


if __name__ == "__main__":
    main()
