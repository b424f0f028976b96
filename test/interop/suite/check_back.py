"""The way back is exact: IDX files become other formats and IDX again, byte for byte; and what other programs write becomes IDX."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import idx2numpy
import numpy as np
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from . import foreign, readers, tensors
from .check_csv import STYLES
from .check_png import grey16
from .command import Bench, Result, nothing_left
from .compare import equal, same_bits, same_bytes
from .report import Mismatch
from .tensors import SMALL_SHAPES, Tensor, make

USAGE, BAD_DATA = 64, 65
SUFFIXES = {"uint8": "ubyte", "int8": "byte", "int16": "short", "int32": "int", "float32": "float", "float64": "double"}  # of published names
LAYOUTS = ("list", "nested", "tensor", "fixed-binary", "binary", "columns", "spark-image", "huggingface")
CODECS = ("zstd", "none", "snappy", "gzip", "lz4_raw")
MANY = (21_001, 7, 9)  # several batches
COLUMNS_LIMIT = 4096  # elements of a record in the layout columns


def column(tensor: Tensor) -> str:
    """The column's name: labels for numbers, images for the others."""
    return "label" if tensor.rank == 1 else "image"


def source(tensor: Tensor, path: Path) -> str:
    """The tensor as an input under the name of its column."""
    return f"{column(tensor)}={tensor.write(path)}"


def go_back(bench: Bench, inputs: list[str | Path], folder: Path, tensor: Tensor, *flags: str) -> Result:
    """Convert inputs to one IDX file, and demand the tensor's own bytes."""
    path = folder / "back.idx"
    path.unlink(missing_ok=True)
    result = bench.convert(inputs, [path], *flags)
    result.succeeded()
    same_bytes(f"{path.name} of {Path(str(inputs[0])).name}", path.read_bytes(), tensor.idx())
    return result


def fits(layout: str, tensor: Tensor) -> bool:
    """Whether the layout takes such a column."""
    shape = tensor.values.shape[1:]
    picture = len(shape) in (2, 3) and 0 not in shape and (len(shape) == 2 or shape[2] in (3, 4))
    if layout == "spark-image":
        return picture and tensor.dtype == "uint8"
    if layout == "huggingface":
        return picture and (tensor.dtype == "uint8" or tensor.dtype == "int16" and len(shape) == 2)  # 16 bits are grey alone
    if layout == "columns":
        return 0 < tensor.width <= COLUMNS_LIMIT
    return True


def binary_inputs(bench: Bench) -> Iterator[tuple[Tensor, str]]:
    """Every dtype in every small shape, pictures of every kind, and many records, with the layouts that take them."""
    many = [make(dtype, MANY) for dtype in tensors.CODES]
    pictures = [make("uint8", (3, 5, 7, 4)), make("uint8", (1, 3, 3, 3)), make("uint8", (0, 3, 3)), grey16((11, 7, 9)), grey16((1, 1, 1))]
    for i, tensor in enumerate([*tensors.small(), *many, *pictures, *(tensors.large() if bench.full else [])]):
        if tensor.dtype == "int16" and tensor.values.min(initial=0) < 0 and tensor.rank > 2:
            layouts = [layout for layout in LAYOUTS if layout != "huggingface"]  # negative samples have no PNG
        else:
            layouts = list(LAYOUTS)
        layouts = [layout for layout in layouts if fits(layout, tensor)]
        if not bench.full and tensor.rank == 1:
            layouts = [layouts[0]]  # a plain column in all of them
        elif not bench.full and tensor.values.shape not in tensors.PLAIN_SHAPES and tensor not in pictures:
            layouts = layouts[i % 3 :: 3]
        for layout in layouts:
            yield tensor, layout


