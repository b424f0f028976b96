"""Writing arrays."""

from __future__ import annotations

import contextlib
import os
import re
import struct
import sys
from collections.abc import Mapping, Sequence

from ._program import TYPE_CHECKING, IdxError, Option, Path, Program, arguments, expanded, needs
from ._read import with_folder

if TYPE_CHECKING:
    from typing import IO, Any


def save(path: Path, *, classes: Sequence[str] | Mapping[int, str] | None = None, split: str | None = None, overwrite: bool = False, **arrays: Any) -> None:
    """Write arrays as IDX files, or in the format that the extension of `path` names, complete or not at all.

    Raises IdxError, TypeError or ValueError if nothing was written.

    Parameters
    ----------
    path
        For one array, a file such as ``train-images-idx3-ubyte.gz``; for several, a folder that gets a
        file for each, or a file whose format holds them all: ``train.parquet``, ``train.csv.gz``.
    classes
        The names of the labels 0, 1, …, in a list or by label, for formats that can store them.
    split
        The split that the files in a folder are named after: ``"train"``.
    overwrite
        Replace existing files.
    arrays
        By the names of their columns, such as `image` and `label`: whatever `numpy.asarray` takes, such as tensors of PyTorch
        on the CPU, and columns of pandas, Arrow and polars, of lists of one length too. The first dimension is the number of records.
        Integers that IDX lacks, such as int64, become int32 if all values fit. Missing values are an error.

    >>> idxport.save("train-images-idx3-ubyte.gz", image=images)
    >>> idxport.save("digits/", split="train", image=images, label=labels)
    >>> idxport.save("digits.parquet", image=images, label=labels)
    """
    np = needs("numpy", "numpy")
    target = expanded(path)
    place = target.partition("=")[2] if "=" in target.replace(os.sep, "/").split("/")[0] else target
    if place == "-" or not arrays:
        raise TypeError("save needs a path, and arrays by the names of their columns: image=images")
    if "{split}" in target if split is None else not split or not f"_{split}".replace("-", "0").isidentifier():
        raise ValueError(f"split={split!r}: expected a name of letters, digits, _ and -")
    name = os.path.basename(place)
    is_idx = place == target and os.path.splitext(name.removesuffix(".gz").removesuffix(".zst"))[1] in ("", ".idx")
    options: dict[str, Option] = {"output": f"idx={target}" if is_idx else target, "overwrite": overwrite, "dataset": "none"}
    if split in _SPLITS:
        options["split"] = split  # or else those of other splits, beside files that are replaced, are an error
    for column in arrays:
        if not column.replace("-", "0").isidentifier():
            raise ValueError(f"{column!r} is no name of a column: expected letters, digits, _ and -, and a letter first")
    columns = {column: _numbers(np, column, values) for column, values in arrays.items()}
    # Arrays are upright. The program writes IDX files as they are, and refuses others where the name means EMNIST's transposed images.
    native = "emnist" not in f"{target}{split}".lower() and all(each.dtype.newbyteorder("=").str[1:] in _CODES for each in columns.values())
    stem = split or name.split(".")[0] or os.path.basename(os.path.dirname(place)).strip(".") or "data"
    named = len(columns) == 1 and (split or not name or os.path.isdir(place))  # the output is named after its file
    largest = max(columns, key=lambda column: columns[column].nbytes) if native and not named else ""

    def write(made: str) -> None:
        inputs: list[Path] = []
        shown = {os.path.join(made, "classes.txt"): "classes", "standard input": largest or "standard input"}
        for column, array in columns.items():
            file = os.path.join(made, f"{len(inputs)}-{column:.60}", f"{stem}.{'idx' if native else 'npy'}")
            os.mkdir(os.path.dirname(file))
            inputs.append(f"{column}={'-' if column == largest else file}")
            shown[file] = column
            if not native:
                np.save(file, np.ascontiguousarray(array))
            elif column != largest:
                with open(file, "wb") as to:
                    _write(to, array)
        if classes is not None:
            names: list[Any] = [None]
            with contextlib.suppress(LookupError, TypeError):
                names = [classes[i] for i in range(len(classes))]  # also those of {0: "a", 1: "b"}, but not of {"a": 0} or of a set
            if isinstance(classes, str) or any(not isinstance(each, str) or each != each.strip() or len(each.splitlines()) > 1 for each in names):
                raise ValueError(f"classes={classes!r:.200}: expected a list of names, or a dict {{0: name, …}}, each of one line, without spaces at its ends")
            if columns.keys().isdisjoint(("label", "labels")):
                raise ValueError(f"classes: found the columns {', '.join(columns)}, expected that of these classes to be named label: label=array")
            options["classes"] = os.path.join(made, "classes.txt")
            with open(os.path.join(made, "classes.txt"), "w", encoding="utf-8-sig") as lines:
                lines.write(" " + "\n".join(names))  # the space says that they are names, also if they look numbered
        try:
            with Program(arguments("convert", inputs, options), feed=largest != "") as program:
                if program.stdin is not None:  # a pipe saves a copy
                    with contextlib.suppress(BrokenPipeError):  # the program says why
                        _held = _write(program.stdin, columns[largest])
                        program.stdin.close()
                program.finish(program.stdout.read())
        except IdxError as error:  # names files that nobody knows, and options of convert
            ours = rf"(?!{re.escape(place)}(?::|$)){re.escape(stem)}\.(?:idx|npy)"
            text = re.sub(r'(?<!\w)output="', 'path="', re.sub(rf" \((-|{ours})\)|^{ours}: ", "", str(error)))
            for file, name in shown.items():
                text = text.replace(file, name)
            text, _, hint = re.sub(r'(?<!\w)shape="(\d+)x(\d+)"', r"a.reshape(-1, \1, \2)", text.replace('classes="FILE"', "classes")).partition("\nhint: ")
            error.hint = "; or ".join(each for each in re.split(r"; or | or, |, or ", hint) if not re.search(_CONVERT, each)) or None
            error.args = (f"{text}\nhint: {error.hint}" if error.hint else text,)
            error.path = None if re.match(rf"-$|{ours}$|{re.escape(made)}", str(error.path)) else error.path
            raise

    with_folder(write)


