"""Hugging Face datasets: Parquet with an Image feature (PNG inside). usage: with_datasets.py parquet-images OUT IMAGES LABELS"""

import sys

from datasets import ClassLabel, Dataset, Features, Image
from PIL import Image as Pillow

from idx import Inside, read


def main() -> None:
    """Do the job that the command line names."""
    inside = Inside()
    _, out, *inputs = sys.argv[1:]
    images, labels = read(inputs[0]), read(inputs[1])
    features = Features({"image": Image(), "label": ClassLabel(num_classes=10)})
    data = Dataset.from_dict({"image": [Pillow.fromarray(image) for image in images], "label": labels}, features=features)
    data.to_parquet(out)  # takes no codec; PNG does not shrink anyway
    inside.done()


main()
