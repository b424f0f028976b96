#!/usr/bin/env python3
"""Convert made-up IDX files with the binary and read every output with independent programs.

usage: test/interop/.venv/bin/python test/interop/run.py --binary PATH [--quick | --full] [--keep] [--only GROUP …]

Prints a line per group, the failures in full with the command that made them, and the totals; exits with 1 if a case failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from suite import (
    check_applied,
    check_arrow,
    check_back,
    check_book,
    check_changed,
    check_classes,
    check_csv,
    check_folders,
    check_hostile,
    check_idx,
    check_layouts,
    check_npy,
    check_parquet,
    check_parts,
    check_png,
    check_png_book,
    check_tar,
    check_together,
    check_verify,
)
from suite.command import Bench
from suite.report import Report

CHECKS = {
    "idx": check_idx.check,
    "arrow": check_arrow.check,
    "parquet": check_parquet.check,
    "book": check_book.check,
    "csv": check_csv.check,
    "png": check_png.check,
    "pngs": check_png_book.check,
    "tar": check_tar.check,
    "npy": check_npy.check,
    "layouts": check_layouts.check,
    "classes": check_classes.check,
    "folders": check_folders.check,
    "parts": check_parts.check,
    "together": check_together.check,
    "hostile": check_hostile.check,
    "back": check_back.check,
    "verify": check_verify.check,
    "applied": check_applied.check,
    "changed": check_changed.check,
}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the idxport to test")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="every dtype × rank × format, every compression and codec, once (the default)")
    size.add_argument("--full", action="store_true", help="the full product")
    parser.add_argument("--keep", action="store_true", help="leave the files of all cases on disk, and say where")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS), help="run these parts only")
    return parser.parse_args()


def main() -> int:
    """Run the checks that were asked for."""
    options = arguments()
    binary = options.binary.resolve()
    if not binary.is_file():
        print(f"run.py: {binary} does not exist; build it first", file=sys.stderr)
        return 66
    scratch = Path(tempfile.mkdtemp(prefix="idxport-interop-"))
    bench = Bench(binary=binary, scratch=scratch, report=Report(), full=options.full, keep=options.keep)
    try:
        for name in options.only:
            CHECKS[name](bench)
        return bench.report.finish()
    finally:
        if options.keep:
            print(f"files are in {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
