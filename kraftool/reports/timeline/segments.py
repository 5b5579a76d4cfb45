"""One segment or snapshot, read for the timeline: batches, damage as findings, a snapshot's head.

Owns the step from damage to a finding at an offset, with the same codes and advice as every other
report. It refuses to check a snapshot beyond its head; verification does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from kraftool.decoders.batch import CRC_START, RecordBatch
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import CheckpointName, parse_segment_name
from kraftool.decoders.segment import Damage, scan
from kraftool.reports.findings import Finding, Severity
from kraftool.reports.kinds import log as log_kinds
from kraftool.reports.kinds import snapshot as snapshot_kinds
from kraftool.reports.log_findings import log_findings
from kraftool.reports.log_summary import CRC, CUTTING, EPOCH_BACK, GAP, LogProblem, LogSummary
from kraftool.reports.timeline.batches import PARTITIONS, LogBatch, Watched, decode, log_batch
from kraftool.storage.entry import Entry

MAX_PROBLEMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Damage in a log: the finding, and the offset at which it stands in the timeline."""

    offset: int
    finding: Finding

    def settled(self, *, is_last: bool, is_live: bool) -> Found:
        """Weighed by what lies around it: a tail is torn only at the log's end."""
        tails = (log_kinds.TORN_TAIL.code, log_kinds.ZERO_TAIL.code)
        finding = self.finding
        if finding.code in tails and not is_last:
            text = f"{finding.text}, and another segment follows"
            finding = replace(
                finding, code=log_kinds.DAMAGE.code, severity=Severity.ERROR, text=text
            )
        elif finding.code == log_kinds.TORN_TAIL.code and is_live:
            text = "a batch is being written by the running node"
            finding = replace(
                finding, severity=Severity.INFO, undecoded=False, text=text, advice=""
            )
        return Found(offset=self.offset, finding=finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot on one node."""

    name: str
    offset: int
    epoch: int
    size: int
    timestamp: int | None
    """lastContainedLogTimestamp of its header; None where that tells nothing."""
    has_header: bool
    entry: Entry | None = None
    records: tuple[Watched, ...] = ()
    """What it holds of what the timeline follows, if it was read whole."""


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
    name = parse_segment_name(entry.basename)
    base = name.base_offset if name is not None else 0
    start: int | None = None
    intact: int | None = None
    end, told, highest, batches, whole = follows, 0, -1, 0, True
    with entry.open() as source:
        for item in scan(source.read_at):
            problem = _damage(item, end) if isinstance(item, Damage) else None
            if isinstance(item, RecordBatch):
                start = item.base_offset if start is None else start
                batches += 1
                if not item.is_valid:
                    problem = _crc(item)
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
            elif whole and isinstance(item, RecordBatch):
                intact = end
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
        yield Found(offset=at if at is not None else base, finding=finding)


def _damage(damage: Damage, end: int | None) -> LogProblem:
    return LogProblem(
        kind=damage.kind.value,
        text=damage.reason,
        position=damage.position,
        offset=end,
        size=damage.size,
        expected=damage.expected,
        found=damage.found,
    )


def _crc(batch: RecordBatch) -> LogProblem:
    return LogProblem(
        kind=CRC,
        text="the batch's CRC does not match its bytes",
        position=batch.position + CRC_START - 4,
        offset=batch.base_offset,
        size=batch.size,
        expected=f"{batch.computed_crc():08x}",
        found=f"{batch.header.crc:08x}",
    )


def _sequence(batch: RecordBatch, end: int | None, highest: int) -> LogProblem | None:
    if end is not None and batch.base_offset != end:
        return LogProblem(
            kind=GAP,
            text="the offsets do not follow on the batch before",
            position=batch.position,
            offset=batch.base_offset,
            expected=str(end),
            found=str(batch.base_offset),
        )
    if batch.epoch < highest:
        return LogProblem(
            kind=EPOCH_BACK,
            text="the leader epoch goes backwards",
            position=batch.position + 12,
            offset=batch.base_offset,
            field="partitionLeaderEpoch",
            expected=f"{highest} or more",
            found=str(batch.epoch),
        )
    return None


def read_snapshot(
    entry: Entry, name: CheckpointName, *, whole: bool
) -> tuple[Snapshot, list[Finding]]:
    """A snapshot's header, and with `whole` what it says of what the timeline follows."""
    timestamp: int | None = None
    has_header = False
    records: list[Watched] = []
    findings: list[Finding] = []
    with entry.open() as source:
        for item in scan(source.read_at):
            if isinstance(item, Damage):
                findings.append(
                    snapshot_kinds.DAMAGE.at(
                        entry.name,
                        item.reason,
                        position=item.position,
                        expected=item.expected,
                        found=item.found,
                    )
                )
                break
            if item.is_valid:
                told = decode(entry.name, item).records
                if item.position == 0 and told and told[0].name == "SnapshotHeaderRecord":
                    has_header = True
                    stamp = told[0].data["lastContainedLogTimestamp"]
                    timestamp = stamp if stamp > 0 else None
                if whole:
                    records += (each for each in told if each.name != PARTITIONS)
            if not whole:
                break
    if not has_header and not findings:
        text = "it does not begin with a SnapshotHeader"
        findings.append(snapshot_kinds.FORM.at(entry.name, text, position=0))
    return (
        Snapshot(
            name=entry.name,
            offset=name.offset,
            epoch=name.epoch,
            size=entry.size,
            timestamp=timestamp,
            has_header=has_header,
            entry=None if whole else entry,
            records=tuple(records),
        ),
        findings,
    )
