"""A shell on a pseudo-terminal, and what is on its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pyte
from checks import Failure, NotRun

ROWS, COLUMNS = 120, 200
PATIENCE = 20.0  # seconds to wait for an expected screen


class Shell:
    """A shell with a terminal of its own. The setup commands must set the prompt to PROMPT."""

    PROMPT = "@@@ "

    def __init__(self, arguments: list[str], environment: dict[str, str], folder: Path, setup: list[str]) -> None:
        if shutil.which(arguments[0]) is None:
            raise NotRun(f"{arguments[0]} is missing")
        self.clear()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(arguments[0], arguments, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        try:
            for command in [*setup, "echo READ''Y"]:
                self.type(command + "\r")
            self.wait(lambda: "READY" in self.screen() and self.line() == "", "the shell is ready")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.terminal, keys.encode())

    def read(self, seconds: float) -> bool:
        """Read output for at most seconds; reports whether there was any."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            self.stream.feed(os.read(self.terminal, 65536))
        except OSError as error:
            raise Failure("the shell has ended after\n" + "\n".join(self.screen())) from error
        return True

    def wait(self, done: Callable[[], bool], what: str) -> None:
        """Read until done."""
        until = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > until:
                raise Failure(f"expected that {what}, found\n" + "\n".join(self.screen()))
            self.read(0.1)

    def screen(self) -> list[str]:
        """The lines since begin that are not empty, without blanks at their ends."""
        return [line for line in (line.rstrip() for line in self.display.display) if line]

    def line(self) -> str | None:
        """The last line, without blanks at its end, if it is a command line."""
        last = self.screen()[-1:]
        return last[0][len(self.PROMPT) :] if last and last[0].startswith(self.PROMPT.rstrip()) else None

    def begin(self) -> None:
        """Clear the command line and the screen."""
        self.settle()
        if self.line() != "":
            self.type("\x03")
            self.wait(lambda: self.line() == "", "there is a new prompt")
            self.settle()
        self.clear()
        self.stream.feed(self.PROMPT.encode())

    def clear(self) -> None:
        """Begin with an empty screen."""
        self.display = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.display)

    def settle(self) -> None:
        """Read until there is no more output."""
        while self.read(0.03):
            pass

    def close(self) -> None:
        """End the shell."""
        os.close(self.terminal)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
