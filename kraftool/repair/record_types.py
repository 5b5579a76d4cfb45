"""The types of records of a batch, for a survey: names and counts, no values."""

from __future__ import annotations

from collections import Counter

from kraftool.decoders import schema
from kraftool.decoders.batch import HEADER_SIZE, RecordBatch
from kraftool.decoders.control import BY_ID, read_key
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import read_frame
from kraftool.repair.plan import RecordCount
from kraftool.reports.logs.reader import NOOP_BATCH

NOOP = "NO_OP_RECORD"
_FRAME = 3
"""Bytes of the frame of nearly all records: three varints of one byte each."""


def types_of(batch: RecordBatch) -> Counter[str]:
    """Return how many records of each type; what cannot be told is `?`."""
    if batch.header.record_count == 1 and batch.data[HEADER_SIZE:] == NOOP_BATCH:
        return Counter({NOOP: 1})
    counts: Counter[str] = Counter()
    names: dict[bytes, str] = {}
    try:
        for record in batch.shared_records():
            head = record.key if batch.is_control else record.value
            frame = head[:_FRAME] if head is not None else b""
            name = names.get(frame)
            if name is None:
                name = _type(head, batch.is_control)
                if len(frame) == _FRAME and frame.isascii() and not batch.is_control:
                    names[frame] = name
            counts[name] += 1
    except KraftoolError:
        counts["?"] += 1
    return counts


def _type(head: bytes | None, is_control: bool) -> str:
    if is_control:
        kind = BY_ID.get(read_key(head))
        return kind.label if kind is not None else "?"
    if head is None:
        return "?"
    message = schema.metadata_record(read_frame(head)[0])
    return schema.record_type(message.name) if message is not None else "?"


def counted(types: Counter[str]) -> tuple[RecordCount, ...]:
    """The most frequent first."""
    ordered = sorted(types.items(), key=lambda type_count: (-type_count[1], type_count[0]))
    return tuple(RecordCount(type=name, count=count) for name, count in ordered)
