"""Datumaro: its mnist format to imagenet's folders of PNG. usage: with_datumaro.py imagenet OUT IMAGES LABELS

Its reader takes a folder with the published .gz names; links to the two inputs make one without the test split.
"""

import os
import sys
import tempfile

import datumaro as dm

from idx import Inside


def main() -> None:
    """Do the job that the command line names."""
    inside = Inside()
    _, out, *inputs = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for path in inputs:
            os.symlink(os.path.abspath(path), os.path.join(folder, os.path.basename(path)))
        dm.Dataset.import_from(folder, "mnist").export(out, "imagenet", save_media=True, image_ext=".png")
    inside.done()


main()
