"""A line of the shell: its words, its commands, and what each command takes.

Owns quoting (single and double quotes, a backslash before anything, also within quotes; a quote
that is left open ends with the line), the `;` between commands, the usage of each command, and the
messages for words that do not fit, which are those of kafka-metadata-shell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.java_text import read_int32

_BLANK = " \t\n"
_QUOTES = "'\""
_TO_QUOTE = re.compile(r"[\s'\"\\;]")
_NEGATIVE = re.compile(r"-\d+\Z")


class BadCommand(KraftoolError):
    """A command that cannot be understood."""


class Takes(Enum):
    """The number of words that a command takes."""

    NONE = ""
    ONE = "{0}"
    ONE_OR_NONE = "[{0}]"
    SOME = "{0} [{0} ...]"
    ANY = "[{0} [{0} ...]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """A command of the shell."""

    name: str
    about: str
    takes: Takes = Takes.NONE
    word: str = ""
    word_about: str = ""

    def synopsis(self) -> str:
        return " ".join(filter(None, (self.name, self.takes.value.format(self.word))))


_COMMANDS = (
    Usage(
        name="cat",
        about="Print what is in files.",
        takes=Takes.SOME,
        word="targets",
        word_about="Paths of files.",
    ),
    Usage(
        name="cd",
        about="Change the working directory; to the root if none is named.",
        takes=Takes.ONE_OR_NONE,
        word="target",
        word_about="The path of a directory.",
    ),
    Usage(name="exit", about="Leave the shell."),
    Usage(
        name="find",
        about="Print the paths of all that is below a path.",
        takes=Takes.ANY,
        word="paths",
        word_about="Where to start; the working directory if none is named.",
    ),
    Usage(name="help", about="List the commands."),
    Usage(
        name="history",
        about="Print the commands given so far.",
        takes=Takes.ONE_OR_NONE,
        word="numEntriesToShow",
        word_about="How many, counted from the last.",
    ),
    Usage(
        name="ls",
        about="List files and directories.",
        takes=Takes.ANY,
        word="targets",
        word_about="Paths; the working directory if none is named.",
    ),
    Usage(
        name="man",
        about="Explain one command.",
        takes=Takes.ONE,
        word="cmd",
        word_about="The name of a command.",
    ),
    Usage(name="pwd", about="Print the working directory."),
    Usage(
        name="tree",
        about="Print all files below a path with what is in them, indented.",
        takes=Takes.SOME,
        word="targets",
        word_about="Paths of directories or files.",
    ),
)
USAGES = {command.name: command for command in _COMMANDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command with its words, ready to run. With `wants_help` it is asked what it does."""

    usage: Usage
    words: tuple[str, ...] = ()
    wants_help: bool = False

    @property
    def name(self) -> str:
        return self.usage.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellWord:
    """A word of a line, as it is meant, and where it starts in the line as it was typed."""

    text: str
    start: int
    quote: str = ""
    """The quote that is open where the line ends."""


def split_line(line: str) -> list[list[ShellWord]]:
    """The words of each command of a line; commands are separated by semicolons."""
    commands: list[list[ShellWord]] = [[]]
    text, quote, start = "", "", -1
    escaped = False
    for position, character in enumerate(line):
        if escaped:
            text, escaped = text + character, False
            continue
        begins = start < 0
        if character == "\\":
            escaped = True
        elif quote:
            quote, text = ("", text) if character == quote else (quote, text + character)
        elif character in _QUOTES:
            quote = character
        elif character in _BLANK or character == ";":
            if not begins:
                commands[-1].append(ShellWord(text=text, start=start))
            text, start = "", -1
            if character == ";":
                commands.append([])
            continue
        else:
            text += character
        start = position if begins else start
    if start >= 0:
        commands[-1].append(ShellWord(text=text, start=start, quote=quote))
    return commands


def quoted_word(text: str) -> str:
    """A word as it can be typed."""
    return _TO_QUOTE.sub(lambda match: "\\" + match[0], text)


def read_command(words: list[str]) -> Command | None:
    """The command that some words make; None where there are none. Raises BadCommand."""
    while words and not words[-1]:
        words = words[:-1]
    if not words:
        return None
    usage = _usage(words[0])
    taken: list[str] = []
    wants_help = only_words = False
    for word in words[1:]:
        if only_words or not _is_option(word):
            taken.append(word)
        elif word == "--":
            only_words = True
        elif word in ("-h", "--help"):
            wants_help = True
            break
        else:
            raise BadCommand(f"unrecognized arguments: '{word}'")
    if not wants_help:
        _refuse_misfits(usage, taken)
    if usage.name != words[0]:
        raise BadCommand(f"invalid choice: '{words[0]}': did you mean '{usage.name}'?")
    return Command(usage=usage, words=tuple(taken), wants_help=wants_help)


def _usage(name: str) -> Usage:
    if name in USAGES:
        return USAGES[name]
    near = [usage for usage in USAGES if usage.startswith(name)]
    if len(near) > 1:
        raise BadCommand(f"ambiguous command: {name} could match {', '.join(near)}")
    if not near:
        names = ", ".join(f"'{usage}'" for usage in USAGES)
        raise BadCommand(f"invalid choice: '{name}' (choose from {names})")
    return USAGES[near[0]]


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and _NEGATIVE.match(word) is None


def _refuse_misfits(usage: Usage, words: list[str]) -> None:
    if not words and usage.takes in (Takes.ONE, Takes.SOME):
        raise BadCommand("too few arguments")
    most = {Takes.NONE: 0, Takes.ONE: 1, Takes.ONE_OR_NONE: 1}.get(usage.takes, len(words))
    if usage.name == "history" and words and read_int32(words[0]) is None:
        reason = f"could not convert '{words[0]}' to Integer (For input string: \"{words[0]}\")"
        raise BadCommand(f"argument {usage.word}: {reason}")
    if len(words) > most:
        raise BadCommand(f"unrecognized arguments: '{' '.join(words[most:])}'")
