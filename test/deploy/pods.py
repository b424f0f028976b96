"""deploy/kubernetes-indexed-job.yaml: validated by Kubernetes' own code, and its containers' commands run as the pods
of an Indexed Job."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import yaml

from checks import NotRun, demand
from stage import DEPLOY, PARTS, Stage

MODULE = Path(__file__).parent / "kubernetes"


def validated(_: Stage) -> None:
    """The tests of the module kubernetes."""
    if shutil.which("go") is None:
        raise NotRun("there is no go")
    done = subprocess.run(["go", "test", "-count=1", "."], cwd=MODULE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    demand(done.returncode == 0, done.stdout)


def commands(stage: Stage) -> None:
    """The pods' commands, with /data in the stage's folder."""
    parts, commit = yaml.safe_load_all((DEPLOY / "kubernetes-indexed-job.yaml").read_text())

    def command(job: dict) -> list[str]:
        arguments = job["spec"]["template"]["spec"]["containers"][0]["args"]
        return ["idxport", *(argument.replace("/data", str(stage.folder)) for argument in arguments)]

    for index in range(PARTS):
        demand(stage.run(*command(commit)).returncode == 73, "the commit did not refuse")
        stage.must(*command(parts), JOB_COMPLETION_INDEX=str(index))
    stage.must(*command(commit))
    stage.committed()


CHECKS = [("Kubernetes: manifest, by the API server's validation", validated), ("Kubernetes: the pods' commands", commands)]
