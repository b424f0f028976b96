"""The units, checked by systemd-analyze; and ExecStart under those restrictions that do not need a running systemd."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from checks import NotRun, demand
from stage import Stage

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
    """systemd-analyze finds no fault."""
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


def read_only(stage: Stage) -> None:
    """ExecStart without a network and with everything read-only but ReadWritePaths, as with PrivateNetwork and ProtectSystem."""
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


CHECKS = [
    ("units, parsed, and ExecStart", sections),
    ("units, by systemd-analyze", analyze),
    ("service, all else read-only, no network", read_only),
]
