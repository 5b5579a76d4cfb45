"""The history of voter sets and of kraft.version that the files of one directory tell.

Owns the merging of log and snapshots by offset, as Kafka files them: a log record at its own
offset, a snapshot's at its last contained one (-1 for 0-0). A snapshot that repeats what the log
says adds nothing; one that says what the log cannot (it begins later, is damaged there, or a 0-0
checkpoint that is gone told it first) adds an entry; one that contradicts the log is a finding.
Every report that speaks of voters goes by it: the events are collected as the files are read. It
refuses to look at other directories.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.fault import FaultKind
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.log_record import LogRecord, position_in_file
from kraftool.decoders.names import FileState, parse_checkpoint_name
from kraftool.reports.files.directory_summary import base_offset, record_voters
from kraftool.reports.files.file_report import FileReport
from kraftool.reports.files.metadata_summary import MetadataSummary, SnapshotSummary
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.voters.model import (
    HistoryEntry,
    LeaderEntry,
    LogExtent,
    Origin,
    VoterHistory,
)
from kraftool.reports.voters.voter_set import set_differences

_VOTERS, _VERSION, _LEADER = "KRaftVoters", "KRaftVersion", "LeaderChange"
MOST_KEPT = 100_000
"""Voters, endpoints and other entries of all events together that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterRecord:
    """A control record about voters, as it was met in a file."""

    type: str
    offset: int
    epoch: int
    timestamp: int
    position: int
    last_offset: int
    data: dict[str, Any]
    digest: str
    with_leader_change: bool


