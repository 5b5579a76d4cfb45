"""Batches of a segment or checkpoint into an image, with a finding for each that does not fit.

Owns the step from bytes to replayed records, and what control records say on the way: who leads,
who votes, which kraft.version. It refuses to choose files, and to check anything that does not
bear on the state; that is verification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.codec import Decoder
from kraftool.decoders.control import ControlRecordType, decode_value, read_key
from kraftool.decoders.errors import DecodeError, Fault, KraftoolError
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.framing import read_frame, record_format
from kraftool.decoders.log_record import (
    LogRecord,
    decode_control,
    decode_metadata,
    fault_between,
    fault_of,
    position_in_file,
)
from kraftool.decoders.native_rows import Place, RowChanges
from kraftool.decoders.native_values import NativeValues, native_values
from kraftool.decoders.segment import BatchSpan
from kraftool.image.compact import COMPACT_RECORDS
from kraftool.image.loader import TRANSACTION_RECORDS, ImageLoader, Misfit
from kraftool.image.replay import ReplayError
from kraftool.reports.files.log_findings import log_finding, snapshot_finding
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snapshot_kinds
from kraftool.reports.state.placed_records import FoundPiece, FoundRecord, PlacedRecords

MAX_FINDINGS = 100
"""So many are kept; the rest of a garbage file is counted."""

_Format = tuple[str, Decoder, int]
"""The name of a record's type, its decoder, and the position of the message in the value."""
_BY_ID = {kind.id: kind for kind in ControlRecordType}


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A control record: its value and where it stands; in a snapshot, at the file's own offset."""

    offset: int
    epoch: int
    timestamp: int
    file: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RecordsPlace:
    """The place of records of a log that follow on each other."""

    file: str
    epoch: int
    timestamp: int
    offset: int
    """Of the first."""


Records = Iterable[tuple[str, dict[str, Any]]]
"""Names and values."""


class ReplayWatcher(Protocol):
    """Sees what each record of a log changes."""

    @property
    def changes(self) -> RowChanges | None:
        """The notes of the native module on changes of partitions; None without it."""

    def watch(self, loader: ImageLoader, place: RecordsPlace, records: Records) -> Records:
        """Hand on records as they are. Each is replayed before the next one is asked for, so that
        a generator sees the effect of each. One that does not fit changes nothing."""

    def replayed(self, loader: ImageLoader, file: str) -> None:
        """Take note that the native module has replayed records of a file."""


def _native_values() -> NativeValues | None:
    return native_values(COMPACT_RECORDS)


