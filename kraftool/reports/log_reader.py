"""One pass over a segment or checkpoint: offsets, epochs, record types, and what matters of them.

Owns a reading that decodes only what the summary is about: control records, feature levels,
registrations, transactions. It refuses to know the file's name and neighbours; what damage means
for Kafka is `directory_findings.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.batch import HEADER_SIZE, Record, RecordBatch
from kraftool.decoders.control import BY_ID, read_key
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.framing import read_frame, record_format
from kraftool.decoders.log_record import (
    LogRecord,
    decode_control,
    decode_metadata,
    position_in_file,
    position_of_error,
)
from kraftool.decoders.segment import Damage, ReadAt, scan
from kraftool.reports.log_problems import (
    crc_problem,
    damage_problem,
    epoch_back_problem,
    gap_problem,
)
from kraftool.reports.log_summary import (
    CUTTING,
    GAP,
    RECORDS,
    UNKNOWN,
    ControlRecord,
    EpochStart,
    FeatureLevel,
    LogProblem,
    LogSummary,
    Registration,
)
from kraftool.reports.log_types import count_types, long_frame, unknown_types

MAX_PROBLEMS = 100
"""So many are listed; the rest of a garbage file is counted."""
_MAX_EPOCHS = 100_000

_FEATURE, _BEGIN, _END, _ABORT = 12, 23, 24, 25
_REGISTRATIONS = {
    0: ("broker", "brokerId", True),
    1: ("broker", "brokerId", False),
    27: ("controller", "controllerId", True),
    29: ("controller", "controllerId", False),
}
_WATCHED = frozenset({_FEATURE, _BEGIN, _END, _ABORT, *_REGISTRATIONS})
_NOOP = b"\x01\x14\x00"
NOOP_BATCH = b"\x14\x00\x00\x00\x01\x08\x01\x14\x00\x00\x00"
"""The record section of the commonest batch, an idle leader's."""


OnControl = Callable[[RecordBatch, LogRecord], None]
"""What wants to see every control record of batches whose CRC holds."""
Observe = Callable[[RecordBatch | Damage, bool], None]
"""What wants to see every batch and whether its CRC holds, and every damage (with False)."""


