"""What is true of every report at every width: no line too long, no word and no command broken."""

from __future__ import annotations

import re
from collections.abc import Callable

WIDTHS = (80, 120, 200)
WHOLE = 20_000
"""So wide that nothing is wrapped."""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DRAWN = re.compile(r"[█▁-▇━─│├└┌┐·]+")
"""Bars and separators, which are as long as there is room."""
_TIME = re.compile(r"(\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z?)")
"""A narrow table leaves out the fraction of a second."""


def plain(report: str) -> list[str]:
    """Return the lines of a report without their colours."""
    return ESCAPE.sub("", report).splitlines()


def assert_wrapped(report: Callable[[int], str]) -> None:
    """Compare a report at each width with the same one on an endless line."""
    whole = plain(report(WHOLE))
    assert whole
    for columns in WIDTHS:
        lines = plain(report(columns))
        assert not [line for line in lines if len(line) > columns and not _unbreakable(line)]
        assert not _words(lines) - _words(whole), columns
        assert _commands(lines) == _commands(whole)


def _words(lines: list[str]) -> set[str]:
    words = {word for line in lines for word in _TIME.sub(r"\1\3", line).split()}
    return {word for word in words if not _DRAWN.fullmatch(word)}


def _unbreakable(line: str) -> bool:
    """A command, or one word beside a mark, a label or a number."""
    return line.lstrip().startswith("$ ") or len(line.split()) <= 2


def _commands(lines: list[str]) -> set[str]:
    return {line.strip() for line in lines if line.lstrip().startswith("$ ")}
