"""Jobs that run again and again: --if-changed, the crontab as cron runs it (crontab(5) of Vixie cron), the rule of the Makefile."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from checks import Failure, NotRun, demand
from stage import Stage


@dataclass
class Job:
    """One line of a crontab."""

    command: str
    stdin: str


def parse(text: str) -> tuple[dict[str, str], list[Job]]:
    """The variables and jobs of a crontab. The first unescaped % ends the command and begins its standard input, in
    which further ones are new lines."""
    variables, jobs = {}, []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if setting := re.fullmatch(r"(\w+)\s*=\s*(.*)", line):
            variables[setting[1]] = setting[2]
            continue
        fields = line.split(None, 5)
        if len(fields) != 6 or not all(re.fullmatch(r"[\d*,/-]+", field) for field in fields[:5]):
            raise Failure(f"not a line of a crontab: {line}")
        command, *rest = re.split(r"(?<!\\)%", fields[5])
        jobs.append(Job(command.replace("\\%", "%"), "\n".join(rest).replace("\\%", "%")))
    return variables, jobs


def execute(stage: Stage, variables: dict[str, str], job: Job) -> tuple[int, str]:
    """The exit code, and the output, which cron would send by mail."""
    defaults = {"HOME": str(stage.home), "LOGNAME": "nobody", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}
    done = stage.run(["/bin/sh", "-c", job.command], env=defaults | variables, stdin=None, input=job.stdin)
    return done.returncode, done.stdout + done.stderr


def crontab(stage: Stage) -> None:
    """Every line twice; then with a changed input, and with a damaged one."""
    variables, jobs = parse(stage.blocks("crontab")[0])
    demand(len(jobs) == 2 and "PATH" in variables, f"found {len(jobs)} jobs and {variables}")
    demand(execute(stage, variables, Job("cat", "a"))[1] == "a", "standard input is not handed on")
    for job in jobs:
        demand(execute(stage, variables, job) == (0, ""), f"{job.command}: {execute(stage, variables, job)}")
    weekly = list((stage.data / "weekly").glob("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"))
    demand(len(weekly) == 1, f"found {weekly}, expected a folder with today's date")
    made = {folder: stage.outputs(folder) for folder in (stage.out, weekly[0])}
    demand(all(set(found) == {"train.parquet", "test.parquet"} for found in made.values()), f"found {made}")
    for job in jobs:
        demand(execute(stage, variables, job) == (0, ""), f"{job.command}: a second run")
    demand(made == {folder: stage.outputs(folder) for folder in made}, "a second run wrote something")

    stage.change()
    demand(execute(stage, variables, jobs[0]) == (0, ""), "a run with a changed input")
    changed = stage.outputs(stage.out)
    demand(changed["train.parquet"] != made[stage.out]["train.parquet"], "a changed input is not seen")
    stage.succeed(stage.idxport("verify", stage.out / "train.parquet", stage.inputs, "--split", "train"))

    stage.damage()
    code, mail = execute(stage, variables, jobs[0])
    demand(code == 65 and "train-images-idx3-ubyte" in mail, f"a damaged input: exit code {code}, mail {mail!r}")
    demand(stage.outputs(stage.out) == changed and not stage.partials(), "a failed run left something")


def if_changed(stage: Stage) -> None:
    """A touched input, or one written again, changes nothing. A changed input, option or list of names makes all
    outputs as a run into an empty folder does, here of every kind: files, parts, and folders of images."""
    images, names = stage.images, stage.home / "names"
    names.write_text("".join(f"name {i}\n" for i in range(10)))
    always = ["--if-changed", "--to", "parquet,csv,png,tar", "--rows", "0:100", "--rows-per-file", "30"]
    always += ["--classes", names, "--class-column"]
    whole, same = images.read_bytes(), lambda: None
    for what, change, flags, anew in (
        ("the first run", same, [], True),
        ("nothing", same, [], False),
        ("other workers", same, ["--workers", "1"], False),
        ("a touched input", lambda: os.utime(images), [], False),
        ("an input written again", lambda: (images.unlink(), images.write_bytes(whole)), [], False),
        ("a changed input", stage.change, [], True),
        ("an option", same, ["--transpose"], True),
        ("other names", lambda: names.write_text(names.read_text().replace("name", "other")), ["--transpose"], True),
        ("an output that is gone", lambda: shutil.rmtree(stage.out / "test.csv"), ["--transpose"], True),
    ):
        change()
        before, started = contents(stage.out), stage.outputs(stage.out) if stage.out.exists() else {}
        stage.succeed(stage.idxport("convert", stage.inputs, "-o", stage.out, *always, *flags))
        demand(anew != (stage.outputs(stage.out) == started), f"{what}: the outputs were {'not ' * anew}written")
        fresh = stage.home / what / "out"
        fresh.parent.mkdir()
        stage.succeed(stage.idxport("convert", stage.inputs, "-o", fresh, *always, *flags))
        demand(contents(stage.out) == contents(fresh), f"{what}: not as in an empty folder")
        demand(anew or contents(stage.out) == before, f"{what}: the outputs changed")


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of all files of the outputs; hidden ones, which are records, must be empty."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    demand(not any(path.stat().st_size for path in files if path.name.startswith(".")), "a hidden file is not empty")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if not path.name.startswith(".")}


def makefile(stage: Stage) -> None:
    """make: a failure first, then a success, nothing to do, a changed input, a failure again."""
    if shutil.which("make") is None:
        raise NotRun("no make")
    (stage.home / "Makefile").write_text(stage.blocks("make")[0])
    (stage.home / "mnist").symlink_to(stage.inputs)
    out, images = stage.home / "out", stage.images
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


CHECKS = [("--if-changed", if_changed), ("crontab", crontab), ("Makefile rule", makefile)]
