#!/usr/bin/env python3
"""Build the wheel of idxport-spark, install it beside, and run the tests of this folder with it, on real Spark.

usage: $(test/interop/venv ../spark) test/spark/run.py --binary PATH [--newer PYTHON] [--recipe PYTHON] [--only MODULE…]

--newer is a Python that has a Spark of 4.1 or later, for filters that are pushed down; --recipe one that has Spark 3.5, for the recipe of docs/spark.md. Needs
Java 17 or newer, Linux for the tests that kill processes, and MNIST in data/ (make data).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Each in a process of its own, as there is one JVM in each: local-cluster and speculation are settings of the whole session.
MODULES = ["test_read", "test_write", "test_cluster", "test_speculation"]


def main() -> None:
    """Exit with the number of modules that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--newer")
    parser.add_argument("--recipe")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        build = [sys.executable, ROOT / "spark" / "build-wheel", "--binary", options.binary.resolve(), "--output", f"{place}/dist", "--no-build-isolation"]
        wheel = subprocess.run(build, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", f"{place}/package", wheel]
        subprocess.run(pip, check=True)
        (Path(place) / "tmp").mkdir()
        # The program is the one in the wheel: nothing else is to be found.
        environment = {name: value for name, value in os.environ.items() if name != "IDXPORT"}
        environment |= {"PYTHONPATH": f"{place}/package:{HERE}", "TMPDIR": f"{place}/tmp", "PYTHONUNBUFFERED": "1"}
        runs = [(sys.executable, module) for module in MODULES]
        runs += [(python, module) for python, module in ((options.newer, "test_pushdown"), (options.recipe, "test_recipe")) if python]
        failed = 0
        for python, module in runs:
            if not options.only or module in options.only:
                print(f"== {module}", flush=True)
                failed += subprocess.run([python, "-W", "ignore::ResourceWarning", "-m", "unittest", module], cwd=HERE, env=environment).returncode != 0
        if not options.only:
            failed += subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", f"{place}/mypy", "src"], cwd=ROOT / "spark").returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
