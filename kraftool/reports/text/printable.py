"""Text from data, made safe to show on a terminal, and to carry in JSON and CSV.

Owns which characters could act on a terminal: control characters, and those that reorder text. They
are shown as escapes. In files it is bytes that are no text.
"""

from __future__ import annotations

import re

from kraftool.decoders.shown_names import shown

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_LINE_BREAKS = re.compile("[\t\n]")


def escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def printable(text: str) -> str:
    """Text from data, with everything that could act on a terminal shown as an escape."""
    return _LINE_BREAKS.sub(escape, UNSAFE.sub(escape, shown(text)))


def file_text(text: str) -> str:
    r"""A file name, or text that may hold one, as JSON and CSV can carry it.

    Bytes of a name that are not UTF-8 reach us as lone surrogates; they are written as \xff is.
    """
    if text.isascii():
        return text
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        raw = text.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "backslashreplace")
