#!/usr/bin/env python3
"""Make folders of images with Pillow, and beside each NAME.json: the expected rows in order, as [label, sum of
samples].

The labels of imagefolder are those of torchvision's ImageFolder: sorted folders. Rows are sorted by the names that are
numbers, across folders, and then by folder and name.
Pillow 13.0.0 made the committed files.
"""
import json
import pathlib
import shutil

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)


def image(path, *shape):
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = rng.integers(0, 256, shape, dtype=np.uint8)
    Image.fromarray(samples).save(path)
    return int(samples.sum())


def folder(name):
    shutil.rmtree(HERE / name, ignore_errors=True)
    return HERE / name


def expect(name, rows):
    (HERE / f"{name}.json").write_text(json.dumps(rows) + "\n")


# Class folders by name, files by any name: ImageFolder.
root, found = folder("imagefolder"), {}
for label, animal in enumerate(["Bear", "ant", "cat"]):  # sorted by code point
    for file in sorted(["z.png", "a b.PNG", "10.png", "9.png"]):
        found[file, label] = [label, image(root / animal / file, 4, 5, 3)]
(root / "README.txt").write_text("no image\n")
numbered = [(file, label) for file in ["9.png", "10.png"] for label in range(3)]
expect("imagefolder", [found[key] for key in numbered + [(file, label) for label in range(3) for file in ["a b.PNG", "z.png"]]])

# Class folders by number, not from 0; the files' numbers are the rows, of which two are missing.
root, found = folder("numbered"), {}
for number in [2, 3, 5, 8, 11, 6]:
    label = {2: 7, 3: 10, 5: 7, 8: 300, 11: 10, 6: 7}[number]
    found[number] = [label, image(root / str(label) / f"{number}.png", 3, 2)]
expect("numbered", [found[n] for n in sorted(found)])

# Numbers that start from 0 in each folder.
root, found = folder("restarting"), {}
for label in range(2):
    for number in ["0", "1", "10", "2"]:
        found[number, label] = [label, image(root / str(label) / f"{number}.png", 3, 2)]
expect("restarting", [found[number, label] for number in ["0", "1", "2", "10"] for label in range(2)])

# Images alone.
root, rows = folder("flat"), []
for number in range(3):
    rows.append([None, image(root / f"{number:02}.png", 3, 2)])
expect("flat", rows)

# Images with a metadata.csv, as Hugging Face's imagefolder has it.
root, rows, lines = folder("metadata"), [], ["file_name,label,class"]
for name, label in [("x.png", 1), ("a.png", 0), ("k.png", 1)]:
    rows.append((name, [label, image(root / name, 3, 2)]))
    lines.append(f'{name},{label},"{["dog, small", "cat"][label]}"')
(root / "metadata.csv").write_text("\n".join(lines) + "\n")
expect("metadata", [row for _, row in sorted(rows)])

# Class folders with labels in metadata.csv.
root, rows, lines = folder("mapped"), [], ["label,file_name"]
for name, label in [("dog/1.png", 3), ("cat/2.png", 9), ("dog/4.png", 3)]:
    rows.append([label, image(root / name, 3, 2)])
    lines.append(f"{label},{name}")
(root / "metadata.csv").write_text("\n".join(lines) + "\n")
expect("mapped", rows)
