"""What is measured: jobs, and who does each."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from measure import Contender, Job

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Inputs:
    """The files that jobs read."""

    mnist: list[str]  # images and labels, raw
    fashion: list[str]  # likewise, .gz
    floats: list[str]  # one file of float32, made for the run
    photos: list[str]  # a folder of JPEG files, made for the run


def script(tool: str, job: str, inputs: list[str]) -> list[str]:
    """The command of a job of scripts/write.py."""
    return [sys.executable, str(HERE / "scripts/write.py"), tool, job, "{out}", *inputs]


def conversion(binary: Path, name: str, kind: str, inputs: list[str], flags: list[str], peers: list[tuple[str, str, str]], aim: float = 1) -> Job:
    """A job whose first contender is the binary; peers are (name, tool, the tool's job), with a note after a semicolon in the name."""
    output = {"shuffled": "parquet={out}", "split": "png={out}/{split}"}.get(kind, f"{kind}={{out}}")
    ours = Contender("idxport", [str(binary), "convert", *inputs, "-o", output, "--quiet", *flags])
    others = []
    for label, tool, job in peers:
        shown, _, note = label.partition("; ")
        others.append(Contender(shown, script(tool, job, inputs), note))
    return Job(name, kind, [ours, *others], inputs, aim)


def conversions(binary: Path, inputs: Inputs) -> list[Job]:
    """Every job that writes."""
    arrow = [("pyarrow", "pyarrow", "arrow"), ("polars", "polars", "arrow")]
    tools = {"pyarrow": "pyarrow", "polars": "polars", "DuckDB": "duckdb", "pandas": "pandas"}
    parquet = [(name, tool, "parquet") for name, tool in tools.items()]
    parquet.insert(1, ("pyarrow, split bytes", "pyarrow", "parquet-split"))
    images = [("datasets; PNG images inside", "datasets", "parquet-images")]
    uncompressed = [(name, tool, job.replace("parquet", "parquet-none")) for name, tool, job in parquet]
    csv = [*((name, tool, "csv") for name, tool in tools.items()), ("numpy.savetxt", "numpy", "savetxt")]
    join = [("numpy and str.join", "numpy", "join")]
    png = [
        ("Pillow", "images", "pillow"),
        ("Pillow, processes", "images", "pillow-pool"),
        ("OpenCV", "images", "opencv"),
        ("OpenCV, threads", "images", "opencv-threads"),
    ]
    shuffled = [("polars", "polars", "shuffled"), ("datasets", "datasets", "shuffled")]
    split = [("scikit-learn and Pillow, processes", "split", "sklearn"), ("Pillow, processes, and split-folders", "split", "split-folders")]
    binaries = [("pyarrow", "pyarrow", "parquet-binary")]
    mnist, fashion, floats = inputs.mnist, inputs.fashion, inputs.floats
    headless = ["--layout", "pjreddie"]
    matrix = ["--layout", "matrix"]
    return [
        conversion(binary, "MNIST → Arrow", "arrow", mnist, [], arrow),
        conversion(binary, "MNIST → Parquet list, zstd", "parquet", mnist, [], parquet + images, 3),
        conversion(binary, "MNIST → Parquet list, uncompressed", "parquet", mnist, ["--compression", "none"], uncompressed, 3),
        conversion(binary, "MNIST → Parquet fixed-binary, zstd", "parquet", mnist, ["--layout", "fixed-binary"], binaries),
        conversion(binary, "MNIST → CSV (pjreddie)", "csv", mnist, headless, csv + join, 4),
        conversion(binary, "MNIST → PNG folder", "png", mnist, [], png, 5),
        conversion(binary, "Fashion .gz → Arrow", "arrow", fashion, [], arrow, 2.5),
        conversion(binary, "Fashion .gz → Parquet list, zstd", "parquet", fashion, [], parquet),
        conversion(binary, "Fashion .gz → PNG folder", "png", fashion, [], png[2:], 5),
        conversion(binary, "MNIST → Parquet list, zstd, shuffled", "shuffled", mnist, ["--shuffle"], shuffled, 4),
        conversion(binary, "MNIST → PNG folders, a tenth of each class held out", "split", mnist, ["--holdout", "val=10%", "--stratify"], split, 4),
        conversion(binary, "float32 → CSV", "csv", floats, matrix, csv, 3),
        conversion(binary, "float32 → Parquet list, zstd", "parquet", floats, [], parquet[:4]),
        conversion(binary, "JPEG folder → IDX", "idx", inputs.photos, ["--columns", "image"], [("Pillow and NumPy", "numpy", "idx")], 3),
    ]


def readings(files: dict[str, Path]) -> list[Job]:
    """Every job that reads. files are Parquet files of MNIST: idxport's under "idxport", a tool's own under its name.

    Each tool reads pyarrow's file too, as the one that is met most.
    """
    reader = str(HERE / "scripts/reading.py")
    jobs = []
    for tool in ("pyarrow", "polars", "duckdb"):
        for what, title in (("all", "all values"), ("count", "label, count(*), 20 times")):
            command = [sys.executable, reader, tool, what]
            contenders = [Contender("idxport's file", [*command, str(files["idxport"])]), Contender("its own file", [*command, str(files[tool])])]
            if tool != "pyarrow":
                contenders.append(Contender("pyarrow's file", [*command, str(files["pyarrow"])]))
            jobs.append(Job(f"{tool} reads {title}", "none", contenders))
    return jobs
