"""The rows of an annotated file: every byte with its field, type and value.

Owns the values, and the step from spans of the reference description to rows. It refuses to hold
a byte that may not be shown: a secret's row knows its size only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kraftool.decoders.errors import DecodeError
from kraftool.decoders.spec import Span
from kraftool.reports.text.times import utc

RAW = "raw bytes"
RAW_SHOWN = 256
"""Of a stretch that nobody can read, the first bytes tell as much as all."""

ZEROS_SHOWN = 8

ReadAt = Callable[[int, int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Bytes of a file and what they are.

    The rows that are no group tile what is explained: each byte belongs to one of them. A group
    is a heading over the rows behind it that are deeper, without bytes of its own. `data` holds
    the bytes; it is empty where they are secret, and shorter than `size` in a long raw stretch.
    """

    position: int
    size: int
    data: bytes = b""
    field: str = ""
    type: str = ""
    value: Any = None
    note: str = ""
    problem: str = ""
    depth: int = 0
    group: bool = False
    secret: bool = False
    marked: bool = False

    @property
    def end(self) -> int:
        return self.position + self.size

    def holds(self, position: int | None) -> bool:
        return position is not None and self.position <= position < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The place at which the rows stop before the end of the file, and the number of bytes that
    follow."""

    position: int
    size: int


class SeenRows(Iterator[Row]):
    """Rows as they pass, how many have a problem, and what follows them."""

    def __init__(self, rows: Iterator[Row | Rest]) -> None:
        self.problems = 0
        self.rest: Rest | None = None
        self._rows = rows
        self._ahead = next(rows, None)  # raises before anything is written

    def __next__(self) -> Row:
        row, self._ahead = self._ahead, None
        row = next(self._rows, None) if row is None else row
        if isinstance(row, Rest):
            self.rest = row
        if not isinstance(row, Row):
            raise StopIteration
        self.problems += bool(row.problem)
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainRequest:
    """The part to explain: from the start, or what contains a position or an offset.

    `units` says how many batches or entries; None leaves it to the kind of file, 0 is all.
    """

    position: int | None = None
    offset: int | None = None
    units: int | None = None
    show_secrets: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBytes:
    """Bytes in memory, and where in the file they begin."""

    data: bytes
    base: int

    def row(self, start: int, end: int, **facts: Any) -> Row:
        """The row of the bytes from `start` to `end`, both as positions in the stretch."""
        bare = facts.get("secret") or facts.get("group")
        data = b"" if bare else self.data[start:end]
        return Row(position=self.base + start, size=end - start, data=data, **facts)

    def raw(self, start: int, end: int, *, hidden: bool, **facts: Any) -> Iterator[Row]:
        """The row of bytes that nobody can read: none if there are none, zeros always shown."""
        if start >= end:
            return
        zeros = self.data.count(0, start, end) == end - start
        shown = self.data[start : min(end, start + (ZEROS_SHOWN if zeros else RAW_SHOWN))]
        secret = hidden and not zeros
        yield Row(
            position=self.base + start,
            size=end - start,
            data=b"" if secret else shown,
            type=RAW,
            value="zeros" if zeros else None,
            secret=secret,
            **facts,
        )


NO_NOTES: Mapping[str, str] = {}


def is_open(_: Span) -> bool:
    """The judgement on a span of a message that has no secrets."""
    return False


def span_rows(
    stretch: FileBytes,
    spans: Iterable[Span],
    *,
    depth: int,
    path: str = "",
    notes: Mapping[str, str] = NO_NOTES,
    is_secret: Callable[[Span], bool] = is_open,
    mask: str = "",
) -> Iterator[Row]:
    """The rows of spans, groups before their parts. `notes` are by the span's own path."""
    waiting = [(span, depth) for span in reversed(list(spans))]
    while waiting:
        span, level = waiting.pop()
        field = joined(path, span.path)
        if span.parts:
            yield stretch.row(
                span.start, span.end, field=field, type=span.type, depth=level, group=True
            )
            waiting += [(part, level + 1) for part in reversed(span.parts)]
            continue
        secret = is_secret(span)
        yield stretch.row(
            span.start,
            span.end,
            field=field,
            type=span.type,
            value=mask if secret else span.value,
            note="" if secret else notes.get(span.path, ""),
            depth=level,
            secret=secret,
        )


def joined(path: str, below: str) -> str:
    return f"{path}.{below}" if path and below else path or below


def sentence(error: DecodeError) -> str:
    """The reason of an error with both sides of the mismatch; the place is the row's."""
    if not error.expected and not error.found:
        return error.reason
    expected = f"expected {error.expected}" if error.expected else ""
    actual = f"found {error.found}" if error.found else ""
    return f"{error.reason} ({', '.join(side for side in (expected, actual) if side)})"


def with_findings(rows: Iterable[Row], findings: Iterable[DecodeError]) -> Iterator[Row]:
    """Put each finding on the row that holds its position; those past the end on the last row."""
    waiting = sorted(findings, key=lambda finding: finding.position)
    last: Row | None = None
    for row in rows:
        if last is not None:
            yield last
        here = [sentence(finding) for finding in waiting if finding.position < row.end]
        if here and not row.group:
            waiting = [finding for finding in waiting if finding.position >= row.end]
            row = replace(row, problem="; ".join(filter(None, [row.problem, *here])))
        last = row
    if last is not None:
        behind = [sentence(finding) for finding in waiting]
        yield replace(last, problem="; ".join(filter(None, [last.problem, *behind])))


def marked(rows: Iterable[Row], position: int | None) -> Iterator[Row]:
    """Mark the row that holds the position."""
    for row in rows:
        yield replace(row, marked=True) if not row.group and row.holds(position) else row


def time_text(milliseconds: int) -> str:
    """A timestamp as UTC in ISO 8601; empty for one that no calendar holds."""
    text = utc(milliseconds, "%Y-%m-%dT%H:%M:%S")
    return f"{text}.{milliseconds % 1000:03}Z" if text else ""
