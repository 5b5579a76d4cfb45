"""One pass over a snapshot: its batches, its control records, and the records between them.

Owns what stands where in the file. It sees each batch as `read_file` passes it, so that a snapshot
is read once; what that finds by itself is not found again here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from kraftool.decoders import fast_path
from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.framing import decode_record
from kraftool.decoders.log_record import decode_control, position_in_file
from kraftool.decoders.native_values import NativeValues
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item
from kraftool.directory.log_reader import SpanObserver
from kraftool.directory.native_reader import Taken
from kraftool.image.image import MetadataImage
from kraftool.reports.files.finding_limits import FileFindings
from kraftool.reports.findings.finding import Finding, FindingKind
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as kinds
from kraftool.reports.state.placed_records import FoundRecord, PlacedRecords, kept_records
from kraftool.reports.verify.log_form import check_batch, check_records
from kraftool.reports.verify.snapshot_records import PARTITION, RecordRules
from kraftool.reports.voters.form import HIGHEST_KRAFT_VERSION, voter_faults

_HEADER = ControlRecordType.SNAPSHOT_HEADER.label
_FOOTER = ControlRecordType.SNAPSHOT_FOOTER.label
_VERSION = ControlRecordType.KRAFT_VERSION.label
_VOTERS = ControlRecordType.KRAFT_VOTERS.label
_PARTITION_FRAME = bytes((1, 3))
"""The first bytes of a PartitionRecord's value."""
_IN_THE_FIRST_BATCH = (_HEADER, _VERSION, _VOTERS)


class _FormNotes(FileFindings):
    """The rules for batches are the log's; in a snapshot they have codes of their own."""

    def add(self, kind: FindingKind, text: str, **more: Any) -> None:
        super().add(_AS_OF_SNAPSHOTS.get(kind.code, kind), text, **more)


