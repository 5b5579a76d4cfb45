"""Batches of a segment or checkpoint into an image, with a finding for each that does not fit.

Owns the step from bytes to replayed records, and what control records say on the way: who leads,
who votes, which kraft.version. It refuses to choose files, and to check anything that does not
bear on the state; that is verification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.codec import Decoder
from kraftool.decoders.control import ControlRecordType, decode_value, read_key
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.framing import read_frame, record_format, refuse_rest
from kraftool.decoders.log_record import position_in_file, position_of_error
from kraftool.image.loader import TRANSACTION_RECORDS, ImageLoader
from kraftool.image.replay import ReplayError
from kraftool.reports.findings import Finding, FindingKind
from kraftool.reports.kinds import log as log_kinds
from kraftool.reports.kinds import snapshot as snapshot_kinds

MAX_FINDINGS = 100
"""So many are kept; the rest of a garbage file is counted."""

_BY_ID = {kind.id: kind for kind in ControlRecordType}


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A control record: its value and where it stands; in a snapshot, at the file's own offset."""

    offset: int
    epoch: int
    timestamp: int
    file: str
    value: dict[str, Any]


Watch = Callable[[ImageLoader, str, RecordBatch, Record, str, dict[str, Any]], None]
"""Hands the loader a record of the log (file, batch, record, name, value) in the replay's stead, so
that it sees what was before and what is after it. What the loader raises it lets pass."""


@dataclass(slots=True)
class Replay:
    """Replays batches in order. What does not fit is a finding, and is passed over."""

    loader: ImageLoader = field(default_factory=ImageLoader)
    findings: list[Finding] = field(default_factory=list)
    more_findings: int = 0
    records: int = 0
    controls: dict[ControlRecordType, Control] = field(default_factory=dict)
    """The last of each type."""
    watch: Watch | None = None
    _known: dict[bytes, tuple[str, Decoder]] = field(default_factory=dict)

    def found(self, finding: Finding) -> None:
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
    ) -> int:
        """Replay the records of a batch from `start` up to `below`; return the offset that comes
        next."""
        header = batch.header
        self.loader.begin_batch(batch.epoch, header.max_timestamp)
        reached = max(header.base_offset, start)
        try:
            for record in batch.records():
                if record.offset < start:
                    continue
                if below is not None and record.offset >= below:
                    return self._end(batch, below)
                if batch.is_control:
                    self._control(file, batch, record)
                else:
                    self._data(file, batch, record, snapshot)
                reached = record.offset + 1
        except DecodeError as error:
            kind = snapshot_kinds.DAMAGE if snapshot else log_kinds.RECORDS
            self.found(
                kind.at(
                    file,
                    error.reason,
                    position=batch.position + error.position,
                    offset=reached,
                    field=error.path,
                    expected=error.expected,
                    found=error.found,
                )
            )
        # A batch may have fewer records than offsets, and one that is damaged inside ends with it.
        end = batch.last_offset + 1
        return self._end(batch, end if below is None else min(end, below))

    def end_snapshot(self, file: str, *, is_whole: bool = True) -> None:
        """Tell where the batches of a snapshot do not end as a whole one does."""
        if not is_whole or ControlRecordType.SNAPSHOT_FOOTER not in self.controls:
            text = "it has no SnapshotFooter: what came last may be missing"
            self.found(snapshot_kinds.FORM.at(file, text))

    def _end(self, batch: RecordBatch, reached: int) -> int:
        self.loader.end_batch(reached - 1, batch.epoch, batch.header.max_timestamp)
        return reached

    def _data(self, file: str, batch: RecordBatch, record: Record, snapshot: bool) -> None:
        self.records += 1
        value = record.value
        position = 3
        try:
            known = self._known.get(value[:3]) if value is not None else None
            if known is None or value is None:
                if value is None:
                    raise DecodeError("a data record without a value", position=0, path="value")
                api_key, version, position = read_frame(value)
                form = record_format(api_key, version)
                if form is None:
                    kind = snapshot_kinds.UNKNOWN_TYPE if snapshot else log_kinds.UNKNOWN_TYPE
                    text = f"a record type {api_key} version {version} that cannot be replayed"
                    self.found(self._at(kind, file, batch, record, text))
                    return
                known = form.name, form.decode
                if position == 3:
                    self._known[value[:3]] = known
            name, decode = known
            data, end = decode(value, position)
            if end != len(value):
                refuse_rest(value, end)
        except DecodeError as error:
            kind = snapshot_kinds.DAMAGE if snapshot else log_kinds.RECORDS
            self.found(
                kind.at(
                    file,
                    error.reason,
                    position=position_of_error(batch, record, error),
                    offset=record.offset,
                    field=error.path,
                    expected=error.expected,
                    found=error.found,
                )
            )
            return
        try:
            if snapshot and name in TRANSACTION_RECORDS:
                raise ReplayError(f"{name} in a snapshot")
            if self.watch is None or snapshot:
                self.loader.replay(record.offset, name, data)
            else:
                self.watch(self.loader, file, batch, record, name, data)
        except ReplayError as error:
            kind = snapshot_kinds.REPLAY if snapshot else log_kinds.REPLAY
            self.found(self._at(kind, file, batch, record, f"{name}: {error.message}"))

    def _at(
        self, kind: FindingKind, file: str, batch: RecordBatch, record: Record, text: str
    ) -> Finding:
        position = position_in_file(batch, record)
        return kind.at(file, text, position=position, offset=record.offset)

    def _control(self, file: str, batch: RecordBatch, record: Record) -> None:
        """Keep what the record says. What is wrong with it does not bear on the image."""
        try:
            kind = _BY_ID.get(read_key(record.key))
            if kind is None:
                return
            _, value = decode_value(kind, record.value)
        except KraftoolError:
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