@dataclass(slots=True)
class Events:
    """Collects events while files are read, by the name of the file."""

    by_file: dict[str, list[VoterRecord]] = field(default_factory=dict)
    dropped: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Position and offset of the first event of a file for which there was no room."""
    _kept: int = 0
    _leaders: dict[str, int] = field(default_factory=dict)

    def take(self, name: str, batch: RecordBatch, item: LogRecord) -> None:
        if item.type == _LEADER:
            self._leaders[name] = batch.position
        if item.type not in (_VOTERS, _VERSION, _LEADER) or item.data is None:
            return
        self._kept += _weight(item.data)
        if self._kept > MOST_KEPT:
            place = position_in_file(batch, item.record), item.record.offset
            self.dropped.setdefault(name, place)
            return
        self.by_file.setdefault(name, []).append(
            VoterRecord(
                type=item.type,
                offset=item.record.offset,
                epoch=batch.epoch,
                timestamp=item.record.timestamp,
                position=position_in_file(batch, item.record),
                last_offset=batch.last_offset,
                data=item.data,
                digest=hashlib.sha256(batch.data).hexdigest()[:32],
                with_leader_change=self._leaders.get(name) == batch.position,
            )
        )


def _weight(data: dict[str, Any]) -> int:
    return 1 + sum(1 + len(voter.get("endpoints", ())) for voter in data.get("voters", ()))


def history_of(
    files: Sequence[FileReport], summary: MetadataSummary, events: Events
) -> VoterHistory:
    """Merge what the log and the live snapshots of a directory say."""
    segments = sorted(
        (
            report
            for report in files
            if report.kind is FileKind.LOG
            and report.is_live
            and report.log
            and report.log.is_metadata
        ),
        key=base_offset,
    )
    extent = _extent(segments)
    snapshots = [
        snapshot_summary
        for snapshot_summary in summary.snapshots
        if parse_checkpoint_name(_base(snapshot_summary.file))
    ]
    snapshots = [
        snapshot_summary
        for snapshot_summary in snapshots
        if snapshot_summary.state is FileState.LIVE and snapshot_summary.has_header
    ]
    findings: list[Finding] = []
    logged = [event for segment in segments for event in _named(events, segment.name)]
    entries: list[HistoryEntry] = []
    for type in (_VERSION, _VOTERS):
        track = _Track(type=type, log=extent, findings=findings)
        track.log_entries([event for event in logged if event[1].type == type])
        for snapshot in snapshots:
            track.snapshot(snapshot, events.by_file.get(snapshot.file, ()))
        entries += track.with_changes()
    for file in files:
        if file.name in events.dropped:
            position, offset = events.dropped[file.name]
            text = "there are too many leaders and voters to compare all of them"
            findings.append(
                log_kinds.NOT_CHECKED.at(file.name, text, position=position, offset=offset)
            )
    return VoterHistory(
        entries=tuple(sorted(entries, key=lambda entry: (entry.offset, entry.level is None))),
        leaders=tuple(
            LeaderEntry(
                offset=voter_record.offset,
                epoch=voter_record.epoch,
                leader_id=voter_record.data["leaderId"],
                voters=tuple(voter["voterId"] for voter in voter_record.data["voters"]),
                file=name,
                position=voter_record.position,
            )
            for name, voter_record in logged
            if voter_record.type == _LEADER
        ),
        log=extent,
        snapshots=tuple(snapshots),
        findings=tuple(findings),
    )


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _named(events: Events, name: str) -> Iterable[tuple[str, VoterRecord]]:
    return ((name, voter_record) for voter_record in events.by_file.get(name, ()))


def _extent(segments: Sequence[FileReport]) -> LogExtent | None:
    """The offsets and epochs of all segments, and where something is missing between them."""
    if not segments:
        return None
    start = end = base_offset(segments[0])
    epochs: list[EpochEntry] = []
    last_timestamp_ms = -1
    breaks: set[int] = set()
    cuts: list[int] = []
    odd: list[int] = []
    for file in segments:
        log, first = file.log, base_offset(file)
        assert log is not None, "only segments with a summary are listed"
        if first != end:
            breaks.add(first)
            odd.append(end)
        if log.start_offset not in (None, first):
            odd.append(first)
        for fault in log.problems:
            offset = fault.offset if fault.offset is not None else first
            of_voters = fault.reason.startswith((_VOTERS, _VERSION))
            if fault.cuts:
                cuts.append(offset)
            if (
                fault.cuts
                or fault.kind is FaultKind.GAP
                or (fault.kind is FaultKind.RECORDS and of_voters)
            ):
                breaks.add(offset)
            if fault.kind is FaultKind.GAP:
                odd.append(int(fault.expected))
        epochs += log.epochs
        end = max(end, first, log.end_offset if log.end_offset is not None else first)
        if log.last_timestamp is not None:
            last_timestamp_ms = log.last_timestamp
    return LogExtent(
        start=start,
        end=end,
        epochs=tuple(
            sorted(epochs, key=lambda epoch_entry: (epoch_entry.start_offset, epoch_entry.epoch))
        ),
        breaks=tuple(sorted(breaks)),
        last_timestamp_ms=last_timestamp_ms,
        cut=min(cuts, default=None),
        ends_soundly=segments[-1].log is not None and not segments[-1].log.walked.is_torn,
        odd=min([*odd[:1], *_odd_epochs(start, epochs)], default=None),
    )


def _odd_epochs(start: int, epochs: Sequence[EpochEntry]) -> Iterable[int]:
    """Yield where epochs begin that cannot be, in the order of the file: no CRC covers an epoch."""
    before = held = EpochEntry(epoch=-1, start_offset=start)
    for after in epochs:
        if after.epoch < held.epoch:
            yield (held if before.epoch <= after.epoch else after).start_offset
        before, held = held, after


@dataclass(slots=True, kw_only=True)
class _Track:
    """The entries of one type, put together."""

    type: str
    log: LogExtent | None
    findings: list[Finding]
    entries: list[HistoryEntry] = field(default_factory=list)

    def log_entries(self, events: Iterable[tuple[str, VoterRecord]]) -> None:
        cut = self.log.cut if self.log is not None else None
        for name, event in events:
            if self.entries and event.offset <= self.entries[-1].offset:
                continue  # offsets that go back are a finding of the log's own
            self.entries.append(
                HistoryEntry(
                    offset=event.offset,
                    epoch=event.epoch,
                    origin=Origin.LOG,
                    file=name,
                    position=event.position,
                    timestamp=event.timestamp,
                    last_offset=event.last_offset,
                    digest=event.digest,
                    with_leader_change=event.with_leader_change,
                    after_damage=cut is not None and event.offset >= cut,
                    **self._value(event),
                )
            )

    def _value(self, event: VoterRecord) -> dict[str, Any]:
        if self.type == _VOTERS:
            return {"voters": record_voters(event.data)}
        return {"level": event.data["kRaftVersion"]}

    def snapshot(self, snapshot: SnapshotSummary, events: Iterable[VoterRecord]) -> None:
        """Take what a snapshot says; snapshots come in the order of their offsets."""
        event = next(
            (voter_record for voter_record in events if voter_record.type == self.type), None
        )
        at = max(snapshot.offset, 0) - 1
        before = self._at(at)
        if event is None:
            if snapshot.intact and self._certain(before, at) and before and before.level != 0:
                self._contradiction(snapshot, before, None)
            return
        entry = HistoryEntry(
            offset=at,
            epoch=snapshot.epoch,
            origin=Origin.BOOTSTRAP if at < 0 else Origin.SNAPSHOT,
            file=snapshot.file,
            position=event.position,
            last_offset=at,
            digest=event.digest,
            **self._value(event),
        )
        wrong = any(
            history_entry.contradicted and history_entry.offset <= at
            for history_entry in self.entries
        )
        if before is not None and not wrong and not _changes(before, entry):
            repeated = replace(before, repeated_in=(*before.repeated_in, snapshot.file))
            self.entries[self.entries.index(before)] = repeated
            return
        differs = before is not None and bool(_changes(before, entry))
        if before is not None and differs and at >= 0 and self._certain(before, at):
            self._contradiction(snapshot, before, entry)
            if before.offset == at:
                return
            entry = replace(entry, contradicted=True)
        self.entries.append(entry)
        self.entries.sort(key=lambda history_entry: history_entry.offset)

    def _at(self, offset: int) -> HistoryEntry | None:
        below = [
            entry for entry in self.entries if entry.offset <= offset and not entry.contradicted
        ]
        return below[-1] if below else None

    def _certain(self, before: HistoryEntry | None, at: int) -> bool:
        """True if the log has every offset since, so that nothing can have changed unseen."""
        if self.log is None or before is None:
            return False
        return self.log.covers(before.offset + 1, at)

    def _contradiction(
        self, snapshot: SnapshotSummary, before: HistoryEntry, entry: HistoryEntry | None
    ) -> None:
        what = "voters" if self.type == _VOTERS else "kraft.version"
        changes = _changes(before, entry) if entry is not None else ()
        self.findings.append(
            snap_kinds.LOG_VOTERS.at(
                snapshot.file,
                f"not the {what} of {before.file} at offset {before.offset}"
                + "".join(f"; {change}" for change in changes),
                position=entry.position if entry is not None else 0,
                offset=max(snapshot.offset, 0) - 1,
                field=self.type,
                expected=_words(before),
                found=_words(entry) if entry is not None else "nothing",
            )
        )

    def with_changes(self) -> list[HistoryEntry]:
        """All entries, each with what it changed."""
        entries: list[HistoryEntry] = []
        for entry in self.entries:
            before = entries[-1] if entries else None
            changes = _changes(before, entry) or ("the same again",)
            entries.append(replace(entry, changes=changes))
        return entries


def _changes(before: HistoryEntry | None, entry: HistoryEntry) -> tuple[str, ...]:
    if before is None:
        return (_words(entry),)
    if entry.voters is not None and before.voters is not None:
        return set_differences(before.voters, entry.voters)
    same = before.level == entry.level
    return () if same else (f"kraft.version {before.level} → {entry.level}",)


def _words(entry: HistoryEntry) -> str:
    if entry.voters is None:
        return f"kraft.version {entry.level}"
    ids = ", ".join(map(str, sorted(voter.id for voter in entry.voters)))
    return f"voters {ids}"
