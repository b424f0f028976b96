#!/usr/bin/env python3
"""Make a release without publishing it, and use what it holds: archives, packages, the image, the formula, wheels.

usage: test/release/run.py --binary PATH [--strict] [--install]

Prints a line per check and the totals; exits with 1 if a check failed, or with --strict if one could not be run.
"""

from __future__ import annotations

import atexit
import functools
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "windows")]

import checks  # noqa: E402
import stage as windows  # noqa: E402
from checks import NotRun, demand  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
INPUT = ROOT / "testdata" / "fashion-mnist" / "t10k-labels-idx1-ubyte.gz"
LABELS = [str(label) for label in gzip.decompress(INPUT.read_bytes())[8:]]
PLATFORMS = [(system, processor) for system in ("linux", "darwin", "windows") for processor in ("amd64", "arm64")]
# What pip of each platform looks for in the name of a wheel.
TAGS = {
    ("linux", "amd64"): "manylinux2014_x86_64.musllinux_1_1_x86_64", ("linux", "arm64"): "manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64", ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64", ("windows", "arm64"): "win_arm64",
}  # fmt: skip
HELD = {"LICENSE", "README.md", "CHANGELOG.md", "THIRD-PARTY.txt", "idxport.1"} | {f"completion/idxport.{shell}" for shell in ("bash", "zsh", "fish", "ps1")}
PACKAGES = {
    "lintian": "lintian", "rpm": "rpm", "cpio": "cpio", "buildah": "buildah", "qemu-aarch64": "qemu-user", "man": "man-db", "ruby": "ruby", **windows.PACKAGES,
}  # fmt: skip
DEBIAN = ["usr/bin/idxport", "usr/share/man/man1/idxport.1.gz", "usr/share/bash-completion/completions/idxport"]


