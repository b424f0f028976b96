"""The installed package, with the readers that its streams are for."""

from __future__ import annotations

import dataclasses
import gzip
import importlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

import duckdb
import idxport
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from idx_format import CODES, encode

ROOT = Path(__file__).resolve().parents[2]
FASHION = ROOT / "testdata" / "fashion-mnist"


def fashion() -> tuple[np.ndarray, np.ndarray]:
    """The images and labels of the sample, read by gzip and NumPy alone."""
    images = gzip.decompress((FASHION / "t10k-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((FASHION / "t10k-labels-idx1-ubyte.gz").read_bytes())
    return np.frombuffer(images, "u1", offset=16).reshape(-1, 28, 28), np.frombuffer(labels, "u1", offset=8)


def tables(*inputs: Path, **options: Any) -> list[idxport.Scan]:
    """A scan of each kind."""
    return [importlib.import_module(f"idxport.{kind}").Table(inputs, options) for kind in ("_duckdb", "_dataset")[duckdb.__version__ < "2" :]]


class Case(unittest.TestCase):
    """A folder of its own."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def programs(self) -> list[str]:
        """The processes of the program that this folder's files are given to."""
        return subprocess.run(["pgrep", "-f", rf"^[^ ]*idxport .*{self.folder}"], stdout=subprocess.PIPE, text=True).stdout.split()

    def large(self) -> Path:
        """A file of 64 MB, more than pipes hold."""
        (path := self.folder / "large-images-idx3-ubyte").write_bytes(encode(np.zeros((64, 1000, 1000), "u1")))
        return path


class Command(Case):
    """The program on the PATH."""

    def test_on_the_path(self) -> None:
        for command in (["idxport"], [sys.executable, "-m", "idxport"]):
            self.assertIn(idxport.__version__, subprocess.check_output([*command, "version"], text=True))
            self.assertEqual(subprocess.run([*command, "convert", "none", "-o", "x.csv"], stderr=subprocess.PIPE, cwd=self.folder).returncode, 66)

    def test_uvx(self) -> None:
        command = [os.environ["IDXPORT_UV"], "tool", "run", "--offline", "--from", os.environ["IDXPORT_WHEEL"], "idxport", "version"]
        environment = os.environ | {"UV_CACHE_DIR": str(self.folder / "cache"), "UV_TOOL_DIR": str(self.folder / "tools"), "UV_PYTHON": sys.executable}
        self.assertIn(idxport.__version__, subprocess.check_output(command, env=environment, text=True))


class Load(Case):
    """NumPy arrays."""

    def test_values_and_classes(self) -> None:
        images, labels = fashion()
        self.assertEqual((list(both := idxport.load(FASHION)), both["test"]["image"].tolist()), (["train", "test"], images.tolist()))
        both["test"]["image"][:] = 7  # they can be written to
        for inputs in ([FASHION], [FASHION / "t10k-images-idx3-ubyte.gz", FASHION / "t10k-labels-idx1-ubyte.gz"]):
            self.assertEqual([*map(np.ndarray.tolist, idxport.load(*inputs, split="test").values())], [images.tolist(), labels.tolist()])
        code = "import idxport; print(idxport.load('label=-')['label'].tolist())"
        self.assertEqual(subprocess.check_output([sys.executable, "-c", code], input=encode(labels)), f"{labels.tolist()}\n".encode())
        found, without = idxport.load(FASHION, dataset="fashion-mnist"), idxport.load(FASHION / "t10k-images-idx3-ubyte.gz")
        self.assertEqual((found.classes[:2], without.classes), (["T-shirt/top", "Trouser"], []))
        self.assertEqual(list(idxport.load(ROOT / "testdata" / "qmnist"))[:2], ["label", "hsf_series"])
        features = {name: {"names": [name], "_type": "ClassLabel"} for name in ("fine", "coarse", "label")}
        table = pa.table({name: [0] for name in features}).replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
        with pa.ipc.new_file(path := str(self.folder / "lists.arrow"), table.schema) as file:
            file.write(table)
        for columns, names in ([*features], ["label"]), (["fine"], ["fine"]), (["fine", "coarse"], []):
            self.assertEqual(idxport.load(path, columns=columns).classes, names)
        self.assertEqual(idxport.load(path, label_column="coarse", where="class=coarse").classes, ["coarse"])

    def test_types(self) -> None:
        for kind in CODES:
            for shape in ((5,), (5, 3), (5, 2, 3, 2), (0, 4), (3, 0)):
                values = np.random.default_rng(0).integers(-128 if kind != "uint8" else 0, 127, shape).astype(kind)
                (self.folder / "\udce9").write_bytes(encode(values))  # a name that is not UTF-8
                (found,) = idxport.load(self.folder / "\udce9").values()
                self.assertEqual((found.dtype, found.shape, found.tolist(), type(found)), (values.dtype, shape, values.tolist(), np.ndarray))

    def test_selections(self) -> None:
        images, labels = fashion()
        for some in slice(10, 20), slice(-5, None), range(5):
            np.testing.assert_array_equal(idxport.load(FASHION, split="test", rows=some)["image"], images[some])
        self.assertRaisesRegex(TypeError, "path of a file", idxport.load, FASHION, classes=["a"])
        self.assertEqual(idxport.load(ROOT / "testdata/foreign/grey-plain", resize=(3, 5))["image"].shape[1:], (5, 3))  # wide and high, as in PIL
        for rows in (slice(None, None, 2), slice(0, 10, -1), range(0, 10, 2), range(3, -1), range(-3, 0), [0, 1], []):
            self.assertRaisesRegex((ValueError, TypeError), "the step must be 1|from 0 on|expected slice", idxport.load, FASHION, split="test", rows=rows)
        np.testing.assert_array_equal(idxport.load(FASHION, split="test", where=["label=3-7", "label!=5"])["image"], images[np.isin(labels, [3, 4, 6, 7])])
        self.assertEqual(list(idxport.load(FASHION, split="test", columns=["label", "image"], if_changed=True)), ["label", "image"])
        np.testing.assert_array_equal(idxport.load(FASHION, split="test", columns=["image"], where="label=1")["image"], images[labels == 1])
        shuffled, again = (idxport.load(FASHION, split="test", shuffle=True, seed=3, take=np.int64(100))["label"].tolist() for _ in range(2))
        self.assertEqual((shuffled, len(shuffled)), (again, 100))
        self.assertEqual(idxport.load(FASHION, split="test", shape=(14, 56), rows="-3:")["image"].tolist(), images[-3:].reshape(3, 14, 56).tolist())

    def test_without_room_in_memory(self) -> None:
        for error in (OSError(28, "no space left on device"), idxport.IdxError("no space left on device", 74, "io")):
            with unittest.mock.patch("idxport._read.run", wraps=idxport._read.run, side_effect=[error, unittest.mock.DEFAULT]) as runs:
                np.testing.assert_array_equal(idxport.load(FASHION, split="test")["image"], fashion()[0])
            self.assertRegex(str(runs.call_args_list), f"(?s)npy=/dev/shm/.*npy={tempfile.gettempdir()}/")
        unittest.mock.patch("idxport._read.run", unittest.mock.Mock(side_effect=[TimeoutError]))(self.assertRaises)(TimeoutError, idxport.load, FASHION)

    def test_errors(self) -> None:
        self.addCleanup(signal.signal, signal.SIGCHLD, signal.signal(signal.SIGCHLD, signal.SIG_IGN))  # as servers do, which then get 0 from all processes
        with self.assertRaises(idxport.IdxError) as caught:
            idxport.load(self.folder / "none")
        self.assertEqual((caught.exception.exit, caught.exception.code, caught.exception.path), (66, "no_input", str(self.folder / "none")))
        self.assertRaisesRegex(idxport.IdxError, 'rows=":1" the rows before', idxport.load, FASHION, split="test", columns=["label"], rows="1")
        for hint, said in (("aws --profile x",) * 2, ("find . -o -name x",) * 2, ("--columns x", 'columns="x"'), ("-o x.png or", 'output="x.png" or'),
                           ("--shuffle --rows '-9:' for", 'shuffle=True rows="-9:" for'), (r"-o x='it'\''s', 'b'", """output="x=it's", 'b'""")):  # fmt: skip
            self.assertEqual(idxport._program.in_python(hint), said)
        self.assertRaisesRegex(idxport.IdxError, "flag shufle\nhint: did you mean shuffle=True?", idxport.load, FASHION, split="test", shufle=True)
        self.assertRaisesRegex(idxport.IdxError, "give a list as split for several", idxport.scan, FASHION, split="validation")
        for use in (idxport.load, idxport.scan, idxport.scan_polars, idxport.preview, idxport.convert):
            self.assertRaisesRegex(TypeError, "output|not int", use, FASHION, split="test", output=3)

    def test_missing_packages_are_named(self) -> None:
        for module, extra, use in (("numpy", "numpy", idxport.load), ("nanoarrow", "arrow", idxport.scan), ("polars", "polars", idxport.scan_polars),
                                   ("pyspark", "spark", lambda _: idxport.spark)):  # fmt: skip
            with unittest.mock.patch.dict(sys.modules, {module: None}):
                self.assertRaisesRegex(ModuleNotFoundError, rf"pip install 'idxport\[{extra}\]'", use, FASHION)
        unittest.mock.patch.dict(os.environ, IDXPORT="none")(self.assertRaisesRegex)(idxport.IdxError, "none is not.*\n.*IDXPORT", idxport.load, FASHION)
        unittest.mock.patch("polars.__version__", "1.21.0")(self.assertRaisesRegex)(ImportError, "expected 1.22", idxport.scan_polars, FASHION)


class Save(Case):
    """Arrays as files."""

    def test_types(self) -> None:
        for kind in (*CODES, ">i4", "i8", "u2", "f2", "?"):
            for shape in ((5,), (5, 4, 6), (0, 4)):
                values = np.random.default_rng(0).integers(0, 120, shape).astype(kind)
                for name in ("x-idx", "x.idx.gz", "x.parquet", "x.npy"):
                    idxport.save(self.folder / name, x=np.asfortranarray(values), overwrite=True)
                    (found,) = idxport.load(self.folder / name).values()
                    np.testing.assert_array_equal(found, values)  # and of one shape
        for taken in (pd.Series([1, np.nan]).array, [pl.Series([np.nan])] * 2, [np.float32("nan")], [np.ones((1, 1)).view(np.recarray)],
                      np.uint8([255]).view("?"), pd.Series([*fashion()[0]])):  # fmt: skip
            idxport.save(self.folder / "x.npy", x=taken, overwrite=True)
            np.testing.assert_array_equal(np.load(self.folder / "x.npy"), np.array([*taken]))  # NaN is a number
        records, tensors = np.arange(48, dtype="u1").reshape(4, 2, 6).tolist(), pa.fixed_shape_tensor(pa.uint8(), [6, 2], permutation=[1, 0])
        arrow, fixed = pa.array(records), pa.array(np.reshape(records, (4, 2, 6)).swapaxes(1, 2).reshape(4, 12).tolist(), pa.list_(pa.uint8(), 12))
        flat, none = pa.array(records[0], pa.list_(pa.uint8(), 6)), pl.Series([], dtype=pl.Array(pl.UInt8, 2))
        for lists in (flat, none, arrow, pa.chunked_array([arrow[:1], arrow[1:]]), arrow.cast(pa.large_list(pa.list_(pa.uint8(), 6))), pl.Series(records),
                      pl.Series(records, dtype=pl.Array(pl.UInt8, (2, 6))), pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)),
                      pa.chunked_array([pa.ExtensionArray.from_storage(tensors, fixed)]), pd.DataFrame(records[0], dtype="Int16")):  # fmt: skip
            idxport.save(self.folder / "x.npy", x=lists, overwrite=True)
            self.assertEqual(np.load(self.folder / "x.npy").tolist(), records[0] if len(lists) == 2 else records[: len(lists)])
        idxport.save(self.folder / "x.npy", x=pd.DataFrame({"a": pd.array([1, 2]), "b": [True, False], "c": [np.nan, 3]}), overwrite=True)
        np.testing.assert_array_equal(np.load(self.folder / "x.npy"), [[1, 1, np.nan], [2, 0, 3]])

    def test_files(self) -> None:
        images, labels = fashion()
        idxport.save(self.folder / "digits", image=images, label=labels)
        for split in ("test", "train"):  # each beside the other
            idxport.save(self.folder / "a=b", split=split, image=images.astype("f4"), label=labels.astype("i8"), overwrite=True)
        idxport.save(f"idx={self.folder}/x/", X=images, y=labels)
        for place, split in ("x/", None), ("x", None), ("y", "val"):  # a folder, a folder that exists, a file
            idxport.save(f"{self.folder}/{place}", split=split, y=labels, overwrite=True)
        self.assertEqual(" ".join(sorted(path.name for path in self.folder.glob("*/*"))), "digits-images-idx3-ubyte digits-labels-idx1-ubyte "
                         "t10k-images-idx3-float t10k-labels-idx1-int train-images-idx3-float train-labels-idx1-int x-X-idx3-ubyte x-y-idx1-ubyte")  # fmt: skip
        self.assertEqual((self.folder / "digits/digits-images-idx3-ubyte").read_bytes(), encode(images))
        idxport.save(self.folder / "digits", split="photos", image=images[::-1], label=labels, classes=(names := [f"{i} - {i * i}" for i in range(10)]))
        digits, photos = idxport.load(self.folder / "digits").values()  # have no names of splits
        self.assertEqual([each["image"][0].tolist() for each in (digits, photos)], images[[0, -1]].tolist())
        again = idxport.load(FASHION, classes=self.folder / "digits/photos-classes.txt")
        self.assertEqual((digits.classes, photos.classes, again.classes), ([], names, names))
        with unittest.mock.patch("os.getcwd", return_value=str(self.folder / "digits")):
            self.assertEqual(len(idxport.scan(FASHION, split="test", classes="photos-classes.txt")), 1000)
        path = self.folder / "emnist-letters-train.parquet"  # whose own images are transposed
        idxport.save(os.fsencode(path), image=images, label=labels, classes=dict(enumerate("\ufeffbcdefghij")))
        with unittest.mock.patch.dict(os.environ, HOME=str(self.folder)):
            self.assertEqual(((found := idxport.load(f"~/{path.name}")).classes, found["image"].tolist()), (list("\ufeffbcdefghij"), images.tolist()))
            idxport.save("idx=~/x-idx1-ubyte", label=labels)
            self.assertEqual(idxport.scan("label=~/x-idx1-ubyte").to_pandas()["label"].tolist(), labels.tolist())
        self.assertRaisesRegex(idxport.IdxError, "(?s)named like a file of EMNIST.*path=", idxport.save, self.folder / "emnist-letters/", image=images)

    def test_whole_or_absent(self) -> None:
        images, labels = fashion()
        for said, more in (("^image: .*numbers.* 999$", {"label": labels[:-1]}), (r"^label: row 0.*\n.*truth values$", {"label": labels + np.int64(2**40)}),
                           (r"e\(-1, 28, 28\)$", {"image": images.reshape(-1, 784)}), ("^column.*\n.*names with classes$", {"classes": ["a"]})):  # fmt: skip
            with self.assertRaisesRegex(idxport.IdxError, said) as caught:
                idxport.save(f"png={self.folder}/x", **{"image": images, "label": labels, **more})
            self.assertEqual((str(caught.exception).partition("\nhint: ")[2] or None, None), (caught.exception.hint, caught.exception.path))
        for path, arrays in ("x", {}), ("-", y := {"y": labels}), ("{split}.csv", y), ("x.csv", {**y, "split": ""}), ("x.csv", {**y, "classes": ["a"]}):
            self.assertRaisesRegex((TypeError, ValueError), "needs a path|expected a name|label=array", idxport.save, path, **arrays)
        columns = [pd.Series([1, None], dtype=kind) for kind in ("Int64", "Float64", "boolean", "string", "double[pyarrow]", "category", object)]
        columns += [np.ma.masked_equal([1, 2], 2), *(make([1, None]) for make in (list, pl.Series, pa.array, pd.array))]
        columns += [make({"b": columns[4], "a": [1, 2]}) for make in (pd.DataFrame, pa.table, pl.DataFrame)]
        inner, types = [[[1], [2]], [[3], [None]]], (pa.array, pl.Series, lambda each: pd.Series(pa.array(each), dtype=pd.ArrowDtype(pa.array(each).type)))
        columns += [make(each) for make in types for each in (inner, [[1], None], [[1, 2], [3]], [[[1, 2]], [[3]]])]
        columns += [pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int8(), [1]), pa.array([[1], [None]], pa.list_(pa.int8(), 1))), [labels, [0]]]
        columns += [pl.Series(inner, dtype=pl.Array(pl.Float32, (2, 1))), pd.Series([labels, np.ma.masked_equal([1, 2], 2)])]
        others = [np.ma.masked, np.array({}), np.empty(0, "O"), np.array(["a"]), pl.Series([], dtype=pl.List(pl.Int8)), [[[1], [2, 3]]]]
        for said, bad in *(("in row 1, expected", each) for each in columns), *(("an array of numbers|row 0, expected one$", each) for each in others):
            self.assertRaisesRegex((TypeError, ValueError), f"label: .*{said}", idxport.save, "x.parquet", label=bad)
        for wrong in *({"classes": each} for each in (["a\nb"], ["a "], "ab", [b"a"], {"a": 0}, {"a"})), {"split": "../a"}, {"split": "a.b"}, {"a b": labels}:
            self.assertRaisesRegex(ValueError, "one line|letters", idxport.save, self.folder / "x.parquet", **{"label": labels, **wrong})
        self.assertEqual(list(self.folder.iterdir()), [])
        with unittest.mock.patch("idxport._program._result", side_effect=[idxport.IdxError("failed", 74, "io"), None]):  # is repeated, with the same array
            idxport.save(path := self.folder / "x-idx3-ubyte", image=images, overwrite=True)
        self.assertEqual(path.read_bytes(), encode(images))
        self.assertRaisesRegex(idxport.IdxError, "overwrite=True replaces files", idxport.save, path, image=images[:2])
        (program := self.folder / "program").touch(0o755)
        self.enterContext(unittest.mock.patch.dict(os.environ, IDXPORT=str(program)))
        for end, said, code in ("true", "no report", None), ("exit 1", "exit code 1", 1), ("kill -9 $$", "by SIGKILL", None):
            program.write_text(f"#!/bin/sh\n{end}")
            with unittest.mock.patch("sys.unraisablehook") as unclosed, self.assertRaisesRegex(idxport.IdxError, said) as caught:
                idxport.save(path, image=images)
            self.assertEqual((caught.exception.exit, unclosed.mock_calls), (code, []))
        self.assertEqual(self.programs(), [])


