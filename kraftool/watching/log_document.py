"""The rows of a log that are shown, as JSON and CSV have them. They hold no secret, so that none is
left out here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kraftool.decoders.json_marks import Moment
from kraftool.reports.browse.feed import RowRange
from kraftool.reports.browse.rows import Border, LogRow, RowKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """A row of a log."""

    kind: RowKind
    offset: int | None
    epoch: int | None
    timestamp: Moment | None
    position: int
    file: str
    border: Border
    is_control: bool
    is_valid: bool
    transaction: str | None
    type: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLog:
    """The part of a log that is at hand, with what it was asked for."""

    view: Literal["log"] = "log"
    path: str = ""
    start_offset: int | None = None
    end_offset: int | None = None
    high_watermark: int | None = None
    filter: str | None = None
    shown: tuple[ShownRow, ...] = ()

    @property
    def rows(self) -> tuple[ShownRow, ...]:
        return self.shown


def log_view(path: str, stretch: RowRange, high_watermark: int | None) -> ShownLog:
    return ShownLog(
        path=path,
        start_offset=stretch.extent.start_offset,
        end_offset=stretch.extent.end_offset,
        high_watermark=high_watermark,
        filter=stretch.query.text or None,
        shown=tuple(_row(row) for row in stretch.rows),
    )


def _row(row: LogRow) -> ShownRow:
    return ShownRow(
        kind=row.kind,
        offset=row.offset,
        epoch=row.epoch,
        timestamp=row.timestamp,
        position=row.position,
        file=row.file,
        border=row.border,
        is_control=row.is_control,
        is_valid=row.is_valid,
        transaction=row.transaction or None,
        type=row.label,
        what=row.text,
    )
