#!/usr/bin/env python3
"""Build the wheel of idxport, install it beside, and run the tests of this folder with it, on real Spark.

usage: $(test/interop/venv ../spark) test/spark/run.py --binary PATH [--newer PYTHON] [--only MODULE…]
       $(test/interop/venv ../spark) test/spark/run.py --binary PATH --quick

--quick runs one test of each promise, in one JVM, for CI. --newer is a Python with Spark 4.1 or later, for
pushed-down filters. Needs Java 17 or newer, Go for the
S3 server, Linux for the tests that kill processes, and MNIST in data/ (make data).
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

# Each module has a process of its own, with one JVM: local-cluster is a setting of the whole session.
MODULES = ["test_inputs", "test_read", "test_objects", "test_cluster"]

# The tests of --quick. The objects come first: the JVM that all share keeps the environment in which it was started,
# with the server's key.
QUICK = [
    "test_objects.Values.test_mnist",
    "test_objects.Versions.test_replaced_before_the_action",
    "test_read.Values.test_types_ranks_layouts",
    "test_cluster.Killed.test_executor_killed_while_reading",
]


def main() -> None:
    """Exit with the number of runs that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--newer")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        build = [sys.executable, ROOT / "python" / "build-wheel", "--program", options.binary.resolve(), "--output", f"{place}/dist", "--no-build-isolation"]
        wheel = subprocess.run(build, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", f"{place}/package", wheel]
        subprocess.run(pip, check=True)
        (Path(place) / "tmp").mkdir()
        # Only the program in the wheel can be found.
        environment = {name: value for name, value in os.environ.items() if name != "IDXPORT"}
        environment |= {"TMPDIR": f"{place}/tmp", "PYTHONUNBUFFERED": "1"}
        environment["PYTHONPATH"] = f"{place}/package:{HERE}:{HERE.parent}"
        runs = [(sys.executable, [module]) for module in MODULES]
        if options.newer:
            runs.append((options.newer, ["test_pushdown"]))
        unknown = set(options.only) - {tests[0] for _, tests in runs}
        if unknown:
            parser.error(f"--only: no module {', '.join(sorted(unknown))}; there are {', '.join(tests[0] for _, tests in runs)}")
        if options.only:
            runs = [(python, tests) for python, tests in runs if tests[0] in options.only]
        if options.quick:
            runs = [(sys.executable, QUICK)]
        failed = 0
        for python, tests in runs:
            print("==", *tests, flush=True)
            failed += subprocess.run([python, "-W", "ignore::ResourceWarning", "-m", "unittest", *tests], cwd=HERE, env=environment).returncode != 0
        if not options.only:
            failed += subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", f"{place}/mypy", "src"], cwd=ROOT / "python").returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
