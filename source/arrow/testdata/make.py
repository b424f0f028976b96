#!/usr/bin/env python3
"""Makes the files of this folder with pyarrow, polars, pandas and Pillow, and expected.json: for each file its rows,
and for each column its name, type, shape, class names and the SHA-256 of the values that idxport must read,
little-endian, in C order. Run it here."""
import hashlib
import io
import json

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.feather
from PIL import Image

expected = {}
values = ((np.arange(7 * 12) * 37 + 5) % 256).astype("u1").reshape(7, 3, 4)
label = np.array([3, 1, 4, 1, 5, 9, 2], "u1")


def expect(name, classes={}, **columns):
    expected[name] = {
        "rows": len(next(iter(columns.values()))),
        "columns": [{
            "name": k,
            "dtype": v.dtype.name,
            "shape": list(v.shape[1:]),
            **({"classes": classes[k]} if k in classes else {}),
            "sha256": hashlib.sha256(np.ascontiguousarray(v).astype(v.dtype.newbyteorder("<")).tobytes()).hexdigest(),
        } for k, v in columns.items()],
    }


def save(name, table, stream=False, compression=None, batch=None, slices=None, options=None, classes={}, **columns):
    """Writes table, or slices of it, and records the expected columns."""
    if isinstance(table, dict):
        table = pa.table(table)
    if columns:
        expect(name, classes, **columns)
    options = options or pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(name + ".arrow", table.schema, options=options) as w:
        for first, last in slices or [(0, len(table))]:
            w.write_table(table.slice(first, last - first), max_chunksize=batch)


def nested(kind_of_list, array):
    """Lists of lists of lists …, one for each dimension of array."""
    flat = pa.array(array.reshape(-1))
    for n in reversed(array.shape[1:]):
        flat = kind_of_list(flat, n)
    return flat


def offsets(flat, n, dtype):
    return pa.array(np.arange(0, len(flat) + 1, n, dtype=dtype))


fixed = lambda flat, n: pa.FixedSizeListArray.from_arrays(flat, n)
small = lambda flat, n: pa.ListArray.from_arrays(offsets(flat, n, "i4"), flat)
large = lambda flat, n: pa.LargeListArray.from_arrays(offsets(flat, n, "i8"), flat)
for name, kind in {"fixed": fixed, "list": small, "large-list": large}.items():
    for compression in (None, "lz4", "zstd"):
        for stream in (False, True):
            save(f"{name}-{compression}-{'stream' if stream else 'file'}", {"image": nested(kind, values), "label": label}, stream=stream,
                 compression=compression, batch=3, image=values, label=label)
    rows = np.concatenate([values[2:5], values[1:7]])
    save(f"{name}-sliced", {"image": nested(kind, values), "label": label}, slices=[(2, 5), (1, 1), (1, 7)],
         image=rows, label=np.concatenate([label[2:5], label[1:7]]))

save("numbers", {k: values[:, 0, 0].astype(k) for k in ("int8", "uint8", "int16", "int32", "float32", "float64")},
     **{k: values[:, 0, 0].astype(k) for k in ("int8", "uint8", "int16", "int32", "float32", "float64")})
save("wide", {k: values[:, 0, 0].astype(k) for k in ("uint16", "uint32", "uint64", "int64")},
     **{k: values[:, 0, 0].astype("int32") for k in ("uint16", "uint32", "uint64", "int64")})
bits = values.reshape(7, 12) % 3 == 0
save("bool", {"b": bits[:, 0], "bits": nested(fixed, bits)}, slices=[(3, 7), (0, 3)],
     b=np.concatenate([bits[3:], bits[:3]])[:, 0].astype("u1"), bits=np.concatenate([bits[3:], bits[:3]]).astype("u1"))
half = (values.astype("f2") - 99.5) / 3
save("half", {"half": nested(fixed, half)}, half=half.astype("f4"))

tensors = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.uint8(), [3, 4]), fixed(pa.array(values.reshape(-1)), 12))
save("tensor", {"image": tensors}, image=values)
identity = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.uint8(), [3, 4], permutation=[0, 1]), fixed(pa.array(values.reshape(-1)), 12))
save("tensor-identity", {"image": identity}, image=values)

