"""A real S3 server on this machine, for the tests of object storage: test/object/serve, which needs Go."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from urllib.parse import quote

from support import HERE


class Storage:
    """The server, until close(). Its key goes to the environment of this process, and of the JVM and the workers that it starts later."""

    def __init__(self) -> None:
        command = ["go", "run", "./test/object/serve"]
        self._process = subprocess.Popen(command, cwd=HERE.parent.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        about = json.loads(self._line())
        self._root = f"s3://{about['bucket']}/"
        # What no message may show: the key, and the values of what stands in URLs behind the question mark.
        key = [about["environment"][f"AWS_{name}"] for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")]
        self.hidden = (*key, "endpoint=", about["endpoint"], about["endpoint"].partition("://")[2])
        self._query = f"?use_path_style=true&endpoint={quote(about['endpoint'], safe='')}"
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            del os.environ[name]
        os.environ |= about["environment"]

    def url(self, key: str, query: bool = True) -> str:
        """The URL of an object or a prefix, with or without the parameters that lead to the server."""
        return self._root + key + self._query * query

    def put(self, key: str, path: Path | str) -> None:
        """Store a file as an object."""
        self._do(f"put {key} {path}")

    def delete(self, key: str) -> None:
        """Remove an object."""
        self._do(f"delete {key}")

    def close(self) -> None:
        """End the server."""
        self._process.communicate()
        if self._process.returncode != 0:
            raise AssertionError(f"the server ended with {self._process.returncode}")

    def _do(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._line()
        if answer != "ok":
            raise AssertionError(f"{line}: {answer}")

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the server says nothing; exit code {self._process.wait()}")
        return line.rstrip("\n")
