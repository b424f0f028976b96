"""What every script begins and ends with: reading IDX the way a numpy user does, and saying how long the work took."""

from __future__ import annotations

import gzip
import sys
import time
from pathlib import Path

import numpy as np

DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read(path: str) -> np.ndarray:
    """The array in an IDX file, plain or gzip, in native byte order, or that of a folder of JPEG files."""
    if Path(path).is_dir():
        from PIL import Image

        return np.stack([np.asarray(Image.open(file)) for file in sorted(Path(path).glob("*/*.jpg"), key=lambda file: file.name)])
    if path.endswith(".gz"):
        with gzip.open(path, "rb") as file:
            data = np.frombuffer(file.read(), np.uint8)
    else:
        data = np.fromfile(path, np.uint8)
    rank = int(data[3])
    shape = data[4 : 4 + 4 * rank].view(">u4").astype(int)
    array = data[4 + 4 * rank :].view(DTYPES[int(data[2])]).reshape(shape)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


class Inside:
    """The seconds between its making, after a script's imports, and done, when the output is complete."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    def done(self) -> None:
        """Print them in the one line that the harness looks for."""
        sys.stdout.write(f"inside {time.perf_counter() - self.began:.6f}\n")
