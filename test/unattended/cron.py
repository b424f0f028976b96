"""The crontab, run as cron runs it: crontab(5) of Vixie cron."""

from __future__ import annotations

import re
from dataclasses import dataclass

from checks import Failure, demand
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
    environment = {"HOME": str(stage.home), "LOGNAME": "nobody", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"} | variables
    done = stage.run(["/bin/sh", "-c", job.command], env=environment, stdin=None, input=job.stdin)
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


CHECKS = [("crontab", crontab)]
