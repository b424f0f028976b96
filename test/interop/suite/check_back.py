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

from matrix.corpus import CODECS, NUMERIC, PICTURES

from . import foreign, tensors
from .bench import BAD_DATA, USAGE, Bench, equal, same_bits, same_bytes, table, visible
from .check_csv import HEADLESS, STYLES
from .tensors import Tensor, grey16, idx_file, make, numbers

LAYOUTS = NUMERIC + PICTURES
MANY = (21_001, 7, 9)  # several batches
COLUMNS_LIMIT = 4096  # elements of a record in the layout columns


def column(folder: Path, tensor: Tensor) -> list[str | Path]:
    """The tensor as an input: labels if it has one dimension, else images."""
    return table(folder, None, tensor) if tensor.rank == 1 else table(folder, tensor)


def go_back(bench: Bench, path: Path, tensor: Tensor, *flags: str) -> None:
    """Convert to one IDX file, and demand the tensor's own bytes."""
    back = path.with_name("back.idx")
    bench.convert([path], [back], "--overwrite", *flags).succeeded()
    same_bytes(f"{back.name} of {path.name}", back.read_bytes(), tensor.idx())


def fits(layout: str, tensor: Tensor) -> bool:
    """Whether the layout takes such a column."""
    shape = tensor.values.shape[1:]
    picture = len(shape) in (2, 3) and 0 not in shape and (len(shape) == 2 or shape[2] in (3, 4))
    if layout == "spark-image":
        return picture and tensor.dtype == "uint8"
    if layout == "huggingface":  # 16 bits are grey alone, and without negatives
        grey = tensor.dtype == "int16" and len(shape) == 2 and tensor.values.min(initial=0) >= 0
        return picture and (tensor.dtype == "uint8" or grey)
    return layout != "columns" or 0 < tensor.width <= COLUMNS_LIMIT


def check_binary(bench: Bench) -> None:
    """Every data type in every small shape, pictures of every kind, and many records: Parquet, Arrow files and streams, in all layouts."""
    pictures = [make("uint8", (3, 5, 7, 4)), make("uint8", (1, 3, 3, 3)), make("uint8", (0, 3, 3)), grey16((11, 7, 9)), grey16((1, 1, 1))]
    many = [make(dtype, MANY) for dtype in tensors.CODES]
    for i, tensor in enumerate([*tensors.small(), *many, *pictures, *(tensors.large() if bench.full else [])]):
        layouts = [layout for layout in LAYOUTS if fits(layout, tensor)]
        if not bench.full and tensor.rank == 1:
            layouts = layouts[:1]  # a plain column in all of them
        elif not bench.full and tensor.values.shape not in tensors.PLAIN_SHAPES and tensor not in pictures:
            layouts = layouts[i % 3 :: 3]
        for j, layout in enumerate(layouts):
            for codec in CODECS["parquet"] if bench.full else [CODECS["parquet"][(i + j) % 5]]:
                with bench.folder("back") as folder:
                    codecs = {"parquet": codec, "arrow": CODECS["arrow"][i % 3], "arrows": CODECS["arrow"][i % 3]}
                    flags = [part for form, chosen in codecs.items() for part in ("--compression", f"{form}={chosen}")]
                    paths = [folder / f"out.{form}" for form in codecs]
                    made = bench.convert(column(folder, tensor), [*paths], "--layout", layout, *flags)
                    for path in paths:
                        with bench.case(f"{tensor.name} {layout} {codec} {path.suffix}", made):
                            go_back(bench, path, tensor)


def without_payloads(values: np.ndarray) -> np.ndarray:
    """The values as text can hold them: every NaN is one."""
    return np.where(np.isnan(values), np.array(np.nan, values.dtype), values) if values.dtype.kind == "f" else values


