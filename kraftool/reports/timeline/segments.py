"""One segment or snapshot, read for the timeline: its batches, and what is wrong with it.

Owns the reading. What is wrong is told by the same functions as in every other report. Of a
snapshot it checks that the batches are whole and that it begins, ends and is named as it should;
whether the records in it are right is verification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import CheckpointName, segment_offset
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import BEGINNING, Faulty, Walk, WalkState, batch_of, seam_faults
from kraftool.directory.log_summary import LogSummary
from kraftool.reports.files.log_findings import log_finding, log_findings
from kraftool.reports.files.severity_in_context import weighed
from kraftool.reports.files.snapshot_form import Problems, SnapshotForm
from kraftool.reports.findings.finding import Finding
from kraftool.reports.timeline.batches import PARTITIONS, LogBatch, Watched, decode, log_batch
from kraftool.reports.timeline.stretches import stretch_reader
from kraftool.storage.entry import Entry


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
class SegmentReading:
    """One segment: its sound batches, then whatever is wrong in it."""

    entry: Entry
    progress: Callable[[str, int], None]
    has_stretches: bool = True
    """True if batches in which nothing happens may come as one."""
    walked: WalkState = BEGINNING
    """The state of the walk at the end of the segment, once all was read."""

    def __iter__(self) -> Iterator[LogBatch | Found]:
        entry, problems = self.entry, Problems()
        start: int | None = None
        reported_position, batches = 0, 0
        reader = stretch_reader(entry.name) if self.has_stretches else None
        with entry.open() as source:
            walk = Walk(source.read_at)
            for item in walk.spans() if reader is not None else walk:
                if isinstance(item, BatchSpan):
                    assert reader is not None, "only the native module has spans"
                    start = item.base_offset if start is None else start
                    batches += item.batches
                    yield from reader.read(item)
                else:
                    if reader is not None:
                        yield from reader.close()
                    batch = batch_of(item)
                    if batch is not None:
                        start = batch.base_offset if start is None else start
                        batches += 1
                    if isinstance(item, Faulty):
                        problems.add(item.fault)
                        continue
                    yield log_batch(entry.name, item)
                if item.position - reported_position > 1 << 20:
                    reported_position = item.position
                    self.progress(entry.name, reported_position)
            if reader is not None:
                yield from reader.close()
        self.progress(entry.name, entry.size)
        self.walked = walk.state
        summary = LogSummary(
            batches=batches,
            start_offset=start,
            walked=self.walked,
            problems=tuple(problems.listed),
            omitted_problems=problems.more,
        )
        for finding in log_findings(entry.name, FileKind.LOG, summary):
            yield Found.of(finding, start)


def seam(file: str, before: WalkState, walked: WalkState) -> Iterator[Found]:
    """Yield what is wrong with how a segment follows on the one before it."""
    for fault in seam_faults(before, walked):
        yield Found.of(log_finding(file, fault), fault.offset)


def read_snapshot(
    entry: Entry, name: CheckpointName, *, records: bool
) -> tuple[NodeSnapshot, list[Finding]]:
    """A snapshot, and what is wrong with it; with `records` what it says that is followed."""
    form, watched = SnapshotForm(), list[Watched]()
    reader = stretch_reader(entry.name) if records else None
    with entry.open() as source:
        for item in Walk(source.read_at):
            form.take(item)
            if records and not isinstance(item, Faulty):
                content = decode(entry.name, item) if reader is None else reader.content(item)
                watched += (record for record in content.records if record.name != PARTITIONS)
    findings, stamp = form.findings(entry.name), form.header_timestamp or 0
    return (
        NodeSnapshot(
            name=entry.name,
            offset=name.offset,
            epoch=name.epoch,
            size=entry.size,
            timestamp=stamp if stamp > 0 else None,
            has_header=form.has_header,
            is_whole=not findings,
            entry=None if records else entry,
            records=tuple(watched),
        ),
        list(findings),
    )
