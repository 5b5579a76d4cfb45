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
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.log_record import LogRecord, decode_control
from kraftool.decoders.names import CheckpointName, segment_offset
from kraftool.decoders.segment import Damage, scan
from kraftool.reports.findings import Finding
from kraftool.reports.log_findings import log_findings
from kraftool.reports.log_problems import (
    crc_problem,
    damage_problem,
    epoch_back_problem,
    gap_problem,
)
from kraftool.reports.log_summary import CUTTING, EpochStart, LogProblem, LogSummary
from kraftool.reports.timeline.batches import PARTITIONS, LogBatch, Watched, decode, log_batch
from kraftool.reports.weighing import weighed
from kraftool.storage.entry import Entry

MAX_PROBLEMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Damage in a log: the finding, and the offset at which it stands in the timeline."""

    offset: int
    finding: Finding

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
    found: list[LogProblem] = field(default_factory=list)
    more: int = 0

    def add(self, problem: LogProblem) -> None:
        if len(self.found) < MAX_PROBLEMS:
            self.found.append(problem)
        else:
            self.more += 1


def read_segment(
    entry: Entry, follows: int | None, progress: Callable[[str, int], None]
) -> Iterator[LogBatch | Found]:
    """The batches whose CRC holds; at the end, whatever is wrong in the segment.

    `follows` is the offset at which the segment before it ended.
    """
    problems = _Problems()
    start: int | None = None
    intact: int | None = None
    end, told, highest, batches, whole = follows, 0, -1, 0, True
    with entry.open() as source:
        for item in scan(source.read_at):
            problem = damage_problem(item, end) if isinstance(item, Damage) else None
            if isinstance(item, RecordBatch):
                start = item.base_offset if start is None else start
                batches += 1
                if not item.is_valid:
                    problem = crc_problem(item)
                else:
                    problem = _sequence(item, end if whole else None, highest)
                    yield log_batch(entry.name, item)
                    highest = max(highest, item.epoch)
                    if item.last_offset >= item.base_offset:
                        end = item.last_offset + 1
                if item.position - told > 1 << 20:
                    told = item.position
                    progress(entry.name, told)
            if problem is not None:
                problems.add(problem)
                whole = whole and problem.kind not in CUTTING
            if problem is None or problem.kind not in CUTTING:
                intact = end if whole else intact
    progress(entry.name, entry.size)
    summary = LogSummary(
        batches=batches,
        start_offset=start,
        end_offset=end if batches else None,
        intact_end_offset=intact,
        problems=tuple(problems.found),
        more_problems=problems.more,
    )
    for finding in log_findings(entry.name, FileKind.LOG, summary):
        at = finding.offset if finding.offset is not None else start
        at = at if at is not None else segment_offset(entry.basename)
        yield Found(offset=at if at is not None else 0, finding=finding)


def _sequence(batch: RecordBatch, end: int | None, highest: int) -> LogProblem | None:
    if end is not None and batch.base_offset != end:
        return gap_problem(batch, end)
    return epoch_back_problem(batch, highest) if batch.epoch < highest else None


def read_snapshot(
    entry: Entry, name: CheckpointName, *, records: bool
) -> tuple[NodeSnapshot, list[Finding]]:
    """A snapshot, and what is wrong with it; with `records` what it says that is followed."""
    problems = _Problems()
    watched: list[Watched] = []
    epochs: dict[int, int] = {}
    first: LogRecord | None = None
    last: LogRecord | None = None
    start = end = None
    batches = 0
    with entry.open() as source:
        for item in scan(source.read_at):
            if isinstance(item, Damage):
                problems.add(damage_problem(item, end))
                continue
            batches += 1
            start = item.base_offset if start is None else start
            epochs.setdefault(item.epoch, item.base_offset)
            end = item.last_offset + 1
            if not item.is_valid:
                problems.add(crc_problem(item))
                last = None
                continue
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
        end_offset=end,
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
