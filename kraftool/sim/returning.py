"""A quorum that goes on while nodes are off, and what comes of it once they are back.

Owns the course of such a run, and what is asked at its end: whether the records that the quorum
had committed are still there, who leads, and who ended with an error. Nodes come back when the
quorum leads, and reach it; or they start apart from it, may elect among themselves, and then meet
it; or its leader dies while they start. What of that a recovery promises is for others to say.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import NamedTuple

from kraftool.decoders.json_marks import Hidden, Ids
from kraftool.raft.records import Batch
from kraftool.reports.election.case import ElectionCase
from kraftool.sim.conditions import Conditions, CutLink
from kraftool.sim.patience import unhurried
from kraftool.sim.replica import SimulatedNode
from kraftool.sim.run import ElectionRun

_BEFORE_MS = 5_000
_APART_MS = 30_000
_AROUND_MS = 5_000
"""The leader is killed so long before or after the first of them starts."""
_CLOSE_MS = (0, 1_500)
"""Or in the moments in which they hear of its epoch, and still have their old voters."""
_DEAD_MS = 30_000
"""At most so long it is dead."""
_AFTER_MS = 60_000
"""For elections by Kafka's timeouts, again and again."""
_APPEND_MS = 500
"""As often as an idle leader of Kafka writes a record."""


class Way(StrEnum):
    """The way in which nodes come back."""

    AFTERWARDS = "afterwards"
    """The quorum leads, and they reach it."""
    APART = "apart"
    """They start where they do not reach it, and meet it later."""
    LEADER_DIES = "leader dies"
    """They start about when the leader of the quorum is killed; it starts again later."""


class NodeEpoch(NamedTuple):
    """A leader and its epoch."""

    node_id: int
    epoch: int


class NodeVoters(NamedTuple):
    """The voters by a node's own log."""

    node_id: int
    voters: Ids