def check_text(bench: Bench) -> None:
    """CSV and TSV in all styles, with the type and the shape where the file cannot tell."""
    endings = (".csv", ".tsv", ".csv.gz", ".tsv.zst")
    for i, tensor in enumerate([*tensors.small(), *(make(dtype, (2_001, 7, 9)) for dtype in tensors.CODES)]):
        for j, style in enumerate(STYLES):
            none = tensor.rows == 0 and style in HEADLESS or style == "matrix" and tensor.rank == 1  # an empty file; one row of all numbers
            if none or tensor.width == 0:  # a line without fields is none
                continue
            for ending in endings if bench.full else [endings[(i + j) % len(endings)]]:
                with bench.folder("back") as folder:
                    path, back, shape = folder / f"out{ending}", folder / "back.idx", tensor.values.shape[1:]
                    flags = ["--dtype", tensor.dtype, *(["--shape", "x".join(map(str, shape))] if shape else []), *["--header", "no"] * (style in HEADLESS)]
                    made = bench.convert(column(folder, tensor), [path], "--csv-style", style)
                    with bench.case(f"{tensor.name} {style} {ending}", made):
                        bench.convert([path], [back], *flags).succeeded()
                        same_bits(without_payloads(idx_file(back)[0]), without_payloads(tensor.values))


def both_back(bench: Bench, inputs: list[Path], out: Path, image: Tensor, label: Tensor) -> None:
    """Convert inputs to a folder of IDX files: one of images, one of labels, and nothing else."""
    bench.convert([*inputs], [f"idx={out}/"]).succeeded()
    expected = {f"images-idx{image.rank}-{image.suffix}": image, f"labels-idx1-{label.suffix}": label}
    found = {name[name.index(name.split("-")[-3]) :]: name for name in visible(out)}
    equal("the files", sorted(found), sorted(expected))
    for ending, tensor in expected.items():
        same_bytes(found[ending], (out / found[ending]).read_bytes(), tensor.idx())


def check_text_alone(bench: Bench) -> None:
    """What needs no flags: labels beside square images of bytes, in every style, and the shape where the header tells it."""
    square, oblong, flat = make("uint8", (50, 28, 28)), make("uint8", (50, 3, 5)), make("uint8", (50, 13))
    for style, image in [*((style, square) for style in STYLES if style != "matrix"), ("rowxcol", oblong), ("rowxcol", flat)]:
        with bench.folder("back") as folder:
            made = bench.convert(table(folder, image, numbers(50)), [folder / "x.csv"], "--csv-style", style)
            with bench.case(f"{image.name} {style} without flags", made):
                both_back(bench, [folder / "x.csv"], folder / "back", image, numbers(50))


def check_arrays(bench: Bench) -> None:
    """NumPy's files in both orders of bytes, and our own. Fortran order is refused, unless both orders are the same."""
    for tensor in [*tensors.small(), *(make(dtype, MANY) for dtype in tensors.CODES)]:
        with bench.folder("back") as folder:
            with bench.case(f"{tensor.name} .npy", bench.convert(column(folder, tensor), [folder / "out.npy"])):
                go_back(bench, folder / "out.npy", tensor)
            for order in "<>":
                np.save(folder / "saved.npy", tensor.values.astype(tensor.values.dtype.newbyteorder(order)))
                with bench.case(f"{tensor.name} numpy.save {order}"):
                    go_back(bench, folder / "saved.npy", tensor)
    for shape in tensors.PLAIN_SHAPES:
        tensor = make("int16", shape)
        with bench.folder("back") as folder:
            np.save(folder / "f.npy", np.asfortranarray(tensor.values))
            if len(shape) > 1:
                words = "ortran(.|\n)*hint: |hint: (.|\n)*ortran"
                bench.refused(f"Fortran order {shape}", [folder / "f.npy"], "{}/out.idx", status=(USAGE, BAD_DATA), words=words)
                continue
            with bench.case("Fortran order of one dimension"):
                go_back(bench, folder / "f.npy", tensor)


