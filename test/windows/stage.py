"""The program for Windows under wine: drive Z: is the root of this machine, drive C: a temporary folder."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gzip
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from checks import Failure, NotRun, demand

HERE = Path(__file__).resolve().parent
TESTDATA = HERE.parents[1] / "testdata"
LOADER, COMPILER = "/usr/lib/wine/wine64", "x86_64-w64-mingw32-gcc"

# Debian's packages of the programs without which nothing is run.
PACKAGES = {LOADER: "wine64", "wineserver": "wine", COMPILER: "gcc-mingw-w64-x86-64"}


class Wine:
    """A wine prefix without a display, Mono and Gecko, which ends with this program."""

    def __init__(self) -> None:
        for program in PACKAGES:
            if shutil.which(program) is None:
                raise NotRun(f"no {program}")
        self.folder = Path(tempfile.mkdtemp(prefix="idxport-wine-"))
        self.environ = {name: value for name, value in os.environ.items() if name != "DISPLAY"} | {
            "HOME": str(self.folder),
            "WINEPREFIX": str(self.folder / "prefix"),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=;winemenubuilder.exe=d",
        }
        atexit.register(self.end)
        (self.folder / "prefix").mkdir()
        self.call(["wineserver", "-p"], timeout=60)  # else it ends with each program, and takes seconds to start again
        self.call([LOADER, "wineboot", "--init"], timeout=300)
        self.c = self.folder / "prefix" / "drive_c"
        shim = self.c / "windows" / "system32" / "bcryptprimitives.dll"
        if not shim.exists():  # wine has it since 9.0
            self.compile("bcryptprimitives.c", shim, "-shared")
        self.hold = self.folder / "hold.exe"
        self.compile("hold.c", self.hold)

    def call(self, command: list[str], timeout: int) -> None:
        with tempfile.TemporaryFile() as said:  # not a pipe: wine's server would hold it
            done = subprocess.run(command, env=self.environ, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False, timeout=timeout)
            said.seek(0)
            demand(done.returncode == 0, f"{command}: exit code {done.returncode}\n{said.read().decode()}")

    def compile(self, source: str, to: Path, *options: str) -> None:
        self.call([COMPILER, "-O2", "-Wall", "-Werror", "-s", *options, "-o", str(to), str(HERE / source), "-ladvapi32"], timeout=60)

    def end(self) -> None:
        """End the processes of this prefix, and remove it."""
        for option in ("-k", "-w"):
            subprocess.run(["wineserver", option], env=self.environ, check=False, timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)


wine = functools.cache(Wine)


class Stage:
    """An empty working folder, with mnist beside it: a thousand rows of each split of Fashion-MNIST, raw."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self.wine = wine()
        self.linux_program, self.windows_program = binary, binary.with_name(binary.name + ".exe")
        self.inputs = folder / "mnist"
        self.work = folder / "work"
        for path in (self.inputs, self.work):
            path.mkdir()
        for packed in (TESTDATA / "fashion-mnist").glob("*.gz"):
            (self.inputs / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        self.images = self.inputs / "t10k-images-idx3-ubyte"

    def start(self, *arguments: str | Path, program: Path | None = None, **options: object) -> subprocess.Popen[bytes]:
        """Start a Windows program in the working folder."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        command = [LOADER, str(program or self.windows_program), *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.work, env=self.wine.environ | streams.pop("env", {}), **streams)

    def run(self, code: int, *arguments: str | Path, says: str = "", **options: object) -> bytes:
        """Run idxport for Windows, demand an exit code and a part of its message, and return its standard output."""
        if given := options.pop("given", b""):
            options["stdin"] = subprocess.PIPE
        found, out, said = self.end(self.start(*arguments, **options), given)
        demand(found == code, f"{arguments}: exit code {found}, expected {code}\n{said}")
        demand(says in said, f"{arguments}: it says {said!r}, expected {says!r}")
        demand(not says or "\nhint: " in said, f"{arguments}: no hint: {said!r}")
        return out

    def end(self, process: subprocess.Popen[bytes], given: bytes = b"") -> tuple[int, bytes, str]:
        """Give a program the rest of its input; returns its exit code, its standard output and its standard error."""
        try:
            out, said = process.communicate(given or None, timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failure(f"{process.args}: it does not end") from None
        return process.returncode, out, said.decode()

    def linux(self, *arguments: str | Path, **options: object) -> bytes:
        """Run idxport for Linux, which must succeed."""
        command = [str(self.linux_program), *map(str, arguments)]
        done = subprocess.run(command, **{"cwd": self.work, "capture_output": True, "check": False, "timeout": 120, **options})
        demand(done.returncode == 0, f"{arguments}: exit code {done.returncode} on Linux\n{done.stderr}")
        return done.stdout

    @contextlib.contextmanager
    def held(self, path: str, *how: str) -> Iterator[None]:
        """Let another Windows program have a file open."""
        process = self.start(path, *how, program=self.wine.hold, stdin=subprocess.PIPE)
        try:
            demand(process.stdout.readline().strip() == b"open", f"{path} cannot be opened")
            yield
        finally:
            self.end(process)

    def tree(self, folder: Path | None = None) -> dict[str, bytes]:
        """The files below a folder, the working folder unless told, by name; without records."""
        folder = folder or self.work
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(".made")]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    def hidden(self, ending: str) -> list[Path]:
        """Hidden files of runs in the working folder with this ending, without records."""
        found = (path for path in self.work.iterdir() if path.name.startswith(".") and not path.name.endswith(".made"))
        return sorted(path for path in found if path.name.endswith(ending))


def windows(path: Path) -> str:
    """The Windows path of a file of this machine."""
    return "Z:" + str(path).replace("/", "\\")
