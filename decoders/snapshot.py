"""A snapshot file's bytes, laid out as Kafka lays them out.

Owns the layout: a control batch with the header, and from kraft.version 1 on the version and the
voters; the records in batches; a control batch with the footer; offsets from 0, every batch in the
snapshot's epoch. It opens no file and chooses no name, and refuses voters below kraft.version 1, as
Kafka does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    """The parts of a snapshot other than its records."""

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
    batches = SnapshotBatches(frame, largest_batch=largest_batch)
    yield batches.header()
    every = iter(records)
    while some := list(islice(every, list_size)):
        whole = batches.add(some)
        if whole:
            yield whole
    yield from batches.end()


class SnapshotBatches:
    """A snapshot that is encoded bit by bit: the header, lists of records, the end."""

    def __init__(self, frame: SnapshotFrame, *, largest_batch: int = LARGEST_BATCH) -> None:
        self._frame, self._largest = frame, largest_batch
        self._offset = 0
        self._values: list[bytes] = []
        self._size = HEADER_SIZE

    def header(self) -> bytes:
        """The batch that comes first."""
        return self._control_batch(_header(self._frame))

    def add(self, some: Sequence[bytes]) -> bytes:
        """Take a list of records, which stay in one batch; the batch before it, if that is full."""
        done = b""
        more = _size(some, len(self._values))
        if self._values and self._size + more > self._largest:
            done = self._batch()
            more = _size(some, 0)
        if HEADER_SIZE + more > self._largest:
            raise codec.EncodeError(
                f"{len(some)} records of {more} bytes are too many for a batch of {self._largest}"
            )
        self._values += some
        self._size += more
        return done

    def end(self) -> Iterator[bytes]:
        """Yield what is left: the last batch of records, if there are any, and the footer."""
        if self._values:
            yield self._batch()
        yield self._control_batch([_control(ControlRecordType.SNAPSHOT_FOOTER, {"version": 0})])

    def _batch(self) -> bytes:
        values, self._values, self._size = self._values, [], HEADER_SIZE
        data = encode_batch(
            ((None, value) for value in values),
            base_offset=self._offset,
            epoch=self._frame.epoch,
            timestamp=self._frame.timestamp,
        )
        self._offset += len(values)
        return data

    def _control_batch(self, records: list[tuple[bytes, bytes]]) -> bytes:
        data = encode_batch(
            records,
            base_offset=self._offset,
            epoch=self._frame.epoch,
            timestamp=self._frame.timestamp,
            control=True,
        )
        self._offset += len(records)
        return data


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


def _size(values: Sequence[bytes], first_delta: int) -> int:
    """Return what the records take in a batch, where they begin at an offset delta."""
    total = 0
    for delta, value in enumerate(values, first_delta):
        # Attributes, time delta, key length -1 and no headers take one byte each.
        size = 4 + len(varint(delta)) + len(varint(len(value))) + len(value)
        total += len(varint(size)) + size
    return total
