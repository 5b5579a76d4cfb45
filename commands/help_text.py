"""A command's help in its parts, as the docstring has them.

Owns how a docstring is taken apart; the help on a terminal and the man pages are made of the same
parts. It knows no typer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import cleandoc

PROGRAM = "kraftool"
_RUNS = re.compile(rf"(?:^|\| ){PROGRAM} ")
_LABEL = re.compile(r"^\s*(?:Examples?:\s*)?(?:\$ )?")


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpText:
    """A command's help in its parts: what it does, more about that, and lines to run."""

    summary: str
    paragraphs: tuple[str, ...]
    examples: tuple[str, ...]


def read_help(text: str) -> HelpText:
    """Take a help text apart: its first paragraph, the lines to run, and the rest.

    A block whose lines all run the program, after `Example:` or a `$`, is one of examples.
    Click's `\\b` and `\\f` marks are dropped.
    """
    blocks = [block for block in re.split(r"\n\s*\n", cleandoc(text)) if block.strip("\b\f\n ")]
    summary, paragraphs, examples = "", [], []
    for number, block in enumerate(blocks):
        lines = [line for line in block.split("\n") if line.strip() not in {"\b", "\f"}]
        commands = [_LABEL.sub("", line) for line in lines]
        commands = [command for command in commands if command]
        if all(_RUNS.search(command) for command in commands):
            examples.extend(commands)
        elif number == 0:
            summary = " ".join(line.strip() for line in lines)
        else:
            paragraphs.append("\n".join(lines))
    return HelpText(summary=summary, paragraphs=tuple(paragraphs), examples=tuple(examples))


def keeps_its_lines(paragraph: str) -> bool:
    """True for a table: each of its lines is indented, and none is joined with the next."""
    return all(line.startswith((" ", "\t")) for line in paragraph.split("\n"))