def check_binary(bench: Bench) -> None:
    """Parquet, Arrow files and Arrow streams, in all layouts."""
    for i, (tensor, layout) in enumerate(binary_inputs(bench)):
        for parquet in CODECS if bench.full else [CODECS[i % len(CODECS)]]:
            arrow = ("none", "lz4", "zstd")[i % 3]
            with bench.folder("back") as folder:
                paths: list[str | Path] = [folder / f"out{ending}" for ending in (".parquet", ".arrow", ".arrows")]
                flags = ["--layout", layout, "--compression", f"parquet={parquet}", "--compression", f"arrow={arrow}", "--compression", f"arrows={arrow}"]
                result = bench.convert([source(tensor, folder / "a.idx")], paths, *flags)
                for path in paths:
                    with bench.report.case(f"{tensor.name} {layout} {Path(path).suffix}", result.command):
                        result.succeeded()
                        go_back(bench, [path], folder, tensor)


def without_payloads(tensor: Tensor) -> Tensor:
    """The tensor as text can hold it: every NaN is one."""
    values = tensor.values.copy()
    if values.dtype.kind == "f":
        values[np.isnan(values)] = np.nan
    return Tensor(values)


def check_text(bench: Bench) -> None:
    """CSV and TSV in all styles, with the type and the shape where the file cannot tell."""
    endings = (".csv", ".tsv", ".csv.gz", ".tsv.zst")
    inputs = [*tensors.small(), *(make(dtype, (2_001, 7, 9)) for dtype in tensors.CODES)]
    for i, tensor in enumerate(inputs):
        if tensor.width == 0:  # a line without fields is none
            continue
        shape = tensor.values.shape[1:]
        for j, style in enumerate(STYLES):
            headless = style in ("pjreddie", "matrix")
            if tensor.rows == 0 and headless or style == "matrix" and tensor.rank == 1:  # an empty file; one row of all numbers
                continue
            for ending in endings if bench.full else [endings[(i + j) % len(endings)]]:
                with bench.folder("back") as folder:
                    path = folder / f"out{ending}"
                    result = bench.convert([source(tensor, folder / "a.idx")], [path], "--csv-style", style)
                    flags = ["--dtype", tensor.dtype, *(["--shape", "x".join(map(str, shape))] if shape else []), *(["--header", "no"] if headless else [])]
                    with bench.report.case(f"{tensor.name} {style} {ending}", result.command):
                        result.succeeded()
                        text_back(bench, path, folder, tensor, flags)


def text_back(bench: Bench, path: Path, folder: Path, tensor: Tensor, flags: list[str]) -> None:
    """All numbers, bit for bit but for the payload of NaNs."""
    back = folder / "back.idx"
    bench.convert([path], [back], *flags).succeeded()
    values, _ = readers.idx_file(back)
    equal("the shape", values.shape, tensor.values.shape)
    same_bits(without_payloads(Tensor(values)).values, without_payloads(tensor).values)


def check_text_alone(bench: Bench) -> None:
    """What needs no flags: labels beside square images of bytes, in every style, and the shape where the header tells it."""
    square, oblong, flat = make("uint8", (50, 28, 28)), make("uint8", (50, 3, 5)), make("uint8", (50, 13))
    numbers = Tensor((np.arange(50) % 10).astype("uint8"))
    for style, image in [*((style, square) for style in STYLES if style != "matrix"), ("rowxcol", oblong), ("rowxcol", flat)]:
        with bench.folder("back") as folder:
            result = bench.convert([source(image, folder / "a.idx"), source(numbers, folder / "b.idx")], [folder / "x.csv"], "--csv-style", style)
            with bench.report.case(f"{image.name} {style} without flags", result.command):
                result.succeeded()
                both_back(bench, [folder / "x.csv"], folder, image, numbers)


