"""A quorum at rest: each node as its disk has it, which is what the protocol's core starts from.

Owns the values between files (or a scenario) and the core. It refuses to read, and to know any
rule of the protocol: a node's `core` is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.directory.metadata_summary import LogSpan
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.log_view import LogView, Validity
from kraftool.raft.names import (
    ElectionState,
    Endpoint,
    OffsetAndEpoch,
    ReplicaKey,
    VoterSet,
)
from kraftool.raft.records import Batch, ControlRecord, KRaftVersion, Voters
from kraftool.raft.settings import NodeSettings
from kraftool.reports.findings.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Log(LogSpan):
    """A log as Kafka has it after its start; all of it is on the disk. Its epochs rise."""

    believed_epochs: tuple[EpochEntry, ...] | None = None
    """The epochs by which Kafka votes and leads, if they are others: of leader-epoch-checkpoint, or
    of a batch with a damaged header."""
    snapshots: tuple[OffsetAndEpoch, ...] = ()
    voter_sets: tuple[tuple[int, VoterSet], ...] = ()
    """By offset; a snapshot's at the offset before its end."""
    kraft_versions: tuple[tuple[int, int], ...] = ()
    behind: OffsetAndEpoch | None = None
    """Where the log ends behind damage, at which Kafka cuts it; None if it is not damaged."""
    is_end_known: bool = False
    """True if sound batches behind the damage show where the log ended."""
    is_torn: bool = False
    """True if a part of a batch comes last, which Kafka cuts off at its start."""
    leaders: tuple[tuple[int, int], ...] = ()
    """(epoch, leader id) of its LeaderChange records."""

    @property
    def is_cut(self) -> bool:
        """True if there is more behind damage."""
        return self.behind is not None

    @property
    def sound(self) -> Log:
        """The log as evidence of its records: it is damaged where its headers contradict."""
        if self.believed_epochs is not None:
            return replace(self, believed_epochs=None).sound
        if self.odd is None or self.odd >= self.end:
            return self
        end = max(self.odd, self.start)
        return replace(
            self,
            end=end,
            epochs=tuple(epoch for epoch in self.epochs if epoch.start_offset < end),
            voter_sets=tuple(entry for entry in self.voter_sets if entry[0] < end),
            kraft_versions=tuple(entry for entry in self.kraft_versions if entry[0] < end),
            # How far the log really went is not known: its own headers cannot be trusted.
            behind=OffsetAndEpoch(end, self.epoch_at(end - 1) or 0),
            is_end_known=False,
            last_timestamp_ms=-1,
            odd=None,
        )

    def view(self) -> LogView:
        """As the core of a Kafka node knows the log."""
        view = LogView(
            protects_snapshots=False,
            start_offset=self.start,
            end_offset=self.end,
            flushed_offset=self.end,
            epochs=list(self.epochs if self.believed_epochs is None else self.believed_epochs),
            snapshots=sorted(self.snapshots),
        )
        newest = view.newest_snapshot
        if newest is not None and newest.offset > 0 and view.is_behind(newest):
            view.begin_after(newest)
        return view

    def control(self, static_voters: VoterSet) -> ControlHistory:
        control = ControlHistory(static_voters=static_voters)
        for offset, voters in self.voter_sets:
            control.voter_sets.add(offset, voters)
        for offset, level in self.kraft_versions:
            control.kraft_versions.add(offset, level)
        return control

    def known_epoch(self, offset: int) -> int:
        """The epoch of a record that the log has, or that a snapshot of it took the place of."""
        own = self.epoch_at(offset)
        beyond = (snapshot.epoch for snapshot in self.snapshots if snapshot.offset > offset)
        return min(beyond, default=0) if own is None else own

    def has(self, offset: int, epoch: int) -> bool:
        """True if this record is in the log, or was before a snapshot took its place."""
        own = self.epoch_at(offset)
        if own is None:  # a snapshot alone has all of its records
            return any(
                snapshot.offset > offset and snapshot.epoch >= epoch for snapshot in self.snapshots
            )
        return own == epoch

    def batches(self, borders: Iterable[int]) -> Iterator[Batch]:
        """The log as batches: one for each stretch of an epoch, cut at control records and at the
        borders, which are where other logs may end or part from it."""
        control: dict[int, ControlRecord] = {}
        for offset, level in self.kraft_versions:
            control[offset] = KRaftVersion(level)
        for offset, voters in self.voter_sets:
            control[offset] = Voters(voters)
        cuts = {self.start, self.end, *(epoch.start_offset for epoch in self.epochs), *borders}
        cuts |= {cut for offset in control for cut in (offset, offset + 1)}
        inside = sorted(cut for cut in cuts if self.start <= cut <= self.end)
        for first, after in pairwise(inside):
            record = control.get(first)
            yield Batch(
                base_offset=first,
                last_offset=after - 1,
                epoch=self.epoch_at(first) or 0,
                control=() if record is None else (record,),
            )

    @property
    def borders(self) -> set[int]:
        """Return where something begins or ends."""
        return {
            self.start, self.end,
            *(epoch.start_offset for epoch in self.epochs),
            *(snapshot.offset for snapshot in self.snapshots),
            *(border for offset, _ in (*self.voter_sets, *self.kraft_versions)
              for border in (offset, offset + 1)),
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A finding on which Kafka exits when it starts."""

    code: str
    text: str
    """Where and what it is, and what to do, in sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCase:
    """One node with its disk."""

    settings: NodeSettings
    log: Log
    election: ElectionState | None = None
    """quorum-state; None if no file can be read."""
    has_unreadable_state: bool = False
    """True if the file quorum-state is there and cannot be read."""
    source: str = ""
    """The PATH that it was read from."""
    assumed: str = ""
    """What was assumed of it, in words, where no directory tells."""
    notes: tuple[str, ...] = ()
    obstacle: Obstacle | None = None
    """Why Kafka exits when it starts on the disk; None if it starts, or runs now."""
    is_running: bool = False
    """True if a process held the directory's lock: its log may have grown since it was read."""
    read_end: int | None = None
    """Where the log of a running node ended when it was read, if that of another running node,
    which was read later, is taken for it."""

    doubtful_voters: tuple[int, ...] = ()
    """Voters that only a damaged file names; empty if a whole one names any."""
    unseen: str = ""
    """Why its log may have had more records than kraftool read: a clause without a subject. Empty
    if the log was read, or if there never was one."""
    named_end: int | None = None
    """An offset beyond the end of its log that another of its files names."""
    is_unread: bool = False
    """True if a file of the log exists, but could not be read."""

    @property
    def id(self) -> int:
        assert self.settings.node_id is not None, "only nodes with an id are looked at"
        return self.settings.node_id

    @property
    def sound(self) -> NodeCase:
        """The node with the part of its log that is evidence."""
        log = self.log.sound
        return self if log is self.log else replace(self, log=log)

    @property
    def cannot_start(self) -> bool:
        """True if Kafka exits when it starts on the disk."""
        return self.obstacle is not None

    @property
    def is_witness(self) -> bool:
        """True for a node that is known to run no controller."""
        return not self.settings.runs_controller

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.id, self.settings.directory_id)

    @property
    def end(self) -> OffsetAndEpoch:
        """Return where the log ends, as an election sees it."""
        return self.log.view().end

    @property
    def voters(self) -> VoterSet:
        """The voters that this node goes by."""
        return self.log.control(self.settings.static_voters).voters

    @property
    def is_voter(self) -> bool:
        return self.voters.has(self.key)

    @property
    def stands_in_won_epoch(self) -> bool:
        """True for a node that voted for itself, has records of who won that epoch, and starts as a
        candidate of it all the same."""
        kept = self.election
        return (
            self.settings.stands_again
            and kept is not None
            and kept.voted is not None
            and kept.leader_id != self.id
            and self.key.is_known_as(kept.voted)
            and self.end.epoch == kept.epoch
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionCase:
    """All nodes that are known of, and those that are not."""

    nodes: tuple[NodeCase, ...]
    unknown: tuple[int, ...] = ()
    """Voters for which there is no directory."""
    missing: tuple[tuple[int, str], ...] = ()
    """Nodes whose settings lead to a directory that is not there, and to which."""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What was assumed, a sentence each."""
    is_live: bool = False
    """True if a leader reported the log ends, and no directory was read."""
    by_id: dict[int, NodeCase] = field(init=False, repr=False, compare=False)
    places: dict[Endpoint, int] = field(init=False, repr=False, compare=False)
    """The node that listens at each endpoint."""

    def __post_init__(self) -> None:
        places = {
            endpoint: node.id
            for node in self.nodes
            for endpoint in node.settings.listeners.values()
        }
        object.__setattr__(self, "by_id", {node.id: node for node in self.nodes})
        object.__setattr__(self, "places", places)

    @property
    def sound(self) -> ElectionCase:
        """The case as evidence: no log goes on where its own headers contradict each other."""
        if all(node.sound is node for node in self.nodes):
            return self
        return replace(self, nodes=tuple(node.sound for node in self.nodes))

    @property
    def most_complete(self) -> NodeCase | None:
        """The node whose log an election prefers to all others."""
        return max(self.nodes, key=lambda node: node.end.rank, default=None)

    @property
    def running(self) -> tuple[int, ...]:
        """The voters whose processes ran when they were read."""
        voters = self.voters
        return tuple(node.id for node in self.nodes if node.is_running and voters.has(node.key))

    @property
    def cannot_start(self) -> frozenset[int]:
        """The nodes on whose disks Kafka exits when it starts."""
        return frozenset(node.id for node in self.nodes if node.cannot_start)

    @property
    def voters(self) -> VoterSet:
        """The voters by the most complete log that knows any."""
        knowing = [node for node in self.nodes if node.voters]
        if not knowing:
            return VoterSet()
        best = max(knowing, key=lambda node: node.end.rank)
        return best.voters

    def is_stranger(self, node: NodeCase) -> bool:
        """True if a node has the id of a voter, and is another replica: it was formatted anew."""
        return node.id in self.voters.ids and not self.voters.has(node.key)

    @property
    def kraft_version(self) -> int:
        best = self.most_complete
        return best.log.control(VoterSet()).kraft_version if best is not None else 0

    @property
    def borders(self) -> set[int]:
        offsets: set[int] = set()
        return offsets.union(*(node.log.borders for node in self.nodes))

    def with_node(self, node: NodeCase) -> ElectionCase:
        others = [node_case for node_case in self.nodes if node_case.id != node.id]
        return replace(
            self,
            nodes=tuple(sorted([*others, node], key=lambda node_case: node_case.id)),
            unknown=tuple(unknown_id for unknown_id in self.unknown if unknown_id != node.id),
        )

    def with_static_voters(self) -> ElectionCase:
        """The case in which an emptied static voter knows the voters, as by its server.properties
        that may not have been given."""
        voters = self.voters
        if any(voter.key.directory_id is not None for voter in voters):
            return self
        nodes = (
            node
            if node.voters or node.id not in voters.ids
            else replace(node, settings=replace(node.settings, static_voters=voters))
            for node in self.nodes
        )
        return replace(self, nodes=tuple(nodes))

    def noting(self, *notes: str) -> ElectionCase:
        return replace(self, notes=(*self.notes, *notes))


def parts_at(leader: NodeCase, node: NodeCase) -> int:
    """Return where a node's log would be cut by following a leader: its end where it would not
    be.
    """
    theirs, own = leader.log.view(), node.log.view()
    for _ in range(len(own.epochs) + 2):
        validity, place = theirs.validate(own.end_offset, own.last_epoch)
        if validity is not Validity.DIVERGING:
            break
        cut = own.truncation_point(place)
        if cut >= own.end_offset:
            break
        if cut <= own.start_offset:
            return own.start_offset
        own.truncate(cut)
    return own.end_offset


def reachable_by(settings: NodeSettings, nodes: Sequence[NodeCase]) -> NodeSettings:
    """The settings of a node that finds the others: those told, else all that are known."""
    if settings.bootstrap_servers:
        return settings
    endpoints = tuple(
        node.settings.listeners[settings.default_listener]
        for node in nodes
        if node.id != settings.node_id and settings.default_listener in node.settings.listeners
    )
    return replace(settings, bootstrap_servers=endpoints)
