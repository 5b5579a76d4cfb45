"""The sources of one cluster that have what is provably committed.

Owns when a source has it. A log has it if it goes on from the same record (log matching: one offset
and one epoch are one history), or if it begins beyond, which it does below the high watermark only.
A snapshot has it for a node only where Kafka would take it instead of the log, as it does at its
start with one that is ahead of the log in epoch and offset; one of an earlier epoch is left beside
a log that others have cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kraftool.directory.metadata_summary import (
    LogExtent,
    SeenVoters,
    SnapshotSummary,
    VoterSource,
)
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import Commitment, Origin
from kraftool.directory.voter_set import matches
from kraftool.raft.names import Voter, VoterSet
from kraftool.reports.voters.commit import Proof, proofs_of

_KNOWN = (Commitment.COMMITTED, Commitment.FORMATTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A voter and the directories that are its own, which may be none."""

    voter: Voter
    sources: tuple[NodeDirectory, ...]

    @property
    def best(self) -> NodeDirectory:
        """The directory that is furthest."""
        return max(self.sources, key=rank)


def seats(voters: VoterSet, sources: Sequence[NodeDirectory]) -> tuple[Seat, ...]:
    """The voters by id, each with its directories."""
    return tuple(
        Seat(
            voter=voter,
            sources=tuple(
                source
                for source in sources
                if source.node.node_id == voter.id and matches(voter, source.node.directory_id)
            ),
        )
        for voter in sorted(voters, key=lambda voter: voter.id)
    )


def rank(source: NodeDirectory) -> tuple[int, int]:
    """Return how up to date a node is in an election once it has started on these files."""
    log, newest = source.log, instead_of_log(source)
    if newest is not None:
        return newest.epoch, newest.offset
    return log.rank if log is not None and log.end > 0 else (-1, 0)


def instead_of_log(source: NodeDirectory) -> SnapshotSummary | None:
    """The snapshot for which Kafka wipes the log when it starts."""
    whole = [snapshot for snapshot in source.snapshots if snapshot.intact and snapshot.offset > 0]
    newest = max(whole, key=lambda snapshot: (snapshot.offset, snapshot.epoch), default=None)
    if newest is None:
        return None
    log = source.log
    there = log.rank if log is not None else (-1, 0)
    return newest if (newest.epoch, newest.offset) > there else None


def has(source: NodeDirectory, proof: Proof) -> bool:
    """True if a node that starts on these files has all that is proved to be committed."""
    taken = instead_of_log(source)
    if taken is not None:
        return taken.offset >= proof.below and taken.epoch >= proof.epoch
    log = source.log
    if log is None or log.end == 0:
        return False
    if log.start >= proof.below or log.epoch_at(proof.offset) == proof.epoch:
        return True
    # What the start of a log proves ends where the other log may end too.
    return log.end == proof.below <= proof.offset and log.rank[0] <= proof.epoch


def common_end(log: LogExtent | None, other: LogExtent | None) -> int:
    """Up to where two logs are one history, as Kafka finds it: by the newest epoch of both."""
    if log is None or other is None:
        return 0
    ends = [_ends(log_extent) for log_extent in (log, other)]
    both = ends[0].keys() & ends[1].keys()
    if not both:
        return min(max(log.start, other.start), log.end, other.end)
    newest = max(both)
    return min(end[newest] for end in ends)


def _ends(log: LogExtent) -> dict[int, int]:
    """By epoch, the offset at which it ends."""
    if not log.epochs:
        return {}  # an empty log behind a snapshot
    starts = [epoch.start_offset for epoch in log.epochs[1:]]
    return {epoch.epoch: end for epoch, end in zip(log.epochs, [*starts, log.end], strict=True)}


def committed(
    sources: Sequence[NodeDirectory], distrusted: Collection[str] = ()
) -> Iterator[Proof]:
    """Yield what sources with their verdicts prove, each once; not by the snapshots that are
    distrusted.

    A snapshot that contradicts the log beside it proves nothing: it was renamed, or is another's.
    """
    seen: set[tuple[int, int, int]] = set()
    for source in sources:
        for proof in (*proofs_of(source), *_of_changes(source)):
            key = proof.offset, proof.epoch, proof.below
            log = source.log
            log_epoch = log.epoch_at(proof.offset) if log is not None else None
            if key in seen or proof.file in distrusted or log_epoch not in (None, proof.epoch):
                continue
            seen.add(key)
            yield proof


def _of_changes(source: NodeDirectory) -> Iterator[Proof]:
    """Changes of voters that are committed, which nothing but what followed may show."""
    for entry in source.history.entries:
        if entry.origin is Origin.LOG and entry.commitment is Commitment.COMMITTED:
            yield Proof(
                offset=entry.offset,
                epoch=entry.epoch,
                below=entry.offset + 1,
                words=entry.reason,
            )


def committed_voters(source: NodeDirectory) -> SeenVoters | None:
    """The newest voters of a source that are known to be committed, or else those it goes by."""
    for voter_set in reversed(source.voter_sets):
        if voter_set.voters is not None and voter_set.commitment in _KNOWN:
            return SeenVoters(
                source=VoterSource.RECORD,
                voters=voter_set.voters,
                offset=voter_set.offset,
                file=voter_set.file,
            )
    return source.in_force
