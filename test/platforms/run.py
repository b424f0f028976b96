#!/usr/bin/env python3
"""Build and vet for other processors, and run tests and a corpus of conversions on emulated ones: every output must
be the same as here.

usage: test/platforms/run.py --binary PATH [--strict] [--install]

Prints a line per check, what was not run and why, and the totals; exits with 1 if a check failed, or with --strict if
one was not run.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checks  # noqa: E402
import corpus  # noqa: E402
from checks import NotRun, demand  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

# The processors that are built and vetted: 386 and arm have 32 bits, s390x is big-endian, unlike the released amd64
# and arm64.
BUILT = ["amd64", "arm64", "386", "arm", "s390x", "ppc64le"]
# QEMU's names of those that the program is run on.
EMULATED = {"386": "i386", "s390x": "s390x", "arm": "arm", "arm64": "aarch64", "ppc64le": "ppc64le"}
# Those that the tests are run on: one with 32 bits, one big-endian.
TESTED = ["386", "s390x"]

# The packages that depend on the order of bytes. The corpus replaces the scripts of cmd/idxport, which start
# thousands of programs.
PACKAGES = """
    internal/compressed internal/compressed/inflate internal/compressed/pagezstd
    internal/jpeg internal/jpeg/samples internal/resample internal/png internal/sheet schema sink/arrow internal/compare sink/csv sink/idx internal/images internal/layout sink/parquet internal/parts sink/png internal/summary sink/tar
    source source/arrow source/columnar source/csv source/flat source/idx source/npy source/parquet source/picture source/png
"""
# Of these, packages whose tests read data through arrow-go's arrays, which have the machine's order of bytes; our
# data are little-endian everywhere. The corpus compares the files, and source/arrow refuses to read there.
NATIVE = {"s390x": {"sink/arrow", "internal/layout", "source/arrow"}}
# Tests that an emulator cannot pass: they measure its own memory and time.
SKIPPED = "^(TestHeadersAllocateNothing)$"

SECONDS = 900  # for anything that is started


class Stage(checks.Place):
    """The program is the one that was built for this machine."""

    def go(self, arch: str, *arguments: str) -> str:
        """The output of the go command for another processor; it must succeed."""
        environ = os.environ | {"CGO_ENABLED": "0", "GOOS": "linux", "GOARCH": arch}
        done = subprocess.run(["go", *arguments], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
        demand(done.returncode == 0, f"go {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def runner(self, arch: str, program: Path) -> list[str]:
        """The command that runs a program of arch: none for 386 on most amd64 machines, otherwise QEMU."""
        if arch == "386":
            with contextlib.suppress(OSError):
                subprocess.run([program, "-help"], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
                return []
        for name in (f"qemu-{EMULATED[arch]}", f"qemu-{EMULATED[arch]}-static"):
            if path := shutil.which(name):
                return [path]
        raise NotRun(f"no qemu-{EMULATED[arch]}")


def emulated_environ() -> dict[str, str]:
    """QEMU loses frequent signals: Go's runtime must not send itself any."""
    return os.environ | {"GODEBUG": "asyncpreemptoff=1", "GOMAXPROCS": "2"}


def vet(arch: str, stage: Stage) -> None:
    """All packages and their tests compile, and the program is linked."""
    stage.go(arch, "vet", "./...")
    stage.go(arch, "build", "-o", str(stage.folder / "idxport"), "./cmd/idxport")


def tests(arch: str, stage: Stage) -> None:
    """The tests of the packages pass on an emulated processor."""
    packages = stage.go(arch, "list", "-f", "{{if .TestGoFiles}}{{.Dir}}{{else if .XTestGoFiles}}{{.Dir}}{{end}}", *[f"./{name}" for name in PACKAGES.split()]).split()
    failures = []

    def one(folder: str) -> None:
        name = os.path.relpath(folder, ROOT)
        if name in NATIVE.get(arch, ()):
            return
        binary = stage.folder / (name.replace("/", "-") + ".test")
        stage.go(arch, "test", "-c", "-o", str(binary), f"./{name}")
        command = [*stage.runner(arch, binary), str(binary), "-test.short", f"-test.timeout={SECONDS}s", f"-test.skip={SKIPPED}"]
        done = corpus.attempt(command, Path(folder), emulated_environ(), 2 * SECONDS)
        if done.returncode:
            failures.append(f"{name}: exit code {done.returncode}\n{corpus.said(done)[-4000:]}")
        binary.unlink()

    demand(len(packages) > 20, f"found only the packages {packages}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, packages))
    demand(not failures, "\n".join(failures))


def outputs(arch: str, stage: Stage) -> None:
    """Every run of the corpus ends as on this machine: with the same exit code and messages, and the same bytes in every output."""
    binary = stage.folder / "idxport"
    stage.go(arch, "build", "-trimpath", "-ldflags=-s -w", "-o", str(binary), "./cmd/idxport")
    here = corpus.results([str(stage.binary)], stage.folder / "here", os.environ)
    there = corpus.results([*stage.runner(arch, binary), str(binary)], stage.folder / "there", emulated_environ(), here)
    files = sum(len(found.files) for found in here)
    demand(files > 500, f"the corpus makes only {files} files")
    different, refused = [], set()
    for number, (a, b) in enumerate(zip(here, there, strict=True)):
        if arch == "s390x" and "big-endian processor" in b.messages and any(".arrow" in word for word in a.command):
            refused.add(str(number))  # and what it would have made is not there
        elif a == b or b.code == 66 and a.command[1].split("/")[0] in refused:
            continue
        elif a.command[:-2] == corpus.SNAPPY and arch != "arm64" and a.files.keys() == b.files.keys():
            command = [stage.binary, "verify", stage.folder / "there" / next(iter(b.files)), corpus.IMAGES]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            demand(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
        else:
            different.append(f"{' '.join(a.command)}\n  here:  {a.text(b)}\n  there: {b.text(a)}")
    demand(not different, f"{len(different)} of {len(here)} runs differ\n" + "\n".join(different[:40]))


CHECKS = [
    *[(f"vet {arch}", functools.partial(vet, arch)) for arch in BUILT],
    *[(f"outputs on {arch}", functools.partial(outputs, arch)) for arch in EMULATED],
    *[(f"tests on {arch}", functools.partial(tests, arch)) for arch in TESTED],
]

# Debian's package of the emulators.
PROGRAMS = {f"qemu-{name}": "qemu-user" for name in EMULATED.values()}

if __name__ == "__main__":
    sys.exit(checks.main(__doc__, CHECKS, Stage, PROGRAMS))
