"""Pillow or OpenCV: a folder of PNG images per label. usage: with_images.py JOB OUT IMAGES LABELS

JOB is pillow, opencv (one loop), pillow-pool (a process per core) or opencv-threads (a thread per core, as imwrite works outside the GIL).
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

# Only the one that is used is imported: the other would count as start-up.
if sys.argv[1].startswith("pillow"):
    from PIL import Image
else:
    import cv2

from idx import Inside, read

WORKERS = len(os.sched_getaffinity(0))


def save(rows: range) -> None:
    """Write the images of these rows."""
    for i in rows:
        path = f"{out}/{labels[i]}/{i:05d}.png"
        if job.startswith("pillow"):
            Image.fromarray(images[i]).save(path, compress_level=1)  # a tenth less time than with its default, 6
        else:
            cv2.imwrite(path, images[i])


inside = Inside()
job, out, *inputs = sys.argv[1:]
images, labels = read(inputs[0]), read(inputs[1])
for label in set(labels.tolist()):
    os.makedirs(f"{out}/{label}")
shares = [range(worker, len(images), WORKERS) for worker in range(WORKERS)]
if job == "pillow-pool":
    with get_context("fork").Pool(WORKERS) as pool:
        pool.map(save, shares)
        pool.close()
        pool.join()  # waited for, so that their CPU time counts
elif job == "opencv-threads":
    with ThreadPoolExecutor(WORKERS) as threads:
        list(threads.map(save, shares))
else:
    save(range(len(images)))
inside.done()