@dataclass(slots=True)
class _Reader:
    """What has been seen so far of one file."""

    contiguous: bool
    on_control: OnControl = lambda batch, item: None
    values: dict[str, Any] = field(default_factory=dict)
    problems: list[LogProblem] = field(default_factory=list)
    more_problems: int = 0
    batches: int = 0
    records: int = 0
    control_records: int = 0
    counts: dict[bytes, int] = field(default_factory=dict)
    decoders: dict[bytes, codec.Decoder] = field(default_factory=dict)
    first_seen: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    controls: dict[int, int] = field(default_factory=dict)
    not_framed: int = 0
    first_not_framed: LogProblem | None = None
    epochs: list[EpochStart] = field(default_factory=list)
    highest_epoch: int = -1
    start: int | None = None
    end: int | None = None
    follows: bool = False
    """Whether the next batch has to begin where the last one ended."""
    intact_end: int | None = None
    intact: bool = True
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

    def problem(self, problem: LogProblem) -> None:
        if problem.kind in CUTTING:
            self.intact = False
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        else:
            self.more_problems += 1

    def damage(self, damage: Damage) -> None:
        self.follows = False
        self.problem(damage_problem(damage, self.end))

    def batch(self, batch: RecordBatch) -> bool:
        """Take in a batch; return whether its CRC holds."""
        header = batch.header
        valid = batch.is_valid
        if not valid:
            self.problem(crc_problem(batch))
        elif self.contiguous and self.follows and header.base_offset != self.end:
            self.problem(gap_problem(batch, self.end))
        self._epoch(batch)
        self.batches += 1
        if self.start is None:
            self.start, self.first_timestamp = header.base_offset, header.base_timestamp
        # A header that the CRC does not vouch for may tell any last offset.
        trusted = valid or header.record_count == header.last_offset_delta + 1
        self.end = batch.last_offset + 1 if trusted else header.base_offset + 1
        self.follows = trusted
        self.last_timestamp = header.max_timestamp
        if self.intact:
            self.intact_end = self.end
        if header.attributes & 7:
            self.compressions[batch.compression] = None
        if header.record_count == 1 and batch.data[HEADER_SIZE:] == NOOP_BATCH:
            self.records += 1
            self.counts[_NOOP] = self.counts.get(_NOOP, 0) + 1
            self.first_seen.setdefault(_NOOP, (batch.position + HEADER_SIZE, header.base_offset))
            return valid
        try:
            if batch.is_control:
                for record in batch.records():
                    self._control(batch, record, valid)
            else:
                self._data(batch, valid)
        except DecodeError as error:
            position = batch.position + error.position
            self.problem(_problem(error, position, header.base_offset))
        return valid

    def _epoch(self, batch: RecordBatch) -> None:
        epoch = batch.epoch
        if self.epochs and self.epochs[-1].epoch == epoch:
            return
        if epoch < self.highest_epoch:
            self.problem(epoch_back_problem(batch, self.highest_epoch))
        self.highest_epoch = max(epoch, self.highest_epoch)
        if len(self.epochs) < _MAX_EPOCHS:
            self.epochs.append(EpochStart(epoch=epoch, start_offset=batch.base_offset))

    def _data(self, batch: RecordBatch, valid: bool) -> None:
        """Count by type, and decode every record, if only to know that it can be."""
        counts, decoders = self.counts, self.decoders
        for record in batch.records():
            self.records += 1
            value = record.value
            frame = value[:3] if value is not None else b""
            decode = decoders.get(frame)
            if decode is None or value is None or record.key is not None:
                if not self._new_frame(batch, record, frame, valid):
                    continue
            else:
                counts[frame] += 1
                if frame[1] not in _WATCHED:
                    try:
                        if decode(value, 3)[1] == len(value):
                            continue
                    except DecodeError:
                        pass
            if valid:
                self._decoded(batch, record)

    def _new_frame(self, batch: RecordBatch, record: Record, frame: bytes, valid: bool) -> bool:
        """Count a frame that no decoder is known for yet; whether it can be decoded."""
        try:
            if record.value is None or record.key is not None:
                raise DecodeError("not a metadata record", position=0)
            api_key, version, position = read_frame(record.value)
        except DecodeError as error:
            self.not_framed += 1
            if self.first_not_framed is None:
                where = position_of_error(batch, record, error)
                self.first_not_framed = _problem(error, where, record.offset)
            return False
        # Counted by what it says: the frame of a number beyond 127 is longer than three bytes.
        if position != 3:
            frame = long_frame(api_key, version)
        form = record_format(api_key, version)
        if form is not None and position == 3:
            self.decoders[frame] = form.decode_json
        if frame not in self.counts:
            self.counts[frame] = 0
            wrong = decode_metadata(record).error
            where = position_in_file(batch, record)
            if wrong is not None:
                where = position_of_error(batch, record, wrong)
            self.first_seen[frame] = (where, record.offset)
        self.counts[frame] += 1
        return form is not None

    def _decoded(self, batch: RecordBatch, record: Record) -> None:
        """Take what matters out of a record, or report what is wrong with it."""
        item = decode_metadata(record)
        data = item.data
        if data is None:
            if item.error is not None:
                self.problem(_item_problem(batch, item, item.error))
            return
        key, offset = item.api_key, record.offset
        if key == _BEGIN:
            self.pending, self.began = [], offset
        elif key in (_END, _ABORT):
            self._end_transaction(committed=key == _END)
        elif key == _FEATURE:
            self._event(FeatureLevel(name=data["name"], level=data["featureLevel"], offset=offset))
        elif key is not None and key in _REGISTRATIONS:
            role, name, registered = _REGISTRATIONS[key]
            self._event(
                Registration(role=role, id=data[name], offset=offset, registered=registered)
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

    def _control(self, batch: RecordBatch, record: Record, valid: bool) -> None:
        self.records += 1
        self.control_records += 1
        item = decode_control(record)
        try:
            type_id = read_key(record.key)
        except DecodeError:
            type_id = -1
        self.controls[type_id] = self.controls.get(type_id, 0) + 1
        self.footer = None
        if item.error is not None or item.data is None:
            if item.error is not None:
                kind = UNKNOWN if type_id not in BY_ID else RECORDS
                self.problem(_item_problem(batch, item, item.error, kind))
            return
        if not valid:
            return
        self.on_control(batch, item)
        told = ControlRecord(
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
            self.values["leader_change"] = told
        elif item.type == "KRaftVersion":
            self.values["kraft_version"] = told
        elif item.type == "KRaftVoters":
            self.voters_changes += 1
            self.values["voters"] = told

    def summary(self) -> LogSummary:
        is_metadata = not self.not_framed or bool(self.counts) or bool(self.leader_changes)
        if is_metadata and self.first_not_framed is not None:
            self.problem(self.first_not_framed)
        if is_metadata:
            for each in unknown_types(self.counts, self.first_seen):
                self.problem(each)
        else:
            self.problems = [each for each in self.problems if each.kind != GAP]
        pending = self.pending or []
        counts = self.counts if is_metadata else {}
        return LogSummary(
            batches=self.batches,
            records=self.records,
            control_records=self.control_records,
            start_offset=self.start,
            end_offset=self.end,
            intact_end_offset=self.intact_end,
            epochs=tuple(self.epochs),
            first_timestamp=self.first_timestamp,
            last_timestamp=self.last_timestamp,
            compressions=tuple(self.compressions),
            types=count_types(counts, self.controls, self.not_framed),
            features=tuple(self.features.values()),
            registrations=tuple(self.registrations.values()),
            leader_changes=self.leader_changes,
            voters_changes=self.voters_changes,
            committed_transactions=self.committed,
            aborted_transactions=self.aborted,
            open_transaction=self.began,
            open_features=tuple(each for each in pending if isinstance(each, FeatureLevel)),
            ends_earlier_transaction=self.earlier,
            has_footer=self.footer is not None and self.footer == self.end,
            is_metadata=is_metadata,
            problems=tuple(sorted(self.problems, key=lambda each: each.position)),
            more_problems=self.more_problems,
            **self.values,
        )


def _problem(error: DecodeError, position: int, offset: int, kind: str = RECORDS) -> LogProblem:
    return LogProblem(
        kind=kind,
        text=error.reason,
        position=position,
        offset=offset,
        field=error.path,
        expected=error.expected,
        found=error.found,
    )


def _item_problem(
    batch: RecordBatch, item: LogRecord, error: DecodeError, kind: str = RECORDS
) -> LogProblem:
    """A problem of a record whose type is known, which stands before the field."""
    where = position_of_error(batch, item.record, error)
    found = _problem(error, where, item.record.offset, kind)
    return replace(found, text=f"{item.type}: {found.text}") if item.type else found


def summarize(
    read_at: ReadAt,
    *,
    contiguous: bool = True,
    progress: Callable[[int], None] = lambda position: None,
    on_control: OnControl = lambda batch, item: None,
    observe: Observe = lambda item, valid: None,
) -> LogSummary:
    """Read a segment or checkpoint once. `contiguous`: a gap in the offsets is a problem."""
    reader = _Reader(contiguous=contiguous, on_control=on_control)
    told = 0
    for item in scan(read_at):
        if isinstance(item, Damage):
            reader.damage(item)
            observe(item, False)
        else:
            observe(item, reader.batch(item))
            if item.position - told > 1 << 20:
                told = item.position
                progress(told)
    return reader.summary()
