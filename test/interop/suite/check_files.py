"""IDX and .npy files, by the definition of IDX, by numpy and by idx2numpy; inputs in every compression, from files and
from pipes."""

from __future__ import annotations

import io
from itertools import product

import idx2numpy
import numpy as np

from . import tensors
from .bench import Bench, equal, same_bits, same_bytes
from .tensors import Tensor, idx_file, make, numbers


def npy_bytes(tensor: Tensor) -> bytes:
    """The file that numpy.save writes."""
    out = io.BytesIO()
    np.save(out, tensor.values, allow_pickle=False)
    return out.getvalue()


def check_outputs(bench: Bench) -> None:
    """IDX raw, gzip and zstd, and .npy; every data type and shape."""
    for tensor in [*tensors.small(), *tensors.large()]:
        with bench.folder() as folder:
            paths = [folder / name for name in ("out.idx", "out.idx.gz", "out.idx.zst")]
            made = bench.convert([tensor.write(folder / "a.idx")], [*paths, folder / "out.npy"])
            with bench.case(f"{tensor.name} to .npy", made):
                same_bytes("out.npy", (folder / "out.npy").read_bytes(), npy_bytes(tensor))
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
        made = bench.convert(["-"], ["npy=-"], stdin=compress(tensor.idx()))
        with bench.case(f"{tensor.name} {suffix or 'raw'} through pipes", made):
            same_bytes("standard output", made.stdout, npy_bytes(tensor))


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


GROUPS = {
    "IDX and .npy outputs": check_outputs,
    "compressed inputs": check_inputs,
    "back to published names": check_published,
}
