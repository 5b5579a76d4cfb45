"""One pass over a segment or checkpoint: offsets, epochs, record types, and what matters of them.

Owns a reading that decodes only what the summary is about: control records, feature levels,
registrations, transactions. It refuses to know the file's name and neighbours; what damage means
for Kafka is `reports/directory/findings.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.batch import HEADER_SIZE, NOOP_BATCH, Record, RecordBatch
from kraftool.decoders.bit_flip import ExpectedBatch, flipped_bit
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.control import read_key
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.framing import FRAME_VERSION, read_frame, record_format
from kraftool.decoders.log_record import (
    LogRecord,
    decode_control,
    decode_metadata,
    fault_between,
    fault_of,
    position_in_file,
)
from kraftool.decoders.segment import BatchSpan, ReadAt
from kraftool.decoders.walk import Faulty, Item, Walk, WalkState
from kraftool.directory.log_summary import (
    ControlRecord,
    FeatureLevel,
    LogSummary,
    Registration,
    count_types,
    long_frame,
    unknown_types,
)
from kraftool.directory.native_reader import NativeReader, Taken, native_reader

MAX_PROBLEMS = 100
"""So many are listed; the rest of a garbage file is counted."""
_MAX_EPOCHS = 100_000
_MOST_LOOKED_FOR = 8
"""Places of a file at which a flipped bit is looked for."""

_FEATURE, _BEGIN, _END, _ABORT = 12, 23, 24, 25
_REGISTRATIONS = {
    0: ("broker", "brokerId", True),
    1: ("broker", "brokerId", False),
    27: ("controller", "controllerId", True),
    29: ("controller", "controllerId", False),
}
_WATCHED = frozenset({_FEATURE, _BEGIN, _END, _ABORT, *_REGISTRATIONS})
_NOOP = b"\x01\x14\x00"


OnControl = Callable[[RecordBatch, LogRecord], None]
"""What wants to see every control record of sound batches."""
Observe = Callable[[Item], None]
"""What wants to see every item of the walk."""


class SpanObserver(ABC):
    """Sees every item of the walk, but for plain batches: those come together, by the part of a
    span in which all are as a KRaft leader writes them, and all records can be decoded."""

    watched: Collection[int] = ()
    """The api keys of the records that `taken` has for it, beside those of others."""

    @abstractmethod
    def __call__(self, item: Item) -> None:
        """Take another item."""

    @abstractmethod
    def plain(self, span: BatchSpan, taken: Taken) -> None:
        """Take the plain batches of a part of a span."""


@dataclass(slots=True)
class _Reader:
    """The part of one file that has been read so far."""

    on_control: OnControl = lambda batch, item: None
    values: dict[str, Any] = field(default_factory=dict)
    problems: list[LogFault] = field(default_factory=list)
    more_problems: int = 0
    batches: int = 0
    records: int = 0
    control_records: int = 0
    counts: dict[bytes, int] = field(default_factory=dict)
    decoders: dict[bytes, codec.Decoder] = field(default_factory=dict)
    first_seen: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    controls: dict[int, int] = field(default_factory=dict)
    not_framed: int = 0
    first_not_framed: LogFault | None = None
    epochs: list[EpochEntry] = field(default_factory=list)
    start: int | None = None
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    compressions: dict[str, None] = field(default_factory=dict)
    features: dict[str, FeatureLevel] = field(default_factory=dict)
    registrations: dict[tuple[str, int], Registration] = field(default_factory=dict)
    pending: list[FeatureLevel | Registration] | None = None
    began: int | None = None
    committed: int = 0
    aborted: int = 0
    earlier: str = ""
    leader_changes: int = 0
    voters_changes: int = 0
    footer: int | None = None

    def problem(self, fault: LogFault) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(fault)
        else:
            self.more_problems += 1

    def faulty(self, item: Faulty, flipped: str = "") -> None:
        self.problem(replace(item.fault, flipped=flipped) if flipped else item.fault)
        if item.batch is not None:
            self.batches += 1
            if self.start is None:
                self.start = item.batch.base_offset

    def batch(self, batch: RecordBatch) -> None:
        """Take in a sound batch."""
        header = batch.header
        self._epoch(header.partition_leader_epoch, header.base_offset)
        self.batches += 1
        if self.start is None:
            self.start = header.base_offset
        if self.first_timestamp is None:
            self.first_timestamp = header.base_timestamp
        self.last_timestamp = header.max_timestamp
        if header.attributes & 7:
            self.compressions[batch.compression] = None
        if header.record_count == 1 and batch.data[HEADER_SIZE:] == NOOP_BATCH:
            self.records += 1
            self.counts[_NOOP] = self.counts.get(_NOOP, 0) + 1
            self.first_seen.setdefault(_NOOP, (batch.position + HEADER_SIZE, header.base_offset))
            return
        try:
            if batch.is_control:
                for record in batch.shared_records():
                    self._control(batch, record)
            else:
                self._data(batch)
        except DecodeError as error:
            self.problem(fault_between(batch, error))

    def _epoch(self, epoch: int, base_offset: int) -> None:
        is_new = not self.epochs or self.epochs[-1].epoch != epoch
        if is_new and len(self.epochs) < _MAX_EPOCHS:
            self.epochs.append(EpochEntry(epoch=epoch, start_offset=base_offset))

    def plain(self, span: BatchSpan, taken: Taken) -> None:
        """Take in batches of a span that were read natively."""
        first = span.batch(taken.at).header
        self._epoch(span.epoch, first.base_offset)
        self.batches += taken.batches
        self.records += taken.records
        if self.start is None:
            self.start = first.base_offset
        if self.first_timestamp is None:
            self.first_timestamp = first.base_timestamp
        self.last_timestamp = taken.last_timestamp
        for api_key, version, count, position, offset in taken.counts:
            frame = bytes((FRAME_VERSION, api_key, version))
            self.counts[frame] = self.counts.get(frame, 0) + count
            self.first_seen.setdefault(frame, (position, offset))
        for _, offset, timestamp, value in taken.watched:
            if value[1] not in _WATCHED:
                continue
            record = Record(0, 0, 0, offset, timestamp, None, value)
            item = decode_metadata(record)
            if item.api_key is not None and item.data is not None:
                self._watch(item.api_key, record, item.data)

    def _data(self, batch: RecordBatch) -> None:
        """Count by type, and decode every record, if only to know that it can be."""
        counts, decoders = self.counts, self.decoders
        for record in batch.shared_records():
            self.records += 1
            value = record.value
            frame = value[:3] if value is not None else b""
            decode = decoders.get(frame)
            if decode is None or value is None or record.key is not None:
                if not self._new_frame(batch, record, frame):
                    continue
            else:
                counts[frame] += 1
                if frame[1] not in _WATCHED:
                    try:
                        if decode(value, 3)[1] == len(value):
                            continue
                    except DecodeError:
                        pass
            self._decoded(batch, record)

    def _new_frame(self, batch: RecordBatch, record: Record, frame: bytes) -> bool:
        """Count a frame that no decoder is known for yet; whether it can be decoded."""
        item = decode_metadata(record)
        fault, value = fault_of(batch, item), record.value
        if item.version is None or value is None or record.key is not None:
            self.not_framed += 1
            self.first_not_framed = self.first_not_framed or fault
            return False
        api_key, version, position = read_frame(value)
        # Counted by what it says: the frame of a number beyond 127 is longer than three bytes.
        if position != 3:
            frame = long_frame(api_key, version)
        form = record_format(api_key, version)
        if form is not None and position == 3:
            self.decoders[frame] = form.decode_json
        if frame not in self.counts:
            self.counts[frame] = 0
            where = position_in_file(batch, record) if fault is None else fault.position
            self.first_seen[frame] = (where, record.offset)
        self.counts[frame] += 1
        return form is not None

    def _decoded(self, batch: RecordBatch, record: Record) -> None:
        """Take what matters out of a record, or report what is wrong with it."""
        item = decode_metadata(record)
        data, fault = item.data, fault_of(batch, item)
        if fault is not None or data is None:
            if fault is not None:
                self.problem(fault)
            return
        if item.api_key is not None:
            self._watch(item.api_key, record, data)

    def _watch(self, key: int, record: Record, data: codec.Value) -> None:
        """Take what a record of one of the watched types says."""
        if key == _BEGIN:
            self.pending, self.began = [], record.offset
        elif key in (_END, _ABORT):
            self._end_transaction(committed=key == _END)
        elif key == _FEATURE:
            self._event(
                FeatureLevel(
                    name=data["name"],
                    level=data["featureLevel"],
                    offset=record.offset,
                    timestamp=record.timestamp,
                )
            )
        elif key in _REGISTRATIONS:
            role, name, registered = _REGISTRATIONS[key]
            self._event(
                Registration(role=role, id=data[name], offset=record.offset, registered=registered)
            )

    def _event(self, event: FeatureLevel | Registration) -> None:
        if self.pending is not None:
            self.pending.append(event)
        elif isinstance(event, FeatureLevel):
            self.features[event.name] = event
        else:
            self.registrations[event.role, event.id] = event

    def _end_transaction(self, *, committed: bool) -> None:
        if self.pending is None and not self.earlier and not self.committed + self.aborted:
            self.earlier = "committed" if committed else "aborted"
            if not committed:
                # Everything so far belongs to a transaction that an earlier segment began.
                self.features.clear()
                self.registrations.clear()
            return
        pending, self.pending, self.began = self.pending or [], None, None
        self.committed += committed
        self.aborted += not committed
        if committed:
            for event in pending:
                self._event(event)

    def _control(self, batch: RecordBatch, record: Record) -> None:
        self.records += 1
        self.control_records += 1
        item = decode_control(record)
        try:
            type_id = read_key(record.key)
        except DecodeError:
            type_id = -1
        self.controls[type_id] = self.controls.get(type_id, 0) + 1
        self.footer = None
        fault = fault_of(batch, item)
        if fault is not None or item.data is None:
            if fault is not None:
                self.problem(fault)
            return
        self.on_control(batch, item)
        control_record = ControlRecord(
            offset=record.offset, epoch=batch.epoch, timestamp=record.timestamp, data=item.data
        )
        if item.type == "SnapshotHeader":
            # Only where it opens the file does it make it a snapshot.
            if self.records == 1:
                self.values["has_header"] = True
                self.values["header_timestamp"] = item.data["lastContainedLogTimestamp"]
        elif item.type == "SnapshotFooter":
            self.footer = batch.last_offset + 1
        elif item.type == "LeaderChange":
            self.leader_changes += 1
            self.values["leader_change_record"] = control_record
        elif item.type == "KRaftVersion":
            self.values["kraft_version_record"] = control_record
        elif item.type == "KRaftVoters":
            self.voters_changes += 1
            self.values["voters_record"] = control_record

    def summary(self, walked: WalkState) -> LogSummary:
        is_metadata = not self.not_framed or bool(self.counts) or bool(self.leader_changes)
        if is_metadata and self.first_not_framed is not None:
            self.problem(self.first_not_framed)
        if is_metadata:
            for unknown_type in unknown_types(self.counts, self.first_seen):
                self.problem(unknown_type)
        else:
            self.problems = [problem for problem in self.problems if problem.kind != FaultKind.GAP]
        pending = self.pending or []
        counts = self.counts if is_metadata else {}
        return LogSummary(
            batches=self.batches,
            records=self.records,
            control_records=self.control_records,
            start_offset=self.start,
            walked=walked,
            epochs=tuple(self.epochs),
            first_timestamp=self.first_timestamp,
            last_timestamp=self.last_timestamp,
            compressions=tuple(self.compressions),
            record_types=count_types(counts, self.first_seen, self.controls, self.not_framed),
            features=tuple(self.features.values()),
            registrations=tuple(self.registrations.values()),
            leader_changes=self.leader_changes,
            voters_changes=self.voters_changes,
            committed_transactions=self.committed,
            aborted_transactions=self.aborted,
            open_transaction_offset=self.began,
            open_features=tuple(level for level in pending if isinstance(level, FeatureLevel)),
            ends_earlier_transaction=self.earlier,
            has_footer=self.footer is not None and self.footer == walked.end_offset,
            is_metadata=is_metadata,
            problems=tuple(sorted(self.problems, key=lambda problem: problem.position)),
            omitted_problems=self.more_problems,
            **self.values,
        )


def _flipped(read_at: ReadAt, item: Faulty, walked: WalkState) -> str:
    """The only bit that explains damage, in words; empty if no single bit does."""
    expected, fault = walked.next_offset, item.fault
    if fault.kind is FaultKind.GAP:
        expected = int(fault.expected)
    elif not fault.cuts:
        return ""
    elif expected is None:  # the first batch of the file: nothing contradicts its own offset
        expected = int.from_bytes(read_at(item.position, 8), "big", signed=True)
    place = ExpectedBatch(position=item.position, next_offset=expected, epoch=walked.epoch)
    flip = flipped_bit(read_at, place)
    return flip.describe() if flip is not None else ""


def _span(
    reader: _Reader,
    native: NativeReader | None,
    span: BatchSpan,
    observers: Sequence[Observe],
    python: Callable[[RecordBatch], None],
) -> None:
    """Read a span natively as far as it is plain, and the rest in Python."""
    for part in span.read_batches(span.at, span.end) if native is None else native.parts(span):
        if isinstance(part, RecordBatch):
            python(part)
            continue
        reader.plain(span, part)
        for observe in observers:
            if isinstance(observe, SpanObserver):
                observe.plain(span, part)
                continue
            for batch in span.read_batches(part.at, part.end):
                observe(batch)


def summarize(
    read_at: ReadAt,
    *,
    progress: Callable[[int], None] = lambda position: None,
    on_control: OnControl = lambda batch, item: None,
    observers: Sequence[Observe] = (),
    read_again: ReadAt | None = None,
) -> LogSummary:
    """Read a segment or checkpoint once; observers see each item after the summary did.

    `read_again` reads what is damaged a second time, to look for a flipped bit; None for a stream.
    """
    reader, walk = _Reader(on_control=on_control), Walk(read_at)
    spans = (observe for observe in observers if isinstance(observe, SpanObserver))
    native = native_reader(_WATCHED.union(*(observe.watched for observe in spans)))
    reported_position = looked_for = 0

    def python(batch: RecordBatch) -> None:
        reader.batch(batch)
        for observe in observers:
            observe(batch)

    for item in walk.spans():
        if isinstance(item, BatchSpan):
            _span(reader, native, item, observers, python)
            progress(item.position)
            continue
        if isinstance(item, Faulty):
            if read_again is None or looked_for == _MOST_LOOKED_FOR:
                reader.faulty(item)
            else:
                looked_for += 1
                reader.faulty(item, _flipped(read_again, item, walk.state))
        else:
            reader.batch(item)
            if item.position - reported_position > 1 << 20:
                reported_position = item.position
                progress(reported_position)
        for observe in observers:
            observe(item)
    return reader.summary(walk.state)
