"""A folder with a thousand rows of Fashion-MNIST, a plan of their four parts, and the program on PATH."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from checks import demand

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PARTS = 4
ARRAY_VARIABLES = ["JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "SLURM_ARRAY_TASK_ID"]


class Stage:
    """The folder, its plan.json and the target out/train.parquet."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self.folder, self.plan, self.target = folder, folder / "plan.json", folder / "out" / "train.parquet"
        self.bin, self.inputs = folder / "bin", folder / "fashion-mnist"
        self.bin.mkdir()
        self.inputs.mkdir()
        shutil.copy2(binary, self.bin / "idxport")
        for packed in (ROOT / "testdata" / "fashion-mnist").glob("train*.gz"):
            (self.inputs / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        self.environ = {name: value for name, value in os.environ.items() if name not in ARRAY_VARIABLES}
        self.environ["PATH"] = f"{self.bin}:{self.environ['PATH']}"
        self.must("idxport", "plan", self.inputs, "-o", f"{folder / 'out'}/", "--dataset", "fashion-mnist", "--rows-per-part", "250", "--plan", self.plan)

    def run(self, *command: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder; both streams are in stdout."""
        return subprocess.run(
            [*map(str, command)], cwd=self.folder, env=self.environ | environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100
        )

    def must(self, *command: str | Path, **environ: str) -> str:
        """Run a command that has to succeed; returns what it printed."""
        done = self.run(*command, **environ)
        demand(done.returncode == 0, f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
        return done.stdout

    def committed(self) -> None:
        """Demand that the table is there and is the input."""
        demand(self.target.is_dir() and len(list(self.target.glob("part-*.parquet"))) == PARTS, f"{self.target} has not {PARTS} parts")
        self.must("idxport", "verify", self.target, self.inputs, "--dataset", "fashion-mnist")

    def absent(self) -> None:
        """Demand that there is no table."""
        demand(not self.target.exists(), f"{self.target} exists")


def retried() -> dict[int, bool]:
    """The exit codes of parts, and whether docs/unattended.md says to retry."""
    rows = re.findall(r"(?m)^\| ([\d, ]+) \| .* \| (.*) \|$", (ROOT / "docs" / "unattended.md").read_text())
    codes = {int(code): again.startswith("**yes**") for codes, again in rows for code in codes.split(",")}
    demand(len(codes) > 10 and codes[74] and not codes[65], f"docs/unattended.md has the exit codes {codes}")
    return {code: again for code, again in codes.items() if code not in (0, 141)}  # done; standard output alone


def part_count(stage: Stage) -> int:
    """The number of parts in `idxport status`."""
    return json.loads(stage.must("idxport", "status", "--plan", stage.plan, "--json", "--quiet"))["plan"]["parts"]
