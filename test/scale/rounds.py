#!/usr/bin/env python3
"""Let many processes make the parts of a plan, disturb them at random, and check that a committed table has every row
once.

usage: $(test/interop/venv) test/scale/rounds.py --binary PATH [--rounds N] [--seed N] [--scratch DIR]

Each round has a table of its own: three columns in 8 parts. README.md beside this file lists what happens to it.
Prints each wrong outcome with the round's seed, and at the end what happened how often; exits with 1 if an outcome
was wrong.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from round import Round
from stage import PARTS, SUCCESS, Stage, read_part, wrong

MEMORY = Path("/dev/shm")


def pace(binary: Path, folder: Path) -> float:
    """The seconds of one attempt on this machine: moments to kill at are chosen within a few times that."""
    stage = Stage(folder, binary, random.Random(0))
    stage.make_plan("plan.json", "--rows-per-part", str(stage.per_part))
    start = time.monotonic()
    for index in range(PARTS):
        stage.must("convert", "--plan", "plan.json", "--part", str(index))
    took = (time.monotonic() - start) / PARTS
    stage.must("commit", "--plan", "plan.json")
    check_the_check(stage)
    return took


def check_the_check(stage: Stage) -> None:
    """Damage copies of a good table in every way, and demand that the check finds it."""
    plan_id = json.loads((stage.folder / "plan.json").read_text())["plan_id"]
    names = stage.names(plan_id)
    first, second = sorted(names - {SUCCESS})[:2]

    def reordered(target: Path) -> None:
        (target / first).rename(target / "other")
        (target / second).rename(target / first)
        (target / "other").rename(target / second)

    def doubled(target: Path) -> None:
        import pyarrow.parquet as pq

        table = read_part(target / first)
        pq.write_table(table.take([0, 0, *range(2, table.num_rows)]), target / first)

    damages = {
        "a part is lost": lambda target: (target / first).unlink(),
        "a part is there twice": lambda target: shutil.copy(target / first, target / second),
        "a file too many": lambda target: shutil.copy(target / first, target / f"copy-{first}"),
        "a hidden file": lambda target: (target / ".x").touch(),
        "no mark": lambda target: (target / SUCCESS).unlink(),
        "parts in another order": reordered,
        "a row for another": doubled,
    }
    if what := wrong(stage.target, names, stage.columns):
        raise RuntimeError(f"without any disturbance: {what}")
    for name, damage in damages.items():
        copy = stage.folder / "copy"
        shutil.copytree(stage.target, copy)
        damage(copy)
        if not wrong(copy, names, stage.columns):
            raise RuntimeError(f"the check does not find it: {name}")
        shutil.rmtree(copy)


def main() -> int:
    """Run the rounds; 0 if no outcome was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="rounds of the same seed have the same tables and disturbances, but not their moments")
    parser.add_argument("--scratch", type=Path, help="where the tables are (default: /dev/shm if it is there)")
    arguments = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    problems = failed = 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="idxport-rounds-", dir=arguments.scratch or (MEMORY if MEMORY.is_dir() else None)) as scratch:
        calm = Path(scratch) / "calm"
        calm.mkdir()
        took = pace(arguments.binary.resolve(), calm)
        print(f"seed {arguments.seed}; an attempt takes {took:.3f} s", flush=True)
        for number in range(arguments.rounds):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            round_ = Round(Stage(folder, arguments.binary.resolve(), random.Random(arguments.seed * 100_003 + number)), took, counts)
            for what in round_.play():
                problems += 1
                print(f"WRONG in round {number} of seed {arguments.seed}: {what}", flush=True)
            failed += round_.failed
            shutil.rmtree(folder)
    print(f"{arguments.rounds} rounds in {time.monotonic() - start:.0f} s")
    for name, count in sorted(counts.items()):
        print(f"{count:8,} {name}")
    print(f"{problems:8,} wrong outcomes")
    print(f"{arguments.rounds - failed} passed, {failed} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the files are removed
    sys.exit(main())
