"""The units, checked by systemd-analyze; and ExecStart under those restrictions that do not need a running systemd."""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import subprocess
from pathlib import Path

from checks import NotRun, demand
from stage import Stage

# The limit for `systemd-analyze security`, in tenths. The unit has 0.5, "SAFE".
MAX_EXPOSURE = 5


def parse(text: str) -> dict[str, list[tuple[str, str]]]:
    """The sections of a unit with their settings."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for line in text.splitlines():
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            settings = sections.setdefault(heading[1], [])
        elif line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            demand(equals and re.fullmatch(r"[A-Z]\w+", name), f"no setting: {line}")
            settings.append((name, value))
    return sections


def units(stage: Stage) -> list[Path]:
    """The units as files."""
    folder = stage.folder / "units"
    folder.mkdir()
    texts = stage.blocks("ini")
    demand(len(texts) == 2, f"found {len(texts)} units, expected a service and a timer")
    paths = [folder / "idxport.service", folder / "idxport.timer"]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


def sections(stage: Stage) -> None:
    """The units have the required sections and settings, and ExecStart works."""
    service, timer = (parse(path.read_text()) for path in units(stage))
    demand(set(service) == {"Unit", "Service"} and set(timer) == {"Unit", "Timer", "Install"}, f"found {set(service)}, {set(timer)}")
    demand(dict(service["Service"])["Type"] == "oneshot" and "OnCalendar" in dict(timer["Timer"]), "a setting is missing")
    stage.out.mkdir()
    for _ in range(2):
        stage.succeed(stage.run(shlex.split(dict(service["Service"])["ExecStart"])))
    demand(set(stage.outputs(stage.out)) == {"train.parquet", "test.parquet"}, f"found {stage.outputs(stage.out)}")
    codes = set(dict(service["Service"])["RestartPreventExitStatus"].split())
    no = set(re.findall(r"(?m)^\| (\d+) \|.*\| no[^|]*\|$", (Path(__file__).parents[2] / "docs" / "unattended.md").read_text())) - {"141"}
    demand(codes == no, f"RestartPreventExitStatus has {sorted(codes)}, the table says no for {sorted(no)}")


def analyze(stage: Stage) -> None:
    """systemd-analyze finds no fault and little exposure."""
    if shutil.which("systemd-analyze") is None:
        raise NotRun("no systemd-analyze")
    paths = units(stage)
    done = stage.run(["systemd-analyze", "verify", "--man=no", *map(str, paths)])
    said = [line for line in (done.stdout + done.stderr).splitlines() if "idxport" in line]
    demand(done.returncode == 0 and not said, f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    broken = paths[0].with_name("broken.service")
    broken.write_text(paths[0].read_text().replace("Type=oneshot", "Type=twoshot"))
    done = stage.run(["systemd-analyze", "verify", "--man=no", str(broken)])
    demand("twoshot" in done.stdout + done.stderr, "systemd-analyze does not report a broken unit")
    security = ["systemd-analyze", "security", "--offline=true", f"--threshold={MAX_EXPOSURE}", str(paths[0])]
    done = stage.run(security)
    if "unrecognized option" in done.stderr:
        raise NotRun("this systemd-analyze cannot check the security of files")
    stage.succeed(done)


def read_only(stage: Stage) -> None:
    """ExecStart without a network and with everything read-only but ReadWritePaths, as with PrivateNetwork and
    ProtectSystem."""
    service = dict(parse(units(stage)[0].read_text())["Service"])
    stage.out.mkdir()
    probe = subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True, check=False) if shutil.which("unshare") else None
    if os.geteuid() != 0 or probe is None or probe.returncode != 0:
        raise NotRun("it needs root and the right to mount")
    folder, writable = shlex.quote(str(stage.folder)), shlex.quote(service["ReadWritePaths"])
    script = f"""set -e
mount --bind {folder} {folder}
mount --bind {writable} {writable}
mount -o remount,bind,ro {folder}
cd /
! touch {shlex.quote(str(stage.data / "x"))} 2>/dev/null
exec {service["ExecStart"]}"""
    for _ in range(2):
        stage.succeed(stage.run(["unshare", "--mount", "--net", "sh", "-c", script]))
    demand(set(stage.outputs(stage.out)) == {"train.parquet", "test.parquet"}, f"found {stage.outputs(stage.out)}")


def calls_of(sets: list[str]) -> set[str]:
    """The system calls of sets, with those of the sets that they refer to."""
    calls: set[str] = set()
    for name in sets:
        done = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
        words = re.findall(r"(?m)^ +([@\w-]+)$", done.stdout)
        calls |= {word for word in words if not word.startswith("@")} | calls_of([word for word in words if word.startswith("@")])
    return calls


def few_files() -> None:
    """Lower the limit of open files as systemd does by default: Go raises it with a call of its own."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), hard))


def system_calls(stage: Stage) -> None:
    """Every system call of ExecStart, when it succeeds and when it fails, is in SystemCallFilter; none opens a socket
    or starts a program."""
    if not shutil.which("strace") or not shutil.which("systemd-analyze"):
        raise NotRun("it needs strace and systemd-analyze")
    service = parse(units(stage)[0].read_text())["Service"]
    allowed, refused = set(), set()
    for value in (value for name, value in service if name == "SystemCallFilter"):
        (refused if value.startswith("~") else allowed).update(calls_of(value.lstrip("~").split()))
    stage.out.mkdir()
    trace = stage.folder / "trace"
    used: set[str] = set()
    for damage, code in ((False, 0), (False, 0), (True, 65)):
        if damage:
            stage.damage()
        trace_it = ["strace", "--follow-forks", "--quiet=all", "--output", str(trace), *shlex.split(dict(service)["ExecStart"])]
        done = stage.run(trace_it, preexec_fn=few_files)
        if done.returncode not in (0, 65) and not trace.stat().st_size:
            raise NotRun("strace may not trace here")
        stage.succeed(done, code)
        lines = trace.read_text().splitlines()
        used |= {call[1] for line in lines if (call := re.match(r"\d+ +(\w+)\(", line))}
        used |= {"a second program"} if sum("execve(" in line for line in lines) > 1 else set()
        demand(not any("PROT_EXEC" in line and "PROT_WRITE" in line for line in lines), "memory is mapped for writing and execution")
    demand("prlimit64" in used and len(used) > 20, f"found only {sorted(used)}")
    demand(not used & {"socket", "connect", "bind", "fork", "vfork"}, f"found {sorted(used)}")
    demand(used <= allowed - refused, f"not allowed: {sorted(used - (allowed - refused))}")


CHECKS = [
    ("units, parsed, and ExecStart", sections),
    ("units, by systemd-analyze", analyze),
    ("service, all else read-only, no network", read_only),
    ("service, its system calls", system_calls),
]
