"""Make the JPEG files of this folder with cjpeg 2.1 of libjpeg-turbo, from a picture of random blots: python3 make.py"""

import random
import subprocess

WIDTH, HEIGHT = 45, 37
random.seed(7)
colors = [bytes(random.choices(range(256), k=3)) for _ in range(6)]
blots = [(random.uniform(0, WIDTH), random.uniform(0, HEIGHT), random.uniform(3, 14), c) for c in colors * 3]
pixels = bytearray(b"\x60\x80\xa0" * (WIDTH * HEIGHT))
for i in range(WIDTH * HEIGHT):
    x, y = i % WIDTH, i // WIDTH
    for left, top, radius, color in blots:
        if (x - left) ** 2 + (y - top) ** 2 < radius**2:
            pixels[3 * i : 3 * i + 3] = color
    if x > 2 * y:
        pixels[3 * i + random.randrange(3)] ^= random.randrange(256)

for name, flags in {
    "1x1": "-quality 100 -sample 1x1 -optimize",
    "2x1": "-quality 95 -sample 2x1 -optimize",
    "1x2": "-quality 60 -sample 1x2",
    "2x2": "-quality 75 -sample 2x2",
    "grey": "-quality 85 -grayscale",
}.items():
    with open(name + ".jpg", "wb") as file:
        subprocess.run(["cjpeg", *flags.split()], input=b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + pixels, stdout=file, check=True)
