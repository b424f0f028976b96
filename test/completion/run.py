#!/usr/bin/env python3
"""Type command lines into bash, zsh and fish on a pseudo-terminal, press Tab, and compare the screen: lines are
completed and never run.

usage: $(test/interop/venv ../completion) test/completion/run.py --binary PATH [--strict] [--install]

Prints a line per check, what was not run and why, and the totals; exits with 1 if a check failed, or with --strict if
one was not run.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checks  # noqa: E402
from checks import demand  # noqa: E402
from terminal import Shell  # noqa: E402

# Debian's packages of the shells.
PACKAGES = {"bash": "bash", "zsh": "zsh", "fish": "fish"}

# The program answers the completion scripts, and prints its arguments to a file when it is run in another way.
PROGRAM = """#!/bin/sh
for last; do :; done
case $1,$last in
*,--generate-shell-completion | completion,*) exec "$IDXPORT" "$@" ;;
esac
printf '%s\\0' "$@" > "$HOME/arguments.part" && mv "$HOME/arguments.part" "$HOME/arguments"
"""

PRECIOUS = "not to be overwritten"


class Stage:
    """A folder with files whose names must be quoted, a HOME, and the program on the PATH."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self.folder, self.home, self.work = folder, folder / "home", folder / "work"
        fish = self.home / ".local/share/fish/generated_completions"  # else fish makes it in the background, while it is removed
        for path in (fish, self.work / "my dir", self.work / "photos", self.work / "parquet", folder / "bin"):
            path.mkdir(parents=True)
        (folder / "bin" / "idxport").write_text(PROGRAM)
        (folder / "bin" / "idxport").chmod(0o755)
        for name in ["plain.idx", "it's.idx", "two\nlines.idx", "dol$HOME.idx", "-dash.idx", "sub$(touch pwned).idx", "my dir/a b.idx"]:
            (self.work / name).touch()
        (self.work / "important.csv").write_text(PRECIOUS)
        self.before = self.names()
        self.environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "HOME": str(self.home), "IDXPORT": str(binary), "TERM": "xterm", "LC_ALL": "C.UTF-8",
                            "INPUTRC": "/dev/null"}

    def names(self) -> list[str]:
        """The files that there are."""
        return sorted(path.name for path in self.work.iterdir())

    def untouched(self, line: str) -> None:
        """Demand that nothing was run."""
        demand((self.work / "important.csv").read_text() == PRECIOUS, f"{line!r}: important.csv is overwritten")
        demand(self.names() == self.before, f"{line!r}: found the files {self.names()}, expected {self.before}")

    def answer(self, before: str, word: str) -> str:
        """The program's answer to a completion script, with a blank in place of the first colon of each line."""
        arguments = [*before.split(), "-" if word.startswith("-") else "x", "--generate-shell-completion"]
        output = subprocess.run([self.environment["IDXPORT"], *arguments], capture_output=True, text=True, check=True).stdout
        return "\n".join(line.replace(":", " ", 1) for line in output.splitlines())


# Lines before and after one Tab, with the blank that follows. \v is a command substitution of the shell.
COMPLETED = [
    ("idxport con", "idxport convert "),
    ("idxport convert x --hol", "idxport convert x --holdout "),
    ("idxport convert x -o out/ --json --take", "idxport convert x -o out/ --json --take "),
    ("idxport convert x -o pho", "idxport convert x -o photos/"),
    ("idxport convert x -o csv=pho", "idxport convert x -o csv=photos/"),
    ("idxport convert pho", "idxport convert photos/"),
    ("idxport convert x --classes pho", "idxport convert x --classes photos/"),
    ("idxport convert x --hel", "idxport convert x --help "),
    ("idxport convert x -q pho", "idxport convert x -q photos/"),
    ("idxport convert x --rows pho", "idxport convert x --rows photos/"),
    ("idxport convert x > pho", "idxport convert x > photos/"),
    ("idxport convert -- --pho", "idxport convert -- --pho"),
    # Without candidates.
    ("idxport inspect s3://pho", "idxport inspect s3://pho"),
    # Nothing may be run at Tab.
    ("idxport convert mnist -o csv=- > important.csv --hol", "idxport convert mnist -o csv=- > important.csv --holdout "),
    ("idxport convert mnist -o csv=->important.csv --hol", "idxport convert mnist -o csv=->important.csv --holdout "),
    ("idxport convert \v x --hol", "idxport convert \v x --holdout "),
    ('idxport convert "$(touch pwned)" --hol', 'idxport convert "$(touch pwned)" --holdout '),
    ("idxport convert x; touch pwned; idxport insp", "idxport convert x; touch pwned; idxport inspect "),
    ("touch pwned; idxport convert x --hol", "touch pwned; idxport convert x --holdout "),
    ("touch pwned && echo > important.csv | idxport convert x --hol", "touch pwned && echo > important.csv | idxport convert x --holdout "),
    ("idxport convert 'it --hol", "idxport convert 'it --hol"),
    ("idxport convert it\\'s '$(touch pwned)' a\\;touch\\ pwned --hol", "idxport convert it\\'s '$(touch pwned)' a\\;touch\\ pwned --holdout "),
]

