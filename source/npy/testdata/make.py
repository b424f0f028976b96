#!/usr/bin/env python3
"""Makes the files of this folder with NumPy, and expected.json: the type and the shape of a record, and the SHA-256
of the values that idxport must read, little-endian, in C order. Run it here."""
import hashlib
import json

import numpy
from numpy.lib import format as npy

expected = {}


def save(name, array, as_type=None, version=(1, 0)):
    with open(name + ".npy", "wb") as f:
        npy.write_array(f, array, version=version)
    little = array.astype(numpy.dtype(as_type or array.dtype).newbyteorder("<"))
    expected[name] = {
        "dtype": numpy.dtype(as_type or array.dtype).name,
        "shape": list(array.shape),
        "sha256": hashlib.sha256(little.tobytes()).hexdigest(),
    }


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

# Files that are refused.
numpy.save("fortran.npy", numpy.asfortranarray(values.reshape(6, 10).astype("u1")))
numpy.save("single.npy", numpy.array(5, "u1"))
numpy.save("text.npy", numpy.array(["a", "bc"]))
numpy.save("fields.npy", numpy.zeros(3, [("a", "u1"), ("b", "<i4")]))
numpy.save("object.npy", numpy.array([{}, None], object), allow_pickle=True)
numpy.save("complex.npy", numpy.zeros(3, "c8"))
numpy.savez("archive.npz", a=values)
numpy.save("too-large.npy", numpy.array([1, 2, 1 << 31, 4], "<i8"))

with open("expected.json", "w") as f:
    json.dump(expected, f, indent=1, sort_keys=True)
    f.write("\n")
