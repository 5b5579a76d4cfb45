"""Shell completion: the commands, options and values that a shell offers while you type.

Owns the answer to a shell that completes. It imports neither typer nor a command: what there is
is in `generated/completion_table.py`, which is made of the commands. Words that it does not know
are answered with nothing, so that the shell offers files.

The shells' scripts are typer's (`--show-completion`), and so is what they pass and expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kraftool.commands.command_table import commands_below
from kraftool.commands.generated.completion_table import COMMANDS

VARIABLE = "_KRAFTOOL_COMPLETE"


class Offer(NamedTuple):
    """A word that may come next, and what it is for."""

    word: str
    purpose: str = ""


class ShellAnswer(NamedTuple):
    """The text that the shell reads, and the exit code, which only fish looks at."""

    text: str
    code: int = 0


def answer(variables: Mapping[str, str]) -> ShellAnswer | None:
    """Return the answer for the shell that set these variables; None if typer has to say it."""
    shell = variables[VARIABLE].removeprefix("complete_")
    if shell not in _SHELLS or "complete_" not in variables[VARIABLE]:
        return None
    if shell == "bash":
        words = split(variables.get("COMP_WORDS", ""))
        at = int(variables.get("COMP_CWORD", "0"))
        before, begun = words[1:at], words[at] if at < len(words) else ""
    else:
        line = variables.get("_TYPER_COMPLETE_ARGS", "")
        before, begun = split(line)[1:], ""
        if shell in ("powershell", "pwsh"):
            begun = variables.get("_TYPER_COMPLETE_WORD_TO_COMPLETE", "")
            before = before[:-1] if begun else before
        elif before and not line.endswith(" "):
            begun = before.pop()
    return _SHELLS[shell](offers(before, begun), variables)


def split(line: str) -> list[str]:
    """Return the words of a command line whose last quote may still be open."""
    import shlex

    reader = shlex.shlex(line, posix=True)
    reader.whitespace_split = True
    reader.commenters = ""
    words: list[str] = []
    try:
        words.extend(iter(reader.get_token, None))
    except ValueError:
        words.append(reader.token)
    return words


def offers(before: Sequence[str], begun: str) -> list[Offer]:
    """Return what may stand after these words, and begins as the last one does."""
    words = [word for word in before if word != "="]
    if begun == "=":
        begun = ""
    if words[:1] == ["help"]:
        return _begin(_commands(tuple(words[1:])), begun)
    path, given, waiting, is_after_dashes = _read(words)
    if path is None:
        return []
    if waiting:
        return _begin(_values(path, waiting), begun)
    if begun.startswith("-") and not is_after_dashes:
        name, equals, value = begun.partition("=")
        if equals:
            return [Offer(f"{name}={offer.word}") for offer in _begin(_values(path, name), value)]
        return _begin(_options(path, given), begun)
    helping = [] if path else [Offer("help", "Explain a command")]
    return _begin([*_commands(path), *helping], begun)


def _begin(all_offers: Sequence[Offer], begun: str) -> list[Offer]:
    return [offer for offer in all_offers if offer.word.startswith(begun)]


def _commands(path: tuple[str, ...]) -> list[Offer]:
    return [Offer(name, summary) for name, summary in commands_below(path).items()]


def _read(words: Sequence[str]) -> tuple[tuple[str, ...] | None, set[str], str, bool]:
    """Return the command that the words name, its options so far, and the one without its value.

    The last says if options can follow no more.
    """
    path: tuple[str, ...] = ()
    given: set[str] = set()
    waiting = ""
    is_after_dashes = False
    for word in words:
        if waiting:
            waiting = ""
        elif word == "--":
            is_after_dashes = True
        elif word.startswith("-") and not is_after_dashes:
            name = word.partition("=")[0]
            given.add(name)
            waiting = name if name == word and _takes_value(path, name) else ""
        elif commands_below(path):
            if word not in commands_below(path):
                return None, given, "", is_after_dashes
            path, given = (*path, word), set()
    return path, given, waiting, is_after_dashes


def _takes_value(path: tuple[str, ...], name: str) -> bool:
    return any(name in names and values is not None for names, _, values, _ in _table(path))


def _values(path: tuple[str, ...], name: str) -> list[Offer]:
    return [
        Offer(value)
        for names, _, values, _ in _table(path)
        if name in names
        for value in values or ()
    ]


def _options(path: tuple[str, ...], given: set[str]) -> list[Offer]:
    return [
        Offer(name, help_text)
        for names, help_text, _, is_repeated in _table(path)
        if is_repeated or not given.intersection(names)
        for name in names
    ]


Row = tuple[tuple[str, ...], str, tuple[str, ...] | None, bool]
"""An option: its names, its help, its values (None for a flag, none for any word), if it may be
given again."""


def _table(path: tuple[str, ...]) -> tuple[Row, ...]:
    return COMMANDS[" ".join(path)]


def _for_bash(choices: list[Offer], variables: Mapping[str, str]) -> ShellAnswer:
    return ShellAnswer("\n".join(offer.word for offer in choices))


def _for_zsh(choices: list[Offer], variables: Mapping[str, str]) -> ShellAnswer:
    if not choices:
        return ShellAnswer("_files")
    lines = [
        f'"{_quoted(word)}":"{_quoted(purpose)}"' if purpose else f'"{_quoted(word)}"'
        for word, purpose in choices
    ]
    return ShellAnswer("_arguments '*: :((" + "\n".join(lines) + "))'")


def _quoted(text: str) -> str:
    for char, escaped in (('"', '""'), ("'", "''"), ("$", "\\$"), ("`", "\\`"), (":", r"\\:")):
        text = text.replace(char, escaped)
    return text


def _for_fish(choices: list[Offer], variables: Mapping[str, str]) -> ShellAnswer:
    action = variables.get("_TYPER_COMPLETE_FISH_ACTION", "")
    if action == "is-args":
        return ShellAnswer("", 0 if choices else 1)
    if action != "get-args":
        return ShellAnswer("")
    return ShellAnswer(
        "\n".join(f"{word}\t{purpose}" if purpose else word for word, purpose in choices)
    )


def _for_powershell(choices: list[Offer], variables: Mapping[str, str]) -> ShellAnswer:
    return ShellAnswer("\n".join(f"{word}:::{purpose or ' '}" for word, purpose in choices))


_SHELLS = {
    "bash": _for_bash,
    "zsh": _for_zsh,
    "fish": _for_fish,
    "powershell": _for_powershell,
    "pwsh": _for_powershell,
}
