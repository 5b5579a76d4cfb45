"""The voters, and whether they are committed: by the leader, by records in directories, by history.

Owns that question. A leader tells of its newest set, and counts by it, whether or not its record is
committed; it does not say which. That follows from where the record lies and how far the high
watermark is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kraftool.directory.metadata_summary import SeenVoters, VoterSource
from kraftool.raft.names import ReplicaKey, majority_of
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture, QuorumSample


class Commit(StrEnum):
    """The known facts of the newest voter set's record."""

    COMMITTED = "committed"
    UNCOMMITTED = "uncommitted"
    UNKNOWN = "unknown"
    STATIC = "static"
    """There is no record: settings say who votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterState:
    """The newest voter set, and the one that holds until it is committed."""

    now: tuple[ReplicaKey, ...] = ()
    before: tuple[ReplicaKey, ...] = ()
    """The committed set, where the newest is not; else empty."""
    commit: Commit = Commit.UNKNOWN
    source: str = ""
    """Who tells: leader, history (the last leader that did), directory; empty where nobody does."""
    offset: int | None = None
    """Of the record, where a directory shows it."""

    @property
    def is_uncommitted(self) -> bool:
        return self.commit is Commit.UNCOMMITTED

    @property
    def joining(self) -> tuple[ReplicaKey, ...]:
        return tuple(key for key in self.now if key not in self.before) if self.before else ()

    @property
    def leaving(self) -> tuple[ReplicaKey, ...]:
        return tuple(key for key in self.before if key not in self.now)

    @property
    def majority(self) -> int:
        return majority_of(len(self.now))

    def key_of(self, node_id: int | None) -> ReplicaKey | None:
        return next((key for key in self.now if key.id == node_id), None)

    def has(self, node_id: int | None, directory_id: str | None) -> bool:
        """True if it votes with this directory; voters without directory ids vote with any."""
        key = self.key_of(node_id)
        return key is not None and (
            None in (key.directory_id, directory_id) or key.directory_id == directory_id
        )


def voter_state(picture: Picture) -> VoterState:
    """Return the voters by the best source: the leader, the last leader, or directories."""
    newest = _newest(picture.directories)
    if picture.view is not None and picture.view.quorum is not None:
        now = tuple(voter.replica for voter in picture.view.quorum.voters)
        if all(key.directory_id is None for key in now):
            return VoterState(now=now, commit=Commit.STATIC, source="leader")
        mark = picture.view.quorum.high_watermark
        state = _by_record(now, newest, mark)
        return state or _by_history(now, picture.history.samples)
    for sample in reversed(picture.history.samples):
        if sample.voters:
            return VoterState(now=sample.voters, commit=Commit.UNKNOWN, source="history")
    if newest is None:
        return VoterState()
    return _by_directories(newest, picture.directories)


def _newest(directories: tuple[DirectoryReading, ...]) -> DirectoryReading | None:
    """The directory that knows the newest voters."""
    informants = [directory for directory in directories if directory.voters is not None]

    def age(directory: DirectoryReading) -> tuple[int, int]:
        assert directory.voters is not None, "only those that tell are compared"
        offset = directory.voters.offset if directory.voters.offset is not None else -2
        return offset, directory.log_end_offset or -1

    return max(informants, key=age, default=None)


def _keys(voters: SeenVoters | None) -> tuple[ReplicaKey, ...]:
    if voters is None:
        return ()
    return tuple(voter.key for voter in voters.voters)


def _by_record(
    now: tuple[ReplicaKey, ...], directory: DirectoryReading | None, mark: int
) -> VoterState | None:
    """A directory has the record of the very set that the leader tells of: its offset decides."""
    if directory is None or directory.voters is None or directory.voters.offset is None:
        return None
    if set(_keys(directory.voters)) != set(now) or mark < 0:
        return None
    is_committed = directory.voters.offset < mark
    return VoterState(
        now=now,
        before=() if is_committed else _keys(directory.previous_voters),
        commit=Commit.COMMITTED if is_committed else Commit.UNCOMMITTED,
        source="leader",
        offset=directory.voters.offset,
    )


def _by_history(now: tuple[ReplicaKey, ...], samples: tuple[QuorumSample, ...]) -> VoterState:
    """A record that came between two polls lies between the leader's log ends at these polls."""
    led = [sample for sample in samples if sample.voters and sample.leader_end is not None]
    first = len(led)
    while first > 0 and set(led[first - 1].voters) == set(now):
        first -= 1
    same = led[first:]
    before = led[first - 1] if first > 0 else None
    commit = Commit.UNKNOWN
    if same:
        # In the first of these polls the record was in the log already, below its end.
        end = same[0].leader_end or 0
        mark = same[-1].high_watermark
        if mark is not None and mark >= end:
            commit = Commit.COMMITTED
        elif before is not None and (mark is None or mark <= (before.leader_end or 0)):
            commit = Commit.UNCOMMITTED
    return VoterState(
        now=now,
        before=before.voters if commit is Commit.UNCOMMITTED and before is not None else (),
        commit=commit,
        source="leader",
    )


def _by_directories(
    newest: DirectoryReading, directories: tuple[DirectoryReading, ...]
) -> VoterState:
    """Snapshots hold only what is committed; and what a majority has is, too."""
    assert newest.voters is not None, "it was chosen for its voters"
    voters = newest.voters
    now, offset = _keys(voters), voters.offset
    if voters.source is not VoterSource.RECORD or offset is None:
        return VoterState(now=now, commit=Commit.STATIC, source="directory", offset=offset)
    in_snapshot = any(
        snapshot.offset > offset
        for directory in directories
        if directory.voters is not None and set(_keys(directory.voters)) == set(now)
        for snapshot in directory.snapshots
    )
    state = VoterState(now=now, source="directory", offset=offset)
    holders = {
        directory.node.node_id
        for directory in directories
        if state.has(directory.node.node_id, directory.node.directory_id)
        and directory.voters is not None
        and set(_keys(directory.voters)) == set(now)
    }
    is_committed = in_snapshot or len(holders) >= state.majority
    missing = {key.id for key in now} - {directory.node.node_id for directory in directories}
    commit = Commit.UNCOMMITTED if not missing else Commit.UNKNOWN
    return VoterState(
        now=now,
        before=() if is_committed else _keys(newest.previous_voters),
        commit=Commit.COMMITTED if is_committed else commit,
        source="directory",
        offset=offset,
    )