@dataclass(slots=True)
class Replay:
    """Replays batches in order. What does not fit is a finding, and is passed over."""

    loader: ImageLoader = field(default_factory=ImageLoader)
    findings: list[Finding] = field(default_factory=list)
    more_findings: int = 0
    records: int = 0
    controls: dict[ControlRecordType, Control] = field(default_factory=dict)
    """The last of each type."""
    watcher: ReplayWatcher | None = None
    placed: PlacedRecords | None = None
    """Where a snapshot's partitions stay, if they can be read later."""
    _known: dict[bytes, _Format] = field(default_factory=dict)
    compact: bool = True
    """True if the native module may keep partitions: it replays them fast, and a caller who looks
    at a few of them waits for each."""
    _native: NativeValues | None = field(default_factory=_native_values)

    def add_finding(self, finding: Finding) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)
        else:
            self.more_findings += 1

    def batch(
        self,
        file: str,
        batch: RecordBatch,
        *,
        start: int = 0,
        below: int | None = None,
        snapshot: bool = False,
        place: Place = (0, 0, 0),
    ) -> int:
        """Replay the records of a batch from `start` up to `below`; return the offset that comes
        next. The records before `place` are replayed already."""
        header = batch.header
        self.loader.begin_batch(batch.epoch, header.max_timestamp)
        if snapshot and self.placed is not None and not batch.is_control:
            parts = self.placed.find(batch)
            if parts is not None:
                self._place(file, batch, self.placed, parts)
                return self._end(batch, batch.last_offset + 1)
        end = batch.last_offset + 1
        plain = 0
        if start <= batch.base_offset and (below is None or below >= end):
            plain = self._plain(file, batch, snapshot, place)
            if plain and plain == header.record_count:
                return self._end(batch, end)
        try:
            for record in islice(batch.shared_records(), plain, None):
                if record.offset < start:
                    continue
                if below is not None and record.offset >= below:
                    return self._end(batch, below)
                if batch.is_control:
                    self._control(file, batch, record, snapshot)
                else:
                    self._data(file, batch, record, snapshot)
        except DecodeError as error:
            self._faulty(file, fault_between(batch, error), snapshot)
        # A batch may have fewer records than offsets, and one that is damaged inside ends with it.
        return self._end(batch, end if below is None else min(end, below))

    def span(self, file: str, span: BatchSpan, at: int, end: int) -> tuple[int, int]:
        """Replay batches of a span, the first of which begins at `at`: all up to `end`, or up to
        one that has to be looked at more closely, and this one. Returns where the next one begins,
        and the offset that comes next."""
        place = at, 0, 0
        if self.compact and self._native is not None:
            place, records = self._natively(file, span.data, place, end, self.watcher)
            self.records += records
            if place[1] == 0 and place[0] > at:
                return place[0], self.loader.next_offset
        batch = span.batch(place[0])
        return place[0] + batch.size, self.batch(file, batch, place=place)

    def _natively(
        self, file: str, data: bytes, place: Place, end: int, watcher: ReplayWatcher | None
    ) -> tuple[Place, int]:
        """Replay records natively as far as possible. Returns the place of the first one left, and
        how many were replayed."""
        if watcher is None:
            return self.loader.replay_natively(data, place, end)
        replayed = self.loader.replay_natively(data, place, end, watcher.changes)
        watcher.replayed(self.loader, file)
        return replayed

    def _place(
        self,
        file: str,
        batch: RecordBatch,
        placed: PlacedRecords,
        parts: list[FoundPiece | FoundRecord],
    ) -> None:
        """Take the partitions of a plain batch as they are, and replay its other records."""
        offset, timestamp = batch.base_offset, batch.header.base_timestamp
        topics = self.loader.delta.topics
        for one in parts:
            if isinstance(one, FoundRecord):
                at = offset + one.ordinal
                record = Record(one.start, one.size, 0, at, timestamp, None, one.value)
                self._data(file, batch, record, True)
            elif topics.place(one.topic_id, one.piece, placed):
                self.records += one.piece.length
            else:
                for record in islice(batch.records_from(one.start), one.piece.length):
                    self._data(file, batch, record, True)

    def _plain(self, file: str, batch: RecordBatch, snapshot: bool, place: Place) -> int:
        """Replay the first records of a batch, as far as they can be decoded natively. They have
        the offsets of their places in the batch. Returns how many there were."""
        native = self._native
        if native is None or batch.is_control:
            return 0

        def misfit(offset: int, name: str, error: ReplayError) -> None:
            if len(self.findings) < MAX_FINDINGS:
                record = next(islice(batch.records(), offset - batch.base_offset, None))
                self._misfit(file, batch, record, name, error, snapshot)
            else:
                # Its place would not be kept, and looking for it would take time.
                self.more_findings += 1

        plain = self._run(native, file, batch, misfit, snapshot, place)
        self.records += plain - place[1]
        return plain

    def _run(
        self,
        native: NativeValues,
        file: str,
        batch: RecordBatch,
        misfit: Misfit,
        snapshot: bool,
        place: Place,
    ) -> int:
        """Replay the first records of a batch, those of partitions natively."""
        loader, data, offset = self.loader, batch.data, batch.base_offset
        watcher = None if snapshot else self.watcher
        count, (_, index, at) = batch.header.record_count, place
        while index < count:
            if self.compact:
                begins = 0, index, at
                (end, index, at), _ = self._natively(file, data, begins, len(data), watcher)
                if end:
                    return count
            read = native.next(batch, at, index)
            if read is None:
                break
            values, at = read
            records: Records = values
            if watcher is not None:
                # All records of a plain batch have its time.
                time = batch.header.base_timestamp
                where = RecordsPlace(file, batch.epoch, time, offset + index)
                records = watcher.watch(loader, where, values)
            loader.replay_run(offset + index, records, misfit, is_snapshot=snapshot)
            index += len(values)
        return index

    def _misfit(
        self,
        file: str,
        batch: RecordBatch,
        record: Record,
        name: str,
        error: ReplayError,
        snapshot: bool,
    ) -> None:
        kind = snapshot_kinds.REPLAY if snapshot else log_kinds.REPLAY
        position = position_in_file(batch, record)
        text = f"{name}: {error.message}"
        self.add_finding(kind.at(file, text, position=position, offset=record.offset))

    def _end(self, batch: RecordBatch, reached: int) -> int:
        self.loader.end_batch(reached - 1, batch.epoch, batch.header.max_timestamp)
        return reached

    def _data(self, file: str, batch: RecordBatch, record: Record, snapshot: bool) -> None:
        self.records += 1
        value = record.value
        known = self._known.get(value[:3]) if value is not None and record.key is None else None
        known = known or self._format(record)
        end = -1
        if known is not None and value is not None:
            name, decode, position = known
            try:
                data, end = decode(value, position)
            except DecodeError:
                end = -1
        if known is None or value is None or end != len(value):
            self._undecoded(file, batch, decode_metadata(record), snapshot)
            return
        try:
            if snapshot and name in TRANSACTION_RECORDS:
                raise ReplayError(f"{name} in a snapshot")
            if self.watcher is None or snapshot:
                self.loader.replay(record.offset, name, data)
            else:
                place = RecordsPlace(file, batch.epoch, record.timestamp, record.offset)
                for watched in self.watcher.watch(self.loader, place, [(name, data)]):
                    self.loader.replay(record.offset, *watched)
        except ReplayError as error:
            self._misfit(file, batch, record, name, error, snapshot)

    def _format(self, record: Record) -> _Format | None:
        """Return how to decode a record of a type that is new; None if that cannot be done."""
        value = record.value
        if value is None or record.key is not None:
            return None
        try:
            api_key, version, position = read_frame(value)
        except DecodeError:
            return None
        form = record_format(api_key, version)
        if form is None:
            return None
        known = form.name, form.decode, position
        if position == 3:
            self._known[value[:3]] = known
        return known

    def _undecoded(self, file: str, batch: RecordBatch, item: LogRecord, snapshot: bool) -> None:
        fault = fault_of(batch, item)
        assert fault is not None, "both decoders refuse the same records"
        if fault.kind is FaultKind.UNKNOWN and not item.is_control:
            text = f"a record type {item.api_key} version {item.version} that cannot be replayed"
            place = Fault(reason=text, file=file, position=fault.position, offset=fault.offset)
            kinds = snapshot_kinds if snapshot else log_kinds
            self.add_finding(kinds.UNKNOWN_TYPE.of(place))
        else:
            self._faulty(file, fault, snapshot)

    def _faulty(self, file: str, fault: LogFault, snapshot: bool) -> None:
        self.add_finding(snapshot_finding(file, fault) if snapshot else log_finding(file, fault))

    def _control(self, file: str, batch: RecordBatch, record: Record, snapshot: bool) -> None:
        """Keep what the record says. The image does not depend on it."""
        try:
            kind = _BY_ID.get(read_key(record.key))
            value = None if kind is None else decode_value(kind, record.value)[1]
        except KraftoolError:
            kind = value = None
        if kind is None or value is None:
            self._undecoded(file, batch, decode_control(record), snapshot)
            return
        self.controls[kind] = Control(
            offset=record.offset,
            epoch=batch.epoch,
            timestamp=record.timestamp,
            file=file,
            value=value,
        )


Progress = Callable[[str, int], None]
"""Told of a file's name and the position reached in it."""
