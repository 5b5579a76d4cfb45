"""Rows as CSV.

Owns the form of a cell: true, false and objects as in JSON, an empty cell for an unknown value, and
a quote (') before a value that a spreadsheet would take for a formula. A document's property `rows`
has the rows; their columns are the members that JSON has.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

import orjson

from kraftool.reports.text.json_document import json_value, known_type, members, twin_name
from kraftool.reports.text.json_form import form_hint
from kraftool.reports.text.printable import file_text

_END = "\r\n"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


Column = tuple[str, ...]
"""The names that lead to a value from the row's object."""


def csv_document(document: Any) -> Iterator[str]:
    """A document's rows under their headings, in pieces."""
    return (csv_text([csv_row]) for csv_row in csv_rows(document))


def csv_rows(document: Any) -> Iterator[Sequence[object]]:
    """The headings of a document's rows, and then the rows."""
    kind: Any = type(document)
    (row,) = get_args(get_type_hints(kind.rows.fget)["return"])[:1]
    columns = tuple(_columns(row))
    yield [_heading(column) for column in columns]
    for document_row in document.rows:
        made = json_value(document_row)
        yield [_at(made, column) for column in columns]


def _columns(kind: Any, owner: Column = ()) -> Iterator[Column]:
    """The plain members, those of objects within, and lists of plain values."""
    for member in members(form_hint(kind)):
        hint = form_hint(known_type(member.hint))
        inner = [form_hint(arg) for arg in get_args(hint) if arg is not Ellipsis]
        if _is_object(hint):
            yield from _columns(hint, (*owner, member.name))
        elif not any(_is_object(inner_hint) for inner_hint in inner):
            yield (*owner, member.name)
            if member.is_moment:
                yield (*owner, twin_name(member))


def _is_object(hint: Any) -> bool:
    return is_dataclass(hint) or hasattr(hint, "_fields")


def _heading(column: Column) -> str:
    first, *others = column
    return first + "".join(other[0].upper() + other[1:] for other in others)


def _at(made: Any, column: Column) -> object:
    for name in column:
        if made is None:
            return None
        made = made[name]
    if isinstance(made, list):
        return " ".join(str(member) for member in made)
    return orjson.dumps(made).decode() if isinstance(made, dict) else made


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    lines = _Lines()
    csv.writer(lines, lineterminator=_END).writerows([_cell(cell) for cell in row] for row in rows)
    return "".join(lines)


class _Lines(list[str]):
    r"""Takes lines that end with \r\n, and has them with \n.

    The writer quotes of these two characters only the ones that end its lines.
    """

    def write(self, line: str) -> None:
        self.append(line.removesuffix(_END) + "\n")


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = file_text(value)
    return "'" + text if text.startswith(_FORMULA) else text
