"""Writes the golden files beside it, with Python's csv module and Python's own arithmetic. Run it in this folder."""
import csv
import math
import struct


def write(name, header, rows, comma=","):
    with open(name, "w", newline="") as f:
        w = csv.writer(f, delimiter=comma, lineterminator="\n")
        if header:
            w.writerow(header)
        w.writerows(rows)


def text(v, code):
    """The shortest text that is v in the precision of the struct code; with an exponent where that is below -4, or 6
    or more."""
    if math.isnan(v):
        return "NaN"
    if math.isinf(v):
        return "inf" if v > 0 else "-inf"
    for digits in range(1, 18):
        mantissa, exponent = ("%.*e" % (digits - 1, v)).split("e")
        if same(float(mantissa + "e" + exponent), v, code):
            break
    exponent = int(exponent)
    if -4 <= exponent < 6:
        return "%.*f" % (max(digits - 1 - exponent, 1), v)
    return mantissa + "e%+03d" % exponent


def same(a, b, code):
    """Report whether a and b are the same number in the precision of the struct code."""
    try:
        return struct.pack("<" + code, a) == struct.pack("<" + code, b)
    except OverflowError:
        return False


# Five rows of a label and an image of 2x3: values i * 41 % 256, every fourth is 0.
labels = [r * 3 % 10 for r in range(5)]
pixels = [0 if i % 4 == 0 else i * 41 % 256 for i in range(30)]
images = [pixels[6 * r : 6 * r + 6] for r in range(5)]
rows = [[l] + p for l, p in zip(labels, images)]
write("kaggle.csv", ["label"] + ["pixel%d" % i for i in range(6)], rows)
write("kaggle1.csv", ["label"] + ["pixel%d" % i for i in range(1, 7)], rows)
write("rowxcol.csv", ["label"] + ["%dx%d" % (r, c) for r in (1, 2) for c in (1, 2, 3)], rows)
write("rowxcol.tsv", ["label"] + ["%dx%d" % (r, c) for r in (1, 2) for c in (1, 2, 3)], rows, "\t")
write("pjreddie.csv", None, rows)
write("matrix-image.csv", None, images)
write("matrix-label.csv", None, [labels])

# Two tensor columns, every data type, and names that must be quoted.
i8 = [-128, 0, 127]
i16 = [-32768, -1, 32767]
i32 = [-2147483648, 70000, 2147483647]
f32 = [3.4028234663852886e38, float("nan"), 0.10000000149011612]
f64 = [5e-324, float("-inf"), 0.1]
a = [[1.0, -0.0], [1e20, 100000.0], [16777216.0, 1e-5]]
b = [[0, 1], [-2, 10000], [99999999, -123456789]]
write(
    "types.csv",
    ["i8", 'a "quoted" name', "i32, wide", "=f32", "f64", "a0", "a1", "b0", "b1"],
    [[i8[r], i16[r], i32[r], text(f32[r], "f"), text(f64[r], "d")] + [text(v, "f") for v in a[r]] + b[r] for r in range(3)],
)
