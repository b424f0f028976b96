"""The program: finding it, its command lines, running it, and its errors."""

from __future__ import annotations

import contextlib
import importlib
import json
import operator
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

# Functions import what is not always needed: typing, shutil and tempfile take longer than the start of the program.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import IO, Any, SupportsIndex

    from typing_extensions import TypeAlias

# An input, a choice of rows, or the value of an option. A list is an option that is given several times.
Path: TypeAlias = "str | bytes | os.PathLike[str] | os.PathLike[bytes]"
Rows: TypeAlias = "str | slice | range"
Option: TypeAlias = "bool | float | SupportsIndex | Path | slice | range | Sequence[float | SupportsIndex | Path] | None"

# Between the elements of a list that is one value of its flag. Names of columns may begin with spaces: one after a comma does not count.
_JOINED = {"shape": "x", "resize": "x", "to": ",", "columns": ", "}

# Options without a value, in the words of messages.
_SWITCHES = {"overwrite", "if_changed", "verify", "transpose", "grey", "salvage", "stratify", "shuffle", "class_column"}

# A pipe that holds a whole batch lets the program read the next one at the same time. On Linux every user may ask for 1 MiB (pipe(7)).
_PIPE = 1 << 20

# Starts the program so that the kernel ends it with this process (prctl(2), PR_SET_PDEATHSIG). A preexec_fn would not be safe with the
# threads of Arrow. Python ignores SIGPIPE and SIGXFSZ; the program gets the defaults.
_TIED = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() != int(sys.argv[1]):
    sys.exit(143)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
os.execv(sys.argv[2], sys.argv[2:])
"""


class IdxError(RuntimeError):
    """An error of the program.

    `code` and `exit` are the name, such as "bad_data", and the number of the exit code (docs/cli.md), None if the
    program could not be run or was ended by a signal; `hint` is what to do about it; `path` is the file that the
    error is about, and `offset` where in its data, in bytes after decompression. Each may be None.
    """

    def __init__(
        self, message: str, exit: int | None = None, code: str | None = None, *, hint: str | None = None, path: str | None = None, offset: int | None = None
    ) -> None:
        super().__init__(f"{message}\nhint: {hint}" if hint else message)
        self.exit, self.code, self.hint, self.path, self.offset = exit, code, hint, path, offset


class IdxWarning(UserWarning):
    """A warning of the program."""


def find_program(name: str | None = None) -> str:
    """The path of the program: `name`, or else the variable IDXPORT, that of this package, or that on PATH; or IdxError."""
    if given := name or os.environ.get("IDXPORT"):
        return _on_path(given, f"the program {given} is not an executable file", None if name else "correct the environment variable IDXPORT")
    file = "idxport.exe" if os.name == "nt" else "idxport"
    for folder in _folders():
        if os.access(os.path.join(folder, file), os.X_OK):
            return os.path.join(folder, file)
    return _on_path("idxport", "the program idxport is not on this machine", "install a wheel for this platform, or set IDXPORT to the path of the program")


def _on_path(name: str, problem: str, hint: str | None = None) -> str:
    import shutil

    if (found := shutil.which(name)) is None:
        raise IdxError(problem, hint=hint)
    return os.path.abspath(found)


def _folders() -> Iterator[str]:
    """The folders into which pip may have put the program of this package."""
    yield os.path.dirname(sys.executable)  # of a virtual environment
    import sysconfig

    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", {"nt": "nt_user"}.get(os.name, "posix_user"))
    yield os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin")  # pip install --target


class Program(contextlib.AbstractContextManager["Program"]):
    """A run of the program, which ends with the context manager.

    With `stdin` it reads this process's standard input, with `feed` what is written to its own. With `tied`, Linux ends
    it if this process is killed, even before it writes to the closed pipe. That takes the start of a Python.
    """

    _stream = False  # it writes files, and `close` waits until it has removed them

    def __init__(self, command: Sequence[str], *, stdin: bool = False, feed: bool = False, tied: bool = False) -> None:
        if tied and sys.platform == "linux" and sys.executable:
            command = [sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), *command]
        self._said = _scratch()
        try:
            given = subprocess.PIPE if feed else None if stdin else subprocess.DEVNULL
            with _uninterrupted():
                self._process = subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=self._said, bufsize=_PIPE)
                self.stdout: IO[bytes] = self._process.stdout  # type: ignore[assignment]
                self.stdin = self._process.stdin
        except BaseException as error:
            (self.close if hasattr(self, "stdin") else self._said.close)()
            raise (IdxError(f"{command[0]}: {error.strerror}") if isinstance(error, OSError) and error.errno else error) from None
        for pipe in (self.stdout, self.stdin):
            if sys.platform == "linux" and pipe is not None:
                import fcntl

                with contextlib.suppress(OSError):
                    fcntl.fcntl(pipe, 1031, _PIPE)  # F_SETPIPE_SZ, which Python names from 3.10 on

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # of a constructor that was interrupted
            if not self._said.closed:
                self.close()

    def close(self) -> None:
        """End the process if it still runs."""
        (self._process.kill if self._stream else self._process.terminate)()
        with contextlib.suppress(OSError):
            self.stdout.close()  # before waiting: a program that ignores the signal gets EPIPE
        try:
            self._process.wait(None if self._stream else 10)  # a time limit polls, for up to 15 ms
        except subprocess.TimeoutExpired:  # for example a read that blocks in the kernel
            self._process.kill()
            self._process.wait()
        for file in filter(None, (self.stdin, self._said)):
            with contextlib.suppress(OSError):  # of what it did not read
                file.close()

    def finish(self, output: bytes = b"") -> dict[str, Any]:
        """Wait for the end, and return the report of --json: in `output`, or on standard error if that is data. Raises IdxError if the program failed."""
        code = self._process.wait()
        self._said.seek(0)
        return _result(code, output, self._said.read())


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let an interrupt wait: Popen would lose the process."""
    import threading

    came: list[Any] = []
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if callable(before):
        signal.signal(signal.SIGINT, lambda *each: came.append(each))
    try:
        yield
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)
            for each in came:
                before(*each)


