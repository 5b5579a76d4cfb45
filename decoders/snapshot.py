"""A snapshot file's bytes, laid out as Kafka lays them out.

Owns the layout: a control batch with the header, and from kraft.version 1 on the version and the
voters; the records in batches; a control batch with the footer; offsets from 0, every batch in the
snapshot's epoch. It opens no file and chooses no name, and refuses voters below kraft.version 1, as
Kafka does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from kraftool.decoders import codec
from kraftool.decoders.batch import HEADER_SIZE, encode_batch
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.decoders.wire import varint

LARGEST_BATCH = 8 << 20
"""The size that Kafka lets a batch grow to (KafkaRaftClient.MAX_BATCH_SIZE_BYTES)."""
LIST_SIZE = 1024
"""So many records Kafka hands over at once (SnapshotEmitter); a batch ends only between lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFrame:
    """What a snapshot holds besides its records."""

    epoch: int
    """That of the last record which the snapshot covers; its name has it too."""
    last_contained_log_timestamp: int
    """When the leader appended that record."""
    timestamp: int
    """When the snapshot is written, in epoch milliseconds."""
    kraft_version: int = 0
    voters: codec.Value | None = None
    """A VotersRecord, from kraft.version 1 on."""


def encode_snapshot(
    records: Iterable[bytes],
    frame: SnapshotFrame,
    *,
    largest_batch: int = LARGEST_BATCH,
    list_size: int = LIST_SIZE,
) -> Iterator[bytes]:
    """The batches of a snapshot, one after the other, of records as `framing.encode_record` gives
    them. A list of records that no batch has room for is an EncodeError, as in Kafka."""
    header = _header(frame)
    yield encode_batch(
        header, base_offset=0, epoch=frame.epoch, timestamp=frame.timestamp, control=True
    )
    offset = len(header)
    for values in _batches(records, largest_batch, list_size):
        yield encode_batch(
            ((None, value) for value in values),
            base_offset=offset,
            epoch=frame.epoch,
            timestamp=frame.timestamp,
        )
        offset += len(values)
    footer = [_control(ControlRecordType.SNAPSHOT_FOOTER, {"version": 0})]
    yield encode_batch(
        footer, base_offset=offset, epoch=frame.epoch, timestamp=frame.timestamp, control=True
    )


def _header(frame: SnapshotFrame) -> list[tuple[bytes, bytes]]:
    value = {"version": 0, "lastContainedLogTimestamp": frame.last_contained_log_timestamp}
    records = [_control(ControlRecordType.SNAPSHOT_HEADER, value)]
    if frame.kraft_version > 0:
        value = {"version": 0, "kRaftVersion": frame.kraft_version}
        records.append(_control(ControlRecordType.KRAFT_VERSION, value))
        if frame.voters is not None:
            records.append(_control(ControlRecordType.KRAFT_VOTERS, frame.voters))
    elif frame.voters is not None:
        raise codec.EncodeError("a snapshot of kraft.version 0 holds no voters")
    return records


def _control(kind: ControlRecordType, value: codec.Value) -> tuple[bytes, bytes]:
    return encode_key(kind), encode_value(kind, value)


def _batches(records: Iterable[bytes], largest_batch: int, list_size: int) -> Iterator[list[bytes]]:
    """Lists of records put together, as many as a batch has room for."""
    values: list[bytes] = []
    size = HEADER_SIZE
    every = iter(records)
    while some := list(islice(every, list_size)):
        more = _size(some, len(values))
        if values and size + more > largest_batch:
            yield values
            values, size = [], HEADER_SIZE
            more = _size(some, 0)
        if HEADER_SIZE + more > largest_batch:
            raise codec.EncodeError(
                f"{len(some)} records of {more} bytes are too many for a batch of {largest_batch}"
            )
        values += some
        size += more
    if values:
        yield values


def _size(values: list[bytes], first_delta: int) -> int:
    """What the records take in a batch, where they begin at an offset delta."""
    total = 0
    for delta, value in enumerate(values, first_delta):
        # Attributes, time delta, key length -1 and no headers take one byte each.
        size = 4 + len(varint(delta)) + len(varint(len(value))) + len(value)
        total += len(varint(size)) + size
    return total
