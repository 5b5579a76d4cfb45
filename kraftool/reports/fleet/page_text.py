"""Data as text of a page: escaped, with what cannot be seen made visible, and numbers for people.

Owns the only way in which a value gets into the page. It refuses to let data be markup, and to let
it reorder or hide the text around it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import escape

from kraftool.reports.text import words
from kraftool.reports.text.times import utc

__all__ = [
    "NOTHING",
    "age",
    "clipped",
    "command",
    "count",
    "counted",
    "dash",
    "data",
    "path",
    "short",
    "shortened",
    "size",
    "time",
    "unique_tails",
    "visible",
]

NOTHING = "\N{EN DASH}"
"""Stands where there is no value, so that a missing number never looks like a zero."""

_BREAKS = re.compile(r"(?<=[^/][/=,;&])(?=[^\s/])")
_OPTION = re.compile(r"--?[\w-]{1,40}\Z")
LONGEST_COMMAND = 2000
_SECOND = 1000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY
_UNITS = ((_YEAR, "y"), (_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (_SECOND, "s"))


def visible(text: str) -> str:
    """Text with every character that is not printed as itself shown as an escape.

    Control characters, what turns the direction of writing, what has no width and lone surrogates
    (file names that are no UTF-8, which could not be written to a file either).
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escaped(character) for character in text
    )


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def data(value: object) -> str:
    """A value from data as text or attribute of HTML and SVG."""
    return escape(visible(str(value)), quote=True)


def path(value: str) -> str:
    """A path or URL as HTML that may be broken into lines where a part of it ends."""
    return "<wbr>".join(data(part) for part in _BREAKS.split(visible(value)))


def unique_tails(paths: Mapping[str, str]) -> dict[str, str]:
    """The end of each path by which people know it: as many folders as no other path ends with.

    A path that several names have, or that another one ends with, is left out.
    """
    tails: dict[str, str] = {}
    left = {name: [part for part in path.split("/") if part] for name, path in paths.items()}
    count = 0
    while left:
        count += 1
        tail_of = {name: "/".join(parts[-count:]) for name, parts in left.items()}
        times = Counter(tail_of.values())
        tails |= {name: tail for name, tail in tail_of.items() if tail and times[tail] == 1}
        left = {
            name: parts
            for name, parts in left.items()
            if times[tail_of[name]] > 1 and count < len(parts)
        }
    return tails


def shortened(text: str, most: int) -> str:
    """Text of at most so many characters; the middle is left out, since names differ at ends."""
    text = visible(text)
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[head + 1 - most :]}"


def clipped(text: str, most: int) -> str:
    """The beginning of a long text as HTML, with how much was left out."""
    if len(text) <= most:
        return data(text)
    return f'{data(text[:most])}<span class="q">… and {len(text) - most:,} more characters</span>'


def command(line: str) -> str:
    """A command line as HTML in which no option is broken where its hyphens are."""
    if len(line) > LONGEST_COMMAND:
        # A part of a command must not look like one that can be run.
        return f'<span class="q">a command of {len(line):,} characters</span>'
    return " ".join(
        f'<span class="r">{data(word)}</span>' if _OPTION.match(word) else data(word)
        for word in line.split(" ")
    )


def count(number: int | None) -> str:
    """A whole number with its thousands apart."""
    return NOTHING if number is None else f"{number:,}"


def short(number: int) -> str:
    """A large whole number in few digits, where there is no room for more."""
    for limit, unit in ((10**9, "G"), (10**6, "M"), (10**5, "k")):
        if number >= limit:
            unit_size = 1000 if unit == "k" else limit
            return f"{number / unit_size:.3g} {unit}"
    return count(number)


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def size(number: float | None) -> str:
    """Bytes as all of kraftool writes them."""
    return NOTHING if number is None else words.size(round(number))


def age(milliseconds: float | None) -> str:
    """A length of time in its largest two units; one that is negative lies ahead."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < 0:
        return f"{age(-milliseconds)} ahead"
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    whole = int(milliseconds)
    first = next(at for at, (length, _) in enumerate(_UNITS) if whole >= length)
    parts = []
    for length, unit in _UNITS[first : first + 2]:
        many, whole = divmod(whole, length)
        parts += [f"{many:,} {unit}"] if many else []
    return " ".join(parts)


def time(timestamp: int | None) -> str:
    """A time in epoch milliseconds as UTC; the number itself where it is no date."""
    if timestamp is None or timestamp < 0:
        return NOTHING
    text = utc(timestamp)
    return f"{text}Z" if text else f"{timestamp} ms"


def dash(value: object) -> str:
    """A value from data, or a dash where there is none."""
    return NOTHING if value is None or value == "" else data(value)
