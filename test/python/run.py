#!/usr/bin/env python3
"""Build the wheel of python/, install it into a new virtual environment, and run the tests of this folder with it.

usage: $(test/interop/venv ../python) test/python/run.py --binary PATH

Only the installed package and its program can be found.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# What type checkers say of the code of users: a name that is misspelt must be an error.
USE = """
import idxport
rows: int = idxport.convert("in", output=["out.csv"], shape=(28, 28), where=["label=3"], verify=True).outputs[0].rows
names: list[str] = idxport.load("in", rows=slice(-9, None)).classes + idxport.scan("in", take=9).schema.names
idxport.convrt  # type: ignore[attr-defined]
"""


def run(*command: str | Path, **more: object) -> str:
    """The output of a command, which must succeed."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout.strip()  # type: ignore[call-overload, no-any-return]


def main() -> None:
    """Exit with 1 if a check failed."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    asked = parser.parse_args()
    tools = Path(sysconfig.get_path("scripts"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = run(sys.executable, ROOT / "python" / "build-wheel", "--program", asked.binary, "--output", place / "dist")
        failed = subprocess.run([tools / "twine", "check", "--strict", wheel]).returncode != 0
        failed |= subprocess.run([tools / "ruff", "check", "--no-cache", "--config", ROOT / "python" / "pyproject.toml", ROOT / "python", HERE]).returncode != 0
        names = ["--isolated", "--select", "F82,F811"]  # undefined or defined twice, in suites of which CI runs a part only
        failed |= subprocess.run([tools / "ruff", "check", "--no-cache", *names, ROOT / "test", ROOT / "testdata"]).returncode != 0
        run(sys.executable, "-m", "venv", place / "venv")
        python = place / "venv" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", wheel)
        # The readers are installed beside, in the environment that runs this.
        Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"), "readers.pth").write_text(sysconfig.get_path("purelib") + "\n")
        check = [tools / "mypy", "--strict", "--cache-dir", place / "mypy", "--python-executable", python]  # test/spark/run.py checks the package itself
        failed |= subprocess.run([*check, "-c", USE], cwd=place).returncode != 0
        environment = {name: value for name, value in os.environ.items() if name not in ("IDXPORT", "PYTHONPATH")}
        environment |= {"PATH": f"{place}/venv/bin:/usr/bin:/bin", "TMPDIR": str(place), "IDXPORT_WHEEL": wheel, "IDXPORT_UV": str(tools / "uv")}
        older = place / "older"  # DuckDB 1.4 asks for a data set of pyarrow
        run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", older, "duckdb==1.4.5")
        for first, chosen in ("", ["*"]), (older, ["test_readers", "test_queries_*", "test_damage_*"]):
            command = [python, "-W", "error", "-m", "unittest", "test_package", *(f"-k=*{name}" for name in chosen)]
            failed |= subprocess.run(command, cwd=HERE, env=environment | {"PYTHONPATH": str(first)}).returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
