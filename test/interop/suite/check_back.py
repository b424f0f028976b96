"""The way back is exact: IDX files converted to Parquet, Arrow and published names, and to IDX again, byte for byte;
`verify` finds them equal."""

from __future__ import annotations

from pathlib import Path

import idx2numpy

from matrix.corpus import CODECS, NUMERIC, PICTURES

from . import tensors
from .bench import Bench, equal, same_bits, same_bytes, table
from .tensors import Tensor, grey16, make, numbers

LAYOUTS = NUMERIC + PICTURES
COLUMNS_LIMIT = 4096  # elements of a record in the layout columns


def column(folder: Path, tensor: Tensor) -> list[str | Path]:
    """The tensor as an input: labels if it has one dimension, otherwise images."""
    return table(folder, None, tensor) if tensor.rank == 1 else table(folder, tensor)


def go_back(bench: Bench, path: Path, tensor: Tensor, *flags: str) -> None:
    """Convert to one IDX file, and demand the bytes of the tensor's IDX file."""
    back = path.with_name("back.idx")
    bench.convert([path], [back], "--overwrite", *flags).succeeded()
    same_bytes(f"{back.name} of {path.name}", back.read_bytes(), tensor.idx())


def fits(layout: str, tensor: Tensor) -> bool:
    """Report whether the layout can hold the tensor."""
    shape = tensor.values.shape[1:]
    picture = len(shape) in (2, 3) and 0 not in shape and (len(shape) == 2 or shape[2] in (3, 4))
    if layout == "huggingface":  # 16 bits are grey alone, and without negatives
        grey = tensor.dtype == "int16" and len(shape) == 2 and tensor.values.min(initial=0) >= 0
        return picture and (tensor.dtype == "uint8" or grey)
    return layout != "columns" or 0 < tensor.width <= COLUMNS_LIMIT


def check_binary(bench: Bench) -> None:
    """Every data type in every small shape, images of every kind, and many records: Parquet, Arrow files and streams,
    in all layouts."""
    pictures = [make("uint8", (3, 5, 7, 4)), make("uint8", (1, 3, 3, 3)), make("uint8", (0, 3, 3)), grey16((11, 7, 9)), grey16((1, 1, 1))]
    many = [make(dtype, (21_001, 7, 9)) for dtype in tensors.CODES]  # several batches
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
                    inputs = column(folder, tensor)
                    made = bench.convert(inputs, [*paths], "--layout", layout, *flags)
                    for path in paths:
                        with bench.case(f"{tensor.name} {layout} {codec} {path.suffix}", made):
                            go_back(bench, path, tensor)
                            bench.run("verify", path, *inputs).succeeded()


def check_published(bench: Bench) -> None:
    """`-o idx=DIR/` writes the published names, and idx2numpy reads the files."""
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
                    equal("the files", sorted(path.name for path in back.glob("[!.]*")), sorted(made))
                    for name, tensor in made.items():
                        same_bytes(name, (back / name).read_bytes(), tensor.idx())
                        found = idx2numpy.convert_from_file(str(back / name))
                        same_bits(found.astype(found.dtype.newbyteorder("=")), tensor.values)


GROUPS = {"back from Parquet and Arrow": check_binary, "back to published names": check_published}