raw = [v.tobytes() for v in values]
shape = {"idx.dtype": "uint8", "idx.shape": "[3,4]"}
for name, kind in {"binary": pa.binary(), "large-binary": pa.large_binary(), "binary-view": pa.binary_view(), "fixed-binary": pa.binary(12)}.items():
    schema = pa.schema([pa.field("image", kind, metadata=shape), pa.field("short", pa.binary_view(), metadata={"idx.dtype": "int16", "idx.shape": "[2]"})])
    save(name, pa.table([pa.array(raw, kind), pa.array([r[:4] for r in raw], pa.binary_view())], schema=schema), batch=4,
         image=values, short=values.reshape(7, 12)[:, :4].copy().view("<i2"))
    save(name + "-without-type", {"image": pa.array(raw, kind)}, compression="zstd", image=values.reshape(7, 12))
long = ((np.arange(5 * 100) * 11) % 251).astype("u1").reshape(5, 100)
save("binary-view-long", {"image": pa.array([v.tobytes() for v in long], pa.binary_view())}, slices=[(1, 4), (0, 5)],
     image=np.concatenate([long[1:4], long]))

save("dictionary", {"label": label, "class": pa.array([f"class {v}" for v in label]).dictionary_encode(), "image": nested(fixed, values)}, batch=2,
     label=label, image=values)
encoded = {"u1": pa.array(label).dictionary_encode(), "wide": pa.array(label.astype("i8") - 300).dictionary_encode(),
           "f2": pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 0, 1, 1, 2], pa.uint64()), pa.array(np.array([0.5, 1, -2], "f2")))}
plain = {"u1": label, "wide": label.astype("i4") - 300, "f2": np.array([0.5, -2, 1, 0.5, 1, 1, -2], "f4")}
for compression in (None, "lz4", "zstd"):
    save(f"dictionary-numbers-{compression}", encoded, compression=compression, batch=3, **plain)
    save(f"dictionary-numbers-{compression}-stream", encoded, stream=True, compression=compression, slices=[(2, 5), (0, 7)],
         **{k: np.concatenate([v[2:5], v]) for k, v in plain.items()})
replaced = pa.chunked_array([pa.array(label[:3]).dictionary_encode(), pa.array(label[3:]).dictionary_encode()])
save("dictionary-replaced", {"label": replaced, "x": label / 2}, stream=True, label=label, x=label / 2)
species = ["", "ibis", "dodo", "gnu"]
codes = np.array([3, 1, 2, 1, 2, 2, 3], "u1")
texts = [species[k] for k in codes]
spare = pa.array([None, *species[1:]])  # no row uses the null
save("dictionary-names", {"label": pa.DictionaryArray.from_arrays(pa.array(codes), spare)}, batch=2, classes={"label": species[1:]}, label=codes - 1)
save("pixels", {"label": label.astype("i8"), **{f"pixel{i}": values.reshape(7, 12)[:, i] for i in range(9)}}, batch=4,
     label=label.astype("i4"), image=values.reshape(7, 12)[:, :9].reshape(7, 3, 3))
save("pixels-by-index", {"class": pa.array([str(v) for v in label]), **{f"{i}x{j}": values[:, i, j] for i in range(3) for j in range(4)}, "label": label},
     batch=4, image=values, label=label)


def png(array):
    f = io.BytesIO()
    Image.fromarray(array).save(f, "PNG")
    return f.getvalue()


