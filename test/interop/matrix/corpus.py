#!/usr/bin/env python3
"""Make the corpus: IDX files by the format's definition, the binary's outputs in every layout and codec, and
cases.jsonl, which lists them.

usage: $(test/interop/venv) -m matrix.corpus --binary PATH --out FOLDER [--full]        (in test/interop)
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from suite import tensors
from suite.tensors import Tensor

# The codecs of each format, the default first.
CODECS = {"parquet": ["zstd", "none", "snappy", "gzip"], "arrow": ["none", "lz4", "zstd"], "arrows": ["none", "lz4", "zstd"]}
NUMERIC = ["list", "nested", "tensor", "fixed-binary", "binary", "columns"]
PICTURES = ["huggingface"]

SHOWN = "uint8-11x7x9"  # the input whose types the matrix shows; every layout has it
# Odd sizes, one record, no records; ranks 2 to 4. Rank 1 is a plain column in every layout.
SHAPES: list[tuple[int, ...]] = [(5, 13), (11, 7, 9), (1, 7, 9), (0, 7, 9), (3, 5, 7, 3), (3, 1, 1)]
PICTURE_SHAPES: list[tuple[int, ...]] = [(11, 7, 9), (1, 1, 1), (0, 7, 9), (3, 5, 7, 1), (3, 5, 7, 3), (3, 5, 7, 4), (2, 129, 131)]
# Several pages of one row group, and several batches.
CODEC_SHAPE = (3001, 7, 9)
MANY = (300_000, 3, 5)
QUICK_CODEC_DTYPES = ["uint8", "int16", "float64"]


@dataclass(frozen=True)
class Input:
    """A table of one tensor and its labels; a tensor of rank 1 is alone."""

    name: str
    image: Tensor
    label: Tensor | None

    def write(self, folder: Path) -> dict[str, Path]:
        """The IDX files of the columns, by name."""
        columns = {"image": self.image} | ({"label": self.label} if self.label else {})
        paths = {name: folder / f"{self.name}.{name}.idx" for name in columns}
        for name, path in paths.items():
            if not path.exists():
                columns[name].write(path)
        return paths


def table(tensor: Tensor) -> Input:
    """The tensor beside labels."""
    return Input(tensor.name, tensor, tensors.labels(tensor.rows) if tensor.rank > 1 else None)


def grey16() -> Input:
    """16-bit images without negative values, which PNG can hold."""
    tensor = tensors.grey16((11, 7, 9))
    return Input(f"grey-{tensor.name}", tensor, tensors.labels(tensor.rows))


def smooth(shape: tuple[int, ...]) -> Tensor:
    """Images of bytes that every codec compresses more than threefold, as it does real images: runs of a few values."""
    values = np.repeat(np.arange(np.prod(shape, dtype=int) // 50 + 1) % 7, 50)[: np.prod(shape, dtype=int)]
    return Tensor(values.astype("uint8").reshape(shape))


def inputs(layout: str) -> Iterator[Input]:
    """The inputs of every layout in its default codec."""
    if layout in PICTURES:
        for shape in PICTURE_SHAPES:
            yield table(tensors.make("uint8", shape))
        yield grey16()
        return
    for dtype in tensors.CODES:
        for shape in SHAPES:
            yield table(tensors.make(dtype, shape))
        if layout == "list":
            for shape in [(13,), (1,), (0,), (70_001,)]:
                yield table(tensors.make(dtype, shape))


def codec_inputs(layout: str, full: bool) -> Iterator[Input]:
    """The inputs of every layout in every codec: noise, and images that compress well."""
    for dtype in ["uint8"] if layout in PICTURES else tensors.CODES if full else QUICK_CODEC_DTYPES:
        yield table(tensors.make(dtype, CODEC_SHAPE if layout not in PICTURES else (301, 7, 9)))
    values = smooth(CODEC_SHAPE if layout not in PICTURES else (301, 7, 9))
    yield Input(f"smooth-{values.name}", values, tensors.labels(values.rows))


@dataclass(frozen=True)
class Corpus:
    """The folder of the corpus, and the binary that makes it."""

    binary: Path
    folder: Path
    list: list[dict[str, object]]

    def convert(self, source: Input, outputs: dict[str, str], layout: str = "", codec: str = "") -> None:
        """Convert to outputs (format to name) in one pass, and list them."""
        files = source.write(self.folder)
        columns = [{"name": name, "idx": path.name} for name, path in files.items()]
        command: list[str | Path] = [self.binary, "convert", "--quiet", *(f"{name}={path}" for name, path in files.items())]
        for form, name in outputs.items():
            command += ["-o", f"{form}={self.folder / name}"]
            command += ["--layout", f"{form}={layout}"] if layout else []
            command += ["--compression", f"{form}={codec or CODECS[form][0]}"] if layout else []
            case = {"format": form, "layout": layout, "codec": (codec or CODECS[form][0]) if layout else "", "input": source.name}
            more = bool(codec) and layout in NUMERIC and source.image.dtype not in QUICK_CODEC_DTYPES
            self.list.append(case | {"file": name, "columns": columns, "shown": source.name == SHOWN, "more": more})
        text = shlex.join(map(str, command))
        for case in self.list[-len(outputs) :]:
            case["command"] = text
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:  # no reader will find the files
            print(f"{text}: exit code {done.returncode}: {done.stderr}", file=sys.stderr)

    def layouts(self, full: bool) -> None:
        """Parquet and Arrow: every layout with every input, and with every codec; streams of lists."""
        for layout in NUMERIC + PICTURES:
            forms = [form for form in CODECS if form != "arrows" or layout == "list"]
            for source in inputs(layout):
                self.convert(source, {form: f"{source.name}.{layout}.{form}" for form in forms}, layout)
            for source in codec_inputs(layout, full):
                for form in forms:
                    for codec in CODECS[form]:
                        self.convert(source, {form: f"{source.name}.{layout}.{codec}.{form}"}, layout, codec)
        labels = Tensor(np.sort(tensors.labels(MANY[0]).values))  # sorted, for readers that skip pages
        image = tensors.make("uint8", MANY)
        self.convert(Input("many", image, labels), {"parquet": "many.parquet", "arrow": "many.arrow"}, "list")

    def others(self) -> None:
        """The formats without layouts."""
        for dtype in tensors.CODES:
            for shape in [(11, 7, 9), (5, 13), (1, 7, 9), (3, 5, 7, 3)]:
                source = table(tensors.make(dtype, shape))
                self.convert(source, {"csv": f"{source.name}.csv"})
            for shape in [(13,), *SHAPES]:
                source = Input(f"alone-{dtype}-{'x'.join(map(str, shape))}", tensors.make(dtype, shape), None)
                source = Input(SHOWN, source.image, None) if source.name == f"alone-{SHOWN}" else source
                self.convert(source, {"npy": f"{source.name}.npy", "idx": f"{source.name}.out.idx"})
        for source in [grey16(), *(table(tensors.make("uint8", shape)) for shape in PICTURE_SHAPES if shape[0])]:
            self.convert(source, {"png": f"{source.name}.png", "tar": f"{source.name}.tar"})

    def more(self) -> None:
        """Lists and bytes of every small shape, also without elements, and of many batches, pages and row groups. No page is about them."""
        large = [*tensors.large()]
        for i, tensor in enumerate([*tensors.small(), *large]):
            source = Input(f"more-{tensor.name}", tensor, None)
            for layout in ("list", "fixed-binary"):
                for form, codecs in CODECS.items():
                    codec = codecs[i % len(codecs)]
                    self.convert(source, {form: f"{source.name}.{layout}.{codec}.{form}"}, layout, codec)
            if tensor in large:
                self.convert(source, {"parquet": f"{source.name}.list.plain.parquet"}, "list", "none")
        big = table(tensors.make("uint8", (24_001, 3, 5)))
        self.convert(big, {"parquet": "big.columns.parquet", "arrow": "big.columns.arrow"}, "columns")

    def close(self) -> None:
        """Write the list."""
        (self.folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in self.list))


def main() -> None:
    """Make the corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="a folder that is made, or empty")
    parser.add_argument("--full", action="store_true", help="every codec with every data type")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(options.binary.resolve(), options.out.resolve(), [])
    corpus.layouts(options.full)
    corpus.others()
    corpus.close()
    print(f"corpus: {len(corpus.list)} files of {len({case['input'] for case in corpus.list})} inputs")


if __name__ == "__main__":
    main()
