"""Interfaces for other programs: the schema of --json, exit codes, and the scripts that read them."""

from __future__ import annotations

import json
import re
import shutil

from jsonschema import Draft202012Validator

from checks import NotRun, demand
from stage import DOCUMENT, ROOT, Stage


def schema(stage: Stage) -> None:
    """docs/report.schema.json is a schema, and accepts a report. (cmd/idxport tests the reports of all commands and
    exit codes with a validator of its own.)"""
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    for arguments in (["convert", stage.inputs, "-o", stage.out], ["inspect", stage.inputs]):
        found = json.loads(stage.idxport(*arguments, "--json").stdout)
        for error in Draft202012Validator(schema).iter_errors(found):
            demand(False, f"{arguments}: {error.json_path}: {error.message}")
        demand(not Draft202012Validator(schema).is_valid(found | {"seconds": -1}), "the schema accepts negative seconds")


def retry(stage: Stage) -> None:
    """The script tries again only after 74 and 75, stops when a run succeeds, and returns the last exit code. With
    the program itself it says nothing when it succeeds."""
    script = stage.blocks("sh")[0]
    for _ in range(2):
        done = stage.run(["sh", "-c", script])
        stage.succeed(done)
        demand(not done.stdout + done.stderr, f"the output is {done.stdout}{done.stderr}")
    stage.damage()
    stage.succeed(stage.run(["sh", "-c", script]), 65)
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


def jq(stage: Stage) -> None:
    """The output of the example with jq after a success and a failure."""
    if shutil.which("jq") is None:
        raise NotRun("no jq")
    script = stage.blocks("sh")[1]
    for status in ("ok", "unchanged"):
        stage.succeed(done := stage.run(["sh", "-c", script]))
        found = json.loads(done.stdout)
        demand(found["status"] == status and len(found["outputs"]) == 2 and found["error"] is None, f"found {found}")
    stage.damage()
    found = json.loads(stage.run(["sh", "-c", script]).stdout)
    demand(found["status"] == "error" and found["error"] == "bad_data", f"found {found}")


def codes(stage: Stage) -> None:
    """The tables of exit codes of the document and of docs/cli.md have the same codes, and the schema the same names.
    """

    def table(text: str) -> set[int]:
        rows = re.findall(r"(?m)^\| ([\d, ]+) \|", text)
        return {int(code) for row in rows for code in row.split(",")}

    document = DOCUMENT.read_text()
    page = table((ROOT / "docs" / "cli.md").read_text().partition("| exit code |")[2].partition("\n\n")[0])
    demand(table(document) == page and len(page) > 10, f"the document has {sorted(table(document))}, docs/cli.md {sorted(page)}")
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text())
    names = {(choice["properties"]["exit"].get("const"), choice["properties"]["code"]["const"]) for choice in schema["$defs"]["error"]["anyOf"]}
    documented = {(int(code), name) for code, name in re.findall(r"(?m)^\| (\d+) \| `(\w+)`", document)}
    demand({pair for pair in documented if pair[0] != 141} == {pair for pair in names if pair[0]}, f"the document has {documented}, the schema {names}")


CHECKS = [
    ("report.schema.json, by jsonschema", schema),
    ("retry script, the program and all exit codes", retry),
    ("jq", jq),
    ("exit codes in the documents", codes),
]