# A command substitution in the word at the cursor. zsh binds Tab to expand-or-complete, which itself runs it, for any
# command: only complete-word calls our script.
AT_THE_CURSOR = [f"idxport {line}" for line in
                 ["convert \v", "convert \v/", "convert x -o csv=\v/", "convert x -o=\v/", "convert x --classes=\v", 'convert "$(touch pwned)/x', 'convert "$(touch pwned) --hol', "\v", "\v/", "--\v"]]

# Lists: the words before the cursor, the word at the cursor, and expected candidates.
LISTED = [
    ("", "co", ["convert", "completion"]),
    ("convert x", "--cl", ["--classes", "--class-column"]),
    ("convert x", "--rows", ["--rows", "--rows-per-file"]),
    ("convert x -o", "p", ["parquet/", "photos/", "plain.idx"]),
]

# Paths: what is typed, and the arguments that the program gets when Enter is pressed after Tab.
PATHS = [
    ("inspect pl", ["inspect", "plain.idx"]),
    ("inspect it", ["inspect", "it's.idx"]),
    ("inspect two", ["inspect", "two\nlines.idx"]),
    ("inspect dol", ["inspect", "dol$HOME.idx"]),
    ("inspect sub", ["inspect", "sub$(touch pwned).idx"]),
    ("inspect ./-", ["inspect", "./-dash.idx"]),
    ("inspect my\\ dir/", ["inspect", "my dir/a b.idx"]),
    ("inspect 'my dir/a", ["inspect", "my dir/a b.idx"]),
    ("convert my\\ dir/ -o csv=sub", ["convert", "my dir/", "-o", "csv=sub$(touch pwned).idx"]),
    ("convert x --classes=dol", ["convert", "x", "--classes=dol$HOME.idx"]),
]


@dataclass
class Kind:
    """A kind of shell: how it is started without a startup file, and made ready."""

    arguments: list[str]
    setup: list[str]
    load: str
    substitutions: list[str]  # how \v is written
    variants: dict[str, str] = field(default_factory=lambda: {"": ""})  # a command that makes it different


KINDS = {
    "bash": Kind(
        ["bash", "--norc", "--noprofile", "-i"],
        [f"PS1='{Shell.PROMPT}'; unset HISTFILE; bind 'set show-all-if-ambiguous on'; bind 'set enable-bracketed-paste off'; bind 'set page-completions off'"],
        'eval "$(idxport completion bash)"',
        ["$(touch pwned)", "`touch pwned`"],
        # bash 3.2 has none of these builtins.
        {"": "", "bare": "enable -n compopt mapfile readarray; set -u; shopt -s failglob nocasematch", "words": "COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=]/}"},
    ),
    "zsh": Kind(
        ["zsh", "-f", "-i"],
        [f"PROMPT='{Shell.PROMPT}'; unsetopt prompt_sp list_ambiguous; unset zle_bracketed_paste"],
        "source <(idxport completion zsh)",
        ["$(touch pwned)", "`touch pwned`"],
        {"": "", "complete-word": "bindkey '^I' complete-word"},
    ),
    "fish": Kind(
        ["fish", "--no-config", "-i"],
        [f"function fish_prompt; echo -n '{Shell.PROMPT}'; end; set -g fish_greeting; set -g fish_autosuggestion_enabled 0"],
        "idxport completion fish | source",
        ["$(touch pwned)", "(touch pwned)"],
    ),
}


