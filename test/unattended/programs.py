"""What other programs rely on: the object of --json, the lines of --log-format json, exit codes and who tries again."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import signal
import subprocess

from jsonschema import Draft202012Validator

from checks import NotRun, demand
from stage import DOCUMENT, ROOT, Stage


def report(stage: Stage) -> None:
    """Objects of all commands and of many exit codes follow docs/report.schema.json; objects that were changed do not."""
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    hostile, out, weekly = ROOT / "testdata" / "hostile", stage.out, stage.data / "weekly"
    runs: list[tuple[int, str, list[object]]] = [
        (0, "ok", ["convert", stage.inputs, "-o", out, "--if-changed", "--checksum"]),
        (0, "unchanged", ["convert", stage.inputs, "-o", out, "--if-changed", "--checksum"]),
        (0, "ok", ["convert", stage.inputs, "-o", weekly / "all", "--to", "parquet,arrow,csv,png,tar,npy,idx", "--rows", "0:10", "--checksum"]),
        (0, "ok", ["convert", stage.inputs, "-o", weekly / "parts", "--rows-per-file", "300", "--verify"]),
        (0, "ok", ["convert", stage.inputs, "-o", weekly / "hub", "--layout", "huggingface", "--rows", "0:10", "--dataset", "fashion-mnist"]),
        (0, "ok", ["convert", hostile / "truncated.idx", "-o", weekly / "x.csv", "--salvage"]),
        (0, "ok", ["verify", out / "train.parquet", stage.inputs]),
        (0, "ok", ["inspect", stage.inputs]),
        (0, "ok", ["preview", stage.inputs, "-o", weekly / "{split}.png"]),
        (1, "error", ["verify", out / "train.parquet", stage.inputs, "--split", "train", "--invert"]),
        (64, "error", ["convert"]),
        (64, "error", ["convert", "--frobnicate"]),
        (64, "error", ["frobnicate"]),
        (65, "error", ["convert", hostile / "truncated.idx", "-o", weekly / "y.csv"]),
        (65, "error", ["inspect", hostile / "html-page"]),
        (66, "error", ["convert", stage.data / "none", "-o", weekly / "y.csv"]),
        (73, "error", ["convert", stage.inputs, "-o", out]),
        (74, "error", ["convert", stage.inputs, "--split", "test", "-o", "csv=/dev/full"]),
        (77, "error", ["convert", stage.inputs, "--split", "test", "-o", "/sys/x.csv"]),
    ]
    for code, status, arguments in runs:
        done = stage.idxport(*arguments, "--json")
        demand(done.returncode == code and done.stdout.count("\n") == 1, f"{arguments}: {done}")
        found = json.loads(done.stdout)
        for error in validator.iter_errors(found):
            demand(False, f"{arguments}: {error.json_path}: {error.message}")
        demand(found["status"] == status, f"{arguments}: status {found['status']}, expected {status}")
        for change in ({"colour": "red"}, {"status": "fine"}, {"seconds": -1}, {"error": {"message": "x", "exit": 65, "code": "usage"}}):
            changed = copy.deepcopy(found) | change
            demand(not validator.is_valid(changed), f"the schema takes {changed}")


def log(stage: Stage) -> None:
    """With --log-format json every line is an object; --quiet says nothing, and nothing is drawn without a terminal."""
    convert = ["convert", stage.inputs, "--overwrite", "-o", stage.out]
    levels = set()
    for more, code in (([], 0), (["--progress", "always"], 0), (["--split", "none"], 64), (["-o", "/sys/x.csv"], 64), (["--progress", "x"], 64)):
        done = stage.idxport(*convert, "--log-format", "json", *more)
        stage.succeed(done, code)
        for line in done.stderr.splitlines():
            entry = json.loads(line)
            demand(set(entry) - {"hint"} == {"time", "level", "message"} and all(entry.values()), f"found {line}")
            demand(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry["time"]), f"found {line}")
            levels.add(entry["level"])
    demand({"wrote", "note", "progress", "error"} <= levels, f"found only {levels}")
    done = stage.idxport(*convert, "--quiet")
    demand(done.returncode == 0 and not done.stdout + done.stderr, f"--quiet: {done}")
    done = stage.idxport(*convert)
    demand(done.returncode == 0 and not re.search(r"[\r\x1b%]", done.stdout + done.stderr), f"something is drawn: {done}")


def retry(stage: Stage) -> None:
    """The script tries again for 74 and 75 only, hands on the code, and stops when a run succeeds."""
    script = stage.blocks("sh")[0]
    calls = stage.home / "calls"
    for codes, expected in (([0], 0), ([75, 74, 0], 0), ([74, 65], 65), ([143], 143), ([64], 64), ([74, 75, 74, 75], 75)):
        queue = stage.home / "codes"
        queue.write_text("".join(f"{code}\n" for code in codes))
        calls.write_text("")
        stub = stage.bin / "idxport"
        stub.unlink()
        stub.write_text(f'#!/bin/sh\necho "$@" >>{calls}\ncode=$(head -n 1 {queue})\nsed -i 1d {queue}\nexit "$code"\n')
        stub.chmod(0o755)
        done = stage.run(["sh", "-c", script], env={"PATH": stage.path, "PAUSES": "0 0 0"})
        stage.succeed(done, expected)
        demand(len(calls.read_text().splitlines()) == len(codes), f"{codes}: called {calls.read_text()}")


def retry_for_real(stage: Stage) -> None:
    """The script with the program itself: a success, nothing to do, damage."""
    script = stage.blocks("sh")[0]
    for code in (0, 0):
        done = stage.run(["sh", "-c", script])
        stage.succeed(done, code)
        demand(not done.stdout + done.stderr, f"it says {done.stdout}{done.stderr}")
    stage.damage()
    stage.succeed(stage.run(["sh", "-c", script]), 65)


def jq(stage: Stage) -> None:
    """The example with jq: what it prints after a success and a failure."""
    if shutil.which("jq") is None:
        raise NotRun("no jq")
    script = stage.blocks("sh")[1]
    done = stage.run(["sh", "-c", script])
    stage.succeed(done)
    found = json.loads(done.stdout)
    demand(found["status"] == "ok" and len(found["outputs"]) == 2 and found["error"] is None, f"found {found}")
    stage.damage()
    found = json.loads(stage.run(["sh", "-c", script]).stdout)
    demand(found["status"] == "error" and found["error"] == "bad_data", f"found {found}")


def codes(stage: Stage) -> None:
    """The tables of exit codes of the document and of docs/cli.md have the same codes, and the schema the same names."""

    def table(text: str) -> set[int]:
        rows = re.findall(r"(?m)^\| ([\d, ]+) \|", text)
        return {int(code) for row in rows for code in row.split(",")}

    document = DOCUMENT.read_text()
    page = table((ROOT / "docs" / "cli.md").read_text().partition("| exit code |")[2].partition("\n\n")[0])
    demand(table(document) == page and len(page) > 10, f"the document has {sorted(table(document))}, docs/cli.md {sorted(page)}")
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    names = {(choice["properties"]["exit"].get("const"), choice["properties"]["code"]["const"]) for choice in schema["$defs"]["error"]["anyOf"]}
    told = {(int(code), name) for code, name in re.findall(r"(?m)^\| (\d+) \| `(\w+)`", document)}
    demand({pair for pair in told if pair[0] != 141} == {pair for pair in names if pair[0]}, f"the document has {told}, the schema {names}")


def interrupted(stage: Stage) -> None:
    """SIGTERM leaves nothing, SIGKILL what the next run removes."""
    for name, code in (("TERM", 143), ("KILL", -9)):
        command = [str(stage.bin / "idxport"), "convert", "-", "-o", str(stage.data / "x.parquet"), "--quiet", "--overwrite"]
        images = (stage.inputs / "train-images-idx3-ubyte").read_bytes()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdin.write(images[:-1])
            process.stdin.flush()
            while not stage.partials():
                demand(process.poll() is None, "it ended by itself")
                os.sched_yield()
            process.send_signal(signal.Signals[f"SIG{name}"])
            process.wait(timeout=20)
            process.stdin = None
        demand(process.returncode == code and not (stage.data / "x.parquet").exists(), f"SIG{name}: exit code {process.returncode}")
        demand(bool(stage.partials()) == (name == "KILL"), f"SIG{name} left {stage.partials()}")
    stage.succeed(stage.idxport("convert", stage.inputs / "train-images-idx3-ubyte", "-o", stage.data / "x.parquet"))
    demand(not stage.partials(), f"the next run left {stage.partials()}")


CHECKS = [
    ("report.schema.json, by jsonschema", report),
    ("log lines, quiet, no progress", log),
    ("retry script, all exit codes", retry),
    ("retry script, the program itself", retry_for_real),
    ("jq", jq),
    ("exit codes in the documents", codes),
    ("SIGTERM and SIGKILL", interrupted),
]