def check_pictures(bench: Bench) -> None:
    """PNG folders with and without labels, with metadata.csv and without."""
    shapes = [(11, 7, 9), (1, 1, 1), (5, 5, 7, 3), (5, 5, 7, 4), (1_201, 8, 8)]
    for image in [grey16((11, 7, 9)), *(make("uint8", shape) for shape in shapes)]:
        label = Tensor((np.arange(image.rows) * 7 % 11).astype("uint8"))
        with bench.folder("back") as folder:
            inputs = table(folder, image, label)
            with bench.case(f"{image.name} png", bench.convert(inputs[:1], [f"png={folder / 'alone'}"])):
                go_back(bench, folder / "alone", image)
            for flags in ([], ["--metadata-csv"]):
                out = folder / f"both{len(flags)}"
                with bench.case(f"{image.name} png with labels {flags}", bench.convert(inputs, [f"png={out}"], *flags)):
                    both_back(bench, [out], folder / f"back{len(flags)}", image, label)


def check_published(bench: Bench) -> None:
    """`-o idx=DIR/` writes the published names, and numpy and idx2numpy read the files: one header each, big-endian, the right count."""
    for dtype in ("uint8", "int32", "float64"):
        with bench.folder("published") as folder:
            made = {}
            for split, rows in {"train": 60, "t10k": 10}.items():
                for role, tensor in (("images", make(dtype, (rows, 5, 7))), ("labels", numbers(rows))):
                    made[f"{split}-{role}-idx{tensor.rank}-{tensor.suffix}"] = tensor
            (folder / "in").mkdir()
            for name, tensor in made.items():
                tensor.write(folder / "in" / name)
            for i, flags in enumerate(([], ["--rows-per-file", "17"], ["--to", "arrow"], ["--to", "npy"])):
                out, back = folder / f"out{i}", folder / f"back{i}"
                bench.convert([folder / "in"], [out], *flags).succeeded()
                with bench.case(f"published names {dtype} {' '.join(flags)}", bench.convert([out], [f"idx={back}/"])):
                    equal("the files", visible(back), sorted(made))
                    for name, tensor in made.items():
                        same_bytes(name, (back / name).read_bytes(), tensor.idx())
                        found = idx2numpy.convert_from_file(str(back / name))
                        same_bits(found.astype(found.dtype.newbyteorder("=")), tensor.values)


def check_foreign(bench: Bench) -> None:
    """Tables of images and labels by the programs themselves."""
    for what, write in foreign.FOREIGN.items():
        with bench.folder("foreign") as folder, bench.case(what):
            inputs, image, label = write(folder)
            both_back(bench, inputs, folder / "back", image, label)


def foreign_files(folder: Path, tensor: Tensor) -> Iterator[Path]:
    """The tensor as pyarrow and polars keep it: lists in lists, the type of the elements and no metadata."""
    array = lists = pa.array(np.ascontiguousarray(tensor.values).reshape(-1))
    for size in reversed(tensor.values.shape[1:]):
        lists = pa.ListArray.from_arrays(np.arange(0, len(lists) + 1, size, dtype="int32"), lists)
        array = pa.FixedSizeListArray.from_arrays(array, size)
    name = "label" if tensor.rank == 1 else "image"
    loose, fixed = pa.table({name: lists}), pa.table({name: array})
    pq.write_table(loose, folder / "lists.parquet", use_dictionary=False, data_page_version="2.0")
    pq.write_table(fixed, folder / "fixed.parquet", compression="gzip", write_statistics=False)
    pyarrow.feather.write_feather(loose, folder / "lists.feather", compression="zstd")
    with pa.OSFile(str(folder / "fixed.arrows"), "wb") as sink, pa.ipc.new_stream(sink, fixed.schema) as writer:
        writer.write_table(fixed)
    polars.from_arrow(fixed).write_parquet(folder / "polars.parquet")
    yield from sorted(folder.glob("*.*"))


def check_foreign_types(bench: Bench) -> None:
    """Every data type and rank."""
    for tensor in tensors.plain():
        with bench.folder("foreign") as folder:
            for path in foreign_files(folder, tensor):
                with bench.case(f"{tensor.name} {path.name}"):
                    go_back(bench, path, tensor)


GROUPS = {
    "back from Parquet and Arrow": check_binary,
    "back from CSV": check_text,
    "back from CSV without flags": check_text_alone,
    "back from .npy": check_arrays,
    "back from PNG": check_pictures,
    "back to published names": check_published,
    "back from other programs": check_foreign,
    "back from other programs, types": check_foreign_types,
}
