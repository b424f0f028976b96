"""The program: finding it, running it, and its errors."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import IO, Any, Optional

import pyarrow as pa

# The end of standard error that is kept, in bytes: the report is one line of it, a Go trace may be long.
_KEPT = 64 * 1024

# A pipe that holds a whole batch lets the program read the next one at the same time. On Linux every user may ask for
# 1 MiB (pipe(7)).
_PIPE = 1 << 20

# The bytes of a broken stream that are read to get to the error message of the program.
_DRAINED = 64 << 20

# Starts the program so that the kernel ends it with the worker (prctl(2), PR_SET_PDEATHSIG): Spark kills the workers
# of cancelled tasks, and a program that has not reached its first row would not notice the closed pipe. A preexec_fn
# in this process would not be safe with Arrow's threads. Python ignores SIGPIPE and SIGXFSZ; the program gets the
# defaults.
_LAUNCH = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() != int(sys.argv[1]):
    sys.exit(143)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
os.execv(sys.argv[2], sys.argv[2:])
"""


class IdxError(RuntimeError):
    """An error of the program or of the data source.

    ``exit`` and ``code`` are the program's exit code and its name, as in docs/cli.md: 65 ``bad_data``, 66
    ``no_input``, … They are None if the error is not the program's.
    """

    def __init__(self, message: str, exit: Optional[int] = None, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.exit = exit
        self.code = code


def find_binary(option: Optional[str] = None) -> str:
    """The program's path: the option ``binary``, the environment variable IDXPORT, the one in this package, or the
    one on PATH, in this order.

    Called on the driver and in every task, as executors may have it in another place. Raises IdxError if there is none.
    """
    for source, named in (("the option binary", option), ("the environment variable IDXPORT", os.environ.get("IDXPORT"))):
        if named:
            found = shutil.which(named)
            if found is None:
                raise IdxError(f"{source} says {named}, which is no program on this machine")
            return os.path.abspath(found)
    shipped = Path(__file__).parent / "bin" / ("idxport.exe" if os.name == "nt" else "idxport")
    if os.access(shipped, os.X_OK):
        return str(shipped)
    found = shutil.which("idxport")
    if found is None:
        raise IdxError(
            "the program idxport is not on this machine: install a wheel of idxport-spark for this platform, put idxport on PATH, "
            "or name it by the option binary or the environment variable IDXPORT"
        )
    return os.path.abspath(found)


class Program:
    """One run of the program. As a context manager it waits for the end of the process."""

    def __init__(self, binary: str, arguments: Sequence[str]) -> None:
        command = [binary, *arguments]
        if sys.platform == "linux" and sys.executable:
            command = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), *command]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=_PIPE)
        assert self._process.stdout is not None
        self.stdout: IO[bytes] = self._process.stdout
        self._said = b""
        # Standard error is read by a thread: a long message must not block the program.
        self._drain = threading.Thread(target=self._listen, daemon=True)
        self._drain.start()
        _widen(self.stdout)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        # Closed before waiting: a program that ignores the signal gets EPIPE.
        with contextlib.suppress(OSError):
            self.stdout.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:  # for example a read that blocks in the kernel
            self._process.kill()
            self._process.wait()
        self._drain.join()
        assert self._process.stderr is not None
        self._process.stderr.close()

    def drain(self) -> bool:
        """Read the rest of the output; report whether it ended within the limit."""
        return any(not self.stdout.read(_PIPE) for _ in range(_DRAINED // _PIPE))

    def finish(self) -> dict[str, Any]:
        """Wait for the end; returns the report of --json. Raises IdxError if the exit code is not 0."""
        code = self._process.wait()
        self._drain.join()
        report = _report(self._said)
        if code != 0:
            raise _failure(code, report, self._said)
        return report

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said = (self._said + line)[-_KEPT:]


def run(binary: str, *arguments: str) -> tuple[bytes, dict[str, Any]]:
    """The whole output of a short run, and its report."""
    with Program(binary, arguments) as program:
        data = program.stdout.read()
        return data, program.finish()


def stream(binary: str, *arguments: str, check: Callable[[dict[str, Any]], None]) -> Generator[pa.RecordBatch, None, None]:
    """The record batches of a run that writes an Arrow stream; after the last, check is called with the report.

    Closing the generator ends the program.
    """
    with Program(binary, arguments) as program:
        try:
            yield from pa.ipc.open_stream(program.stdout)
        except (pa.ArrowInvalid, OSError):
            if program.drain():  # else it would wait for its reader
                program.finish()  # raises the program's error
            raise
        check(program.finish())


def _report(said: bytes) -> dict[str, Any]:
    """The object of --json, which is one line. After a failure, lines of text follow it."""
    for line in reversed(said.splitlines()):
        if line.startswith(b'{"schema_version"'):
            with contextlib.suppress(ValueError):
                report: dict[str, Any] = json.loads(line)
                return report
    return {}


def _failure(code: int, report: dict[str, Any], said: bytes) -> IdxError:
    """The error of the report, or of the output if there is no report."""
    if "error" in report:
        error = report["error"]
        hint = f"; hint: {error['hint']}" if "hint" in error else ""
        return IdxError(f"idxport: {error['message']}{hint} (exit code {code})", code, error["code"])
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"failed with exit code {code}"
    text = said.decode(errors="replace").strip()
    return IdxError(f"idxport {how}" + (f": {text}" if text else ""), code)


def _widen(pipe: IO[bytes]) -> None:
    """Enlarge the pipe, if that is possible."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe.fileno(), 1031, _PIPE)  # F_SETPIPE_SZ, which Python names from 3.10 on