_AS_OF_SNAPSHOTS = {
    log_kinds.BATCH_FORM.code: kinds.BATCH_FORM,
    log_kinds.RECORD_FORM.code: kinds.RECORD_FORM,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotControls:
    """The content of the control records."""

    timestamp: int | None = None
    kraft_version: int = 0
    voters: dict[str, Any] | None = None


class SnapshotCheck(SpanObserver):
    """Sees the batches of one snapshot."""

    def __init__(self, file: str, offset: int | None, *, needs_level: bool) -> None:
        self.offset = offset
        """The one in its name; None for a bootstrap.checkpoint, 0 for the 0-0 checkpoint."""
        self.is_whole = True
        """True if all of it could be read, so that its state is known."""
        self.batches = 0
        self._needs_level = needs_level
        self._findings = _FormNotes(file)
        self._rules = RecordRules(self._findings, offset or None)
        self._controls: dict[str, dict[str, Any]] = {}
        self._footer: int | None = None
        self._has_data = False
        self._forms: dict[str, tuple[str, int]] = {}
        """The name and version of each label."""
        self._native = (
            NativeValues(frozenset({PARTITION}), self._label) if fast_path.is_native() else None
        )
        self._placed = kept_records(file)

    def _label(self, name: str, version: int) -> str:
        label = f"{name} {version}"
        self._forms[label] = name, version
        return label

    @property
    def records(self) -> int:
        """Return how many metadata records there are."""
        return self._rules.count

    @property
    def controls(self) -> SnapshotControls:
        header, version = self._controls.get(_HEADER), self._controls.get(_VERSION)
        return SnapshotControls(
            timestamp=int(header["lastContainedLogTimestamp"]) if header is not None else None,
            kraft_version=int(version["kRaftVersion"]) if version is not None else 0,
            voters=self._controls.get(_VOTERS),
        )

    def __call__(self, item: Item) -> None:
        if isinstance(item, Faulty):
            self.batches += item.batch is not None
            self.is_whole = self.is_whole and not item.fault.cuts
        elif self._counted():
            check_batch(self._findings, item)
            self._judged(item)

    def plain(self, span: BatchSpan, taken: Taken) -> None:
        """Take batches of a span whose form is right, and which hold data."""
        for batch in span.read_batches(taken.at, taken.end):
            if self._counted():
                self._judged(batch, self._native)

    def _counted(self) -> bool:
        """Count a batch. False if it is behind damage, where nothing is judged."""
        self.batches += 1
        return self.is_whole

    def _judged(self, batch: RecordBatch, native: NativeValues | None = None) -> None:
        """Judge a batch; `native` decodes one whose form is right."""
        if self._footer is not None:
            text = "a batch after the SnapshotFooter"
            self._findings.add(kinds.FORM, text, position=batch.position, offset=batch.base_offset)
        try:
            if batch.is_control:
                self._control_batch(batch)
            else:
                self._data_batch(batch, native)
        except DecodeError:
            self.is_whole = False

    def _data_batch(self, batch: RecordBatch, native: NativeValues | None) -> None:
        self._has_data = True
        self._rules.begin_batch(batch)
        at = batch.base_offset
        if native is None:
            check_records(self._findings, batch)
        elif self._placed is not None and self._placed_batch(batch, native, self._placed):
            return
        else:
            for values in native.read(batch):
                for label, value in values:
                    self._rules.record(*self._forms[label], value, at)
                    at += 1
            if at > batch.last_offset:
                return
        start = at - batch.base_offset
        for record in islice(batch.records(), start, None):
            if record.key is not None:
                self._note(kinds.RECORD_FORM, batch, record, "a data record with a key")
            self._rules.record(*decode_record(record.value or b""), record.offset)

    def _placed_batch(
        self, batch: RecordBatch, native: NativeValues, placed: PlacedRecords
    ) -> bool:
        """Judge a batch without a copy of its partitions. False if none of it was judged."""
        parts = placed.find(batch)
        if parts is None:
            return False
        next_ordinal = 0
        for part in parts:
            if isinstance(part, FoundRecord):
                # A run of records may have been judged already, with its first record.
                if part.ordinal >= next_ordinal:
                    next_ordinal = self._run(batch, native, part)
            elif not self._rules.place(part.topic_id, part.piece, placed, batch.base_offset):
                for record in islice(batch.records_from(part.start), part.piece.length):
                    self._rules.record(*decode_record(record.value or b""), record.offset)
        return True

    def _run(self, batch: RecordBatch, native: NativeValues, part: FoundRecord) -> int:
        """Judge a record, and those after it that are decoded with it. Return the ordinal of the
        next one."""
        ordinal, offset = part.ordinal, batch.base_offset
        is_partition = part.value[:2] == _PARTITION_FRAME
        read = None if is_partition else native.next(batch, part.start, ordinal)
        if read is None:
            self._rules.record(*decode_record(part.value), offset + ordinal)
            return ordinal + 1
        for label, value in read[0]:
            self._rules.record(*self._forms[label], value, offset + ordinal)
            ordinal += 1
        return ordinal

    def _control_batch(self, batch: RecordBatch) -> None:
        for record in batch.records():
            item = decode_control(record)
            if item.data is None:
                self.is_whole = False
                continue
            if item.type == _FOOTER:
                self._footer = record.offset
            elif item.type not in _IN_THE_FIRST_BATCH:
                self._note(kinds.FORM, batch, record, f"{item.type} does not belong in a snapshot")
                continue
            elif record.offset and item.type == _HEADER:
                text = "a second SnapshotHeader"
                self._note(kinds.FORM, batch, record, text)
                continue
            elif self._has_data or self._footer is not None or batch.position:
                self._note(kinds.FORM, batch, record, f"{item.type} is not in the first batch")
            if item.type in self._controls and item.type != _HEADER:
                self._note(kinds.FORM, batch, record, f"a second {item.type}")
            self._controls[item.type] = item.data
            if item.type == _VERSION:
                self._version(batch, record, item.data["kRaftVersion"])
            elif item.type == _VOTERS:
                self._voters(batch, record, item.data)

    def _note(
        self, kind: FindingKind, batch: RecordBatch, record: Record, text: str, **more: str
    ) -> None:
        position = position_in_file(batch, record)
        self._findings.add(kind, text, position=position, offset=record.offset, **more)

    def _version(self, batch: RecordBatch, record: Record, level: int) -> None:
        if not 1 <= level <= HIGHEST_KRAFT_VERSION:
            self._note(
                kinds.KRAFT_VERSION,
                batch,
                record,
                "Kafka writes the record from kraft.version 1 on, and has no higher version",
                field="kRaftVersion",
                expected=str(HIGHEST_KRAFT_VERSION),
                found=str(level),
            )

    def _voters(self, batch: RecordBatch, record: Record, value: dict[str, Any]) -> None:
        voters = value["voters"]
        if not voters:
            self._note(kinds.VOTERS, batch, record, "a voter set without voters")
        level = self.controls.kraft_version
        if _VERSION not in self._controls:
            text = (
                "there are voters but no KRaftVersion before them: with kraft.version 0 there are"
                " none"
            )
            self._note(kinds.KRAFT_VERSION, batch, record, text)
        seen: set[int] = set()
        for voter in voters:
            for fault in voter_faults(voter, level, seen):
                sides = {"expected": fault.expected, "found": fault.found}
                self._note(kinds.VOTERS, batch, record, fault.reason, **sides)
            seen.add(voter["voterId"])

    def end(self) -> tuple[MetadataImage | None, tuple[Finding, ...]]:
        """The state, if all of it could be read, and what was found."""
        if not self.is_whole or not self.batches:
            return None, self._findings.all()
        if self.controls.kraft_version and _VOTERS not in self._controls and self.offset:
            text = f"kraft.version {self.controls.kraft_version}, but no KRaftVoters"
            self._findings.add(kinds.KRAFT_VERSION, text, position=0)
        timestamp = self.controls.timestamp
        if timestamp is not None and timestamp < 0:
            self._findings.add(
                kinds.FORM,
                "a time before all times",
                position=0,
                field="lastContainedLogTimestamp",
                expected="0 or more",
                found=str(timestamp),
            )
        image = self._rules.end(needs_level=self._needs_level)
        return image, self._findings.all()