def _numbers(np: Any, column: str, values: Any) -> Any:
    """The array of a column of numbers. NumPy would make objects of others, and of lists of Arrow and polars."""
    if hasattr(getattr(values, "dtype", None), "pyarrow_dtype"):  # Arrow in pandas
        values = getattr(values, "array", values).__arrow_array__()
    if hasattr(values, "num_chunks"):
        values = values.combine_chunks()
    if (missing := np.asarray(_missing(np, values))).ndim and missing.any():
        row = missing.reshape(len(values), -1).any(1).argmax()
        raise TypeError(f"{column}: found a missing value in row {row}, expected numbers: fill missing values in, or leave out their records")
    if hasattr(values, "iloc") and values.ndim > 1 and not all(isinstance(each, np.dtype) and each.kind in "iuf" for each in values.dtypes):
        return np.stack([_numbers(np, column, each) for _, each in values.items()], 1)  # of types of pandas or Arrow, or truth values beside numbers
    if getattr(values, "dtype", None) == "O" and values.ndim and len(values):  # as pandas has images
        return _numbers(np, column, list(values))
    records, shape, expected = values, [], "expected one shape for all records, as that of row 0:"
    while (lists := _lists(values)) and len(values):
        values, lengths = lists[0], np.asarray(lists[1])
        if (others := lengths != lengths[0]).any():
            first, row = others.argmax(), others.argmax() * len(records) // len(lengths)
            raise ValueError(f"{column}: found a list of {lengths[first]} in row {row}, {expected} {lengths[0]}")
        shape.append(lengths[0])
    try:
        array = np.asarray(values.to_numpy_ndarray() if hasattr(values, "to_numpy_ndarray") else values)
    except ValueError:
        shapes = [np.asarray(each, "O").shape for each in values]
        row = next((i for i, each in enumerate(shapes) if each != shapes[0]), 0)
        found = f"shape {shapes[row]} in row {row}, {expected} {shapes[0]}" if row else "lists of several lengths in row 0, expected one"
        raise ValueError(f"{column}: found {found}") from None
    if array.dtype.kind not in "biuf" or not array.ndim:
        raise TypeError(f"{column}: found {array.dtype} of shape {array.shape}, expected an array of numbers, one or more for each record")
    array = array.astype("u1") if array.dtype == "?" else array  # whose bytes are 255 in images of PIL
    return array.reshape(len(records), *shape, *array.shape[1:]) if shape else array


