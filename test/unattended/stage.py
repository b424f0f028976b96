"""A place where the examples of docs/unattended.md can be run: its folders and the program below a temporary folder."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

from checks import demand

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "unattended.md"


class Stage:
    """A folder with the program in bin/, and a thousand rows of each split of Fashion-MNIST, raw, in data/mnist."""

    def __init__(self, folder: Path, binary: Path) -> None:
        folder.chmod(0o755)
        self.folder = folder
        self.data = folder / "data"
        self.bin = folder / "bin"
        self.home = folder / "home"
        self.inputs = self.data / "mnist"
        self.images = self.inputs / "train-images-idx3-ubyte"
        self.out = self.data / "out"
        for path in (self.inputs, self.bin, self.home, self.data / "weekly"):
            path.mkdir(parents=True)
        shutil.copy2(binary, self.bin / "idxport")
        for packed in (ROOT / "testdata" / "fashion-mnist").glob("*.gz"):
            (self.inputs / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        self.path = f"{self.bin}:/usr/local/bin:/usr/bin:/bin"

    def blocks(self, language: str) -> list[str]:
        """The document's blocks of a language, with its paths and numbers of rows replaced by those of this folder."""
        text = DOCUMENT.read_text().replace("train=60000,test=10000", "train=1000,test=1000").replace("/usr/local/bin", str(self.bin))
        found = re.findall(rf"^```{language}\n(.*?)^```$", re.sub(r"(?<![\w.])/data\b", str(self.data), text), re.MULTILINE | re.DOTALL)
        demand(found, f"{DOCUMENT.name} has no {language} block")
        return found

    def run(self, command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        """Run a command as a daemon does: without a terminal and input, and with only PATH and HOME in its environment."""
        settings = {"cwd": self.home, "env": {"PATH": self.path, "HOME": str(self.home)}, "stdin": subprocess.DEVNULL, **options}
        return subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True, timeout=60, **settings)

    def idxport(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run the program."""
        return self.run([str(self.bin / "idxport"), *map(str, arguments)])

    def succeed(self, done: subprocess.CompletedProcess[str], code: int = 0) -> None:
        """Demand an exit code."""
        demand(done.returncode == code, f"exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")

    def change(self) -> None:
        """Change a pixel of the training images."""
        data = bytearray(self.images.read_bytes())
        data[-1] ^= 0xFF
        self.images.write_bytes(data)

    def damage(self) -> None:
        """Cut off the end of the training images."""
        self.images.write_bytes(self.images.read_bytes()[:-1])

    def outputs(self, folder: Path) -> dict[str, tuple[int, int]]:
        """Inode and time of the files of a folder that are not hidden."""
        return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(folder.iterdir()) if not path.name.startswith(".")}

    def partials(self) -> list[Path]:
        """Unfinished files of runs."""
        return list(self.folder.rglob("*.partial"))