def both_back(bench: Bench, inputs: list[str | Path], folder: Path, image: Tensor, label: Tensor, *flags: str) -> None:
    """Convert inputs to a folder of IDX files: one of images, one of labels, and nothing else."""
    out = folder / "published"
    result = bench.convert(inputs, [f"idx={out}/"], *flags)
    result.succeeded()
    names = {path.name for path in out.iterdir() if not path.name.startswith(".")}
    for tensor, role in ((image, "images"), (label, "labels")):
        ending = f"{role}-idx{tensor.rank}-{SUFFIXES[tensor.dtype]}"
        match [name for name in names if name.endswith(ending)]:
            case [name]:
                names.discard(name)
                same_bytes(name, (out / name).read_bytes(), tensor.idx())
            case found:
                raise Mismatch(f"found {found or sorted(names)}, expected one file that ends with {ending}; command: {result.command}")
    equal("the other files", names, set())


def check_arrays(bench: Bench) -> None:
    """NumPy's files: all dtypes and shapes; both orders of bytes; and those that numpy itself wrote."""
    for tensor in [*tensors.small(), *(make(dtype, MANY) for dtype in tensors.CODES)]:
        with bench.folder("back") as folder:
            result = bench.convert([source(tensor, folder / "a.idx")], [folder / "out.npy"])
            with bench.report.case(f"{tensor.name} .npy", result.command):
                result.succeeded()
                go_back(bench, [folder / "out.npy"], folder, tensor)
            for order in "<>":
                np.save(folder / "saved.npy", tensor.values.astype(tensor.values.dtype.newbyteorder(order)))
                with bench.report.case(f"{tensor.name} numpy.save {order}"):
                    go_back(bench, [folder / "saved.npy"], folder, tensor)


def check_fortran(bench: Bench) -> None:
    """Fortran order is refused with a hint, and leaves nothing; where both orders are the same it is none."""
    for shape in [(5, 13), (11, 7, 9), (3, 5, 7, 3)]:
        with bench.folder("back") as folder:
            np.save(folder / "f.npy", np.asfortranarray(make("int16", shape).values))
            result = bench.convert([folder / "f.npy"], [folder / "out.idx"])
            with bench.report.case(f"Fortran order {shape}", result.command):
                result.exited(USAGE, BAD_DATA)
                if "hint: " not in result.stderr or "ortran" not in result.stderr:
                    raise Mismatch(f"found no hint: {result.stderr}")
                nothing_left(folder, folder / "f.npy")
    with bench.folder("back") as folder, bench.report.case("Fortran order of one dimension"):
        tensor = make("int16", (13,))
        np.save(folder / "f.npy", np.asfortranarray(tensor.values))
        go_back(bench, [folder / "f.npy"], folder, tensor)


def check_pictures(bench: Bench) -> None:
    """PNG folders with and without labels, by every way to name the folders."""
    shapes = [("uint8", (11, 7, 9)), ("uint8", (1, 1, 1)), ("uint8", (5, 5, 7, 3)), ("uint8", (5, 5, 7, 4)), ("int16", (11, 7, 9)), ("uint8", (1_201, 8, 8))]
    for dtype, shape in shapes:
        image = grey16(shape) if dtype == "int16" else make(dtype, shape)
        numbers = Tensor((np.arange(shape[0]) * 7 % 11).astype("uint8"))
        with bench.folder("back") as folder:
            images, labels = source(image, folder / "a.idx"), source(numbers, folder / "b.idx")
            result = bench.convert([images], [f"png={folder / 'alone'}"])
            with bench.report.case(f"{image.name} png", result.command):
                result.succeeded()
                go_back(bench, [folder / "alone"], folder, image)
            for flags in ([], ["--metadata-csv"]):
                result = bench.convert([images, labels], [f"png={folder / 'both'}"], "--overwrite", *flags)
                with bench.report.case(" ".join([image.name, "png with labels", *flags]), result.command):
                    result.succeeded()
                    back = folder / f"back{len(flags)}"
                    back.mkdir()
                    both_back(bench, [folder / "both"], back, image, numbers)


