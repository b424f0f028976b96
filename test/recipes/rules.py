"""Which number torchvision and Keras give to each class folder, by their documented rules, compared with the labels.

The examples run torchvision itself on one of the folders; TensorFlow is not installed. Their rules are short, and what matters is the folders' order.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from facts import Data

SUFFIXES = {".png"}  # of both programs' lists, the one that idxport writes


def image_folder(root: Path) -> tuple[list[str], list[tuple[Path, int]]]:
    """Classes and samples of torchvision.datasets.ImageFolder: every folder is a class, in sorted order; a class without images is an error.

    https://docs.pytorch.org/vision/stable/generated/torchvision.datasets.ImageFolder.html; find_classes and make_dataset in
    https://github.com/pytorch/vision/blob/main/torchvision/datasets/folder.py
    """
    classes = sorted(entry.name for entry in root.iterdir() if entry.is_dir())
    samples = []
    for number, name in enumerate(classes):
        files = [path for path in sorted((root / name).rglob("*")) if path.suffix.lower() in SUFFIXES]
        if not files:
            raise FileNotFoundError(f"found no valid file for the class {name}")
        samples += [(path, number) for path in files]
    return classes, samples


def keras_directory(root: Path) -> tuple[list[str], list[tuple[Path, int]]]:
    """The same of keras.utils.image_dataset_from_directory with labels="inferred": subfolders in alphanumeric order, but not hidden ones.

    https://keras.io/api/data_loading/image/; index_directory in https://github.com/keras-team/keras/blob/master/keras/src/utils/dataset_utils.py
    """
    classes = [entry.name for entry in sorted(root.iterdir()) if entry.is_dir() and not entry.name.startswith(".")]
    return classes, [(path, number) for number, name in enumerate(classes) for path in sorted((root / name).rglob("*")) if path.suffix.lower() in SUFFIXES]


def write(path: Path, values: np.ndarray) -> Path:
    """An IDX file of unsigned bytes."""
    path.write_bytes(bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape) + values.tobytes())
    return path


def letters(folder: Path) -> np.ndarray:
    """Files like EMNIST's letters, with labels 1 … 26 in no order; returns the labels."""
    labels = np.random.default_rng(26).permutation(np.repeat(np.arange(1, 27, dtype=np.uint8), 3))
    images = np.zeros((len(labels), 28, 28), np.uint8) + labels[:, None, None]
    folder.mkdir()
    write(folder / "emnist-letters-test-images-idx3-ubyte", images)
    write(folder / "emnist-letters-test-labels-idx1-ubyte", labels)
    return labels


def wrong(root: Path, labels: np.ndarray, first: int) -> Iterator[str]:
    """What differs between both programs' numbers and the labels, which start at first; files are named by their row."""
    for program, rule in (("torchvision", image_folder), ("Keras", keras_directory)):
        classes, samples = rule(root)
        if [int(name) for name in classes] != sorted(set(labels.tolist())):
            yield f"{program}: the classes are {classes}"
        if sorted(int(path.stem) for path, _ in samples) != list(range(len(labels))):
            yield f"{program}: found {len(samples)} samples, expected one for each of {len(labels)} rows"
        bad = [path for path, number in samples if number + first != labels[int(path.stem)]]
        if bad:
            yield f"{program}: {len(bad)} files are in another class than their label, the first is {bad[0]}"


def check(binary: Path, data: Data, folder: Path) -> Iterator[str]:
    """Ten classes from 0, and 26 from 1, whose numbers are one less than the labels."""
    emnist = letters(folder / "letters")
    for source, labels, root, first in (
        (data.folder / "fashion-mnist", data["fashion-mnist/t10k-labels"], folder / "png-fashion", 0),
        (folder / "letters", emnist, folder / "png-letters", 1),
    ):
        subprocess.run([binary, "convert", source, "--split", "test", "-o", f"png={root}", "--quiet"], check=True)
        yield from wrong(root, labels, first)
