"""Fenced blocks of a Markdown document, and the outputs that it shows for them."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"```(\w*)$")
HEADING = re.compile(r"#+ (.+)$")
NOT_RUN = re.compile(r"<!-- not run: (.+) -->$")  # on the line above a block
RUN = ("console", "python", "sql")
NAME = re.compile(r"^# (\S+\.\w+)$", re.MULTILINE)
SHOWN = "# →"


@dataclass
class Block:
    """A fenced block."""

    document: str
    section: str
    line: int  # of its first line, from 1
    language: str
    text: str
    not_run: str = ""  # why
    output: str | None = None  # the ```text block that follows it

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"


def fences(path: Path, name: str) -> list[Block]:
    """Every fenced block in order; an error if one is not closed."""
    blocks, section, before, open_block = [], "", "", None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if open_block is not None:
            if line == "```":
                open_block = None
            else:
                open_block.text += line + "\n"
        elif fence := FENCE.match(line):
            reason = NOT_RUN.match(before)
            open_block = Block(name, section, number + 1, fence[1], "", reason[1] if reason else "")
            blocks.append(open_block)
        elif heading := HEADING.match(line):
            section = heading[1]
        before = line
    if open_block is not None:
        raise ValueError(f"{open_block.place}: the block is not closed")
    return blocks


def examples(path: Path, name: str) -> list[Block]:
    """The blocks that are to be run or marked as not run, in order."""
    found: list[Block] = []
    previous = None
    for block in fences(path, name):
        if block.language == "text":
            if previous is not None and previous.section == block.section:
                previous.output = block.text
        elif block.language in RUN or block.language == "sh" and NAME.search(block.text):
            found.append(block)
        else:
            raise ValueError(f"{block.place}: found the language {block.language!r}, expected text, a file with its name in a comment, or one of {', '.join(RUN)}")
        previous = block if block.language in RUN else None
    return found


def shown(block: Block) -> list[tuple[int, str]]:
    """The comments `# → …` of a Python block: line in the block and text."""
    if block.language != "python":
        return []
    tokens = tokenize.generate_tokens(io.StringIO(block.text).readline)
    return [(token.start[0], token.string.removeprefix(SHOWN).strip()) for token in tokens if token.type == tokenize.COMMENT and token.string.startswith(SHOWN)]


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it ("" if none is)."""
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
        else:
            raise ValueError(f"{block.place}: the block does not begin with a command")
    return found


def differs(found: str, expected: str, exact: bool = False) -> str:
    """"" if the output is the one shown, else both. `…` stands for anything; unless exact, any white space is one blank."""
    one = (lambda text: text.rstrip()) if exact else (lambda text: " ".join(text.split()))
    pattern = ".*?".join(re.escape(part) for part in one(expected).split("…"))
    return "" if re.fullmatch(pattern, one(found), re.DOTALL) else f"found\n{found.rstrip()}\nexpected\n{expected.rstrip()}"