class Scan(Case):
    """Streams."""

    def test_readers(self) -> None:
        images, labels = fashion()
        table = idxport.scan(FASHION, split="test").reader().read_all()
        np.testing.assert_array_equal(table["image"].combine_chunks().flatten().to_numpy().reshape(images.shape), images)
        for stream in tables(FASHION, split="test"):
            counts = duckdb.sql("SELECT label, count(*), sum(list_sum(image)) FROM stream GROUP BY label ORDER BY label").fetchall()
            self.assertEqual(counts, [(int(v), int((labels == v).sum()), int(images[labels == v].sum(dtype="u8"))) for v in np.unique(labels)])
            self.assertEqual(duckdb.sql("SELECT count(*) FROM stream WHERE label = 3").fetchall(), [(int((labels == 3).sum()),)])  # a second time
            for _ in range(2):
                np.testing.assert_array_equal(pl.DataFrame(stream)["image"].to_numpy().reshape(images.shape), images)
                np.testing.assert_array_equal(pd.DataFrame.from_arrow(stream)["label"], labels)
                np.testing.assert_array_equal(pa.table(stream)["label"], labels)
            one = pa.RecordBatchReader.from_stream(stream, pa.schema({"label": pa.uint8()}))
            self.assertEqual((one.schema.names, stream.scanner(["label", "label"]).to_table().schema.names, len(stream.head(3))), (["label"], ["label"] * 2, 3))
            self.assertRaises(TypeError, pa.dataset.Scanner.from_dataset, stream)  # which would have crashed
            again = pickle.loads(pickle.dumps(stream))
            self.assertEqual((again.schema, pa.table(again).num_rows, repr(again)), (stream.schema, len(labels), repr(stream)))
        self.assertEqual(self.programs(), [])

    def test_queries_read_what_they_need(self) -> None:
        for stream in tables(FASHION, split="test"):
            with unittest.mock.patch("idxport._scan.Output", wraps=idxport._scan.Output) as runs:
                for query in ("label, count(*) FROM stream GROUP BY label", "count(*) FROM stream", "max(label) FROM stream WHERE label < 5"):
                    duckdb.sql(f"SELECT {query}").fetchall()
                pl.scan_pyarrow_dataset(stream).select(stream.to_table({"label": pa.dataset.field("label")}).column_names).collect()
                self.assertEqual((len(stream), stream.count_rows(), pl.scan_pyarrow_dataset(stream).select(pl.len()).collect().item()), (1000, 1000, 1000))
            self.assertEqual({each for run in runs.call_args_list for each in run.args[0] if each.startswith("--columns")}, {"--columns=label"})
        frame = idxport.scan_polars(FASHION, split="test")
        with unittest.mock.patch("idxport._polars.Output", wraps=idxport._polars.Output) as lazy:
            self.assertEqual(frame.filter(pl.col("label") == 3).select(pl.len()).collect().item(), frame.select(pl.col("label") == 3).sum().collect().item())
            self.assertEqual(frame.slice(995, 10).collect()["label"].to_list(), fashion()[1][995:].tolist())
            self.assertEqual((len(frame.head(3).collect()), frame.select(pl.len()).collect().item()), (3, 1000))
            self.assertEqual(frame.with_row_index("i").select("i").collect().rows(), [(i,) for i in range(1000)])
            self.assertEqual(len(frame.head(100).filter(pl.col("label") == 3).collect()), int((fashion()[1][:100] == 3).sum()))
        asked = [each for run in lazy.call_args_list for each in run.args[0] if each.startswith(("--columns", "--where")) and each != "--columns=label"]
        self.assertEqual(asked, ["--where=label=3", *["--columns=label, image"] * 3])
        idxport.save(path := self.folder / "n-idx1-int", n=(values := np.arange(1 << 20, dtype="i4")))  # several batches
        self.assertEqual(idxport.scan_polars(path).head((1 << 19) + 1).collect().to_series().to_list(), values[: (1 << 19) + 1].tolist())
        idxport.save(path := self.folder / "x.npy", x=np.float32([0.1, np.nan]))
        self.assertEqual(len(idxport.scan_polars(f"x={path}").filter(pl.col("x").is_nan()).collect()), 1)

    def test_columns_that_are_made_of_others(self) -> None:
        labels, names = fashion()[1], idxport.load(FASHION, dataset="fashion-mnist", split="test").classes
        for options, column in (({"class_column": True}, "class"), ({"layout": "columns"}, "pixel400")):
            expected = fashion()[0].reshape(-1, 784)[:, 400].tolist() if column != "class" else [names[v] for v in labels]
            frame = idxport.scan_polars(FASHION, dataset="fashion-mnist", split="test", **options)
            for stream in tables(FASHION, dataset="fashion-mnist", split="test", **options):
                self.assertEqual(pa.Table.from_batches(stream.reader(), stream.schema)[column].to_pylist(), expected)
                self.assertEqual([str(v) for (v,) in duckdb.sql(f'SELECT "{column}" FROM stream').fetchall()], [str(v) for v in expected])
                self.assertEqual(frame.collect().columns, stream.schema.names)
            self.assertEqual(frame.select(column).collect()[column].to_list(), expected)
            self.assertEqual(frame.filter(pl.col("label") == 3).select(column).collect()[column].to_list(), [v for v, n in zip(expected, labels) if n == 3])
        zeros = int((fashion()[0].reshape(-1, 784)[:, 400] == 0).sum())  # a condition on an element
        self.assertEqual(frame.filter(pl.col("pixel400") == 0).select(pl.len()).collect().item(), zeros)
        self.assertEqual(duckdb.sql("SELECT count(*) FROM stream WHERE pixel400 = 0").fetchall(), [(zeros,)])

    def test_pyarrow_is_not_needed(self) -> None:
        lazy = f"n = len(idxport.scan_polars({str(FASHION)!r}, split='test').collect().rows())"
        query = f"import duckdb; s = idxport.scan({str(FASHION)!r}, split='test'); n = len(duckdb.sql('SELECT label FROM s').fetchall())"
        for code in (f"import idxport, sys; {each}; print(n, 'pyarrow' in sys.modules)" for each in (lazy, query)):
            self.assertEqual(subprocess.check_output([sys.executable, "-c", code], text=True), "1000 False\n")

    def test_conditions_keep_their_meaning(self) -> None:
        self.assertEqual(len(idxport.scan(FASHION, split="test", take=100).to_table(filter=pa.dataset.field("label") == 3)), (fashion()[1][:100] == 3).sum())
        self.assertEqual(len(idxport.scan_polars(FASHION, split="test", take=100).filter(pl.col("label") == 3).collect()), (fashion()[1][:100] == 3).sum())
        for field in ("image", 1):  # of the columns of the table
            some = idxport.scan(FASHION, split="test").to_table(columns=["label"], filter=pa.compute.list_element(pa.dataset.field(field), 400) > 9)
            self.assertEqual(some["label"].to_pylist(), fashion()[1][fashion()[0].reshape(-1, 784)[:, 400] > 9].tolist())
        self.assertEqual(max(map(len, idxport.scan(FASHION, split="test").to_batches(batch_size=100))), 100)
        with unittest.mock.patch("os.getcwd", return_value=str(ROOT / "testdata")):  # files stay the same after os.chdir
            others, frame = (use(Path(FASHION.name), split="test", where=b"label!=3") for use in (idxport.scan, idxport.scan_polars))
        for each in frame, pl.scan_pyarrow_dataset(others):
            self.assertEqual([{*each.filter(pl.col("label").is_between(*ends)).collect()["label"]} for ends in ((3, 5), (77, 78))], [{4, 5}, set()])
        self.assertEqual(duckdb.sql("SELECT count(*) FROM others WHERE label = 3").fetchall(), [(0,)])

    def test_in_a_notebook(self) -> None:
        stream = idxport.scan(FASHION, split="test", columns="label", workers=1, verify=False)
        self.assertTrue((stream._repr_html_() or "").startswith('<img alt="images" src="data:image/png;base64,iVBOR'))
        self.assertIsNone(idxport.scan(FASHION / "t10k-labels-idx1-ubyte.gz")._repr_html_())
        found = idxport.inspect(FASHION)
        self.assertEqual((found._repr_html_() or "").count("<img"), 2)
        self.assertEqual((picture := idxport.preview(FASHION, split="test", images=2))[:4], b"\x89PNG")
        for each in (stream, found, idxport.convert(FASHION, output=self.folder / "out", to=["csv", "npy"]), idxport.load(FASHION), picture):
            self.assertLessEqual(max(map(len, repr(each).splitlines())), 80, each)

    def test_columns(self) -> None:
        self.assertEqual([idxport.scan(FASHION, split="test", columns=c).schema.names for c in ("label", ["image", "label"])], [["label"], ["image", "label"]])
        self.assertRaisesRegex(ValueError, "only once", idxport.scan, "label=-")
        self.assertRaisesRegex(idxport.IdxError, "found one slash", idxport.scan, Path("s3://b/k"))
        for whole in {"transpose": True}, {"expect": "image,label"}, {"layout": "huggingface", "label_column": "label", "columns": "image,label"}:
            self.assertEqual(len(idxport.scan(FASHION, split="test", **whole)), 1000)
        self.assertRaisesRegex(ValueError, "columns=.* is empty", idxport.scan, FASHION, split="test", columns=[])

    def test_damage_is_raised_in_the_consumer(self) -> None:
        data = gzip.compress(encode(np.random.default_rng(0).integers(0, 255, (100_000, 100)).astype("u1")))
        (path := self.folder / "cut-idx2-ubyte.gz").write_bytes(data[: len(data) // 2])
        with self.assertRaisesRegex(idxport.IdxError, "the data ends too early") as caught:
            idxport.scan(path).reader().read_all()
        self.assertEqual((caught.exception.code, caught.exception.path, "download" in str(caught.exception.hint)), ("bad_data", str(path), True))
        for read in idxport.scan_polars(path).collect, idxport.scan(path).to_polars:
            self.assertRaisesRegex(idxport.IdxError, "the data ends too early", read)
        idxport.save(self.folder / "n-idx1-ubyte", n=np.zeros(100_000, "u1"))
        for stream in tables(f"data={path}", f"n={self.folder}/n-idx1-ubyte", salvage=True):  # as many rows for any columns
            with self.assertWarns(idxport.IdxWarning):
                self.assertEqual(duckdb.sql("SELECT count(n) FROM stream").fetchall(), [(pa.table(stream).num_rows,)])
        idxport.save(self.folder / "n-idx1-ubyte", n=np.full(100_000, 300), overwrite=True)  # of another type
        self.assertRaisesRegex(idxport.IdxError, "scan described: found n: int32, expected n: uint8;", stream.reader, "n")
        (program := self.folder / "program").touch(0o755)
        program.write_text(f'#!/bin/sh\n{idxport.find_program()} "$@" 2>/dev/null | head -c $SIZE; kill -9 $$')
        for size in "3", "20", "20000":  # in a head, in metadata and in a body
            with unittest.mock.patch.dict(os.environ, IDXPORT=str(program), SIZE=size):
                self.assertRaisesRegex(idxport.IdxError, "SIGKILL", lambda: idxport.scan_polars(FASHION, split="test").collect())
        for _stream in tables(path):  # DuckDB finds it by its name
            with self.assertRaisesRegex(duckdb.Error, "(?s)the data ends too early.*download"):
                duckdb.sql("SELECT count(*) FROM _stream").fetchall()
        self.assertEqual(self.programs(), [])

    def test_an_interrupt_is_no_end_and_waits_for_the_process(self) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs with the signal ignored
        output = (stream := importlib.import_module("idxport._stream")).Output([idxport.find_program(), "version"])
        with unittest.mock.patch.object(output, "stdout", unittest.mock.Mock(close=output.stdout.close, **{"readinto.side_effect": KeyboardInterrupt})):
            self.assertRaisesRegex(idxport.IdxError, "interrupted", stream._Readable(output).readinto, bytearray(8))
            self.assertIsNotNone(output._process.returncode)
            self.assertRaises(KeyboardInterrupt, output.c_stream)
        made = self.enterContext(unittest.mock.patch("os.mkdir", wraps=os.mkdir))
        with unittest.mock.patch("subprocess.Popen", lambda *a, p=subprocess.Popen, **b: (p(*a, **b), signal.raise_signal(signal.SIGINT))[0]):
            self.assertRaises(KeyboardInterrupt, idxport.load, self.large())
        self.assertEqual((self.programs(), os.path.exists(made.call_args.args[0])), ([], False))

    def test_the_process_ends_with_the_reader(self) -> None:
        for read in (0, 1):
            stream = idxport.scan(self.large()).reader()
            for _ in range(read):
                stream.read_next_batch()
            self.assertEqual(len(self.programs()), 1)
            stream = (stream.close() or stream) if read else None  # closed, or deleted
            self.assertEqual(self.programs(), [])
        code = f"import pyarrow.dataset, duckdb, idxport; s = idxport.scan({str(self.large())!r}); s.head(1); duckdb.sql('FROM s LIMIT 1').fetchall()"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)  # a Python that ends waits for nobody

    def test_a_killed_interpreter_leaves_no_process(self) -> None:
        code = f"import idxport, time; s = idxport.scan({str(self.large())!r}).reader(); s.read_next_batch(); print('read', flush=True); time.sleep(60)"
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "read\n")
            self.assertEqual(len([p for p in self.programs() if p != str(child.pid)]), 1)
            child.send_signal(signal.SIGKILL)
        for _ in range(50):
            time.sleep(0.1 if self.programs() else 0)
        self.assertEqual(self.programs(), [])