color = ((np.arange(6 * 5 * 4 * 3) * 29) % 256).astype("u1").reshape(6, 5, 4, 3)
pictures = pa.array([{"bytes": png(v), "path": None} for v in color], pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
features = {"info": {"features": {"image": {"_type": "Image"}, "label": {"names": list("abcdefghij"), "_type": "ClassLabel"}}}}
save("huggingface", pa.table({"image": pictures, "label": label[:6].astype("i8")}).replace_schema_metadata({"huggingface": json.dumps(features)}),
     stream=True, batch=4, classes={"label": list("abcdefghij")}, image=color, label=label[:6].astype("i4"))
save("png-binary", {"image": pa.array([png(v) for v in values], pa.large_binary())}, batch=3, image=values)

frame = polars.DataFrame({"label": label, "image": polars.Series(values, dtype=polars.Array(polars.UInt8, (3, 4)))})
for compression in ("uncompressed", "lz4", "zstd"):
    frame.write_ipc(f"polars-{compression}.arrow", compression=compression)
    expect(f"polars-{compression}", label=label, image=values)
frame.slice(2, 4).write_ipc_stream("polars-stream.arrow")
expect("polars-stream", label=label[2:6], image=values[2:6])
polars.DataFrame({"image": [v.tolist() for v in values.reshape(7, 12)]}, schema={"image": polars.List(polars.UInt8)}).slice(1).write_ipc("polars-list.arrow")
expect("polars-list", image=values.reshape(7, 12)[1:])
polars.DataFrame({"image": [v.tobytes() for v in long]}).slice(1, 3).write_ipc("polars-binary.arrow")
expect("polars-binary", image=long[1:4])

table = pandas.DataFrame({"label": label.astype("i8"), "x": values[:, 0, 0] / 2}, index=list("abcdefg"))
save("pandas", pa.Table.from_pandas(table), label=label.astype("i4"), x=values[:, 0, 0] / 2)
pandas.DataFrame({"label": label}).to_feather("feather2.arrow")
expect("feather2", label=label)
save("refused-legacy", {"image": nested(fixed, values)}, stream=True, batch=3,
     options=pa.ipc.IpcWriteOptions(use_legacy_format=True, metadata_version=pa.ipc.MetadataVersion.V4))
save("refused-list-view", {"image": pa.ListViewArray.from_arrays([0, 2], [2, 2], label[:4])})
save("no-rows", {"image": nested(fixed, values), "label": label}, slices=[(0, 0)], image=values[:0], label=label[:0])

# Files that are refused.
pyarrow.feather.write_feather(pa.table({"label": label}), "refused-feather1.arrow", version=1)
with open("refused-big-endian.arrow", "wb") as f:  # the schema of a stream, without fields, whose endianness is Big
    f.write(bytes.fromhex("ffffffff2c0000001000000000000a000e000c000b0004000a000000100000000000000104000600080006000600000000000100"))
refused = {
    "text": {"label": label, "name": pa.array([f"n{v}" for v in label])},
    "dictionary": {"label": label, "name": pa.array([f"n{v}" for v in label]).dictionary_encode()},
    "null": {"label": pa.array([3, 1, None, 4], pa.uint8())},
    "ragged": {"image": pa.array([[1, 2], [3, 4], [5]], pa.list_(pa.uint8()))},
    "large-value": {"label": pa.array([1, 2, 3, 1 << 40], pa.int64())},
    "time": {"label": label, "when": pa.array(range(7), pa.timestamp("s"))},
    "permuted": {"image": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.uint8(), [3, 4], permutation=[1, 0]), fixed(pa.array(values.reshape(-1)), 12))},
    "tensors-in-lists": {"image": fixed(pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.uint8(), [3, 2]), fixed(pa.array(values.reshape(-1)), 6)), 2)},
    "sizes": {"image": pa.array([{"bytes": png(values[0]), "path": None}, {"bytes": png(color[0]), "path": None}])},
    "no-bytes": {"image": pa.array([{"bytes": None, "path": "a.png"}], pa.struct([("bytes", pa.binary()), ("path", pa.string())]))},
    "no-rows": {"image": pa.array([], pa.list_(pa.uint8()))},
    "struct": {"image": pa.array([{"x": 1}])},
    "dictionary-bool": {"label": pa.array(label > 2).dictionary_encode()},
    "dictionary-null": {"label": pa.DictionaryArray.from_arrays([0, 1], pa.array([3, None], pa.uint8()))},
    "dictionary-null-index": {"label": pa.array([3, None, 4], pa.uint8()).dictionary_encode()},
    "mixed-pixels": {f"pixel{i}": values.reshape(7, 12)[:, i].astype("i8" if i % 2 else "u1") for i in range(4)},
    "pixels-by-column": {f"{i}x{j}": values[:, i, j] for j in range(4) for i in range(3)},
    "pixels-gap": {f"pixel{i}": values[:, 0, 0] for i in (0, 1, 3)},
    "same-names": pa.table([pa.array(label), pa.array(label)], names=["label", "label"]),
}
for name, columns in refused.items():
    save("refused-" + name, columns)
frame = polars.DataFrame({"kind": polars.Series(texts, dtype=polars.Enum(species)), "x": label / 2})
frame.write_ipc("refused-enum.arrow")
parts = [pa.array([3, 5]), pa.array([3, 5, 7])]
indices = [[0, 1, 1], [2, 0, 1]]
column = pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(k, pa.int8()), p) for k, p in zip(indices, parts)])
save("refused-dictionary-goes-on", {"kind": column}, stream=True, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True))
deep = pa.uint8()
for _ in range(70):  # pyarrow writes no batch of more than 64 levels, but any schema
    deep = pa.list_(deep)
pa.ipc.new_stream("refused-deep.arrow", pa.schema([("image", deep)])).close()

with open("expected.json", "w") as f:
    json.dump(expected, f, indent=1, sort_keys=True)
    f.write("\n")
