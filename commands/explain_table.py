"""The layout of an annotated file: rows as lines of a table that fits 80 columns.

Owns the layout of `kraftool explain`. Rows are written as they come, so that a file of any size
needs no more memory than one batch of it. It refuses to decide what is secret: that came with
the rows.
"""

from __future__ import annotations

import re
import textwrap
from itertools import zip_longest
from typing import TYPE_CHECKING

from kraftool.commands.output import Output, printable
from kraftool.reports.explain.annotation import Row

if TYPE_CHECKING:
    from collections.abc import Iterable

BYTES_A_LINE = 8
_HEX = 19
_FIELD, _WIDEST_FIELD = 27, 44
_NARROWEST_VALUE = 12
_PREFIX = re.compile(r"(length|count|tag|size|present) \((\w+)\)")
_WHOLE_NAMES = ("property", "JSON member", "line")
"""Rows whose field is a name that may have dots, and no path."""
_SHORT = {
    "JSON member": "JSON",
    "unknown tagged field": "unknown",
    "property": "pair",
    "epoch startOffset": "entry",
    "topic partition offset": "entry",
}


def write_table(to: Output, rows: Iterable[Row], size: int) -> None:
    """Write the rows of a file of this size."""
    layout = ExplainTable(to, size)
    for row in rows:
        layout.write(row)


class ExplainTable:
    """Lines of fixed columns: position, bytes, field with its type, value."""

    def __init__(self, to: Output, size: int) -> None:
        self.to = to
        self.position_width = max(len(str(size)), 6)
        # What a wide terminal has to spare goes to the field first, then to the value.
        left = to.width - (1 + self.position_width + 1 + _HEX + 1) - 1
        self.field_width = min(max(left - 24, _FIELD), _WIDEST_FIELD)
        self.value_width = max(left - self.field_width, _NARROWEST_VALUE)
        self._headed = False

    def write(self, row: Row) -> None:
        if not self._headed:
            self._head()
        if row.group:
            self._group(row)
        else:
            self._primitive(row)
        if row.problem:
            self._problem(row)

    def _head(self) -> None:
        self._headed = True
        line = (
            f" {'at':>{self.position_width}} {'bytes':{_HEX}} {self._named('field', 'type')} value"
        )
        self.to.line(self.to.style(line, "quiet"))

    def _start(self, row: Row) -> str:
        start = f"{'>' if row.marked else ' '}{row.position:>{self.position_width}}"
        return self.to.style(start, "warn" if row.marked else "quiet")

    def _group(self, row: Row) -> None:
        indent = " " * (row.depth + _HEX + 2)
        name = printable(_last(row))
        words = "" if row.type in ("struct", "record", name) else printable(row.type)
        rest = "  ".join(part for part in (words, printable(row.note)) if part)
        room = self.to.width - 1 - self.position_width - len(indent) - len(name) - 2
        self.to.line(
            f"{self._start(row)}{indent}{self.to.style(name, 'batch')}"
            f"  {self.to.style(_cut(rest, room), 'quiet')}".rstrip()
        )

    def _named(self, name: str, kind: str) -> str:
        """The column of a field: its name at the left, its type at the right."""
        gap = " " * (self.field_width - len(name) - len(kind))
        return f"{self.to.style(name, 'key')}{gap}{self.to.style(kind, 'type')}"

    def _names(self, row: Row) -> list[tuple[str, str]]:
        """The field and its type, a line each; what is wider than the column is beside no value."""
        field, kind = _last(row), row.type
        prefix = _PREFIX.fullmatch(kind)
        if prefix is not None:
            # A tagged section that is empty is nothing but its count.
            field = field if field == "taggedFields" else f"{field} {prefix[1]}"
            kind = prefix[2]
        kind = _SHORT.get(kind, kind)
        if not field:
            field, kind = kind, ""
        indent = " " * min(row.depth, 8)
        most = self.field_width + self.value_width - len(indent)
        first, *more = _wrap_names(printable(field), self.field_width - len(indent), most)
        lines = [(indent + first, kind), *((indent + name_part, "") for name_part in more)]
        if kind and len(indent + first) + 1 + len(kind) > self.field_width:
            lines = [(name, "") for name, _ in lines] + [("", kind)]
        return lines

    def _primitive(self, row: Row) -> None:
        empty = " " * (1 + self.position_width)
        names, values = self._names(row), self._values(row)
        below = [""] * sum(len(name) > self.field_width for name, _ in names)
        lines = zip_longest(_hex_lines(row), names, [*below, *values])
        for number, (digits, name, value) in enumerate(lines):
            start = empty if number else self._start(row)
            column = self._named(*(name or ("", "")))
            self.to.line(f"{start} {digits or '':{_HEX}} {column} {value or ''}".rstrip())

    def _values(self, row: Row) -> list[str]:
        """The value, and behind or below it the note."""
        if row.data and (isinstance(row.value, bytes) or _is_raw(row)):
            return [_ascii(line) for line in _chunks(row.data)]
        lines = _wrap(value_text(row), self.value_width)
        styled = [self.to.style(line, "quiet") for line in lines] if row.secret else lines
        note = printable(row.note)
        if not note:
            return styled
        if len(lines[-1]) + 1 + len(note) <= self.value_width:
            return [*styled[:-1], f"{styled[-1]} {self.to.style(note, 'quiet')}"]
        return [*styled, *(self.to.style(line, "quiet") for line in _wrap(note, self.value_width))]

    def _problem(self, row: Row) -> None:
        indent = " " * (1 + self.position_width + 1)
        lines = _wrap(f"! {printable(row.problem)}", self.to.width - len(indent))
        for line in lines:
            self.to.line(indent + self.to.style(line, "bad"))


def value_text(row: Row) -> str:
    """A value as text on one line, safe for a terminal."""
    value = row.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "" if row.secret else "null"
    if isinstance(value, str) and row.type == "string" and not row.secret:
        return f'"{printable(value)}"'
    return printable(str(value))


def _last(row: Row) -> str:
    """The last name of the row's path; `a.b[2]` is `b[2]`."""
    if row.type in _WHOLE_NAMES:
        return row.field
    above, _, name = row.field.rpartition(".")
    # Entries of an index have no heading that would number them.
    return f"[{above[8:-1]}] {name}" if above.startswith("entries[") else name


def _is_raw(row: Row) -> bool:
    """True if the bytes have no value of their own: null is the value of a length."""
    return row.value is None and _PREFIX.fullmatch(row.type) is None


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(room - 1, 0)] + "…"


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 4), break_on_hyphens=False) or [""]


def _wrap_names(text: str, width: int, most: int) -> list[str]:
    """Wrap at blanks. A name is broken only if it is wider than the field and value columns."""
    is_short = all(len(word) <= most for word in text.split())
    lines = textwrap.wrap(text, width, break_long_words=not is_short, break_on_hyphens=False)
    return lines or [""]


def _chunks(data: bytes) -> list[bytes]:
    return [data[at : at + BYTES_A_LINE] for at in range(0, len(data), BYTES_A_LINE)]


def _hex_lines(row: Row) -> list[str]:
    if row.secret:
        shown = " ".join(["****"] * min((row.size + 1) // 2, 4))
        return [shown, f"{row.size} bytes hidden"] if row.size > BYTES_A_LINE else [shown]
    lines = [
        " ".join(line[at : at + 2].hex() for at in range(0, len(line), 2))
        for line in _chunks(row.data)
    ]
    if row.size > len(row.data):
        lines.append(f"… {row.size - len(row.data)} more")
    return lines


def _ascii(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)
