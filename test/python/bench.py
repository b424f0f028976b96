#!/usr/bin/env python3
"""Time the Python package beside what people use now: whole processes, and without the imports.

usage: $(test/interop/venv ../python) test/python/bench.py --binary PATH [--runs N] [--write]

The data are MNIST's training images and labels in data/mnist. The BLAS of NumPy gets one thread: another one, which no
program needs, would spin on a processor for 0.1 s after the import. --write puts the table into test/python/RESULTS.md.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))

from measure import ROOT, Contender, Job, hold, place  # noqa: E402

FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")

# Each program reads x and y, the images and labels, and leaves nothing else. Its first line are the imports.
GZIP = {
    "idxport.load": ("import idxport, numpy", "a = idxport.load('image=X.gz', 'label=Y.gz'); x, y = a['image'], a['label']"),
    "gzip + numpy, as keras.datasets.fashion_mnist": (
        "import gzip, numpy as np",
        "y = np.frombuffer(gzip.open('Y.gz').read(), np.uint8, offset=8)\n"
        "x = np.frombuffer(gzip.open('X.gz').read(), np.uint8, offset=16).reshape(len(y), 28, 28)",
    ),
    "idx2numpy": ("import gzip, idx2numpy", "x, y = (idx2numpy.convert_from_file(gzip.open(f)) for f in ('X.gz', 'Y.gz'))"),
    "numpy.load of .npz, as keras.datasets.mnist": ("import numpy as np", "with np.load('mnist.npz') as f: x, y = f['x_train'], f['y_train']"),
    "torchvision: extract, then read": (
        "import gzip, shutil, torchvision.datasets.mnist as m",
        "for f in 'XY':\n    with gzip.open(f + '.gz') as a, open(f + '.raw', 'wb') as b: shutil.copyfileobj(a, b)\n"
        "x, y = m.read_image_file('X.raw'), m.read_label_file('Y.raw')",
    ),
}
RAW = {
    "idxport.load": ("import idxport, numpy", "a = idxport.load('image=X', 'label=Y'); x, y = a['image'], a['label']"),
    "numpy.fromfile": ("import numpy as np", "y = np.fromfile('Y', np.uint8, offset=8); x = np.fromfile('X', np.uint8, offset=16).reshape(len(y), 28, 28)"),
    "idx2numpy": ("import idx2numpy", "x, y = idx2numpy.convert_from_file('X'), idx2numpy.convert_from_file('Y')"),
}
QUERY = 'duckdb.sql("SELECT label, count(*) FROM {} GROUP BY label ORDER BY label").fetchall()'
COUNTED = "; x = y = range(sum(n for _, n in found))"
DUCKDB = {
    "idxport.scan": ("import duckdb, idxport._duckdb, nanoarrow.ipc", f"s = idxport.scan('image=X', 'label=Y'); found = {QUERY.format('s')}{COUNTED}"),
    "the Parquet file of idxport": ("import duckdb", "found = " + QUERY.format("'mnist.parquet'") + COUNTED),
}
GROUPED = ".group_by('label').len().sort('label').collect().rows()"
POLARS = {
    "idxport.scan_polars": ("import polars.io.plugins, idxport._polars", f"found = idxport.scan_polars('image=X', 'label=Y'){GROUPED}{COUNTED}"),
    "the Parquet file of idxport": ("import polars", f"found = polars.scan_parquet('mnist.parquet'){GROUPED}{COUNTED}"),
}
READ = "import sys, numpy as np; x, y = np.fromfile('X', 'u1', offset=16).reshape(-1, 28, 28), np.fromfile('Y', 'u1', offset=8)"
SAVE = {
    "idxport.save": (f"import idxport; {READ}", "idxport.save(sys.argv[1] + '-idx3-ubyte', image=x)"),
    "numpy.save": (READ, "np.save(sys.argv[1] + '.npy', x)"),
}
TABLES = [
    ("NumPy arrays of the .gz files", GZIP, "idxport.load"),
    ("NumPy arrays of the raw files", RAW, "numpy.fromfile"),
    ("The labels counted by DuckDB", DUCKDB, "the Parquet file of idxport"),
    ("The labels counted by polars", POLARS, "the Parquet file of idxport"),
    ("60,000 images written", SAVE, "numpy.save"),
]


def program(python: str, imports: str, code: str) -> list[str]:
    """The command of one of them: it prints the seconds that it takes after its imports."""
    text = (
        f"{imports}\nimport time; t = time.perf_counter()\n{code}\n"
        "t = time.perf_counter() - t; assert len(x) == len(y) == 60000; print('inside', t)"
    )
    return [python, "-c", text, "{out}"]


def main() -> None:
    """Print a table for each use."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    debian = subprocess.run([ROOT / "test/recipes/torch"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    lines = []
    with place(Path("/dev/shm")) as folder:
        for short, file in zip("XY", FILES):
            packed = next(path for path in (ROOT / "data/mnist" / f"{file}.gz", ROOT / "data/mnist" / file) if path.exists())
            raw = gzip.decompress(packed.read_bytes()) if packed.suffix else packed.read_bytes()
            (folder / short).write_bytes(raw)
            (folder / f"{short}.gz").write_bytes(gzip.compress(raw, 9))
        binary = str(asked.binary.resolve())
        os.chdir(folder)
        os.environ |= {"IDXPORT": binary, "PYTHONPATH": str(ROOT / "python/src"), "TMPDIR": str(folder), "OPENBLAS_NUM_THREADS": "1"}
        os.environ |= {"PYTHONPYCACHEPREFIX": f"{folder}/compiled", "PYTHONDONTWRITEBYTECODE": ""}  # as pip compiles packages
        npz = (
            "import numpy as np; x, y = np.fromfile('X', 'u1', offset=16), np.fromfile('Y', 'u1', offset=8);"
            "np.savez_compressed('mnist.npz', x_train=x.reshape(-1, 28, 28), y_train=y)"
        )
        subprocess.run([sys.executable, "-c", npz], check=True)
        subprocess.run([binary, "convert", "image=X", "label=Y", "-o", "mnist.parquet", "-q"], check=True)
        for title, programs, base in TABLES:
            pythons = {name: debian if "torch" in name else sys.executable for name in programs}
            job = Job(title, "none", [Contender(name, program(pythons[name], *each)) for name, each in programs.items()])
            medians = {line.contender.name: (line.figures.wall, line.figures.inside) for line in hold(job, folder, asked.runs)}
            lines += [f"## {title}", "", f"| | process, s | ÷ {base} | without imports, s | ÷ {base} |", "|---|---:|---:|---:|---:|"]
            for each, (whole, inner) in medians.items():
                lines.append(f"| {each} | {whole:.3f} | {whole / medians[base][0]:.2f} | {inner:.4f} | {inner / medians[base][1]:.2f} |")
            lines.append("")
    text = "\n".join(lines)
    print(text)
    if asked.write:
        head = (
            f"# The Python package and other packages\n\nMedians of {asked.runs} runs, which alternate; files on a tmpfs; Python {platform.python_version()}, "
            f"{os.cpu_count()} processors; OPENBLAS_NUM_THREADS=1, as a thread that no program needs would spin for 0.1 s after the import of NumPy. "
            "`test/run python --write` makes this page.\n\n"
        )
        (HERE / "RESULTS.md").write_text(head + text)


if __name__ == "__main__":
    main()