class NodeFailure(NamedTuple):
    """A node that ended with an error, and was started again."""

    node_id: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The result of one run for the quorum."""

    seed: int
    leader_id: int | None = None
    """The first node that led and could commit; None if none did, and then no node came back."""
    epoch: int = 0
    took_ms: int = 0
    """Of simulated time."""
    committed_to: int = 0
    """One beyond the last record that was committed before nodes of the quarantine were back, or
    met the others."""
    lost_from: int | None = None
    """The first of those that is gone, or another, in the end."""
    leaders: tuple[NodeEpoch, ...] = ()
    """The nodes that lead and can commit in the end."""
    led_apart: NodeEpoch | None = None
    """A node that led while the nodes were apart; None if none did."""
    voters_by_node: tuple[NodeVoters, ...] = ()
    """In the end."""
    broken: tuple[NodeFailure, ...] = ()
    led_twice: Hidden[tuple[int, ...]] = ()
    """Epochs that two nodes led."""


class Returning(ElectionRun):
    """A run in which nodes come back."""

    def __init__(
        self, case: ElectionCase, conditions: Conditions, seed: int, back: Iterable[int], way: Way
    ) -> None:
        self._back = frozenset(back) - conditions.down
        super().__init__(unhurried(case), conditions.without(self._back), seed)
        self._way = way
        self._chance = Random(seed ^ 0x5EED)
        self._written = 0
        self._next_ms = 0

    def ending(self) -> Ending:
        """Run all of it."""
        for _ in self._events(self._horizon_ms):
            leader = self._committing()
            if leader is not None:
                break
        else:
            return Ending(seed=self.outcome.seed, broken=self._broken())
        first, epoch, took = leader.id, leader.raft.epoch, self.now_ms - self._first_ms
        self._let(_BEFORE_MS)
        apart = None
        ours = frozenset(self.replicas)
        if self._back and self._way is Way.APART:
            whole = self.conditions
            pairs = [(one, other) for one in ours for other in self._back]
            between = {CutLink(*link) for pair in pairs for link in (pair, pair[::-1])}
            self.conditions = replace(whole, cut=whole.cut | between)
            self._start_back()
            self._let(_APART_MS)
            apart = self._leader_of(self._back)
            self.conditions = whole
        committed = self._committed(ours)
        had = {node_id: self.replicas[node_id].disk.log.end for node_id in ours}
        if self._way is Way.AFTERWARDS:
            self._start_back()
        if self._way is Way.LEADER_DIES:
            self._start_back_while_leader_dies(first)
        self._let(_AFTER_MS)
        lost = []
        for node_id, end in had.items():
            kept = [one for one in committed if one.next_offset <= end]
            at = _first_lost(self.replicas[node_id], kept)
            lost += [] if at is None else [at]
        return Ending(
            seed=self.outcome.seed,
            leader_id=first,
            epoch=epoch,
            took_ms=took,
            committed_to=committed[-1].next_offset if committed else 0,
            lost_from=min(lost, default=None),
            leaders=tuple(
                NodeEpoch(replica.id, replica.raft.epoch)
                for replica in self.replicas.values()
                if replica.can_commit
            ),
            led_apart=apart,
            voters_by_node=tuple(
                NodeVoters(replica.id, tuple(sorted(replica.raft.control.voters.ids)))
                for replica in sorted(self.replicas.values(), key=lambda replica: replica.id)
            ),
            broken=self._broken(),
            led_twice=tuple(sorted(self._led_twice)),
        )

    def _start_back(self) -> None:
        for node in self.case.nodes:
            if node.id in self._back:
                chance = Random(self._chance.getrandbits(64))
                at = self.now_ms + self._chance.randrange(self.conditions.start_within_ms + 1)
                self._add(node, chance, at)

    def _start_back_while_leader_dies(self, leader: int) -> None:
        is_close = self._chance.random() < 0.5
        around = self._chance.randrange(*(_CLOSE_MS if is_close else (-_AROUND_MS, _AROUND_MS)))
        if around < 0:
            self._kill(leader)
            self._let(-around)
            self._start_back()
        else:
            self._start_back()
            self._let(around)
            self._kill(leader)
        self._let(self._chance.randrange(_DEAD_MS))
        self._start_again(leader)

    def _kill(self, node: int) -> None:
        replica = self.replicas[node]
        replica.kill()
        self._leading.discard(node)
        self._roles.pop(node, None)
        self._note(node, words="is killed")

    def _start_again(self, node: int) -> None:
        self._listens_after(node, self.now_ms)
        self._note(node, words="starts again")
        replica = self.replicas[node]
        self._after(replica, replica.restart(self.now_ms))

    def _let(self, duration_ms: int) -> None:
        """Let time pass, in which every leader writes records."""
        until = self.now_ms + duration_ms
        for _ in self._events(until):
            if self.now_ms >= self._next_ms:
                self._next_ms = self.now_ms + _APPEND_MS
                for replica in self.replicas.values():
                    if replica.can_commit and not replica.broken:
                        self._written += 1
                        record = b"%d by %d" % (self._written, replica.id)
                        self._after(replica, replica.append(self.now_ms, record))
        self.now_ms = max(self.now_ms, until)

    def _committed(self, among: Iterable[int]) -> list[Batch]:
        """Return what the leader of these knows as committed, of its log."""
        leader = self._leader_of(among)
        if leader is None:
            return []
        raft, disk = self.replicas[leader[0]].raft, self.replicas[leader[0]].disk
        below = raft.role.high_watermark or 0
        return [item for item in disk.log.items if item.next_offset <= below]

    def _leader_of(self, among: Iterable[int]) -> NodeEpoch | None:
        simulated_nodes = [self.replicas[node_id] for node_id in among if node_id in self.replicas]
        leading = [
            (simulated_node.raft.epoch, simulated_node.id)
            for simulated_node in simulated_nodes
            if simulated_node.can_commit
        ]
        return NodeEpoch(*max(leading)[::-1]) if leading else None

    def _broken(self) -> tuple[NodeFailure, ...]:
        return tuple(
            NodeFailure(replica.id, why)
            for replica in self.replicas.values()
            for why in dict.fromkeys(replica.errors)
        )


def _first_lost(replica: SimulatedNode, committed: Iterable[Batch]) -> int | None:
    """The first of these records, all of which a node had, that it lacks or has another for."""
    log, snapshots = replica.disk.log, replica.disk.snapshots
    for batch in committed:
        if batch.next_offset <= log.start:
            if any(
                one.offset >= batch.next_offset and one.epoch >= batch.epoch for one in snapshots
            ):
                continue
            return batch.base_offset
        there = log.holding(batch.last_offset)
        if there is None or there.epoch != batch.epoch or there.data != batch.data:
            return batch.base_offset
    return None
