#!/usr/bin/env python3
"""Make NAME.png in every colour type of PNG, with Pillow where it can write it, and NAME.png.raw: the samples that
Pillow reads from it.

Pillow 13.0.0 and numpy 2.4.6 made the committed files.
"""
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image, PngImagePlugin

HERE = pathlib.Path(__file__).parent
H, W = 4, 5
rng = np.random.default_rng(1)


def save(name, image, mode=None, **options):
    image.save(HERE / f"{name}.png", **options)
    check(name, mode)


def check(name, mode=None):
    """Write the samples that Pillow reads, converted to mode."""
    with Image.open(HERE / f"{name}.png") as image:
        if mode:
            image = image.convert(mode)
        samples = np.asarray(image)
    (HERE / f"{name}.png.raw").write_bytes(samples.astype("<u2" if name.endswith("16") else "u1").tobytes())


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def by_hand(name, depth, color, lines, extra=b""):
    """Write an image that Pillow has no mode for: lines are the packed bytes of the rows."""
    header = struct.pack(">IIBBBBB", W, H, depth, color, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + line for line in lines))
    (HERE / f"{name}.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


def noise(*shape, limit=256, dtype=np.uint8):
    return rng.integers(0, limit, (H, W, *shape)).astype(dtype)


save("grey8", Image.fromarray(noise()))
save("rgb8", Image.fromarray(noise(3)))
save("rgba8", Image.fromarray(noise(4)))
save("greyalpha8", Image.fromarray(noise(2), "LA"), "RGBA")
save("grey1", Image.fromarray(noise(limit=2) * 255).convert("1"), "L")
save("palette", Image.fromarray(noise(3)).quantize(7), "RGB")
Image.fromarray(noise(4)).quantize(7).save(HERE / "palettealpha.png")  # refused, as all transparency by tRNS
save("grey16", Image.fromarray(noise(limit=32768, dtype=np.uint16)))
Image.fromarray(np.full((H, W), 40000, np.uint16)).save(HERE / "toolarge16.png")
image = Image.fromarray(noise())
image.save(HERE / "greytransparent.png", transparency=image.getpixel((2, 1)))
by_hand("grey2", 2, 0, [rng.bytes(2) for _ in range(H)])
check("grey2", "L")
by_hand("grey4", 4, 0, [rng.bytes(3) for _ in range(H)])
check("grey4", "L")
save("greypalette8", Image.fromarray(noise()).convert("P"), "L")
save("greypalette2", Image.fromarray(noise()).quantize(4), "L")

# Other kinds of files. Their samples depend on the decoder for JPEG and lossy WebP; a smooth image makes the decoders
# differ by little.
smooth = np.add.outer(np.arange(H) * 20, np.arange(W) * 15)
colors = np.stack([smooth, 200 - smooth, smooth // 2 + 30], -1).astype(np.uint8)
greys = smooth.astype(np.uint8)


def other(name, image, mode=None, **options):
    image.save(HERE / name, **options)
    with Image.open(HERE / name) as image:
        (HERE / f"{name}.raw").write_bytes(np.asarray(image.convert(mode) if mode else image).tobytes())


for name, array in ("grey", greys), ("rgb", colors):
    other(f"{name}.jpg", Image.fromarray(array), quality=95, subsampling=0)
    other(f"{name}.bmp", Image.fromarray(array))
    tags = {"grey": {}, "rgb": {266: 1, 317: 2}}[name]  # the usual order of bits, differences
    other(f"{name}.tif", Image.fromarray(array), compression="tiff_lzw", tiffinfo=tags)
other("progressive.jpg", Image.fromarray(colors), quality=95, subsampling=0, progressive=True)
other("lossless.webp", Image.fromarray(colors), lossless=True)
other("lossy.webp", Image.fromarray(np.dstack([smooth * 2] * 3).astype(np.uint8)), quality=95)  # from black to white
other("lossy-red.webp", Image.fromarray(np.full((H, W, 3), (200, 40, 90), np.uint8)), quality=95)
other("opaque.webp", Image.fromarray(np.dstack([colors, np.full((H, W), 255, np.uint8)])), "RGB", lossless=True)
other("still.gif", Image.fromarray(colors), "RGB")
other("animated.gif", Image.fromarray(colors), "RGB", save_all=True, append_images=[Image.fromarray(colors[::-1])])
turned = Image.Exif()
turned[0x0112] = 6
for name in "turned.jpg", "turned.png", "turned.webp", "turned.tif":
    Image.fromarray(colors).save(HERE / name, exif=turned)
for name, order in ("le", "<2sHIHHHIII"), ("be", ">2sHIHHHIII"):  # type LONG
    exif = b"Exif\0\0" + struct.pack(order, {"<": b"II", ">": b"MM"}[order[0]], 42, 8, 1, 0x0112, 4, 1, 6, 0)
    Image.fromarray(colors).save(HERE / f"turned-{name}.jpg", exif=exif)
for zipped, name in (True, "exif"), (False, "APP1"):  # as ImageMagick and GIMP write them
    text = PngImagePlugin.PngInfo()
    digits = "\n".join(exif.hex()[i:i + 72] for i in range(0, 2 * len(exif), 72))
    text.add_text(f"Raw profile type {name}", f"\n{name.lower()}\n{len(exif):8}\n{digits}\n", zip=zipped)
    Image.fromarray(colors).save(HERE / f"turned-{name}.png", pnginfo=text)
Image.fromarray(colors).save(HERE / "turned-xmp.jpg", xmp=b'<rdf:Description tiff:Orientation="6"/>')
Image.fromarray(colors).save(HERE / "turned-xmp.webp", xmp=b"<tiff:Orientation>6</tiff:Orientation>")
Image.fromarray(greys).save(HERE / "predictor.tif", tiffinfo={317: 2})  # of LZW and Deflate, but there is neither
Image.fromarray(np.dstack([greys, greys]), "LA").save(HERE / "samples.tif")
tiff = (HERE / "samples.tif").read_bytes()  # with one BitsPerSample for both, which Pillow reads as LA
(HERE / "samples.tif").write_bytes(tiff.replace(struct.pack("<HHIHH", 258, 3, 2, 8, 8), struct.pack("<HHII", 258, 3, 1, 8)))
Image.fromarray(greys).save(HERE / "preview.tif", tiffinfo={254: 1})
Image.fromarray(colors).convert("CMYK").save(HERE / "cmyk.jpg")
Image.fromarray(colors).save(HERE / "pages.tif", save_all=True, append_images=[Image.fromarray(colors)])
clear = Image.fromarray(np.dstack([colors, np.full((H, W), 128, np.uint8)]))
clear.save(HERE / "clear.webp", lossless=True)
clear.save(HERE / "clear.tif")
for width, height in (3, 2), (9, 7), (5, 2), (3, 4):  # BICUBIC is Catmull-Rom, stretched when it makes an image smaller
    small = Image.fromarray(colors).resize((width, height), Image.Resampling.BICUBIC)
    (HERE / f"rgb-{width}x{height}.raw").write_bytes(np.asarray(small).tobytes())
# with a transparent colour that no pixel has
save("greyopaque8", Image.fromarray(np.arange(H * W, dtype=np.uint8).reshape(H, W)), transparency=200)
save("rgbopaque8", Image.fromarray(np.arange(H * W * 3, dtype=np.uint8).reshape(H, W, 3)), transparency=(1, 1, 1))
