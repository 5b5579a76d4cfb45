"""The form of a snapshot, from the items of a walk over it: how it begins, ends and is named.

Owns what of the form is looked at by every command that walks over a snapshot itself. It refuses to
judge the records in it; that is verification.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.fault import LogFault
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.log_record import LogRecord, decode_control
from kraftool.decoders.walk import BEGINNING, Faulty, Item, WalkState, after, batch_of
from kraftool.directory.log_summary import LogSummary
from kraftool.reports.files.log_findings import log_findings
from kraftool.reports.findings.finding import Finding

MAX_PROBLEMS = 100


@dataclass(slots=True)
class Problems:
    """The first faults of a file, and the number of the others."""

    listed: list[LogFault] = field(default_factory=list)
    more: int = 0

    def add(self, fault: LogFault) -> None:
        if len(self.listed) < MAX_PROBLEMS:
            self.listed.append(fault)
        else:
            self.more += 1


@dataclass(slots=True)
class SnapshotForm:
    """Takes the items of a walk over one snapshot."""

    problems: Problems = field(default_factory=Problems)
    header_timestamp: int | None = None
    """The lastContainedLogTimestamp of the header."""
    has_header: bool = False
    _walked: WalkState = BEGINNING
    _epochs: dict[int, int] = field(default_factory=dict)
    _last: LogRecord | None = None
    """The last record so far, if it is a control record."""
    _start: int | None = None
    _batches: int = 0

    def take(self, item: Item) -> None:
        """Look at the next item of the walk."""
        if not isinstance(item, Faulty) or item.fault.cuts:
            self._walked = after(self._walked, item)
        batch = batch_of(item)
        if batch is not None:
            self._start = batch.base_offset if self._start is None else self._start
            self._batches += 1
        if isinstance(item, Faulty):
            self.problems.add(item.fault)
            self._last = None if item.fault.cuts else self._last
            return
        self._epochs.setdefault(item.epoch, item.base_offset)
        first, self._last = _controls(item)
        if item.position == 0 and first is not None and first.data is not None:
            self.has_header = first.type == ControlRecordType.SNAPSHOT_HEADER.label
            if self.has_header:
                self.header_timestamp = first.data["lastContainedLogTimestamp"]

    def findings(self, name: str) -> tuple[Finding, ...]:
        """Return what is wrong with the form, once all items were taken."""
        last = self._last
        summary = LogSummary(
            batches=self._batches,
            start_offset=self._start,
            walked=self._walked,
            epochs=tuple(
                EpochEntry(epoch=epoch, start_offset=at) for epoch, at in self._epochs.items()
            ),
            has_header=self.has_header,
            has_footer=last is not None and last.type == ControlRecordType.SNAPSHOT_FOOTER.label,
            problems=tuple(self.problems.listed),
            omitted_problems=self.problems.more,
        )
        return log_findings(name, FileKind.CHECKPOINT, summary)


def _controls(batch: RecordBatch) -> tuple[LogRecord | None, LogRecord | None]:
    """The first and the last record of a control batch."""
    if not batch.is_control:
        return None, None
    first = last = None
    try:
        for record in batch.records():
            first, last = first or record, record
    except DecodeError:
        return None, None
    if first is None or last is None:
        return None, None
    return decode_control(first), decode_control(last)
