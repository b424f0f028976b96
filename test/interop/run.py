#!/usr/bin/env python3
"""Convert made-up IDX files with the binary and read every output with independent programs.

usage: $(test/interop/venv) test/interop/run.py --binary PATH [--quick | --full] [--keep] [--only PART …]

Prints a line per group, the failures in full with the command that made them, and the totals; exits with 1 if a case
failed.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import tempfile
from pathlib import Path

from suite.bench import Bench

# The modules suite.check_*, each with a table of GROUPS: a name, and the function that runs its cases.
PARTS = ["values", "files", "book", "csv", "pictures", "folders", "classes", "parts", "changed", "selection"]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to test")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="every pair of data type, rank, format, layout and codec (the default)")
    size.add_argument("--full", action="store_true", help="the full product")
    parser.add_argument("--keep", action="store_true", help="leave the files of all cases on disk, and say where")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="run these parts only")
    return parser.parse_args()


def main() -> int:
    """Run the checks that were asked for."""
    options = arguments()
    binary = options.binary.resolve()
    if not binary.is_file():
        print(f"run.py: {binary} does not exist; build it first", file=sys.stderr)
        return 66
    scratch = Path(tempfile.mkdtemp(prefix="idxport-interop-"))
    bench = Bench(binary, scratch, options.full, options.keep)
    try:
        for part in options.only:
            for name, check in importlib.import_module(f"suite.check_{part}").GROUPS.items():
                with bench.report.group(name):
                    check(bench)
        return bench.report.finish()
    finally:
        if options.keep:
            print(f"files are in {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
