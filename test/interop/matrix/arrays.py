"""Values of Arrow data in every layout, as pyarrow, DuckDB, polars and datasets return them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .cells import Case, Differs, little_endian, png_images


def one(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array, its extension type taken off."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def flat(array: pa.Array) -> np.ndarray:
    """The numbers of a column of scalars or nested lists, by row. Lists of a level must have one length; nothing may be null."""
    rows = len(array)
    while pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_fixed_size_list(array.type):
        if array.null_count:
            raise Differs(f"{array.null_count} lists are null")
        inner = array.flatten()
        if not pa.types.is_fixed_size_list(array.type):
            lengths = np.unique(np.diff(array.offsets.to_numpy()))
            if len(lengths) > 1:
                raise Differs(f"lists have {lengths.tolist()} elements")
        array = inner
    if array.null_count:
        raise Differs(f"{array.null_count} values are null")
    return (array.to_numpy(zero_copy_only=False) if len(array) else np.empty(0, array.type.to_pandas_dtype())).reshape(rows, -1 if len(array) else 0)


def image(array: pa.Array, case: Case) -> np.ndarray:
    """The tensor of a column, by the layout of the file."""
    kind = array.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind):
        return little_endian(array.to_pylist(), case.image)
    if case.layout == "huggingface":
        return png_images([row["bytes"] for row in array.to_pylist()], case.image)
    return flat(array)


def columns(table: pa.Table, case: Case) -> dict[str, np.ndarray]:
    """The columns of the input out of a table of any layout."""
    labels = {"label": flat(one(table.column("label"))).reshape(-1)} if "label" in case.columns else {}
    if case.layout != "columns":
        values = image(one(table.column("image")), case)
        return {"image": values.reshape(-1) if case.image.ndim == 1 else values, **labels}
    names = [name for name in table.column_names if name != "label"]
    if names != [f"pixel{i}" for i in range(len(names))]:
        raise Differs(f"the columns are {names[:3]}…")
    return {"image": np.stack([flat(one(table.column(name))).reshape(-1) for name in names], axis=1), **labels}
