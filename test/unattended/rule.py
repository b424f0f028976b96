"""The rule of the Makefile, run by make."""

from __future__ import annotations

import shutil

from checks import NotRun, demand
from stage import Stage


def makefile(stage: Stage) -> None:
    """make: a failure first, then a success, nothing to do, a changed input, a failure again."""
    if shutil.which("make") is None:
        raise NotRun("no make")
    (stage.home / "Makefile").write_text(stage.blocks("make")[0])
    (stage.home / "mnist").symlink_to(stage.inputs)
    out = stage.home / "out"
    images = stage.inputs / "train-images-idx3-ubyte"
    whole = images.read_bytes()

    stage.damage()
    done = stage.run(["make"])
    demand(done.returncode == 2 and "65" in done.stderr, f"a damaged input: {done}")
    demand(not list(out.glob("*")) and not stage.partials(), "a failed run left a target")

    images.write_bytes(whole)
    stage.succeed(stage.run(["make"]))
    first = stage.outputs(out)
    stage.succeed(stage.run(["make", "--question"]))
    stage.succeed(stage.run(["make"]))
    demand(stage.outputs(out) == first, "a second run did something")

    stage.change()
    stage.succeed(stage.run(["make", "--question"]), 1)
    stage.succeed(stage.run(["make"]))
    second = stage.outputs(out)
    demand(second != first, "a changed input is not seen")
    stage.succeed(stage.idxport("verify", out / "train.parquet", images, stage.inputs / "train-labels-idx1-ubyte"))

    stage.damage()
    stage.succeed(stage.run(["make"]), 2)
    demand(stage.outputs(out) == second and not stage.partials(), "a failed run did not leave the old target")
    stage.succeed(stage.run(["make", "--question"]), 1)


CHECKS = [("Makefile rule", makefile)]
