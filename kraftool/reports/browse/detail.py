"""One row of a log in full: what it decodes to, and its bytes with their meaning.

Owns which bytes belong to a row. Which of them may be shown came with `explain/log.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.log_record import LogRecord, decode_batch
from kraftool.decoders.walk import Faulty, Item, batch_of
from kraftool.reports.browse.rows import LogRow, RowKind
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.explain.log import explain_item
from kraftool.reports.explain.rows import ExplainRequest, Row
from kraftool.reports.logs.dump import masked
from kraftool.reports.text.words import many

MOST_ROWS = 2000
"""Of annotated bytes; a partition's record has about forty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """A row, opened."""

    row: LogRow
    facts: tuple[tuple[str, str], ...]
    """About the batch: what it is called, and what it says."""
    data: Any = None
    """Kafka's JSON form; None where it cannot be decoded, or is no record."""
    bytes: tuple[Row, ...] = ()

    def json_lines(self) -> list[str]:
        """The decoded form, indented."""
        if self.data is None:
            return []
        return json.dumps(self.data, indent=2, ensure_ascii=False).split("\n")


def detail(window: LogWindow, row: LogRow) -> Detail:
    """Open a row. One whose log has gone meanwhile has nothing but itself."""
    blocks = window.blocks
    if row.place.segment not in blocks.bases:
        return Detail(row=row, facts=())
    block = blocks.forward(row.place.segment, row.place.position)
    if not block.items:
        return Detail(row=row, facts=())
    item = block.items[0]
    read_at = blocks.source(row.place.segment).read_at
    rows = explain_item(read_at, item, ExplainRequest())
    record = None
    batch = batch_of(item)
    if row.kind is RowKind.RECORD and batch is not None:
        record = _record(batch, row.place.index)
        rows = _of_record(rows, batch, record)
    shown = record if record is None else masked(record)
    return Detail(
        row=row,
        facts=tuple(_facts(item)),
        data=shown.data if shown is not None else None,
        bytes=tuple(islice(rows, MOST_ROWS)),
    )


def _record(batch: RecordBatch, number: int) -> LogRecord | None:
    try:
        return next(islice(decode_batch(batch), number, None), None)
    except DecodeError:
        return None


def _of_record(rows: Iterator[Row], batch: RecordBatch, item: LogRecord | None) -> Iterator[Row]:
    """The rows of the record, of a batch's; all of them where records have no place in the file."""
    if item is None or batch.compression != "none":
        yield from rows
        return
    start = batch.position + item.record.position
    end = start + item.record.size
    for row in rows:
        if row.position >= end:
            return
        if row.position >= start:
            yield row


def _facts(item: Item) -> Iterator[tuple[str, str]]:
    if isinstance(item, Faulty):
        batch, crc = item.batch, f"WRONG, the bytes have {item.fault.expected}"
    else:
        batch, crc = item, "holds"
    if batch is None:
        assert isinstance(item, Faulty), "all else has a batch"
        yield "damage", f"{item.fault.kind}, {item.size} bytes at position {item.position}"
        return
    header = batch.header
    offsets = f"offset {batch.base_offset}"
    if batch.last_offset != batch.base_offset:
        offsets = f"offsets {batch.base_offset} to {batch.last_offset}"
    yield "batch", f"{offsets}, epoch {batch.epoch}"
    kind = "control batch" if batch.is_control else "batch"
    records = many(header.record_count, "record")
    yield "", f"{kind} of {item.size} bytes at position {item.position}, {records}"
    packing = batch.compression
    packed = "" if packing == "none" else f", compressed with {packing}"
    yield "", f"CRC {header.crc:08x} {crc}{packed}"
