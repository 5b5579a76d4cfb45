"""The part of a survey that the judgement of its quorum needs, and the way back.

Owns the mapping between a `NodeCase` (`reports/election/case.py`) and plain members, so that a
collect file gives the same judgement as the directory itself. It refuses to judge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.raft.names import NO_VOTERS, ElectionState, OffsetAndEpoch, VoterSet
from kraftool.raft.settings import NodeSettings, Timing
from kraftool.repair.document import DocumentError
from kraftool.reports.election.case import Log, NodeCase, Obstacle
from kraftool.reports.election.read import DEFAULT_LISTENER, node_case, placeholder
from kraftool.reports.voters.node_directory import NodeDirectory

_MOST_LEADERS = 4096
"""So many of the newest leaders are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedQuorum:
    """A node's log and settings, as far as an election depends on them."""

    node_id: int
    directory_id: str
    cluster_id: str
    start_offset: int = 0
    end_offset: int = 0
    """The offset at which Kafka would cut the log."""
    epochs: tuple[EpochEntry, ...] = ()
    """Of its records. Both rise."""
    believed_epochs: tuple[EpochEntry, ...] | None = None
    """The epochs by which Kafka votes and leads, if they are others."""
    snapshots: tuple[OffsetAndEpoch, ...] = ()
    static_voters: VoterSet = NO_VOTERS
    voter_sets: tuple[tuple[int, VoterSet], ...] = ()
    kraft_versions: tuple[tuple[int, int], ...] = ()
    leaders: tuple[tuple[int, int], ...] = ()
    """(epoch, leader id)."""
    behind: OffsetAndEpoch | None = None
    """At which a damaged log ends; None if it is not damaged."""
    is_torn: bool = False
    """True if a part of a batch comes last."""
    odd: int | None = None
    """Where the headers of the log's batches contradict each other, though Kafka reads on."""
    last_timestamp_ms: int = -1
    quorum_state: tuple[int, int] | None = None
    """(epoch, leader id), -1 without a leader; None if there is no file that can be read."""
    fetch_timeout_ms: int = Timing().fetch_timeout_ms
    is_running: bool = False
    doubtful_voters: tuple[int, ...] = ()
    """Voters that only a damaged file names; empty if a whole one names any."""
    named_end: int | None = None
    """An offset beyond the end of its log that another of its files names."""
    unseen: str = ""
    """Why its log may have had more records than were read; empty if it had no more."""
    obstacle: Obstacle | None = None
    """Why Kafka exits when it starts on the directory; None if it starts, or runs on it."""

    def __post_init__(self) -> None:
        believed = self.believed_epochs or ()
        for pairs in (self.epochs, believed, self.voter_sets, self.kraft_versions):
            keys = [pair[0] for pair in pairs]
            if keys != sorted(set(keys)):
                raise DocumentError("pairs that do not rise")


def quorum_survey(source: NodeDirectory) -> SurveyedQuorum | None:
    """Return what to keep of a directory; None if no file of it names a node."""
    node = node_case(source)
    return None if node is None else surveyed_quorum(node, source.node.cluster_id or "")


def surveyed_quorum(node: NodeCase, cluster_id: str) -> SurveyedQuorum:
    """Return what to keep of a node."""
    log, settings, election = node.log, node.settings, node.election
    leader = election.leader_id if election is not None else None
    return SurveyedQuorum(
        node_id=node.id,
        directory_id=settings.directory_id,
        cluster_id=cluster_id,
        start_offset=log.start,
        end_offset=log.end,
        epochs=log.epochs,
        believed_epochs=log.believed_epochs,
        snapshots=log.snapshots,
        static_voters=settings.static_voters,
        voter_sets=log.voter_sets,
        kraft_versions=log.kraft_versions,
        leaders=log.leaders[-_MOST_LEADERS:],
        behind=log.behind,
        is_torn=log.is_torn,
        odd=log.odd,
        last_timestamp_ms=log.last_timestamp_ms,
        quorum_state=None
        if election is None
        else (election.epoch, -1 if leader is None else leader),
        fetch_timeout_ms=settings.timing.fetch_timeout_ms,
        is_running=node.is_running,
        doubtful_voters=node.doubtful_voters,
        named_end=node.named_end,
        unseen=node.unseen,
        obstacle=node.obstacle,
    )


def surveyed_node(kept: SurveyedQuorum, source: str) -> NodeCase:
    """The node again, without its endpoints."""
    election = None
    if kept.quorum_state is not None:
        epoch, leader = kept.quorum_state
        election = ElectionState(epoch=max(epoch, 0), leader_id=leader if leader >= 0 else None)
    return NodeCase(
        settings=NodeSettings(
            node_id=kept.node_id,
            directory_id=kept.directory_id,
            cluster_id=kept.cluster_id,
            listeners={DEFAULT_LISTENER: placeholder(kept.node_id)},
            static_voters=kept.static_voters,
            timing=replace(Timing(), fetch_timeout_ms=kept.fetch_timeout_ms),
        ),
        log=Log(
            start=kept.start_offset,
            end=kept.end_offset,
            epochs=kept.epochs,
            believed_epochs=kept.believed_epochs,
            snapshots=kept.snapshots,
            voter_sets=kept.voter_sets,
            kraft_versions=kept.kraft_versions,
            leaders=kept.leaders,
            behind=kept.behind,
            is_torn=kept.is_torn,
            odd=kept.odd,
            last_timestamp_ms=kept.last_timestamp_ms,
        ),
        election=election,
        source=source,
        is_running=kept.is_running,
        doubtful_voters=kept.doubtful_voters,
        named_end=kept.named_end,
        unseen=kept.unseen,
        obstacle=kept.obstacle,
    )
