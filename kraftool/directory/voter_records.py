"""The history of voter sets and of kraft.version that the files of one directory tell.

Owns the merging of log and snapshots by offset, as Kafka files them: a log record at its own
offset, a snapshot's at its last contained one (-1 for 0-0). A snapshot that repeats what the log
says adds nothing; one that says what the log cannot (it begins later, is damaged there, or a 0-0
checkpoint that is gone told it first) adds an entry; one that contradicts the log is listed. Every
report that speaks of voters goes by it: the events are collected as the files are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import Fault
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.log_record import LogRecord, position_in_file
from kraftool.decoders.names import FileState, parse_checkpoint_name
from kraftool.directory.directory_summary import base_offset, record_voters
from kraftool.directory.file_report import FileReport
from kraftool.directory.metadata_summary import LogExtent, MetadataSummary, SnapshotSummary
from kraftool.directory.voter_history import (
    Contradiction,
    HistoryEntry,
    LeaderEntry,
    Origin,
    VoterHistory,
)
from kraftool.directory.voter_set import set_differences

_VOTERS, _VERSION, _LEADER = "KRaftVoters", "KRaftVersion", "LeaderChange"
MOST_KEPT = 100_000
"""Voters, endpoints and other entries of all events together that are kept."""


@dataclass(slots=True)
class Events:
    """Collects control records while files are read, by the name of the file."""

    entries: dict[str, list[HistoryEntry]] = field(default_factory=dict)
    """As those of a log."""
    leaders: dict[str, list[LeaderEntry]] = field(default_factory=dict)
    left_out: dict[str, Fault] = field(default_factory=dict)
    """The first record of a file for which there was no room."""
    _kept: int = 0
    _led: dict[str, int] = field(default_factory=dict)
    """Where the last batch with a LeaderChange begins."""

    def take(self, name: str, batch: RecordBatch, item: LogRecord) -> None:
        if item.type == _LEADER:
            self._led[name] = batch.position
        if item.type not in (_VOTERS, _VERSION, _LEADER) or item.data is None:
            return
        self._kept += _weight(item.data)
        data, offset, position = item.data, item.record.offset, position_in_file(batch, item.record)
        if self._kept > MOST_KEPT:
            text = "there are too many leaders and voters to compare all of them"
            left_out = Fault(reason=text, file=name, position=position, offset=offset)
            self.left_out.setdefault(name, left_out)
        elif item.type == _LEADER:
            self.leaders.setdefault(name, []).append(
                LeaderEntry(
                    offset=offset,
                    epoch=batch.epoch,
                    leader_id=data["leaderId"],
                    voters=tuple(voter["voterId"] for voter in data["voters"]),
                    file=name,
                    position=position,
                )
            )
        else:
            self.entries.setdefault(name, []).append(
                HistoryEntry(
                    offset=offset,
                    epoch=batch.epoch,
                    origin=Origin.LOG,
                    file=name,
                    position=position,
                    voters=record_voters(data) if item.type == _VOTERS else None,
                    kraft_version=data["kRaftVersion"] if item.type == _VERSION else None,
                    timestamp=item.record.timestamp,
                    last_offset=batch.last_offset,
                    digest=hashlib.sha256(batch.data).hexdigest()[:32],
                    with_leader_change=self._led.get(name) == batch.position,
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
    contradictions: list[Contradiction] = []
    entries: list[HistoryEntry] = []
    for of_voters in (False, True):
        track = _Track(of_voters=of_voters, log=summary.log, contradictions=contradictions)
        for segment in segments:
            track.log_entries(events.entries.get(segment.file, ()))
        for snapshot in snapshots:
            track.snapshot(snapshot, events.entries.get(snapshot.file, ()))
        entries += track.with_changes()
    return VoterHistory(
        entries=tuple(
            sorted(entries, key=lambda entry: (entry.offset, entry.kraft_version is None))
        ),
        leaders=tuple(
            leader for segment in segments for leader in events.leaders.get(segment.file, ())
        ),
        snapshots=tuple(snapshots),
        contradictions=tuple(contradictions),
        left_out=tuple(
            events.left_out[file.file] for file in files if file.file in events.left_out
        ),
    )


def _base(name: str) -> str:
    return name.rpartition("/")[2]


@dataclass(slots=True, kw_only=True)
class _Track:
    """The entries with voters, or those with a kraft.version, put together."""

    of_voters: bool
    log: LogExtent | None
    contradictions: list[Contradiction]
    entries: list[HistoryEntry] = field(default_factory=list)

    def log_entries(self, read: Iterable[HistoryEntry]) -> None:
        """Take what a segment says; segments come in the order of their offsets."""
        cut = self.log.cut if self.log is not None else None
        for entry in self._own(read):
            if self.entries and entry.offset <= self.entries[-1].offset:
                continue  # offsets that go back are a finding of the log's own
            after_damage = cut is not None and entry.offset >= cut
            self.entries.append(replace(entry, after_damage=True) if after_damage else entry)

    def _own(self, read: Iterable[HistoryEntry]) -> Iterator[HistoryEntry]:
        return (entry for entry in read if (entry.voters is not None) == self.of_voters)

    def snapshot(self, snapshot: SnapshotSummary, read: Iterable[HistoryEntry]) -> None:
        """Take what a snapshot says; snapshots come in the order of their offsets."""
        first = next(self._own(read), None)
        at = max(snapshot.offset, 0) - 1
        before = self._at(at)
        if first is None:
            if (
                snapshot.intact
                and self._certain(before, at)
                and before
                and before.kraft_version != 0
            ):
                self._contradiction(snapshot, before, None)
            return
        entry = replace(
            first,
            offset=at,
            epoch=snapshot.epoch,
            origin=Origin.BOOTSTRAP if at < 0 else Origin.SNAPSHOT,
            timestamp=None,
            last_offset=at,
            with_leader_change=False,
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
        self.contradictions.append(
            Contradiction(
                snapshot=snapshot.file,
                offset=max(snapshot.offset, 0) - 1,
                before=before,
                entry=entry,
                changes=_changes(before, entry) if entry is not None else (),
            )
        )

    def with_changes(self) -> list[HistoryEntry]:
        """All entries, each with what it changed."""
        entries: list[HistoryEntry] = []
        for entry in self.entries:
            before = entries[-1] if entries else None
            changes = _changes(before, entry) or ("the same again",)
            entries.append(replace(entry, differences=changes))
        return entries


def _changes(before: HistoryEntry | None, entry: HistoryEntry) -> tuple[str, ...]:
    if before is None:
        return (entry.words,)
    if entry.voters is not None and before.voters is not None:
        return set_differences(before.voters, entry.voters)
    same = before.kraft_version == entry.kraft_version
    return () if same else (f"kraft.version {before.kraft_version} → {entry.kraft_version}",)
