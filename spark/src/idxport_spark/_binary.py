"""The program: where it is, how it is run, what its failures say."""

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

# What is kept of standard error: the report is one line of it, a Go trace may be long.
_KEPT = 64 * 1024

# A pipe that takes a whole batch lets the program read the next one meanwhile. Linux: 1 MiB is what anybody may ask for (pipe(7)).
_PIPE = 1 << 20

# How much of a stream that makes no sense is read to learn what the program says at its end.
_DRAINED = 64 << 20

# Starts the program so that the kernel ends it with the worker (prctl(2), PR_SET_PDEATHSIG): Spark kills the workers of tasks that it gives up, and a
# program that is still looking for its first row would not notice the closed pipe. A preexec_fn could do the same in this process, but not
# safely beside Arrow's threads. Python ignores SIGPIPE and SIGXFSZ; the program is to have them as they were.
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
    """What the program, or the data source itself, has to say.

    ``exit`` and ``code`` are the program's exit code and its name, as its docs/cli.md lists them: 65 ``bad_data``, 66 ``no_input``, … None where the failure
    is not the program's.
    """

    def __init__(self, message: str, exit: Optional[int] = None, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.exit = exit
        self.code = code


def find_binary(option: Optional[str] = None) -> str:
    """The program's path: the option ``binary``, else the environment variable IDXPORT, else the one in this package, else the one on PATH.

    Called on the driver and in every task, as executors may have it elsewhere. Raises IdxError if there is none, or what was named is none.
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
    """One run of the program. Used as a context, which never leaves before the process has ended and was waited for."""

    def __init__(self, binary: str, arguments: Sequence[str]) -> None:
        command = [binary, *arguments]
        if sys.platform == "linux" and sys.executable:
            command = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), *command]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=_PIPE)
        assert self._process.stdout is not None
        self.stdout: IO[bytes] = self._process.stdout
        self._said = b""
        # Standard error is drained beside, or a long message would block the program while we wait for its data.
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
        except subprocess.TimeoutExpired:  # a read that blocks in the kernel, say
            self._process.kill()
            self._process.wait()
        self._drain.join()
        assert self._process.stderr is not None
        self._process.stderr.close()

    def drain(self) -> bool:
        """Read the rest of what the program prints; whether it came to an end before the bound."""
        return any(not self.stdout.read(_PIPE) for _ in range(_DRAINED // _PIPE))

    def finish(self) -> dict[str, Any]:
        """Wait for the end; the report of --json. Raises IdxError if the exit code is not 0."""
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
    """All of what a short run prints, and its report."""
    with Program(binary, arguments) as program:
        data = program.stdout.read()
        return data, program.finish()


def stream(binary: str, *arguments: str, check: Callable[[dict[str, Any]], None]) -> Generator[pa.RecordBatch, None, None]:
    """The record batches of a run that writes an Arrow stream, as they come; after the last, check is given the report.

    The program ends with the generator, whoever closes it.
    """
    with Program(binary, arguments) as program:
        try:
            yield from pa.ipc.open_stream(program.stdout)
        except (pa.ArrowInvalid, OSError):
            if program.drain():  # or it would wait for its reader, and we for its end
                program.finish()  # says why the stream broke off
            raise
        check(program.finish())


def _report(said: bytes) -> dict[str, Any]:
    """The object of --json: a line of its own, the last one after success; after a failure the same is said in words behind it."""
    for line in reversed(said.splitlines()):
        if line.startswith(b'{"schema_version"'):
            with contextlib.suppress(ValueError):
                report: dict[str, Any] = json.loads(line)
                return report
    return {}


def _failure(code: int, report: dict[str, Any], said: bytes) -> IdxError:
    """What the report says about the failure, or else what was printed."""
    if "error" in report:
        error = report["error"]
        hint = f"; hint: {error['hint']}" if "hint" in error else ""
        return IdxError(f"idxport: {error['message']}{hint} (exit code {code})", code, error["code"])
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"failed with exit code {code}"
    text = said.decode(errors="replace").strip()
    return IdxError(f"idxport {how}" + (f": {text}" if text else ""), code)


def _widen(pipe: IO[bytes]) -> None:
    """Let the pipe hold more, where that is possible."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe.fileno(), 1031, _PIPE)  # F_SETPIPE_SZ, which Python names from 3.10 on
