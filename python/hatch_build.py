"""Puts the program into a wheel for one platform.

It is built for GOOS and GOARCH, by default for this machine, unless IDXPORT names a program.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The platforms of wheels. The program is static, so that all C libraries of Linux will do.
PLATFORMS = {
    ("linux", "amd64"): "manylinux2014_x86_64.musllinux_1_1_x86_64",
    ("linux", "arm64"): "manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}


class ProgramHook(BuildHookInterface[Any]):
    """Runs before the wheel is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the program, and add it as a script."""
        goos, goarch = _go("GOOS"), _go("GOARCH")
        if (goos, goarch) not in PLATFORMS:
            raise ValueError(f"{goos}/{goarch} has no wheel: build the program with Go, and set IDXPORT to its path")
        name = "idxport.exe" if goos == "windows" else "idxport"
        root, program = Path(self.root).parent, os.environ.get("IDXPORT")
        if not program:
            program = str(Path(self.directory) / f"{goos}-{goarch}" / name)
            command = ["go", "build", "-trimpath", "-tags=arrow_json_stdlib,urfave_cli_no_template", "-ldflags=-s -w", "-o", program, "./cmd/idxport"]
            subprocess.run(command, cwd=root, env=os.environ | {"CGO_ENABLED": "0"}, check=True)
        build_data["shared_scripts"][program] = name
        build_data["force_include"][str(root / "LICENSE")] = "idxport/LICENSE"
        build_data["tag"] = f"py3-none-{PLATFORMS[goos, goarch]}"
        build_data["pure_python"] = False


def _go(name: str) -> str:
    """What the environment, or Go, says about the platform."""
    return os.environ.get(name) or subprocess.run(["go", "env", name], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