class Stage:
    """An empty folder, and the files of the release by their names."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self.folder, self.version = folder, said(str(binary), "version").split()[1]
        self.dist = made(self.version)
        self.files = {path.name: path for path in self.dist.iterdir() if path.is_file()}

    def file(self, name: str) -> Path:
        """The file of the release with a name, in which V stands for the version."""
        name = name.replace("V", self.version)
        demand(name in self.files, f"no {name}: {sorted(self.files)}")
        return self.files[name]

    def unpacked(self, system: str, processor: str) -> Path:
        """The folder that an archive unpacks to."""
        name = f"idxport-{self.version}-{system}-{processor}"
        if system == "windows":
            with zipfile.ZipFile(self.file(f"{name}.zip")) as archive:
                archive.extractall(self.folder)
        else:
            with tarfile.open(self.file(f"{name}.tar.gz")) as archive:
                archive.extractall(self.folder, filter="data")
        return self.folder / name


def said(*command: str | Path, **more: object) -> str:
    """What a command prints; it must succeed."""
    if shutil.which(str(command[0])) is None:
        raise NotRun(f"no {command[0]}")
    done = subprocess.run(
        [*map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **more,  # type: ignore[call-overload]
    )
    demand(done.returncode == 0, f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


@functools.cache
def made(version: str, again: bool = False) -> Path:
    """The folder of a release of the last commit, made in a clone, as dates are those of commits."""
    clone = Path(tempfile.mkdtemp(prefix="idxport-release-"))
    atexit.register(shutil.rmtree, clone, ignore_errors=True)
    said("git", "clone", "--quiet", ROOT, clone)
    said("make", "--silent", "goreleaser", cwd=clone)
    said("make", "--silent", "goreleaser", "ARGUMENTS=release --snapshot --clean", cwd=clone, env=os.environ | {"VERSION": version})
    return clone / "dist"


def converts(*command: str | Path) -> None:
    """A program reads the sample as this Python does."""
    found = said(*command, "convert", INPUT, "-o", "csv=-", "--quiet")
    demand(found.split()[1:] == LABELS, f"{command[-1]} does not convert")


def archives(stage: Stage) -> None:
    """Each archive has its files, and a program for its platform."""
    for system, processor in PLATFORMS:
        folder = stage.unpacked(system, processor)
        program = "idxport.exe" if system == "windows" else "idxport"
        found = {str(path.relative_to(folder)).replace("\\", "/") for path in folder.rglob("*") if path.is_file()}
        demand(found == HELD | {program}, f"{folder.name}: {sorted(found ^ (HELD | {program}))}")
        built = said("go", "version", "-m", folder / program)
        demand(all(f"{key}\n" in built for key in (f"GOOS={system}", f"GOARCH={processor}", "CGO_ENABLED=0", "-trimpath=true")), built)
        licences = (folder / "THIRD-PARTY.txt").read_text()
        for module in re.findall(r"\tdep\t(\S+)\t(\S+)", built):
            demand("== {} {}: ".format(*module) in licences, f"{folder.name}: no licence of {module[0]}")


def programs(stage: Stage) -> None:
    """The programs for Linux convert, that for arm64 under QEMU, and that for Windows under wine."""
    converts(stage.unpacked("linux", "amd64") / "idxport")
    converts("qemu-aarch64", stage.unpacked("linux", "arm64") / "idxport")
    under_wine(stage.unpacked("windows", "amd64") / "idxport.exe", stage.folder)


def under_wine(program: Path, folder: Path) -> None:
    """A program for Windows converts."""
    out = folder / "labels.csv"
    windows.wine().call([windows.LOADER, str(program), "convert", str(INPUT), "-o", str(out)], timeout=120)
    demand(out.read_text().split()[1:] == LABELS, f"{program} does not convert")
    out.unlink()


def checksums(stage: Stage) -> None:
    """Every file has its checksum."""
    listed = dict(reversed(line.split()) for line in stage.file("SHA256SUMS").read_text().splitlines())
    for name, digest in listed.items():
        demand(hashlib.sha256(stage.file(name).read_bytes()).hexdigest() == digest, f"{name} has another checksum")
    released = {name for name in stage.files if name.endswith((".tar.gz", ".zip", ".deb", ".rpm", ".cdx.json"))}
    demand(released == set(listed), f"without a checksum: {sorted(released ^ set(listed))}")
    demand(len(listed) == 6 + 2 + 2 + 6, f"{len(listed)} files: {sorted(listed)}")


def reproducible(stage: Stage) -> None:
    """A second release has the same archives and packages."""
    before = stage.file("SHA256SUMS").read_text().splitlines()
    after = (made(stage.version, again=True) / "SHA256SUMS").read_text().splitlines()
    differ = sorted(line for line in set(before) ^ set(after) if not line.endswith(".cdx.json"))
    demand(not differ, "\n".join(differ))


def deb(stage: Stage) -> None:
    """Debian's package is clean, is installed, works, and is removed."""
    for processor in ("amd64", "arm64"):
        said("lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", stage.file(f"idxport_V_{processor}.deb"))
    if os.geteuid():
        raise NotRun("not root")
    demand(not Path("/usr/bin/idxport").exists(), "idxport is installed here already")
    said("dpkg", "--force-not-root", "--install", stage.file("idxport_V_amd64.deb"))
    try:
        converts("/usr/bin/idxport")
        listed = said("dpkg", "--listfiles", "idxport")
        demand(all(f"/{name}\n" in listed for name in DEBIAN), listed)
        said("dpkg-deb", "--extract", stage.file("idxport_V_amd64.deb"), stage.folder)
        page = stage.folder / "usr/share/man/man1/idxport.1.gz"
        warned = said("man", "--warnings", "-l", page, env=os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8", "PAGER": "cat"})
        demand("--rows-per-file N" in warned and "warning:" not in warned, f"the manual page: {warned[:2000]}")
    finally:
        said("dpkg", "--purge", "idxport")
    demand(not Path("/usr/bin/idxport").exists(), "the program stays")


def rpm(stage: Stage) -> None:
    """The RPM package has the same program, and is verified and unpacked by rpm."""
    path = stage.file("idxport-V-1.x86_64.rpm")
    said("rpm", "--checksig", "--nosignature", path)
    listed = said("rpm", "--query", "--list", "--package", path).splitlines()
    demand(all(f"/{name}" in listed for name in DEBIAN), "\n".join(listed))
    unpacked = subprocess.run(f"rpm2cpio '{path}' | cpio --quiet --no-absolute-filenames -idm", shell=True, cwd=stage.folder, check=False)
    demand(unpacked.returncode == 0, "it cannot be unpacked")
    converts(stage.folder / "usr/bin/idxport")


def image(stage: Stage) -> None:
    """The image has the program and the certificates, for a user without rights, and converts a folder."""
    context = stage.folder / "context"
    said(ROOT / "release" / "context", stage.dist, context)
    environ = os.environ | {"STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}
    buildah = ["buildah", "--root", stage.folder / "root", "--runroot", stage.folder / "run"]
    said(*buildah, "build", "--tag", "idxport", context, env=environ)
    container = said(*buildah, "from", "--pull-never", "idxport", env=environ).strip()
    (stage.folder / "data").mkdir(mode=0o777)
    (stage.folder / "data").chmod(0o777)
    shutil.copy(INPUT, stage.folder / "data")
    command = ["/usr/bin/idxport", "convert", INPUT.name, "-o", "out.csv"]
    said(*buildah, "run", "--volume", f"{stage.folder}/data:/data", container, "--", *command, env=environ)
    made = stage.folder / "data" / "out.csv"
    demand(made.stat().st_uid == 65532, f"the output belongs to {made.stat().st_uid}")
    demand(len(made.read_text().split()) == 1001, "the output is not whole")


def formula(stage: Stage) -> None:
    """The formula names each archive with its checksum, and is Ruby."""
    text = said(ROOT / "release" / "formula", stage.version, stage.file("SHA256SUMS"))
    found = re.findall(r'url "\S+/v(\S+)/(\S+)"\n\s+sha256 "(\S+)"', text)
    demand(len(found) == 4, text)
    for version, name, digest in found:
        demand(version == stage.version and hashlib.sha256(stage.file(name).read_bytes()).hexdigest() == digest, f"{name}: {digest}")
    (stage.folder / "idxport.rb").write_text(text)
    said("ruby", "-c", stage.folder / "idxport.rb")


def wheels(stage: Stage) -> None:
    """There is a wheel for each platform, with the program of its archive."""
    said(ROOT / "release" / "wheels", stage.dist, stage.folder / "wheels", env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})
    found = sorted((stage.folder / "wheels").iterdir())
    demand(len(found) == len(PLATFORMS), f"found {[path.name for path in found]}")
    for system, processor in PLATFORMS:
        name = "idxport.exe" if system == "windows" else "idxport"
        program = (stage.unpacked(system, processor) / name).read_bytes()
        (wheel,) = (path for path in found if TAGS[system, processor] in path.name)
        folder = stage.folder / wheel.stem
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        (unpacked,) = folder.glob(f"*.data/scripts/{name}")
        demand(unpacked.read_bytes() == program, f"{wheel.name} has another program")
        unpacked.chmod(0o755)
        if (system, processor) == ("linux", "arm64"):
            converts("qemu-aarch64", unpacked)
        elif (system, processor) == ("windows", "amd64"):
            under_wine(unpacked, stage.folder)


CHECKS = [(check.__name__, check) for check in (archives, programs, checksums, deb, rpm, image, formula, wheels, reproducible)]

if __name__ == "__main__":
    sys.exit(checks.main(__doc__ or "", CHECKS, Stage, PACKAGES))
