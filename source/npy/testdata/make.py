#!/usr/bin/env python3
"""Makes the files of this folder with NumPy, and expected.json: the type and the shape of a record, and the SHA-256
of the values that idxport must read, little-endian, in C order. Run it here."""
import hashlib
import io
import json
import warnings
import zipfile

import numpy
from numpy.lib import format as npy

expected = {}


def describe(array, as_type=None):
    """Returns the type, the shape and the SHA-256 of what idxport must read."""
    little = array.astype(numpy.dtype(as_type or array.dtype).newbyteorder("<"))
    return {
        "dtype": numpy.dtype(as_type or array.dtype).name,
        "shape": list(array.shape),
        "sha256": hashlib.sha256(little.tobytes()).hexdigest(),
    }


def save(name, array, as_type=None, version=(1, 0)):
    with open(name + ".npy", "wb") as f:
        npy.write_array(f, array, version=version)
    expected[name] = describe(array, as_type)


def spell(name, descr, array, as_type=None):
    """Writes a file whose header spells its type like that, and demands that NumPy reads it."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {array.shape}, }}".encode()
    text += b" " * (117 - len(text)) + b"\n"
    with open(name + ".npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + array.tobytes())
    assert numpy.array_equal(numpy.load(name + ".npy"), array)
    expected[name] = describe(array, as_type)


values = (numpy.arange(60) * 37 + 5) % 256
for code in "|u1 |i1 <i2 >i2 <i4 >i4 <f4 >f4 <f8 >f8".split():
    name = code.replace("|", "").replace("<", "little-").replace(">", "big-")
    save(name, (values - 100 if "i" in code or "f" in code else values).astype(code).reshape(5, 3, 4))
save("scalars", numpy.arange(9, dtype="<i2") - 4)
save("empty", numpy.zeros((0, 28, 28), "u1"))
save("no-elements", numpy.zeros((7, 0, 2), "<f4"))
save("version2", values.astype("u1").reshape(4, 15), version=(2, 0))
save("version3", values.astype("u1").reshape(4, 15), version=(3, 0))
save("rank5", values.astype("u1").reshape(2, 1, 3, 1, 10))
save("bool", values.reshape(6, 10) % 2 == 1, "u1")
halves = numpy.concatenate([numpy.arange(0, 1 << 16, 7, dtype="u2"), [0x7C00, 0xFC00, 0x8000, 1, 0x3FF, 0x400]]).astype("u2").view("<f2")
halves = halves[~numpy.isnan(halves)]
save("half", halves, "f4")
save("big-half", halves.astype(">f2"), "f4")
for code in "<i8 >i8 <u2 >u2 <u4 <u8".split():
    save("wide-" + code.replace("<", "little-").replace(">", "big-"), values.astype(code).reshape(20, 3), "i4")

for descr in "u1 <u1 >u1 i4 =i4 f4".split():
    order = {"<": "little-", ">": "big-", "=": "native-"}.get(descr[0], "no-")
    spell("order-" + order + descr[-2:], descr, values.astype(descr).reshape(5, 12))
for name, descr in {"b1": "b1", "question": "?", "order-question": "|?"}.items():
    spell("bool-" + name, descr, values.reshape(5, 12) % 2 == 1, "u1")

# Files that are refused.
numpy.save("single.npy", numpy.array(5, "u1"))
numpy.save("text.npy", numpy.array(["a", "bc"]))
numpy.save("fields.npy", numpy.zeros(3, [("a", "u1"), ("b", "<i4")]))
numpy.save("object.npy", numpy.array([{}, None], object), allow_pickle=True)
numpy.save("complex.npy", numpy.zeros(3, "c8"))
numpy.savez("archive.npz", a=values)
numpy.save("too-large.npy", numpy.array([1, 2, 1 << 31, 4], "<i8"))
numpy.save("fortran.npy", numpy.asfortranarray(values.reshape(6, 10).astype("u1")))

# Archives, as Keras has its data sets, and others.
archives = {}


def archive(name, save, *unnamed, **arrays):
    save(name + ".npz", *unnamed, **arrays)
    with numpy.load(name + ".npz") as loaded:
        archives[name] = {key: describe(loaded[key], "i4" if loaded[key].dtype == "i8" else None) for key in loaded}


pixels, digits = values.reshape(5, 3, 4).astype("u1"), (numpy.arange(5) % 3).astype("u1")
keras = {"x_test": pixels[:2], "x_train": pixels, "y_train": digits, "y_test": digits[:2]}
archive("keras", numpy.savez_compressed, **keras)
archive("stored", numpy.savez, **keras)
archive("med", numpy.savez_compressed, train_images=pixels, train_labels=digits, val_images=pixels[:1], val_labels=digits[:1])
archive("own-names", numpy.savez, left=pixels, weight=digits / 4, label_source=digits.astype("i8"))
archive("unnamed", numpy.savez_compressed, pixels)

# Archives that are refused.
numpy.savez("refused-object.npz", a=numpy.array([{}, None], object))
numpy.savez("refused-text.npz", a=numpy.array(["a", "bc"]))
file = io.BytesIO()
numpy.save(file, digits)
for name, method, members in (
    ("refused-bzip2", zipfile.ZIP_BZIP2, ["a.npy"]),
    ("refused-other", zipfile.ZIP_STORED, ["a.npy", "readme.txt"]),
    ("refused-empty", zipfile.ZIP_STORED, []),
):
    with zipfile.ZipFile(name + ".npz", "w", method) as z, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for member in members:
            z.writestr(zipfile.ZipInfo(member), file.getvalue(), method)

for name, content in {"expected": expected, "archives": archives}.items():
    with open(name + ".json", "w") as f:
        json.dump(content, f, indent=1, sort_keys=True)
        f.write("\n")