def check_published(bench: Bench) -> None:
    """`-o idx=DIR/` writes the published names, and numpy and idx2numpy read the files: one header each, big-endian, the right count."""
    mnist = {"train": 60, "test": 10}
    for dtype in ("uint8", "int32", "float64"):
        with bench.folder("published") as folder:
            made: dict[str, Tensor] = {}
            (folder / "in").mkdir()
            for split, rows in mnist.items():
                prefix = "t10k" if split == "test" else split
                made[f"{prefix}-images-idx3-{SUFFIXES[dtype]}"] = make(dtype, (rows, 5, 7))
                made[f"{prefix}-labels-idx1-ubyte"] = Tensor((np.arange(rows) % 10).astype("uint8"))
            for name, tensor in made.items():
                tensor.write(folder / "in" / name)
            for number, flags in enumerate(([], ["--rows-per-file", "17"], ["--to", "arrow"], ["--to", "npy"])):
                out, back = folder / f"out{number}", folder / f"back{number}"
                bench.convert([folder / "in"], [out], *flags).succeeded()
                result = bench.convert([out], [f"idx={back}/"])
                with bench.report.case(" ".join(["published names", dtype, *flags]), result.command):
                    result.succeeded()
                    equal("the files", sorted(path.name for path in back.iterdir() if not path.name.startswith(".")), sorted(made))
                    for name, tensor in made.items():
                        read_published(back / name, tensor)


def read_published(path: Path, tensor: Tensor) -> None:
    """The file by the definition of the format, and by idx2numpy."""
    same_bytes(path.name, path.read_bytes(), tensor.idx())
    found = idx2numpy.convert_from_file(str(path))
    equal("idx2numpy's shape", found.shape, tensor.values.shape)
    same_bits(found.astype(found.dtype.newbyteorder("=")), tensor.values)


def check_foreign(bench: Bench) -> None:
    """Tables of images and labels by the programs themselves."""
    for what, write in foreign.FOREIGN.items():
        with bench.folder("foreign") as folder, bench.report.case(what):
            inputs, image, label = write(folder)
            both_back(bench, inputs, folder, image, label)


def check_foreign_types(bench: Bench) -> None:
    """Every dtype and rank as numpy, pyarrow, polars and DuckDB keep them: lists in lists, the type of the elements and no metadata."""
    for tensor in [make(dtype, shape) for dtype in tensors.CODES for shape in tensors.PLAIN_SHAPES]:
        with bench.folder("foreign") as folder:
            array = pa.array(np.ascontiguousarray(tensor.values).reshape(-1))
            lists = array
            for size in reversed(tensor.values.shape[1:]):
                lists = pa.ListArray.from_arrays(np.arange(0, len(lists) + 1, size, dtype="int32"), lists)
                array = pa.FixedSizeListArray.from_arrays(array, size)
            name = column(tensor)
            pq.write_table(pa.table({name: lists}), folder / "lists.parquet", use_dictionary=False, data_page_version="2.0")
            pq.write_table(pa.table({name: array}), folder / "fixed.parquet", compression="gzip", write_statistics=False)
            pyarrow.feather.write_feather(pa.table({name: lists}), folder / "lists.feather", compression="zstd")
            with pa.OSFile(str(folder / "fixed.arrows"), "wb") as sink, pa.ipc.new_stream(sink, pa.schema([(name, array.type)])) as writer:
                writer.write_table(pa.table({name: array}))
            polars.from_arrow(pa.table({name: array})).write_parquet(folder / "polars.parquet")
            for path in sorted(folder.glob("*.*")):
                with bench.report.case(f"{tensor.name} {path.name}"):
                    go_back(bench, [path], folder, tensor)


def check(bench: Bench) -> None:
    """All groups."""
    with bench.report.group("back from Parquet and Arrow"):
        check_binary(bench)
    with bench.report.group("back from CSV"):
        check_text(bench)
        check_text_alone(bench)
    with bench.report.group("back from .npy"):
        check_arrays(bench)
        check_fortran(bench)
    with bench.report.group("back from PNG"):
        check_pictures(bench)
    with bench.report.group("back to published names"):
        check_published(bench)
    with bench.report.group("back from other programs"):
        check_foreign(bench)
        check_foreign_types(bench)
