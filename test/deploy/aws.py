"""deploy/aws-batch: submit.sh, run with AWS's command line against a stand-in for AWS Batch on this machine."""

from __future__ import annotations

import fnmatch
import http.server
import json
import sys
import threading
from pathlib import Path

from checks import demand
from stage import DEPLOY, PARTS, Stage, part_count, retried

FOLDER = DEPLOY / "aws-batch"
DEFINITION = json.loads((FOLDER / "job-definition.json").read_text())


class Batch(http.server.BaseHTTPRequestHandler):
    """Records the calls. The command line has validated them against AWS's description of the API."""

    calls: list[tuple[str, dict]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.calls.append((self.path, body))
        name = f"{body.get('jobName', 'definition')}-{len(self.calls)}"
        answer = {"/v1/registerjobdefinition": {"jobDefinitionName": "idxport", "jobDefinitionArn": name, "revision": 1}}.get(self.path, {"jobName": name, "jobId": name})
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Discard the log."""


def submit(stage: Stage, parts: int) -> list[tuple[str, dict]]:
    """Run submit.sh; returns the calls that it made."""
    handler = type("Handler", (Batch,), {"calls": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        stage.must(
            FOLDER / "submit.sh", "queue", stage.plan, str(parts), PATH=f"{Path(sys.executable).parent}:{stage.environ['PATH']}", AWS_ENDPOINT_URL=f"http://127.0.0.1:{server.server_port}",
            AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="eu-central-1", AWS_CONFIG_FILE="/dev/null", AWS_MAX_ATTEMPTS="1",
        )  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()
    return handler.calls


def run_job(stage: Stage, definition: dict, job: dict, **environ: str) -> None:
    """Run a job's command as Batch does: overridden, with its parameters filled in."""
    parameters = definition["parameters"] | job.get("parameters", {})
    command = job.get("containerOverrides", {}).get("command", definition["containerProperties"]["command"])
    stage.must("idxport", *(parameters[word.removeprefix("Ref::")] if word.startswith("Ref::") else word for word in command), **environ)


def submitted(stage: Stage) -> None:
    """An array of all parts and a commit that depends on it make the table."""
    (first, definition), (_, array), (_, commit) = submit(stage, part_count(stage))
    demand(first == "/v1/registerjobdefinition" and definition == DEFINITION, f"{first}: {definition}")
    demand(array["arrayProperties"] == {"size": PARTS} and "dependsOn" not in array, f"the array is {array}")
    demand([entry["jobId"] for entry in commit["dependsOn"]] == ["idxport-parts-2"] and "arrayProperties" not in commit, f"the commit is {commit}")
    for index in range(PARTS):
        run_job(stage, definition, array, AWS_BATCH_JOB_ARRAY_INDEX=str(index))
    stage.absent()
    run_job(stage, definition, commit)
    stage.committed()


def one_part(stage: Stage) -> None:
    """AWS has no arrays of one: a plan of one part is a job."""
    stage.must("idxport", "plan", stage.inputs, "-o", f"{stage.folder / 'out'}/", "--dataset", "fashion-mnist", "--plan", stage.plan, "--overwrite")
    (_, definition), (_, part), (_, commit) = submit(stage, part_count(stage))
    demand("arrayProperties" not in part, f"the part is {part}")
    run_job(stage, definition, part)
    run_job(stage, definition, commit)
    demand(len(list(stage.target.glob("part-*"))) == 1, "not one part")


def mistaken(stage: Stage) -> None:
    """The command line refuses unknown fields: the check above finds mistakes."""
    path = stage.folder / "job-definition.json"
    path.write_text(json.dumps(DEFINITION | {"retryStrategies": {}}))
    aws = Path(sys.executable).parent / "aws"
    done = stage.run(aws, "batch", "register-job-definition", "--cli-input-json", f"file://{path}", AWS_ENDPOINT_URL="http://127.0.0.1:9", AWS_DEFAULT_REGION="eu-central-1")
    demand(done.returncode and "retryStrategies" in done.stdout, f"exit code {done.returncode}: {done.stdout}")


def retries(_: Stage) -> None:
    """Each exit code is retried if docs/unattended.md says so. In AWS the first matching condition counts, of at most
    five; a job that matches none is retried."""
    conditions = DEFINITION["retryStrategy"]["evaluateOnExit"]
    demand(len(conditions) <= 5 and 1 <= DEFINITION["retryStrategy"]["attempts"] <= 10, "AWS takes 5 conditions and 10 attempts")
    for code, again in [*retried().items(), (137, True)]:
        action = next((entry["action"] for entry in conditions if fnmatch.fnmatchcase(str(code), entry["onExitCode"])), "RETRY")
        demand((action == "RETRY") == again, f"exit code {code}: {action}")


CHECKS = [
    ("AWS Batch: submit.sh, by AWS's command line, and the jobs' commands", submitted),
    ("AWS Batch: a plan of one part", one_part),
    ("AWS Batch: mistakes are found", mistaken),
    ("AWS Batch: exit codes", retries),
]
