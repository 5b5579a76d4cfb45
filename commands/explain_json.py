"""The document of `explain -o json`, and its rows in CSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kraftool.decoders.json_marks import Hidden, in_json
from kraftool.decoders.kinds import FileKind
from kraftool.reports.explain.rows import Rest, Row, SeenRows
from kraftool.reports.text.json_form import form


@dataclass(frozen=True, slots=True, kw_only=True)
class RowObject:
    """Bytes of the file, and what they are."""

    position: int
    """Of the first byte, in the file."""
    size: int
    depth: int
    """The nesting depth of the row."""
    is_group: bool
    """A heading over the deeper rows behind it, without bytes of its own."""
    field: str
    """The path of the field, as in records[0].value.voters[1].host."""
    type: str
    """The type on disk; that of a length or a count in parentheses."""
    value: Any
    """A text, a number or a truth; null for bytes, for a null length and for raw bytes."""
    hex: str | None
    """The bytes; null for a group and for a secret, cut for a long stretch of raw bytes."""
    note: str | None
    """The meaning of the value."""
    reason: str | None
    """The problem with these bytes."""
    is_secret: bool
    """True if the bytes are withheld; --show-secrets shows them."""
    is_marked: bool
    """True if this is what --position or --offset asked for."""


@form
def row_object(row: Row) -> RowObject:
    return RowObject(
        position=row.position,
        size=row.size,
        depth=row.depth,
        is_group=row.group,
        field=_text(row.field),
        type=row.type,
        value=_value(row.value),
        hex=None if row.secret or row.group else row.data.hex(),
        note=row.note or None,
        reason=row.problem or None,
        is_secret=row.secret,
        is_marked=row.marked,
    )


def _value(value: Any) -> Any:
    if isinstance(value, bytes):
        return None
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    """Text of the file, in which bytes that are no UTF-8 can stand anywhere: they are in `hex`."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainDocument:
    """A file byte by byte. The lines that are no group tile the bytes from the first one's position
    on: each byte belongs to one of them."""

    file: str
    kind: FileKind
    """As --as takes it."""
    size: int
    """Of the whole file."""
    lines: Iterator[Row]
    seen: Hidden[SeenRows]

    @property
    @in_json
    def rest(self) -> Rest | None:
        """null at the end of the file."""
        return self.seen.rest

    @property
    def rows(self) -> Iterator[Row]:
        return self.lines
