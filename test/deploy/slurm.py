"""deploy/slurm: submitted to a Slurm of one node on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

from checks import NotRun, demand
from stage import DEPLOY, PARTS, Stage

FOLDER = DEPLOY / "slurm"
# The programs that a node and its users need, and Debian's packages of them.
PACKAGES = {"slurmctld": "slurmctld", "slurmd": "slurmd"} | dict.fromkeys(["sbatch", "squeue", "sinfo", "scontrol"], "slurm-client")
CONFIGURATION = """
ClusterName=idxport
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
CommunicationParameters=NoInAddrAny
SlurmUser=root
AuthType=auth/none
CredType=cred/none
# How long a job that was requeued waits at least.
AuthInfo=cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
# The node has what is written here, not what the machine has.
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES State=UP
"""

# An idxport that fails: part 2 once for each line of the file `failures`, with the exit code in the line.
# The file `commands` gets the names of the commands.
FAILING = """#!/bin/sh
echo "$1" >>{folder}/commands
if test "$1" = convert && test "$SLURM_ARRAY_TASK_ID" = 2 && read -r code <{folder}/failures; then
	sed -i 1d {folder}/failures
	exit "$code"
fi
exec {folder}/bin/idxport.real "$@"
"""


def free_port() -> int:
    """A free port of 127.0.0.1."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def cluster(stage: Stage) -> Iterator[None]:
    """A controller and a node, on 127.0.0.1 alone, until the end of the block."""
    lacking = [program for program in PACKAGES if shutil.which(program) is None]
    if lacking:
        raise NotRun(f"missing: {', '.join(lacking)}; Debian's packages are {', '.join(sorted(set(PACKAGES.values())))}")
    if os.geteuid():
        raise NotRun("Slurm's daemons need root")
    folder = stage.folder / "slurm"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    path = folder / "slurm.conf"
    path.write_text(CONFIGURATION.format(folder=folder, controller=free_port(), daemon=free_port()))
    stage.environ["SLURM_CONF"] = str(path)
    daemons = []
    try:
        for command in (["slurmctld", "-D", "-c"], ["slurmd", "-D", "-N", "localhost"]):
            with (folder / f"{command[0]}.out").open("w") as out:
                daemons.append(subprocess.Popen([*command, "-f", str(path)], cwd=folder, env=stage.environ, stdin=subprocess.DEVNULL, stdout=out, stderr=out))
        until(stage, 30, lambda: "idle" in stage.run("sinfo", "-h", "-o", "%t").stdout, "the node is not idle")
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(timeout=10)
            daemon.kill()
            daemon.wait()


def until(stage: Stage, seconds: float, holds, what: str) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            logs = "".join(path.read_text()[-1500:] for path in sorted((stage.folder / "slurm").glob("*.log")))
            demand(False, f"{what}\n{stage.run('squeue').stdout}{logs}")
        time.sleep(0.3)


def submit(stage: Stage) -> str:
    """Run submit.sh and wait until the queue is empty; returns the ranges that the array had."""
    recorded = stage.folder / "array"
    (stage.bin / "sbatch").write_text(f'#!/bin/sh\nfor word; do case $word in --array=*) echo "$word" >>{recorded} ;; esac; done\nexec {shutil.which("sbatch")} "$@"\n')
    (stage.bin / "sbatch").chmod(0o755)
    recorded.write_text("")
    stage.must(FOLDER / "submit.sh", stage.plan)
    until(stage, 60, lambda: not stage.run("squeue", "-h").stdout.strip(), "the queue is not empty")
    return recorded.read_text().strip()


def array(stage: Stage) -> None:
    """All parts succeed; then one fails and is retried; then one fails for good, and submit.sh is run again."""
    with cluster(stage):
        demand(submit(stage) == f"--array=0-{PARTS - 1}%32", "submit.sh did not submit all parts")
        stage.committed()
        demand(submit(stage) == "", "submit.sh submitted parts of a plan that is committed")

        (stage.bin / "idxport").rename(stage.bin / "idxport.real")
        (stage.bin / "idxport").write_text(FAILING.format(folder=stage.folder))
        (stage.bin / "idxport").chmod(0o755)
        shutil.rmtree(stage.target)
        (stage.folder / "failures").write_text("74\n")
        submit(stage)
        demand((stage.folder / "failures").read_text() == "", "no part failed")
        stage.committed()

        shutil.rmtree(stage.target)
        (stage.folder / "failures").write_text("70\n")
        (stage.folder / "commands").unlink()
        submit(stage)
        stage.absent()
        demand("commit" not in (stage.folder / "commands").read_text(), "the commit was not cancelled")
        demand(submit(stage) == "--array=2%32", "submit.sh did not submit the missing part")
        stage.committed()


CHECKS = [("Slurm: arrays, failures and commits on a node", array)]
