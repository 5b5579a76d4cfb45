"""The types of records of a batch, for a survey: names and counts, no values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kraftool.decoders import fast_path, schema
from kraftool.decoders.batch import HEADER_SIZE, NOOP_BATCH, RecordBatch
from kraftool.decoders.control import BY_ID, read_key
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import read_frame
from kraftool.repair.plan import RecordCount

NOOP = "NO_OP_RECORD"
_FRAME = 3
"""Bytes of the frame of nearly all records: three varints of one byte each."""
_FEW = 4
"""Python counts this many records as fast as the native module."""


def types_of(batch: RecordBatch) -> Counter[str]:
    """Return how many records of each type; what cannot be told is `?`."""
    if batch.header.record_count == 1 and batch.data[HEADER_SIZE:] == NOOP_BATCH:
        return Counter({NOOP: 1})
    plain = _plain_types(batch) if batch.header.record_count > _FEW else None
    if plain is not None:
        return plain
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


def _plain_types(batch: RecordBatch) -> Counter[str] | None:
    """Return the same if the native module can count the records."""
    if not fast_path.is_native():
        return None
    from kraftool.decoders._native import heads

    reached, _, _, _, totals = heads(batch.data, 0, batch.size, 1, True)
    return types_of_keys(totals) if reached == batch.size else None


def types_of_keys(totals: Iterable[tuple[int, int]]) -> Counter[str]:
    """Return how many records of each type there are, given how many of each api key."""
    types: Counter[str] = Counter()
    for api_key, count in totals:
        types[_type_of_key(api_key)] += count
    return types


def _type(head: bytes | None, is_control: bool) -> str:
    if is_control:
        kind = BY_ID.get(read_key(head))
        return kind.label if kind is not None else "?"
    return "?" if head is None else _type_of_key(read_frame(head)[0])


def _type_of_key(api_key: int) -> str:
    """Return the type of the records that have an api key; `?` if no record has it."""
    message = schema.metadata_record(api_key)
    return schema.record_type(message.name) if message is not None else "?"


def counted(types: Counter[str]) -> tuple[RecordCount, ...]:
    """The most frequent first."""
    ordered = sorted(types.items(), key=lambda type_count: (-type_count[1], type_count[0]))
    return tuple(RecordCount(type=name, count=count) for name, count in ordered)
