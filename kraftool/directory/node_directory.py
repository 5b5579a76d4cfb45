"""One data directory as one value: its files, who the node is, and who voted when.

Owns what is known of a directory once its files were read, for every report. What is not known is
None or empty.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraftool.decoders import quorum_state
from kraftool.decoders.checkpoint_files import EpochEntry, LeaderEpochCheckpoint
from kraftool.decoders.json_marks import Hidden, Inline
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import METADATA_FOLDER, segment_offset
from kraftool.decoders.quorum_state import QuorumState
from kraftool.directory.file_report import FileReport
from kraftool.directory.metadata_summary import (
    LogExtent,
    MetadataSummary,
    NodeIds,
    SeenVoters,
    SnapshotSummary,
    VoterSource,
)
from kraftool.directory.repairs import RepairTrace
from kraftool.directory.voter_history import (
    NO_HISTORY,
    HistoryEntry,
    QuorumSettings,
    VoterHistory,
)
from kraftool.directory.voter_set import edited_node_id
from kraftool.storage.entry import EntryPlace, EntryProblem, FolderCounts, Severity
from kraftool.storage.lock import Lock, LockState
from kraftool.storage.witness_marker import WitnessMarker


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDirectory:
    """One data directory or metadata partition, or what a running node, settings or single files
    say of one."""

    path: str = ""
    lock: Lock = Lock(LockState.UNKNOWN)
    summary: Inline[MetadataSummary] = MetadataSummary()
    folders: FolderCounts = FolderCounts()
    files: tuple[FileReport, ...] = ()
    name: Hidden[str] = ""
    """As the user would write it; a running node's own."""
    kind: Hidden[str] = ""
    real_path: Hidden[str] = ""
    """Of a directory on this machine, however its name was written."""
    missing: Hidden[str] = ""
    """The directory that its settings name, and that is not there."""
    history: Hidden[VoterHistory] = NO_HISTORY
    """Who voted when, by the control records of log and snapshots."""
    settings: Hidden[QuorumSettings | None] = None
    """Those of the properties file that was the PATH."""
    is_live: Hidden[bool] = False
    """True if a running node said this, and no file."""
    is_witness: Hidden[bool | None] = None
    """True for a voter without a controller, by its ApiVersions or by the file kraftool-witness;
    None where that is unknown."""
    marker: Hidden[WitnessMarker | None] = None
    """The file kraftool-witness of a directory, if it counts."""
    high_watermark: Hidden[int | None] = None
    """Of a running leader, whose log this is."""
    is_whole: Hidden[bool] = True
    """True if the data directory itself was read, and not only its partition."""
    is_unlisted: Hidden[bool] = False
    """True if the metadata partition exists, but its files or a segment could not be opened."""
    cut: Hidden[frozenset[str]] = frozenset()
    """The files that an archive ends inside of, which is told already."""
    repairs: Hidden[tuple[RepairTrace, ...]] = ()
    """The traces of recovery plans."""
    problems: Hidden[tuple[EntryProblem, ...]] = ()
    """What of the PATH could not be read or was passed over; its first directory has it."""

    @property
    def node(self) -> NodeIds:
        return self.summary.node

    @property
    def quorum_state(self) -> QuorumState | None:
        return self.summary.quorum_state

    @property
    def log(self) -> LogExtent | None:
        """Its metadata log."""
        log = self.summary.log
        return log if log is not None and log.is_metadata else None

    @property
    def snapshots(self) -> tuple[SnapshotSummary, ...]:
        """Those that Kafka may load."""
        return self.history.snapshots

    @property
    def quorum_state_file(self) -> str:
        return self._name_of(FileKind.QUORUM_STATE)

    @property
    def meta_file(self) -> str:
        return self._name_of(FileKind.META_PROPERTIES)

    def _name_of(self, kind: FileKind) -> str:
        file = self.one(kind)
        return file.file if file is not None else ""

    @property
    def epoch_checkpoint(self) -> tuple[EpochEntry, ...]:
        """The entries of leader-epoch-checkpoint, if Kafka accepts the file."""
        file = self.one(FileKind.LEADER_EPOCH_CHECKPOINT)
        if file is None or not isinstance(file.content, LeaderEpochCheckpoint):
            return ()
        return file.content.entries if file.content.accepted else ()

    @property
    def seen_voters(self) -> SeenVoters | None:
        """Voters that no record tells: of the settings, a LeaderChange or quorum-state."""
        is_recorded = any(entry.voters for entry in self.history.entries)
        return None if is_recorded else self.summary.voter_set

    @property
    def is_running(self) -> bool:
        """True if another process holds the lock: the files then differ by when each was read."""
        return self.lock.state is LockState.HELD

    @property
    def planned(self) -> frozenset[str]:
        """Files as a recovery plan left them: checkpoints, and quorum-state until a node runs."""
        return frozenset().union(*(repair.planned for repair in self.repairs))

    @property
    def was_repaired(self) -> bool:
        """True if the folder of a recovery plan is here."""
        return bool(self.repairs)

    @property
    def begins_planned_epoch(self) -> bool:
        """True if a recovery plan wrote quorum-state, and no node has run since."""
        return quorum_state.FILE_NAME in self.planned

    @property
    def was_used(self) -> bool:
        """True if a metadata partition is here that was used, not only formatted."""
        return self.summary.log is not None or any(
            snapshot.offset > 0 for snapshot in self.summary.snapshots
        )

    @property
    def has_partition(self) -> bool:
        return any(file.place is EntryPlace.PARTITION for file in self.files)

    def all_of(self, kind: FileKind) -> Iterator[FileReport]:
        """The files of a kind that Kafka uses."""
        return (file for file in self.files if file.kind is kind and file.is_live)

    def one(self, kind: FileKind) -> FileReport | None:
        return next(self.all_of(kind), None)

    @property
    def edited_from(self) -> int | None:
        """The node id of the directory, if its meta.properties has another one by an edit."""
        newest = self.newest
        if self.settings is None or newest is None or newest.voters is None:
            return None
        own, configured = self.node, self.settings.node_id
        return edited_node_id(own.node_id, own.directory_id, configured, newest.voters)

    @property
    def is_log_unread(self) -> bool:
        """True if a segment could not be read, or the folder that has them could not be listed."""
        of_files = (file.unread for file in self.files if file.unread is not None)
        names = (
            os.path.basename(problem.name)
            for problem in (*self.problems, *of_files)
            if problem.severity is not Severity.INFO
        )
        return any(name == METADATA_FOLDER or segment_offset(name) is not None for name in names)

    @property
    def voter_sets(self) -> tuple[HistoryEntry, ...]:
        return tuple(entry for entry in self.history.entries if entry.voters is not None)

    @property
    def newest(self) -> HistoryEntry | None:
        """The newest voter set of a record."""
        sets = self.voter_sets
        return sets[-1] if sets else None

    @property
    def kraft_version(self) -> int | None:
        """The newest kraft.version; 0 where a whole history says nothing of it."""
        levels = [
            entry.kraft_version for entry in self.history.entries if entry.kraft_version is not None
        ]
        if levels:
            return levels[-1]
        if self.newest is not None:
            return 1  # the lowest that has voters in records
        whole = self.log is not None and self.log.start == 0 < self.log.end
        return 0 if whole or any(snapshot.intact for snapshot in self.snapshots) else None

    @property
    def has_metadata(self) -> bool:
        return (self.log is not None and self.log.end > 0) or bool(self.snapshots)

    @property
    def tells_nothing(self) -> bool:
        """True if nothing here concerns voters: no record, no settings, no node."""
        return (
            self.in_force is None
            and self.settings is None
            and self.quorum_state is None
            and self.node == NodeIds()
            and not self.has_metadata
        )

    @property
    def in_force(self) -> SeenVoters | None:
        """The voters that a node with these files goes by; any record beats the settings."""
        newest = self.newest
        if newest is None or newest.voters is None:
            return self.seen_voters
        return SeenVoters(
            source=VoterSource.RECORD,
            voters=newest.voters,
            offset=newest.offset,
            file=newest.file,
        )

    @property
    def end(self) -> int:
        """The first offset that this source knows nothing of."""
        ends = [snapshot.offset for snapshot in self.snapshots]
        return max([*ends, self.log.end if self.log is not None else 0], default=0)

    def with_words_of(self, node: NodeDirectory) -> NodeDirectory:
        """The same log with what its running node says besides."""
        said, newest = node.summary, self.newest
        summary = replace(
            self.summary,
            voter_set=said.voter_set if newest is None else self.summary.voter_set,
            controllers=said.controllers,
        )
        return replace(self, summary=summary, is_witness=node.is_witness)

    def epoch_at(self, offset: int) -> int | None:
        """The epoch of the record at an offset, by the log or by a snapshot that ends with it."""
        epoch = self.log.epoch_at(offset) if self.log is not None else None
        if epoch is None:
            ends = (snapshot.epoch for snapshot in self.snapshots if snapshot.offset == offset + 1)
            epoch = next(ends, None)
        return epoch

    def parts_from(self, other: NodeDirectory) -> int | None:
        """An offset whose record both have, of different epochs; None where none is known.

        ReadTail for where the shorter one ends: with the same epoch there, they are the same up to
        there, since a leader's records follow on a log that is its own.
        """
        last = min(self.end, other.end) - 1
        if any(source.log is not None and last in source.log.breaks for source in (self, other)):
            return None
        mine, theirs = self.epoch_at(last), other.epoch_at(last)
        return last if None not in (mine, theirs) and mine != theirs else None

    def plays(self, role: str) -> bool | None:
        """True if the node has a role; None if no settings show it."""
        return role in self.settings.roles if self.settings and self.settings.roles else None
