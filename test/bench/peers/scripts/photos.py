"""Make a folder of 3,000 photographs of 224×224 as JPEG files: crops of the two of scikit-learn. usage: photos.py FOLDER"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

folder, random = Path(sys.argv[1]), np.random.default_rng(1)
photographs = [Image.fromarray(pixels) for pixels in load_sample_images().images]
for label in ("0", "1"):
    (folder / label).mkdir(parents=True)
for row in range(3000):
    photograph = photographs[row % 2]
    side = int(random.integers(224, photograph.height))
    x, y = (int(random.integers(free + 1)) for free in (photograph.width - side, photograph.height - side))
    crop = photograph.resize((224, 224), Image.Resampling.BICUBIC, (x, y, x + side, y + side))
    crop.save(folder / f"{row % 2}/{row:04d}.jpg")