def _scratch() -> IO[bytes]:
    """A file without a name."""
    try:
        return open(os.memfd_create("idxport"), "w+b")
    except (AttributeError, OSError):  # not Linux, or an old or a restricted one
        import tempfile

        return tempfile.TemporaryFile()


def run(command: Sequence[str], *, stdin: bool = True, tied: bool = False, meanwhile: Callable[[], object] = lambda: None) -> tuple[bytes, dict[str, Any]]:
    """Return the standard output of a run, during which `meanwhile` is called, and its report."""
    with Program(command, stdin=stdin, tied=tied) as program:
        meanwhile()
        output = program.stdout.read()
        return output, program.finish(output)


def _result(code: int, output: bytes, said: bytes) -> dict[str, Any]:
    """Return the report of a run, or raise its error."""
    report: dict[str, Any] = {}
    for line in (output, *reversed(said.splitlines())):  # it may be on standard error, after messages
        if line.startswith(b'{"schema_version"'):
            with contextlib.suppress(ValueError):
                report = json.loads(line)
                break
    level, frame = 1, sys._getframe()  # of the code that called this package
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _BETWEEN:
        level, frame = level + 1, frame.f_back
    for text in report.get("warnings", ()):
        warnings.warn(in_python(text), IdxWarning, stacklevel=level)
    if report.get("files") or (code == 0 and report and "error" not in report):  # inspect describes damage; it is always 0 if SIGCHLD is ignored
        return report
    if error := report.get("error"):
        hint, path, offset = map(error.get, ("hint", "path", "offset"))
        raise IdxError(in_python(error["message"]), error["exit"], error["code"], hint=hint and in_python(hint), path=path, offset=offset)
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"failed with exit code {code}" if code else "wrote no report"
    raise IdxError(f"idxport {how}: {said.decode(errors='replace').strip()}", code if code > 0 else None)


# What may stand between the code of a user and the program.
_BETWEEN = {"idxport", "nanoarrow", "pyarrow", "polars", "pandas", "duckdb"}

# A flag in a message, and its value, if that is no word of the sentence.
_IN = r"(?:[^\s,;)]|,(?=\w))*"
_WORDS = r"(?:yes|none|no|false|train|test|validation|label|image|list|huggingface|pjreddie|out|csv|npy|parquet|png|NAME|FILE)\b"
_VALUE = rf"(?:\w+=)?(?:'[^']*'|\"[^\"]*\")|\$\(\([^)]*\)\)[/\d]*|{_IN}[^a-z\s,;):.\"]{_IN}[^\s,;):.]|{_IN}[0-9/]"
_VALUE += rf"|[a-z]+(?:,[a-z]+|(?:\.[a-z]+)+)|[\w-]+$|{_WORDS}"
_FLAG = rf"(?<![\w-])(?:--([a-z][a-z-]*)|-o)(?:(?: (?!-[a-z-])|=)({_VALUE}))?"


def in_python(text: str) -> str:
    """Name options as Python does: --split test is split="test"."""
    import re

    if re.search(r"\b(idxport|aws|curl|convmv|find) ", text):  # a command line
        return text

    def option(match: re.Match[str]) -> str:
        name, value = (match[1] or "output").replace("-", "_"), match[2]
        if value in (None, "false"):
            return name + ("=False" if value else "=True" if name in _SWITCHES else "")
        return name + '="' + re.sub(r"""^(\w+=)?(['"])(.*)\2$""", r"\1\3", value) + '"'

    text = re.sub(r"'[^']*'(?:\\''[^']*')+", lambda word: '"' + word[0][1:-1].replace(r"'\''", "'") + '"', text)
    return re.sub(_FLAG, option, text.replace("repeat --", "give a list as --"))


