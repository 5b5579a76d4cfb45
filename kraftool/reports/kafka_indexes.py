"""kafka-dump-log's text for the files beside a segment: indexes and producer snapshots.

Owns the exact lines. Entries are printed up to the first zero one, where Kafka stops too.
"""

from __future__ import annotations

from kraftool.decoders import indexes, producer_state
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.names import parse_segment_name

SUFFIXES = (".index", ".timeindex", ".txnindex", ".snapshot")


def kafka_side_file(file: str, data: bytes) -> tuple[str, tuple[DecodeError, ...]]:
    """The lines for an index or producer snapshot, after `Dumping …`, and what is wrong with it."""
    parsed = parse_segment_name(file.rpartition("/")[2])
    base = parsed.base_offset if parsed is not None else 0
    suffix = "." + file.rpartition(".")[2]
    lines: list[str] = []
    if suffix == ".index":
        offsets, findings = indexes.decode_offset_index(data, base)
        lines = [f"offset: {each.offset} position: {each.position}" for each in offsets.entries()]
        if not data:
            lines = [f"{file} is empty."]
    elif suffix == ".timeindex":
        times, findings = indexes.decode_time_index(data, base)
        lines = [f"timestamp: {each.timestamp} offset: {each.offset}" for each in times.entries()]
    elif suffix == ".txnindex":
        aborted, findings = indexes.decode_transaction_index(data, base)
        lines = [
            f"version: {each.version} producerId: {each.producer_id}"
            f" firstOffset: {each.first_offset} lastOffset: {each.last_offset}"
            f" lastStableOffset: {each.last_stable_offset}"
            for each in aborted.entries()
        ]
    else:
        state, findings = producer_state.decode(data)
        lines = [_producer(each) for each in state.entries]
    return "".join(f"{line}\n" for line in lines), findings


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
    # Kafka counts sequences back with the wrap at 2^31 - 1.
    first_sequence = (entry.last_sequence - delta) % (1 << 31) if delta else entry.last_sequence
    return (
        f"{line} firstSequence: {first_sequence} lastSequence: {entry.last_sequence}"
        f" lastOffset: {entry.last_offset} offsetDelta: {delta} timestamp: {entry.timestamp}"
    )
