"""One segment or snapshot, read for the timeline: its batches, and what is wrong with it.

Owns the reading. What is wrong is told by the same functions as in every other report. Of a
snapshot it checks that the batches are whole and that it begins, ends and is named as it should;
whether the records in it are right is verification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.fault import Fault
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.log_record import LogRecord, decode_control
from kraftool.decoders.names import CheckpointName, segment_offset
from kraftool.decoders.walk import BEGINNING, Faulty, Walk, WalkState, batch_of, seam_faults
from kraftool.reports.findings import Finding
from kraftool.reports.log_findings import log_finding, log_findings
from kraftool.reports.log_summary import EpochStart, LogSummary
from kraftool.reports.timeline.batches import PARTITIONS, LogBatch, Watched, decode, log_batch
from kraftool.reports.weighing import weighed
from kraftool.storage.entry import Entry

MAX_PROBLEMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Damage in a log: the finding, and the offset at which it stands in the timeline."""

    offset: int
    finding: Finding

    @classmethod
    def of(cls, finding: Finding, start: int | None) -> Found:
        """A finding at its offset, or where its segment starts."""
        for offset in (finding.offset, start, segment_offset(finding.file.rpartition("/")[2])):
            if offset is not None:
                return cls(offset=offset, finding=finding)
        return cls(offset=0, finding=finding)

    def settled(self, *, is_last: bool, is_live: bool) -> Found:
        """Weighed by what lies around it: a tail is torn only at the log's end."""
        finding = weighed(self.finding, is_last=is_last, is_live=is_live)
        return Found(offset=self.offset, finding=finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSnapshot:
    """A snapshot on one node."""

    name: str
    offset: int
    epoch: int
    size: int
    timestamp: int | None
    """lastContainedLogTimestamp of its header; None where that tells nothing."""
    has_header: bool
    is_whole: bool
    entry: Entry | None = None
    records: tuple[Watched, ...] = ()
    """What it holds of what the timeline follows, if it was read for that."""


@dataclass(slots=True)
class _Problems:
    found: list[Fault] = field(default_factory=list)
    more: int = 0

    def add(self, problem: Fault) -> None:
        if len(self.found) < MAX_PROBLEMS:
            self.found.append(problem)
        else:
            self.more += 1


@dataclass(slots=True)
class SegmentReading:
    """One segment: its sound batches, then whatever is wrong in it."""

    entry: Entry
    progress: Callable[[str, int], None]
    walked: WalkState = BEGINNING
    """The state of the walk at the end of the segment, once all was read."""

    def __iter__(self) -> Iterator[LogBatch | Found]:
        entry, problems = self.entry, _Problems()
        start: int | None = None
        told, batches = 0, 0
        with entry.open() as source:
            walk = Walk(source.read_at)
            for item in walk:
                batch = batch_of(item)
                if batch is not None:
                    start = batch.base_offset if start is None else start
                    batches += 1
                if isinstance(item, Faulty):
                    problems.add(item.fault)
                    continue
                yield log_batch(entry.name, item)
                if item.position - told > 1 << 20:
                    told = item.position
                    self.progress(entry.name, told)
        self.progress(entry.name, entry.size)
        self.walked = walk.state
        summary = LogSummary(
            batches=batches,
            start_offset=start,
            walked=self.walked,
            problems=tuple(problems.found),
            more_problems=problems.more,
        )
        for finding in log_findings(entry.name, FileKind.LOG, summary):
            yield Found.of(finding, start)


def seam(file: str, before: WalkState, walked: WalkState) -> Iterator[Found]:
    """What is wrong with how a segment follows on the one before it."""
    for fault in seam_faults(before, walked):
        yield Found.of(log_finding(file, fault), fault.offset)


def read_snapshot(
    entry: Entry, name: CheckpointName, *, records: bool
) -> tuple[NodeSnapshot, list[Finding]]:
    """A snapshot, and what is wrong with it; with `records` what it says that is followed."""
    problems = _Problems()
    watched: list[Watched] = []
    epochs: dict[int, int] = {}
    first: LogRecord | None = None
    last: LogRecord | None = None
    start: int | None = None
    batches = 0
    with entry.open() as source:
        walk = Walk(source.read_at)
        for item in walk:
            batch = batch_of(item)
            if batch is not None:
                start = batch.base_offset if start is None else start
                batches += 1
            if isinstance(item, Faulty):
                problems.add(item.fault)
                last = None if item.fault.cuts else last
                continue
            epochs.setdefault(item.epoch, item.base_offset)
            opening, last = _controls(item)
            first = opening if item.position == 0 else first
            if records:
                watched += (
                    each for each in decode(entry.name, item).records if each.name != PARTITIONS
                )
    has_header = first is not None and first.type == ControlRecordType.SNAPSHOT_HEADER.label
    stamp = first.data["lastContainedLogTimestamp"] if has_header and first and first.data else 0
    summary = LogSummary(
        batches=batches,
        start_offset=start,
        walked=walk.state,
        epochs=tuple(EpochStart(epoch=each, start_offset=at) for each, at in epochs.items()),
        has_header=has_header,
        has_footer=last is not None and last.type == ControlRecordType.SNAPSHOT_FOOTER.label,
        problems=tuple(problems.found),
        more_problems=problems.more,
    )
    findings = log_findings(entry.name, FileKind.CHECKPOINT, summary)
    return (
        NodeSnapshot(
            name=entry.name,
            offset=name.offset,
            epoch=name.epoch,
            size=entry.size,
            timestamp=stamp if stamp > 0 else None,
            has_header=has_header,
            is_whole=not findings,
            entry=None if records else entry,
            records=tuple(watched),
        ),
        list(findings),
    )


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