def arguments(name: str, inputs: Sequence[Path], options: dict[str, Option]) -> list[str]:
    """Return the command line of a command with the flags for `options`."""
    flags: list[str] = []
    for key, value in options.items():
        if value is None:
            continue
        if key == "rows" and not isinstance(value, (str, slice, range)):
            raise TypeError(f"rows={value!r:.80}: expected slice(0, 100), range(100) or '0:100'; for other rows, index the arrays")
        if key == "classes" and not isinstance(value, (str, bytes, os.PathLike)):
            raise TypeError(f"classes={value!r:.80}: expected the path of a file, with the name of one class in each line")
        text_of: Callable[[Any], str] = expanded if key in ("output", "classes") else _text
        texts = [text_of(value)] if isinstance(value, (str, bytes, os.PathLike, range)) or not isinstance(value, Sequence) else [*map(text_of, value)]
        if not texts and key != "where":
            raise ValueError(f"{key}={value!r} is empty, expected one value or more")
        if key in _JOINED:
            texts = [_JOINED[key].join(texts)]
        flags += [f"--{key.replace('_', '-')}={text}" for text in texts]
    return [find_program(), name, *flags, "--json", "--quiet", "--", *map(expanded, inputs)]


def expanded(path: Path) -> str:
    """A path, NAME=PATH or FORMAT=PATH, with ~ for the home folder replaced, as pandas, polars and pyarrow do."""
    name, equals, file = os.fsdecode(path).partition("=~")
    is_named = equals and not {"/", os.sep} & set(name) and not os.path.lexists(path)
    return name + "=" + os.path.expanduser(f"~{file}") if is_named else os.path.expanduser(os.fsdecode(path))


def _text(value: bool | float | Path | slice | range) -> str:
    if isinstance(value, (slice, range)):
        if value.step not in (None, 1):
            raise ValueError(f"rows={value!r}: the step must be 1; take every n-th row of the arrays instead: [::n]")
        if isinstance(value, range) and not 0 <= value.start <= value.stop:
            raise ValueError(f"rows={value!r}: expected rows from 0 on; the last rows are slice(-n, None)")
        return ":".join("" if end is None else str(operator.index(end)) for end in (value.start, value.stop))
    if hasattr(value, "__iter__") and not isinstance(value, (str, bytes, os.PathLike)):  # a set has no order, an array no commas
        raise TypeError(f"found {value!r:.80}, expected a string, a number, True or False, or a list of them")
    return os.fsdecode(value) if isinstance(value, (str, bytes, os.PathLike)) else str(value).lower()


# Options that mean something else, or nothing, without some of the columns.
_OF_ALL = {"class_column", "classes", "dtype", "expect", "grey", "label_column", "resize", "salvage", "shape", "transpose"}


def divisible(options: Mapping[str, Option], names: Sequence[str]) -> bool:
    """Whether a run can write some of the columns, which have `names`, as they are in the table with all of them."""
    return "columns" not in str(options.get("layout")) and not any(map(options.get, _OF_ALL)) and all(name and "," not in name for name in names)


def lasting(inputs: Sequence[Path], options: dict[str, Option]) -> tuple[list[str], dict[str, Option]]:
    """The inputs and options of a table, which mean the same after os.chdir."""
    if isinstance(classes := options.get("classes"), (str, bytes, os.PathLike)):
        options = {**options, "classes": _absolute(classes)}
    return [_absolute(each) for each in inputs], options


def _absolute(path: Path) -> str:
    """FILE, NAME=FILE or a URL, also with the one slash that pathlib leaves, with the path from the root. It is a FILE if there is one of that name."""
    text = expanded(path)
    name, equals, file = text.partition("=")
    if not file or os.path.lexists(text) or not name.replace("-", "_").isidentifier():
        name, equals, file = "", "", text
    if file == "-":
        raise ValueError("standard input can be read only once, but a scan is read as often as it is asked: use load, or a file")
    return text if not file or ":/" in file or os.path.isabs(file) else name + equals + os.path.join(os.getcwd(), file)


def query(inputs: Sequence[Path], options: dict[str, Option], columns: Sequence[str] | None = None, where: Sequence[str] = ()) -> list[str]:
    """The command line of a run that writes columns and rows that meet conditions, by default all, as an Arrow stream."""
    options = dict(**options, output="arrows=-")  # a TypeError if an output is given
    if columns is not None:
        options["columns"] = columns
    given = options.get("where")
    options["where"] = [*(given if isinstance(given, (list, tuple)) else [] if given is None else [given]), *where]
    return arguments("convert", inputs, options)


def needs(module: str, extra: str) -> Any:
    """Import a package that not every user needs."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"idxport needs {extra} here: pip install 'idxport[{extra}]'", name=error.name) from error
