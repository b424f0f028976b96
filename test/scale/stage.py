"""A folder with a small table in IDX files and a plan, runs of the program in it, and the check of its output with
numpy and pyarrow."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ARRAY_VARIABLES = ["JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "SLURM_ARRAY_TASK_ID"]
CODES = {np.dtype("u1"): 0x08, np.dtype(">i4"): 0x0C}
PARTS = 8
SUCCESS = "_SUCCESS"


def write_idx(path: Path, array: np.ndarray) -> None:
    """Write an IDX file: two zeros, type, rank, dimensions and values, all big-endian (yann.lecun.com/exdb/mnist)."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, CODES[array.dtype], array.ndim, *array.shape)
    path.write_bytes(header + array.tobytes())


def read_idx(path: Path) -> np.ndarray:
    """Read one that write_idx wrote."""
    raw = path.read_bytes()
    dtype = next(dtype for dtype, code in CODES.items() if code == raw[2])
    shape = struct.unpack(f">{raw[3]}I", raw[4 : 4 + 4 * raw[3]])
    return np.frombuffer(raw, dtype, offset=4 + 4 * raw[3]).reshape(shape)


@dataclass
class Ended:
    """A run of the program that has ended."""

    arguments: tuple[str, ...]
    code: int  # −9: killed
    text: str  # both streams

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


@dataclass
class Stage:
    """One round's folder: inputs, plan.json, and the target out/table.<format>."""

    folder: Path
    binary: Path
    chance: random.Random
    environ: dict[str, str] = field(default_factory=lambda: {name: value for name, value in os.environ.items() if name not in ARRAY_VARIABLES})

    def __post_init__(self) -> None:
        chance = self.chance
        self.format = chance.choice(["parquet", "parquet", "arrow"])
        self.rows = chance.randrange(50 * PARTS, 500 * PARTS)
        self.per_part = -(-self.rows // PARTS)
        self.rows = max(self.rows, self.per_part * (PARTS - 1) + 1)
        self.out = self.folder / "out"
        self.target = self.out / f"table.{self.format}"
        values = np.random.default_rng(chance.randrange(1 << 32))
        self.inputs = {name: self.folder / f"{name}-idx" for name in ("image", "label", "row")}
        write_idx(self.inputs["image"], values.integers(0, 256, (self.rows, 16, 16), np.uint8))
        write_idx(self.inputs["label"], values.integers(0, 10, self.rows, np.uint8))
        write_idx(self.inputs["row"], values.permutation(self.rows).astype(">i4"))  # no value twice: a row that is doubled or lost shows
        self.columns = {name: read_idx(path) for name, path in self.inputs.items()}

    def make_plan(self, name: str, *flags: str) -> Path:
        """Run `idxport plan`; returns the plan's path."""
        inputs = [f"{column}={path}" for column, path in self.inputs.items()]
        self.must("plan", *inputs, "-o", str(self.target), "--plan", name, *flags)
        return self.folder / name

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the program, sometimes with `--part env` and the number in the variable of a scheduler."""
        environ = self.environ
        if "--part" in arguments and self.chance.random() < 0.5:
            at = arguments.index("--part") + 1
            environ = environ | {self.chance.choice(ARRAY_VARIABLES): arguments[at]}
            arguments = (*arguments[:at], "env", *arguments[at + 1 :])
        command = [str(self.binary), *arguments]
        return subprocess.Popen(command, cwd=self.folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, *arguments: str, kill: float | None = None) -> Ended:
        """Run the program to its end, or kill it after so many seconds."""
        with self.start(*arguments) as process:
            if kill is not None:
                try:
                    process.wait(timeout=kill)
                except subprocess.TimeoutExpired:
                    process.kill()
            text, _ = process.communicate(timeout=60)
            return Ended(arguments, process.returncode, text)

    def must(self, *arguments: str) -> Ended:
        """Run a command that must succeed."""
        done = self.run(*arguments)
        if done.code:
            raise RuntimeError(f"{' '.join(arguments)}: exit code {done.code}\n{done.text}")
        return done

    def missing(self) -> list[int]:
        """The parts that `idxport status` lists."""
        spec = json.loads(self.must("status", "--plan", "plan.json", "--json", "--quiet").text)["plan"].get("array", "")
        ends = [entry.split("-") for entry in spec.split(",") if entry]
        return [index for end in ends for index in range(int(end[0]), int(end[-1]) + 1)]

    def names(self, plan_id: str) -> set[str]:
        """The files of the complete target."""
        return {f"part-{index:05d}-{plan_id[:8]}.{self.format}" for index in range(PARTS)} | {SUCCESS}

    def print(self) -> dict[str, str]:
        """The files of the target, each with its inode, time and hash: equal if nothing has changed."""
        return {path.name: f"{path.stat().st_ino} {path.stat().st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in self.target.iterdir()}


def read_part(path: Path) -> pa.Table:
    """The table of one part."""
    if path.suffix == ".parquet":
        return pq.read_table(path, partitioning=None)
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def wrong(target: Path, names: set[str], columns: dict[str, np.ndarray]) -> str:
    """What is wrong with the folder target; "" if it has exactly the files names, and in them every row of columns
    once and in order."""
    found = {path.name for path in target.iterdir()}
    if found != names:
        return f"{target.name} lacks {sorted(names - found)} and has also {sorted(found - names)}"
    if (target / SUCCESS).stat().st_size:
        return f"{SUCCESS} is not empty"
    tables = [read_part(target / name) for name in sorted(names - {SUCCESS})]
    for name, expected in columns.items():
        arrays = [table[name].combine_chunks() for table in tables]
        values = [(array.flatten() if expected.ndim > 1 else array).to_numpy(zero_copy_only=False) for array in arrays]
        got = np.concatenate(values)
        if got.size != expected.size:
            return f"column {name} has {got.size} values, expected {expected.size}"
        differ = np.flatnonzero(got.reshape(expected.shape) != expected)
        if differ.size:
            return f"column {name} differs in {differ.size} values, the first at {differ[0]}"
    return ""
