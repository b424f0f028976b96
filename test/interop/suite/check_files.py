"""IDX and .npy files by the definitions of their formats and by numpy; compressed inputs, pipes, and the same bytes however many outputs and workers."""

from __future__ import annotations

import io
import json
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa

from . import tensors
from .bench import USAGE, Bench, equal, same_bits, same_bytes, table, visible
from .tensors import CODES, Tensor, idx_file, make


def npy_bytes(tensor: Tensor) -> bytes:
    """What numpy.save writes."""
    out = io.BytesIO()
    np.save(out, tensor.values, allow_pickle=False)
    return out.getvalue()


def check_npy(path: Path, tensor: Tensor) -> None:
    """What numpy.save would have written; whole and mapped into memory."""
    same_bytes(path.name, path.read_bytes(), npy_bytes(tensor))
    for mode in (None, "r"):
        same_bits(np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False)), tensor.values)


def check_outputs(bench: Bench) -> None:
    """Raw, gzip and zstd, a published name, .npy; every data type and shape."""
    for tensor in [*tensors.small(), *tensors.large()]:
        with bench.folder() as folder:
            name = f"made-images-idx{tensor.rank}-{tensor.suffix}"
            paths = [folder / name for name in ("out.idx", "out.idx.gz", "out.idx.zst", name, f"{name}.gz")]
            made = bench.convert([tensor.write(folder / "a.idx")], [*paths, folder / "out.npy"])
            with bench.case(f"{tensor.name} to .npy", made):
                check_npy(folder / "out.npy", tensor)
            for path in paths:
                with bench.case(f"{tensor.name} to {path.name}", made):
                    values, data = idx_file(path)
                    same_bits(values, tensor.values)
                    same_bytes("the IDX file", data, tensor.idx())


def check_inputs(bench: Bench) -> None:
    """Every compression, by its suffix, and through pipes by its content alone."""
    for tensor, (suffix, compress) in product(tensors.plain(), tensors.COMPRESSIONS.items()):
        with bench.folder() as folder:
            made = bench.convert([tensor.write(folder / f"a.idx{suffix}", suffix)], [folder / "out.idx"])
            with bench.case(f"{tensor.name} from {suffix or 'raw'}", made):
                same_bytes("the IDX file", (folder / "out.idx").read_bytes(), tensor.idx())
            for form, expected in (("idx", tensor.idx()), ("npy", npy_bytes(tensor))):
                made = bench.convert(["-"], [f"{form}=-"], stdin=compress(tensor.idx()))
                with bench.case(f"{tensor.name} {suffix or 'raw'} through pipes to {form}", made):
                    same_bytes("standard output", made.stdout, expected)


def check_columns(bench: Bench) -> None:
    """A .npy file for each column of a folder, or for the column that its name tells; --rows takes a part."""
    image, label = make("int16", (21_001, 7, 9)), tensors.labels(21_001)
    with bench.folder() as folder:
        inputs = table(folder / "in", image, label)
        out, some = folder / "out", [folder / "some-image.npy", folder / "some-label.npy"]
        with bench.case("columns", bench.convert(inputs, [f"npy={out}/", folder / "X_made.npy", folder / "y_made.npy"])):
            names = visible(out)
            equal("the ends of the names", [name.rpartition("-")[2] for name in names], ["image.npy", "label.npy"])
            for path, tensor in zip([*(out / name for name in names), folder / "X_made.npy", folder / "y_made.npy"], [image, label] * 2):
                check_npy(path, tensor)
        with bench.case("a range of rows", bench.convert(inputs, [*some], "--rows", "20000:-7")):
            for path, tensor in zip(some, (image, label)):
                check_npy(path, Tensor(tensor.values[20000:-7]))
        bench.refused("two columns in one array", inputs, "{}/data.npy", words="npy=DIR/", status=(USAGE,))


OUTPUTS = ["out.parquet", "out.arrow", "out.feather", "out.arrows", "out.csv", "out.idx", "out.idx.gz", "out.csv.zst", "out.npy"]
PICTURES = ["out.tar", "png=out"]


def tree(path: Path) -> dict[str, bytes]:
    """The bytes of a file, or of all files of a folder, by name."""
    files = path.rglob("*") if path.is_dir() else [path]
    return {str(file.relative_to(path)): file.read_bytes() for file in files if file.is_file()}


def check_same_bytes(bench: Bench) -> None:
    """One pass for all outputs gives the bytes of one pass for each, and so do one worker and many. A .feather file is an .arrow file."""
    for dtype, flags in product(CODES if bench.full else ["uint8", "float32"], ([], ["--rows", "500:-10"])):
        tensor = make(dtype, (21_001, 7, 9) if dtype != "uint8" else (3_001, 28, 28))
        with bench.folder() as folder:
            source, together = tensor.write(folder / "a.idx"), folder / "together"
            together.mkdir()
            names = OUTPUTS + (PICTURES if dtype == "uint8" else [])
            flags = [*flags, *(["--metadata-csv"] if dtype == "uint8" else [])]

            def outputs(place: Path, names: list[str]) -> list[str | Path]:
                return [f"png={place / 'out'}" if name == "png=out" else place / name for name in names]

            whole = bench.convert([source], outputs(together, names), *flags)
            with bench.case(f"{dtype} {' '.join(flags)} .feather", whole):
                same_bytes("out.feather", (together / "out.feather").read_bytes(), (together / "out.arrow").read_bytes())
            for name, workers in product(names, ("1", "2", "64")):
                place = folder / f"w{workers}"
                place.mkdir(exist_ok=True)
                given = flags if name == "png=out" else [flag for flag in flags if flag != "--metadata-csv"]
                alone = bench.convert([source], outputs(place, [name]), "--workers", workers, *given)
                with bench.case(f"{dtype} {name}, alone with {workers} workers {' '.join(given)}", alone):
                    whole.succeeded()
                    path = name.removeprefix("png=")
                    found, expected = tree(place / path), tree(together / path)
                    equal("the files", sorted(found), sorted(expected))
                    for file, data in found.items():
                        same_bytes(f"{name} {file}", data, expected[file])


def check_fields(bench: Bench) -> None:
    """The metadata of Arrow's fields say where a column came from."""
    for tensor in tensors.plain():
        with bench.folder() as folder:
            made = bench.convert([tensor.write(folder / "a.idx")], [folder / "out.arrow"])
            with bench.case(f"{tensor.name} fields", made):
                with pa.OSFile(str(folder / "out.arrow")) as file, pa.ipc.open_file(file) as reader:
                    metadata = reader.schema.field("data").metadata
                equal("idx.dtype", metadata[b"idx.dtype"].decode(), tensor.dtype)
                equal("idx.shape", json.loads(metadata[b"idx.shape"]), list(tensor.values.shape[1:]))


GROUPS = {
    "IDX and .npy outputs": check_outputs,
    "compressed inputs": check_inputs,
    ".npy columns": check_columns,
    "same bytes": check_same_bytes,
    "Arrow fields": check_fields,
}
