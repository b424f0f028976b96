#!/usr/bin/env python3
"""Read the corpus with pyarrow, pandas, polars, DuckDB, numpy, Pillow and OpenCV, and record what each found.

usage: $(test/interop/venv) -m matrix.python --corpus FOLDER --cells FOLDER        (in test/interop)
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path

import cv2
import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from PIL import Image

from suite.tensors import decode

from . import arrays
from .cells import Case, Cells, Found, arguments, cases, numbers, rounded


def tensor_kind(kinds: dict[str, str]) -> str:
    """The type of the tensor's column, or of its columns."""
    if "image" in kinds:
        return kinds["image"]
    found = sorted({kind for name, kind in kinds.items() if name != "label"})
    return f"{' and '.join(found)} columns"


def from_arrow(case: Case, table: pa.Table, kinds: dict[str, str]) -> Found:
    """What Arrow data hold."""
    return numbers(tensor_kind(kinds), arrays.columns(table, case), case)


def read_pyarrow(case: Case) -> Found:
    """Read with pyarrow, checking the pages' checksums."""
    if case.format == "csv":
        data = pyarrow.csv.read_csv(case.path)
        return from_csv(case, data.to_pandas(), data.schema.types)
    if case.format == "parquet":
        table = pyarrow.parquet.read_table(case.path, page_checksum_verification=True)
    else:
        opened = pa.ipc.open_stream if case.format == "arrows" else pa.ipc.open_file
        with pa.OSFile(str(case.path)) as source, opened(source) as reader:
            table = reader.read_all()
    table.validate(full=True)
    kinds = {field.name: str(field.type).replace("extension<", "").rstrip(">") if "extension<" in str(field.type) else str(field.type)
             for field in table.schema}  # fmt: skip
    return from_arrow(case, table, kinds)


def plain(value: object) -> object:
    """The numbers of arrays in arrays as one."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return np.concatenate([np.atleast_1d(plain(item)) for item in value]) if len(value) else value
    return value


def read_pandas(case: Case) -> Found:
    """Read with pandas."""
    if case.format == "csv":
        data = pandas.read_csv(case.path)
        return from_csv(case, data, data.dtypes)
    frame = pandas.read_parquet(case.path) if case.format == "parquet" else pandas.read_feather(case.path)
    columns = {"label": frame["label"].to_numpy()} if "label" in case.columns else {}
    if case.layout == "columns":
        values = frame.drop(columns="label").to_numpy()
        return numbers(tensor_kind({name: str(kind) for name, kind in frame.dtypes.items()}), {"image": values, **columns}, case)
    rows = list(frame["image"])
    if case.image.ndim == 1:
        return numbers(str(frame["image"].dtype), {"image": frame["image"].to_numpy()}, case)
    if not rows:
        return Found("", True, {"image": np.empty(case.image.shape, case.image.dtype), **columns})
    if isinstance(rows[0], bytes):
        return Found("bytes", False, {"image": arrays.little_endian(rows, case.image), **columns})
    if isinstance(rows[0], dict):
        return Found("dict", False, {"image": arrays.png_images([row["bytes"] for row in rows], case.image), **columns})
    depth = "ndarrays of " if rows[0].dtype == object else ""
    values = np.stack([plain(row) for row in rows])
    return numbers(f"{depth}ndarray[{values.dtype}]", {"image": values, **columns}, case)


def read_polars(case: Case) -> Found:
    """Read with polars."""
    if case.format == "csv":
        data = polars.read_csv(case.path, infer_schema_length=None)
        return from_csv(case, data.to_pandas(), data.dtypes)
    by_format = {"parquet": polars.read_parquet, "arrow": polars.read_ipc, "arrows": polars.read_ipc_stream}
    frame = by_format[case.format](case.path)
    table = frame.to_arrow(compat_level=polars.CompatLevel.oldest())
    return from_arrow(case, table, {name: str(kind) for name, kind in frame.schema.items()})


def read_duckdb(case: Case) -> Found:
    """Read with DuckDB."""
    with duckdb.connect() as connection:
        if case.format == "csv":
            data = connection.read_csv(str(case.path), sample_size=-1)
            return from_csv(case, data.df(), data.types)
        relation = connection.read_parquet(str(case.path))
        kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
        return from_arrow(case, relation.to_arrow_table(), kinds)


def from_csv(case: Case, frame: pandas.DataFrame, types: Iterable[object]) -> Found:
    """A table of numbers as a reader inferred it, of types in its words."""
    kind = " and ".join(sorted({str(t) for t in types}))
    return Found(f"{kind} columns", False, {"label": frame["label"].to_numpy(), "image": rounded(case, frame.to_numpy()[:, 1:])})


def read_numpy(case: Case) -> Found:
    """Read with numpy: .npy, IDX by the format's definition, CSV as a table of floats."""
    if case.format == "csv":
        cells = np.loadtxt(case.path, delimiter=",", skiprows=1, ndmin=2, dtype=np.float64)
        return Found("float64", False, {"label": cells[:, 0], "image": rounded(case, cells[:, 1:])})
    values = np.load(case.path, allow_pickle=False) if case.format == "npy" else decode(case.path.read_bytes())
    return numbers(f"ndarray[{values.dtype}]", {"image": np.asarray(values)}, case)


def pictures(case: Case) -> list[tuple[int, bytes, int]]:
    """Row, file and label of each picture of a PNG folder or of a tar file."""
    if case.format == "png":
        return sorted((int(path.stem), path.read_bytes(), int(path.parent.name)) for path in case.path.rglob("*.png"))
    with tarfile.open(case.path) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}
    return sorted((int(name[:-4]), data, int(files[f"{name[:-4]}.cls"])) for name, data in files.items() if name.endswith(".png"))


def read_pictures(case: Case, decode: Callable[[bytes], np.ndarray]) -> Found:
    """Decode every picture."""
    found = pictures(case)
    images = np.stack([decode(data) for _, data, _ in found])
    stored = case.image.dtype if images.dtype == np.uint16 else images.dtype  # 16-bit grey of shorts without negatives
    columns = {"image": images.astype(stored), "label": np.array([label for _, _, label in found], np.uint8)}
    return numbers(f"{images.dtype}", columns, case)


def by_pillow(data: bytes) -> np.ndarray:
    """The pixels as Pillow has them."""
    with Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture)


def by_opencv(data: bytes) -> np.ndarray:
    """The pixels as OpenCV has them, whose colours are in the order blue, green, red."""
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    return pixels[..., [2, 1, 0, 3][: pixels.shape[2]]] if pixels.ndim == 3 else pixels


READERS: dict[str, tuple[Callable[[Case], Found], tuple[str, ...]]] = {
    "pyarrow": (read_pyarrow, ("parquet", "arrow", "arrows", "csv")),
    "pandas": (read_pandas, ("parquet", "arrow", "csv")),
    "polars": (read_polars, ("parquet", "arrow", "arrows", "csv")),
    "DuckDB": (read_duckdb, ("parquet", "csv")),
    "numpy": (read_numpy, ("csv", "npy", "idx")),
    "Pillow": (lambda case: read_pictures(case, by_pillow), ("png", "tar")),
    "OpenCV": (lambda case: read_pictures(case, by_opencv), ("png", "tar")),
}


def record(corpus: Path, cells: Path) -> None:
    """Read everything."""
    for name, (read, formats) in READERS.items():
        found = Cells(cells, name)
        for case in cases(corpus, *formats):
            found.add(case, read)
        found.close()


if __name__ == "__main__":
    options = arguments(__doc__).parse_args()
    record(options.corpus, options.cells)
