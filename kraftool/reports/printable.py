"""Text from data, made safe to show on a terminal.

Owns which characters could act on one: control characters, and those that reorder text. They are
shown as escapes.
"""

from __future__ import annotations

import re

UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_LINE_BREAKS = re.compile("[\t\n]")


def escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def printable(text: str) -> str:
    """Text from data, with everything that could act on a terminal shown as an escape."""
    return _LINE_BREAKS.sub(escape, UNSAFE.sub(escape, text))
