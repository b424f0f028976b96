"""IDX and .npy files, by the definition of IDX and by numpy; inputs in every compression, from files and from pipes."""

from __future__ import annotations

import io
from itertools import product

import numpy as np

from . import tensors
from .bench import Bench, same_bits, same_bytes
from .tensors import Tensor, idx_file


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


GROUPS = {"IDX and .npy outputs": check_outputs, "compressed inputs": check_inputs}
