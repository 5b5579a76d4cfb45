"""kafka-dump-log's text for the files beside a segment: indexes and producer snapshots.

Owns the exact lines. Kafka takes an entry of relative offset 0 for the end of a preallocated index
unless it is the first, and a producer snapshot that it would delete has no lines at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, takewhile
from typing import TypeVar

from kraftool.decoders import indexes, producer_state
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.java_text import INT32_MAX, wrap_int32, wrap_int64
from kraftool.decoders.names import parse_segment_name

_Entry = TypeVar("_Entry", indexes.OffsetPosition, indexes.TimestampOffset)


def kafka_side_file(file: str, data: bytes) -> tuple[str, tuple[DecodeError, ...]]:
    """The lines for an index or producer snapshot, after `Dumping …`, and what is wrong with it."""
    parsed = parse_segment_name(file.rpartition("/")[2])
    base = parsed.base_offset if parsed is not None else 0
    suffix = "." + file.rpartition(".")[2]
    lines: list[str] = []
    if suffix == ".index":
        offsets, findings = indexes.decode_offset_index(data, base)
        whole = replace(offsets, data=_whole(data, indexes.OFFSET_ENTRY_SIZE))
        lines = [
            f"offset: {wrap_int64(position.offset)} position: {position.position}"
            for position in _used(whole.entries(), base)
        ]
        if not whole.data:
            lines = [f"{file} is empty."]
    elif suffix == ".timeindex":
        times, findings = indexes.decode_time_index(data, base)
        all_times = replace(times, data=_whole(data, indexes.TIME_ENTRY_SIZE))
        lines = [
            f"timestamp: {offset.timestamp} offset: {wrap_int64(offset.offset)}"
            for offset in _used(all_times.entries(), base)
        ]
    elif suffix == ".txnindex":
        aborted, findings = indexes.decode_transaction_index(data, base)
        # Kafka writes the version as an int16 and reads only its upper byte.
        lines = [
            f"version: {entry.version >> 8} producerId: {entry.producer_id}"
            f" firstOffset: {entry.first_offset} lastOffset: {entry.last_offset}"
            f" lastStableOffset: {entry.last_stable_offset}"
            for entry in aborted.entries()
        ]
    else:
        state, findings = producer_state.decode(data)
        lines = [_producer(entry) for entry in state.entries] if state.accepted else []
    return "".join(f"{line}\n" for line in lines), findings


def _whole(data: bytes, size: int) -> bytes:
    """The whole entries of an index, with those of the preallocated space."""
    return data[: len(data) // size * size]


def _used(entries: Iterator[_Entry], base: int) -> Iterator[_Entry]:
    """The first entry, and the others up to where Kafka sees preallocated space."""
    yield from islice(entries, 1)
    yield from takewhile(lambda timestamp_offset: timestamp_offset.offset != base, entries)


def _producer(entry: producer_state.ProducerStateEntry) -> str:
    first = entry.current_txn_first_offset
    line = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.epoch}"
        f" coordinatorEpoch: {entry.coordinator_epoch}"
        f" currentTxnFirstOffset: {'OptionalLong.empty' if first < 0 else f'OptionalLong[{first}]'}"
        f" lastTimestamp: {entry.timestamp}"
    )
    if entry.last_offset < 0:
        return line
    delta = entry.offset_delta
    first_sequence = entry.last_sequence - delta
    if first_sequence < 0:  # Kafka's sequences go on from 2^31 - 1 with 0
        first_sequence += INT32_MAX + 1
    return (
        f"{line} firstSequence: {wrap_int32(first_sequence)} lastSequence: {entry.last_sequence}"
        f" lastOffset: {entry.last_offset} offsetDelta: {delta} timestamp: {entry.timestamp}"
    )