def _lists(values: Any) -> tuple[Any, Any] | None:
    """The elements of lists of Arrow or polars, and the length of each list; None of other values."""
    if hasattr(values, "value_lengths"):
        return values.flatten(), values.value_lengths()
    if not hasattr(getattr(values, "dtype", None), "inner"):
        return None
    lists = values.arr.to_list() if hasattr(values.dtype, "shape") else values
    return lists.explode(), lists.list.len()


def _missing(np: Any, values: Any) -> Any:
    """Which values are missing, by record, of which NumPy may make NaN or a number: None, masked ones, nulls of Arrow and polars, NA of pandas."""
    if hasattr(values, "isna"):  # of pandas, where a NaN is a number in the types that have no NA
        kinds = values.dtypes if values.ndim > 1 else [values.dtype]
        nullable = [kind.kind == "O" or not isinstance(getattr(kind, "na_value", 0.0), float) for kind in kinds]
        return any(nullable) and np.asarray(values.isna()) & nullable
    if isinstance(values, (list, tuple)):
        plain = {np.ndarray, *np.sctypeDict.values()}  # a list of numbers of NumPy may be long
        return [each is None or (type(each) not in plain and hasattr(each, "__array__") and np.any(np.asarray(_missing(np, each)))) for each in values]
    if columns := getattr(values, "iter_columns", getattr(values, "itercolumns", None)):  # of tables of polars and Arrow
        return np.any([_missing(np, each) for each in columns()], axis=0)
    if hasattr(values, "to_numpy_ndarray"):  # tensors of Arrow
        values = values.storage
    nulls = np.asarray(values.is_null() if hasattr(values, "is_null") else getattr(values, "_mask", False))  # importing np.ma takes 6 ms
    if (lists := _lists(values)) and not nulls.any() and np.asarray(_missing(np, lists[0])).any():
        return [np.asarray(_missing(np, getattr(each, "values", each))).any() for each in values]
    return nulls


# The splits that the program knows by their names.
_SPLITS = {"train", "test", "t10k", "validation", "valid", "val", "dev"}

# What hints name that only convert has.
_CONVERT = r'\b(columns|dataset|to|where)="|with columns$|a dtype$|files of one split'

# The types of IDX, by their names in NumPy.
_CODES = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}


def _write(to: IO[bytes], array: Any) -> Any:
    """Write an IDX file: a header, and the elements in C order, big-endian, which are returned.

    On Linux, a pipe gets the pages of memory instead of a copy (vmsplice(2)): it needs them until it is read.
    """
    to.write(struct.pack(f">HBB{array.ndim}I", 0, _CODES[array.dtype.newbyteorder("=").str[1:]], array.ndim, *array.shape))
    elements = left = array.astype(array.dtype.newbyteorder(">"), order="C", copy=False).reshape(-1).view("u1")
    if sys.platform == "linux":
        import ctypes

        to.flush()
        splice = ctypes.CDLL(None).vmsplice
        splice.restype = ctypes.c_ssize_t
        while left.size and (sent := splice(to.fileno(), (ctypes.c_size_t * 2)(left.ctypes.data, left.size), ctypes.c_size_t(1), 0)) > 0:
            left = left[sent:]  # to the end, unless this is no pipe, or the program has ended: write says which
    to.write(left.data)
    return elements