class Reports(Case):
    """convert, verify and inspect."""

    def test_convert_and_verify(self) -> None:
        report = idxport.convert(FASHION, output=(out := self.folder / "out.parquet"), split="test")
        self.assertEqual([(each.path, each.rows, each.bytes) for each in report.outputs], [(str(out), 1000, out.stat().st_size)])
        self.assertEqual([(each.column, each.dtype, each.shape) for each in report.inputs], [("image", "uint8", [28, 28]), ("label", "uint8", [])])
        self.assertEqual(idxport.verify(out, FASHION, split="test").verified[0].columns, ["image", "label"])
        self.assertRaisesRegex(ValueError, "standard output", idxport.convert, FASHION, output="csv=-", split="test")
        with self.assertRaises(idxport.IdxError) as caught:
            idxport.verify(out, FASHION, split="test", transpose=True)
        self.assertEqual(caught.exception.code, "differs")

    def test_inspect(self) -> None:
        image, label = idxport.inspect(FASHION, split="test").files
        self.assertEqual((image.shape, image.whole, image.columns[0].max, sum(n.count for n in label.columns[0].labels)), ([1000, 28, 28], True, 255, 1000))
        (path := self.folder / "cut-idx2-ubyte").write_bytes(encode(np.zeros((10, 10), "u1"))[:-1])
        (file,) = idxport.inspect(path).files
        self.assertEqual((file.whole, "truncated" in str(file.problem), "--salvage" in str(file.problem)), (False, True, False))

    def test_warnings(self) -> None:
        for use in idxport.load, lambda *a, **b: pl.DataFrame(idxport.scan(*a, **b)), lambda *a, **b: idxport.scan(*a, **b).reader().read_pandas():
            with self.assertWarnsRegex(idxport.IdxWarning, "none of its 1,000 rows") as warned:
                found = eval('use(FASHION, split="test", rows="0:0")', {"use": use, "FASHION": FASHION})  # a module without a name
            self.assertEqual((found["label"].shape, warned.filename), ((0,), "<string>" if use is idxport.load else __file__))

    def test_types_are_those_of_the_schema(self) -> None:
        schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())["$defs"]
        for name in ("input", "output", "part", "verified", "file", "column", "label"):
            self.assertEqual({each.name for each in dataclasses.fields(getattr(idxport, name.title()))}, set(schema[name]["properties"]), name)
