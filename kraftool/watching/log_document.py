"""The rows of a log that are shown, as JSON and CSV have them.

Owns the members. Rows hold no secret, so that none is left out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kraftool.reports.browse.feed import RowRange
from kraftool.reports.browse.rows import LogRow
from kraftool.reports.plain_json import plain

COLUMNS = (
    "kind", "offset", "epoch", "timestamp", "position", "file", "batch", "control", "valid",
    "transaction", "type", "text",
)  # fmt: skip


def log_document(path: str, stretch: RowRange, high_watermark: int | None) -> dict[str, Any]:
    """What is at hand of a log, with what it was asked for."""
    return {
        "schemaVersion": 1,
        "view": "log",
        "path": plain(path),
        "startOffset": stretch.extent.start_offset,
        "endOffset": stretch.extent.end_offset,
        "highWatermark": high_watermark,
        "filter": plain(stretch.query.text) or None,
        "rows": [dict(zip(COLUMNS, log_cells(each), strict=True)) for each in stretch.rows],
    }


def log_table(stretch: RowRange) -> Iterator[tuple[object, ...]]:
    """The same rows below their headings."""
    yield COLUMNS
    for each in stretch.rows:
        yield log_cells(each)


def log_cells(row: LogRow) -> tuple[Any, ...]:
    return (
        row.kind.value,
        row.offset,
        row.epoch,
        row.timestamp,
        row.position,
        plain(row.file),
        row.border.value,
        row.is_control,
        row.is_valid,
        row.transaction or None,
        plain(row.label),
        plain(row.text),
    )
