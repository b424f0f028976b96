"""A shell on a pseudo-terminal, and what is on its screen."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from pathlib import Path

from checks import Failure

ROWS, COLUMNS = 120, 200
PATIENCE = 20.0  # seconds until what was expected is missing

# What terminals are told: a control sequence, a title, a character set, another escape, or one character.
TOLD = re.compile(r"\x1b\[(?P<arguments>[0-9;?>=!]*)[ -/]*(?P<final>[@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]|\x1b[=>78cM]|(?P<text>[^\x1b])", re.DOTALL)


class Screen:
    """The lines that a terminal shows: as much of a terminal as line editors use. It does not scroll."""

    def __init__(self) -> None:
        self.cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.rest = ""  # of what was printed: the beginning of a control sequence

    def show(self, data: str) -> None:
        """Show what is printed."""
        data = self.rest + data
        end = 0
        for told in TOLD.finditer(data):
            if told.start() != end:
                break
            end = told.end()
            if told["text"]:
                self.put(told["text"])
            elif told["final"]:
                self.control(told["final"], told["arguments"])
        self.rest = data[end:]

    def put(self, character: str) -> None:
        """Print a character, or obey it."""
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row = min(self.row + 1, ROWS - 1)
        elif character == "\b":
            self.column = max(self.column - 1, 0)
        elif character == "\t":
            self.column = min(self.column // 8 * 8 + 8, COLUMNS - 1)
        elif character >= " ":
            if self.column == COLUMNS:
                self.row, self.column = min(self.row + 1, ROWS - 1), 0
            self.cells[self.row][self.column] = character
            self.column += 1

    def control(self, final: str, arguments: str) -> None:
        """Move the cursor or erase."""
        first = arguments.split(";")[0]
        count = int(first) if first.isdigit() else 0
        step = max(count, 1)
        if final in "AB":
            self.row = min(max(self.row + (step if final == "B" else -step), 0), ROWS - 1)
        elif final in "CD":
            self.column = min(max(self.column + (step if final == "C" else -step), 0), COLUMNS - 1)
        elif final == "G":
            self.column = step - 1
        elif final == "H":
            self.row = self.column = 0
        elif final == "K":
            self.cells[self.row][self.column :] = [" "] * (COLUMNS - self.column)
        elif final == "J":
            if count == 2:
                self.cells = [[" "] * COLUMNS for _ in range(ROWS)]
                return
            self.cells[self.row][self.column :] = [" "] * (COLUMNS - self.column)
            for row in range(self.row + 1, ROWS):
                self.cells[row] = [" "] * COLUMNS

    def lines(self) -> list[str]:
        """The lines that are not empty, without blanks at their ends."""
        return [line for line in ("".join(cells).rstrip() for cells in self.cells) if line]


class Shell:
    """A shell with a terminal of its own. It is started and made ready by given commands, which must set the prompt to PROMPT."""

    PROMPT = "@@@ "

    def __init__(self, arguments: list[str], environment: dict[str, str], folder: Path, setup: list[str]) -> None:
        self.display, self.decoder = Screen(), codecs.getincrementaldecoder("utf-8")("replace")
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
        """Take what is printed within seconds; reports whether there was something."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            self.display.show(self.decoder.decode(os.read(self.terminal, 65536)))
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
        """What is on the screen since begin."""
        return self.display.lines()

    def line(self) -> str | None:
        """The last line, without blanks at its end, if it is a command line."""
        last = self.screen()[-1:]
        return last[0][len(self.PROMPT) :] if last and last[0].startswith(self.PROMPT.rstrip()) else None

    def begin(self) -> None:
        """Throw the command line away, and all that was printed."""
        self.settle()
        if self.line() != "":
            self.type("\x03")
            self.wait(lambda: self.line() == "", "there is a new prompt")
            self.settle()
        self.display = Screen()
        self.display.show(self.PROMPT)

    def settle(self) -> None:
        """Read until nothing is printed any more."""
        while self.read(0.03):
            pass

    def close(self) -> None:
        """End the shell."""
        os.close(self.terminal)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