def written(kind: Kind, lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The lines, with each way to write a command substitution."""
    return [(typed.replace("\v", s), becomes.replace("\v", s)) for typed, becomes in lines for s in (kind.substitutions if "\v" in typed else [""])]


def press(stage: Stage, shell: Shell, lines: list[tuple[str, str]]) -> None:
    """Press Tab behind each line, and a letter behind what becomes of it; nothing else may be on the screen."""
    shell.begin()
    for i, (typed, becomes) in enumerate(lines):
        letter = "YZ"[i % 2]  # not that of the line before, in place of which this one is typed
        shell.type(f"\x05\x15{typed}\t")
        shell.type(letter)
        shell.wait(lambda: any(line.endswith(letter) for line in shell.screen()), f"there is a line after Tab behind {typed!r}")
        demand(shell.screen() == [f"{shell.PROMPT}{becomes}{letter}"], f"{typed!r}: expected {becomes!r}, found\n" + "\n".join(shell.screen()))
        stage.untouched(typed)


def completes(stage: Stage, shell: Shell, kind: Kind) -> None:
    """Whole lines."""
    press(stage, shell, written(kind, COMPLETED))


def cursor(stage: Stage, shell: Shell, kind: Kind) -> None:
    """A command substitution at the cursor is not changed."""
    press(stage, shell, written(kind, [(line, line) for line in AT_THE_CURSOR]))


def lists(stage: Stage, shell: Shell, _: Kind) -> None:
    """Candidates are listed, and nothing else but their descriptions."""
    for before, word, expected in LISTED:
        shell.begin()
        line = f"idxport {before} {word}".replace("  ", " ")
        shell.type(line + "\t")
        shell.wait(lambda: all(any(value in text for text in shell.screen()[1:]) for value in expected), f"{expected} are listed behind {line!r}")
        shell.settle()
        known = {shell.PROMPT.strip(), *line.split(), *expected, "--", *stage.answer(before, word).split()}
        strange = [token for text in shell.screen() for token in text.split() if not ({token, token.strip("()")} & known or "…" in token)
                   and not any(value.startswith(token) for value in known)]
        demand(not strange, f"{line!r}: found {strange} on the screen\n" + "\n".join(shell.screen()))
        stage.untouched(line)


def paths(stage: Stage, shell: Shell, _: Kind) -> None:
    """Paths are quoted so that the program gets them."""
    for typed, expected in PATHS:
        shell.begin()
        arguments = stage.home / "arguments"
        arguments.unlink(missing_ok=True)
        shell.type(f"idxport {typed}\t")
        shell.type("\r")
        shell.wait(arguments.exists, f"the program runs after {typed!r}")
        found = arguments.read_text().split("\0")[:-1]
        demand(found == expected, f"{typed!r}: found the arguments {found}, expected {expected}")
        shell.wait(lambda: shell.line() == "", "there is a new prompt")
        stage.untouched(typed)


def loaded(what: Callable[[Stage, Shell, Kind], None], kind: Kind, variant: str, stage: Stage) -> None:
    """One of these in a shell with the completions of idxport."""
    with Shell(kind.arguments, stage.environment, stage.work, [*kind.setup, kind.variants[variant], kind.load]) as shell:
        what(stage, shell, kind)


def installed(name: str, stage: Stage) -> None:
    """The line of idxport completion --help makes a new shell complete."""
    arguments = {"bash": ["bash", "-i"], "zsh": ["zsh", "-d", "-i"], "fish": ["fish", "-i"]}[name]
    setup = KINDS[name].setup
    text = subprocess.run([stage.environment["IDXPORT"], "completion", "--help"], capture_output=True, text=True, check=True).stdout
    line = re.search(rf"^ +{name} +(.+)$", text, re.MULTILINE)
    demand(line, f"no line for {name}")
    with Shell(arguments, stage.environment, stage.work, [*setup, line[1]]):
        pass
    with Shell(arguments, stage.environment, stage.work, setup) as shell:
        press(stage, shell, [("idxport convert x --hol", "idxport convert x --holdout ")])


EVERYTHING = (completes, cursor, lists, paths)
RUNS = [("bash", "", EVERYTHING), ("bash", "bare", EVERYTHING), ("bash", "words", (lists,)), ("zsh", "", (completes, lists, paths)),
        ("zsh", "complete-word", (cursor,)), ("fish", "", EVERYTHING)]
CHECKS = [(" ".join(filter(None, (name, variant, what.__name__))), functools.partial(loaded, what, KINDS[name], variant))
          for name, variant, checks_of in RUNS for what in checks_of]
CHECKS += [(f"{name} installed", functools.partial(installed, name)) for name in KINDS]

if __name__ == "__main__":
    sys.exit(checks.main(__doc__, CHECKS, Stage, PACKAGES))
