#!/usr/bin/env python3
"""Stream gigabytes through the binary's standard input and measure its peak memory.

usage: [SIZE=GIB] [TMPDIR=FOLDER] $(test/interop/venv) test/interop/memory.py --binary PATH

Each run converts a synthetic IDX file of 28×28 records, 4 GiB unless SIZE is given, made while it is read, to a file
in FOLDER, with 2 and with 64 workers. The peak resident size of the process must stay below the limits, and the output
must have all rows and the right last one.

This program loads the readers in processes of their own, to stay small: the kernel counts the memory of a process
from before its exec, when it is a copy of its parent.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checks  # noqa: E402
from idx_stream import SIZES, record, stream  # noqa: E402

SIZE = int(float(os.environ.get("SIZE", 4)) * 2**30)  # bytes of each stream
LIMITS = {2: 100e6, 64: 150e6}  # bytes, by number of workers
OUTPUTS = ["out.parquet", "out.arrow", "out.csv"]


def measure(command: list[str], pieces: Iterator[bytes | memoryview]) -> tuple[int, int, str]:
    """Run command with pieces on its standard input: exit code, peak resident bytes, stderr."""
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=stderr)
        try:
            for piece in pieces:
                process.stdin.write(piece)
            process.stdin.close()
        except BrokenPipeError:
            pass  # it ended early, which the exit code shows
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stderr.seek(0)
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return process.returncode, peak, stderr.read().decode(errors="replace").strip()


def look(path: Path, dtype: str, rows: int, last: bytes) -> None:
    """Exit with 0 if the output has all rows and ends with the last record. Runs in its own process."""
    import duckdb
    import numpy as np
    import pyarrow as pa

    expected = np.frombuffer(last, np.dtype(dtype).newbyteorder(">")).astype(dtype)
    if path.suffix == ".arrow":
        with pa.memory_map(str(path)) as source:
            reader = pa.ipc.open_file(source)
            batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
            found_rows = sum(batch.num_rows for batch in batches)
            found = np.array(batches[-1].column("data")[-1].as_py(), dtype)
    elif path.suffix == ".parquet":
        (found_rows,) = duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall()[0]
        last_row = f"FROM read_parquet('{path}', file_row_number = true) WHERE file_row_number = {rows - 1}"
        found = np.array(duckdb.sql(f"SELECT data {last_row}").fetchall()[0][0], dtype)
    else:
        found_rows = int(subprocess.run(["wc", "-l", path], capture_output=True, check=True).stdout.split()[0]) - 1
        tail = subprocess.run(["tail", "-n", "1", path], capture_output=True, check=True).stdout
        found = np.array(tail.split(b","), np.float64).astype(dtype)
    if found_rows != rows or not np.array_equal(found, expected):
        sys.exit(f"{path.name} has {found_rows} rows, expected {rows}, or another last row")


def check(dtype: str, name: str, workers: int, stage: checks.Place) -> None:
    """Convert SIZE bytes to an output of this name."""
    path, limit, rows = stage.folder / name, LIMITS[workers], SIZE // SIZES[dtype]
    command = [str(stage.binary), "convert", "-", "-o", str(path), "--workers", str(workers)]
    status, peak, stderr = measure(command, stream(dtype, rows))
    checks.demand(status == 0, f"exit code {status}: {stderr}\n$ {shlex.join(command)}")
    print(f"peak {peak / 1e6:.1f} MB of {limit / 1e6:.0f}", flush=True)
    checks.demand(peak < limit, f"too much: {shlex.join(command)}")
    last = record(dtype, rows - 1)
    reader = multiprocessing.get_context("fork").Process(target=look, args=(path, dtype, rows, last))
    reader.start()
    reader.join()
    checks.demand(reader.exitcode == 0, f"the output is wrong: {shlex.join(command)}")


CHECKS = [
    (f"{dtype} to {name}, {workers} workers", functools.partial(check, dtype, name, workers))
    for dtype in SIZES
    for name in OUTPUTS
    for workers in LIMITS
]

if __name__ == "__main__":
    sys.exit(checks.main(__doc__, CHECKS, checks.Place, {}))
