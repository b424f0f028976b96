"""Several outputs in one pass: from every compression, with any number of workers, always the same."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from . import check_arrow, check_csv, check_idx, check_parquet, check_png, tensors
from .command import Bench
from .compare import same_bytes
from .tensors import Tensor

OUTPUTS = ["out.parquet", "out.arrow", "out.arrows", "out.csv", "out.idx", "out.idx.gz", "out.csv.zst"]


def check_passes(bench: Bench, tensor: Tensor, compression: str) -> None:
    """Every format, layout, codec and style from one input, all formats in one pass."""
    with bench.folder("passes") as folder:
        source = tensor.write(folder / f"{tensor.name}.idx{compression}", compression)
        has_png = tensor.dtype == "uint8" and tensor.rank >= 3
        for layout, (codec, style) in product(check_parquet.LAYOUTS, zip(check_parquet.CODECS, check_csv.STYLES, strict=True)):
            target = folder / f"{layout}-{codec}"
            target.mkdir()
            names = ["out.parquet", "out.arrow", "out.arrows", "out.csv", "out.idx", "out.idx.gz", "out.idx.zst"]
            outputs: list[str | Path] = [target / name for name in names]
            outputs += [f"png={target / 'out'}"] if has_png else []
            flags = ["--layout", layout, "--compression", f"parquet={codec}", "--csv-style", style]
            result = bench.convert([source], outputs, *flags)
            tag = f"from {compression or 'raw'} {layout} {codec}"
            check_parquet.check_values(bench, tensor, layout, target / "out.parquet", result, tag)
            for name in names[1:3]:
                check_arrow.check_values(bench, tensor, layout, target / name, result, tag)
            check_csv.check_style(bench, tensor, style, result, target / "out.csv")
            for name in names[4:]:
                check_idx.check_file(bench, tensor, target / name, result)
            if has_png:
                with bench.report.case(f"{tensor.name} png {tag}", result.command):
                    result.succeeded()
                    check_png.check_pixels(target / "out", tensor, "L" if tensor.rank == 3 else "RGB", None)


def check_compressions(bench: Bench) -> None:
    """Every dtype × rank × compression of the input; the quick run has each two of the three together at least once."""
    axes = (enumerate(tensors.CODES), enumerate(tensors.PLAIN_SHAPES), enumerate(tensors.COMPRESSIONS))
    for (i, dtype), (j, shape), (k, compression) in product(*axes):
        if bench.full or (i + j + k) % len(tensors.PLAIN_SHAPES) == 0:
            check_passes(bench, tensors.make(dtype, shape), compression)


def check_same_bytes(bench: Bench) -> None:
    """One pass for all outputs gives the bytes of one pass for each, and so do one worker and many."""
    inputs = [tensors.make(dtype, (21_001, 7, 9)) for dtype in (tensors.CODES if bench.full else ["uint8", "float32"])]
    for tensor in inputs:
        with bench.folder("together") as folder:
            source = tensor.write(folder / f"{tensor.name}.idx")
            together = folder / "together"
            together.mkdir()
            outputs: list[str | Path] = [together / name for name in OUTPUTS]
            all_at_once = bench.convert([source], outputs)
            for name, workers in product(OUTPUTS, ("1", "2", "64")):
                path = folder / f"w{workers}-{name}"
                alone = bench.convert([source], [path], "--workers", workers)
                with bench.report.case(f"{tensor.name} {name}, alone with {workers} workers", f"{alone.command}\n$ {all_at_once.command}"):
                    all_at_once.succeeded()
                    alone.succeeded()
                    same_bytes(name, path.read_bytes(), (together / name).read_bytes())


def check(bench: Bench) -> None:
    """All groups of this file."""
    with bench.report.group("every compression to every output"):
        check_compressions(bench)
    with bench.report.group("same bytes"):
        check_same_bytes(bench)
