#!/usr/bin/env python3
"""Time the Python package beside what people use now: whole processes, and without the imports.

usage: $(test/interop/venv ../python) test/python/bench.py --binary PATH [--runs N] [--write]

The data are MNIST in data/mnist: all of it into arrays, its training images and labels for queries. The BLAS of NumPy gets one thread: another one, which no
program needs, would spin on a processor for 0.1 s after the import. --write puts the table into test/python/RESULTS.md.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))

from measure import ROOT, Contender, Job, hold, place  # noqa: E402

# By kind, the names of the files, and the offset and shape of a record in them.
FILES = [
    [(f"{split}-{kind}-ubyte", offset, shape) for split in ("train", "t10k")]
    for kind, offset, shape in (("images-idx3", 16, (28, 28)), ("labels-idx1", 8, ()))
]

# Each program reads x and y, lists of arrays of images and labels, from FILES, and leaves nothing else. Its first line are
# the imports; the last, if there is a third, what the second imports by itself, which comes first in a run without imports.
EACH = "x, y = ([%s for f, offset, shape in kind] for kind in FILES)"
OURS = "a = idxport.load('%s').values(); x, y = [s['image'] for s in a], [s['label'] for s in a]"
GZIP = {
    "idxport.load": ("import idxport", OURS % "gz", "import numpy"),
    "gzip + numpy, as keras.datasets.fashion_mnist": (
        "import gzip, numpy as np",
        EACH % "np.frombuffer(gzip.open(f'gz/{f}.gz').read(), np.uint8, offset=offset).reshape(-1, *shape)",
    ),
    "idx2numpy": ("import gzip, idx2numpy", EACH % "idx2numpy.convert_from_file(gzip.open(f'gz/{f}.gz'))"),
    "numpy.load of .npz, as keras.datasets.mnist": (
        "import numpy as np",
        "with np.load('mnist.npz') as f: x, y = [f['x_train'], f['x_test']], [f['y_train'], f['y_test']]",
    ),
    "torchvision: extract, then read": (
        "import gzip, shutil, torchvision.datasets.mnist as m",
        "for f, *_ in sum(FILES, []):\n    with gzip.open(f'gz/{f}.gz') as a, open(f, 'wb') as b: shutil.copyfileobj(a, b)\n"
        "x, y = ([read(f) for f, *_ in kind] for read, kind in zip((m.read_image_file, m.read_label_file), FILES))",
    ),
}
RAW = {
    "idxport.load": ("import idxport", OURS % "raw", "import numpy"),
    "numpy.fromfile": ("import numpy as np", EACH % "np.fromfile(f'raw/{f}', np.uint8, offset=offset).reshape(-1, *shape)"),
    "idx2numpy": ("import idx2numpy", EACH % "idx2numpy.convert_from_file(f'raw/{f}')"),
}
IMPORTED = ", all imported"
QUERY = 'duckdb.sql("SELECT label, count(*) FROM {} GROUP BY label ORDER BY label").fetchall()'
COUNTED = "; x = y = [range(sum(n for _, n in found))]"
DUCKDB = {
    "idxport.scan": ("import duckdb, idxport._duckdb, nanoarrow.ipc", f"s = idxport.scan('raw', split='train'); found = {QUERY.format('s')}{COUNTED}"),
    "the Parquet file of idxport": ("import duckdb", "found = " + QUERY.format("'mnist.parquet'") + COUNTED),
}
GROUPED = ".group_by('label').len().sort('label').collect().rows()"
POLARS = {
    "idxport.scan_polars": ("import polars.io.plugins, idxport._polars", f"found = idxport.scan_polars('raw', split='train'){GROUPED}{COUNTED}"),
    "the Parquet file of idxport": ("import polars", f"found = polars.scan_parquet('mnist.parquet'){GROUPED}{COUNTED}"),
}
READ = f"import sys, numpy as np; x, y = [np.fromfile('raw/{FILES[0][0][0]}', 'u1', offset=16).reshape(-1, 28, 28)], [range(60000)]"
SAVE = {
    "idxport.save": (f"import idxport; {READ}", "idxport.save(sys.argv[1] + '-idx3-ubyte', image=x[0])"),
    "numpy.save": (READ, "np.save(sys.argv[1] + '.npy', x[0])"),
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
        f"{imports}\nimport time; FILES = {FILES}; t = time.perf_counter()\n{code}\n"
        "t = time.perf_counter() - t; assert sum(map(len, x)) == sum(map(len, y)) in (60000, 70000); print('inside', t)"
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
        for name in ("gz", "raw", "bin"):
            (folder / name).mkdir()
        for file, *_ in FILES[0] + FILES[1]:
            packed = next(path for path in (ROOT / "data/mnist" / f"{file}.gz", ROOT / "data/mnist" / file) if path.exists())
            raw = gzip.decompress(packed.read_bytes()) if packed.suffix else packed.read_bytes()
            (folder / "raw" / file).write_bytes(raw)
            (folder / "gz" / f"{file}.gz").write_bytes(gzip.compress(raw, 9))
        shutil.copytree(ROOT / "python/src/idxport", folder / "idxport")  # as pip does with --target
        binary = shutil.copy2(asked.binary, folder / "bin/idxport")
        os.chdir(folder)
        os.environ |= {"IDXPORT": "", "PYTHONPATH": str(folder), "TMPDIR": str(folder), "OPENBLAS_NUM_THREADS": "1"}
        os.environ |= {"PYTHONPYCACHEPREFIX": f"{folder}/compiled", "PYTHONDONTWRITEBYTECODE": ""}  # as pip compiles packages
        npz = "np.savez_compressed('mnist.npz', x_train=x[0], y_train=y[0], x_test=x[1], y_test=y[1])"
        imports, code = RAW["numpy.fromfile"]
        subprocess.run([sys.executable, "-c", f"{imports}\nFILES = {FILES}\n{code}\n{npz}"], check=True)
        subprocess.run([binary, "convert", "raw", "-o", "mnist.parquet", "--split=train", "-q"], check=True)
        for title, programs, base in TABLES:
            contenders = []
            for name, (imports, code, *later) in programs.items():
                python = debian if "torch" in name else sys.executable
                befores = [("", imports), *((IMPORTED, f"{each}\n{imports}") for each in later)]
                contenders += [Contender(name + what, program(python, before, code)) for what, before in befores]
            figures = {line.contender.name: line.figures for line in hold(Job(title, "none", contenders), folder, asked.runs)}
            medians = {name: (figures[name].wall, figures.get(name + IMPORTED, figures[name]).inside) for name in programs}
            lines += ["", f"## {title}", "", f"| | process, s | ÷ {base} | without imports, s | ÷ {base} |", "|---|---:|---:|---:|---:|"]
            for each, (whole, inner) in medians.items():
                lines.append(f"| {each} | {whole:.3f} | {whole / medians[base][0]:.2f} | {inner:.4f} | {inner / medians[base][1]:.2f} |")
    print(text := "\n".join(lines))
    if asked.write:
        head = (
            f"# The Python package and other packages\n\nMedians of {asked.runs} runs, which alternate; files on a tmpfs; Python {platform.python_version()}, "
            f"{os.cpu_count()} processors; OPENBLAS_NUM_THREADS=1, as a thread that no program needs would spin for 0.1 s after the import of NumPy. "
            "`test/run python --write` makes this page.\n"
        )
        (HERE / "RESULTS.md").write_text(f"{head}{text}\n")


if __name__ == "__main__":
    main()
