"""The pieces of an exploration: states of single nodes, messages, and what a step makes of them.

Owns both lists and the memory of every step done. A node's step depends on nothing but its own
state and what it is given, so each is done once; a state of the whole is a few numbers.

Two states of a node that no later step can tell apart should be one. So, unless it is told not to,
the board gives the numbers that only name things anew after each step: a correlation id says
whether its answer is still waited for, a request id is a place in the order of those that wait, and
a deadline that has passed has passed now. (`tests/sim` compares with the plain way.)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.raft.messages import UNREACHABLE
from kraftool.raft.roles import Leader
from kraftool.reports.election.case import ElectionCase
from kraftool.sim.chances import PATIENT
from kraftool.sim.conditions import Conditions
from kraftool.sim.replica import SentMessage, SimulatedNode, disks_of
from tests.sim.replica_forms import Form, of_message, of_replica

TICK, CRASH = -1, -2
"""Choices of a node; all others are the numbers of messages."""
_AWAITED, _FORGOTTEN = -1, -2
"""Correlation ids: an answer to this one is waited for, or no more."""
Epochs = tuple[EpochEntry, ...]
"""(epoch, start offset) of a stretch of a log."""
Committed = tuple[int, Epochs]
"""All below an offset, with the epochs of it."""
Asked = tuple[int, int]
"""Who asked, and by which name it knows whom it asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """One state of one node."""

    replica: SimulatedNode
    now_ms: int
    leads: tuple[int, int] | None
    """The epoch that it leads, and itself."""
    commits: bool
    known: Committed | None
    """What it knows to be committed."""
    log: Committed
    keeping: frozenset[Asked]
    """Whose requests wait here, and are still waited for there."""


class NodeStep(NamedTuple):
    """The effect of a choice on a node."""

    after: int
    sent: tuple[int, ...]
    forgotten: frozenset[Asked]
    """Requests of this node, sent before, of which it does not await the answer any more."""


class Board:
    """All pieces that were met."""

    def __init__(self, case: ElectionCase, conditions: Conditions, *, is_reduced: bool) -> None:
        self.case, self.conditions, self._is_reduced = case, conditions, is_reduced
        self.places: list[NodeState] = []
        self._place_ids: dict[Form, int] = {}
        self.messages: list[SentMessage] = []
        self._message_ids: dict[Form, int] = {}
        self._steps: dict[tuple[int, int], NodeStep] = {}
        self._without: dict[tuple[int, frozenset[Asked]], int] = {}
        self._stale: dict[int, int | None] = {}
        self.up = tuple(node.id for node in case.nodes if node.id not in conditions.down)

    def begin(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """All nodes as they start, and what they send."""
        disks = disks_of(self.case)
        places: list[int] = []
        mail: list[int] = []
        for node in self.case.nodes:
            if node.id in self.up:
                replica = SimulatedNode(node, PATIENT, disks[node.id])
                step = self._stepped(replica, 1, replica.start(1), frozenset())
                places.append(step.after)
                mail += step.sent
        return tuple(places), tuple(sorted(mail))

    def to(self, number: int) -> int:
        """Return which node a message is for."""
        message = self.messages[number]
        if message.is_answer:
            return message.asker
        return self.case.places.get(message.endpoint, message.destination_id)

    def passes(self, number: int) -> bool:
        return self.conditions.passes(self.messages[number].source, self.to(number))

    def refused(self, number: int) -> int | None:
        """The answer to a request to a node that is down, if anybody waits for it."""
        message = self.messages[number]
        if message.correlation_id == _FORGOTTEN:
            return None
        return self._message(message.answered(self.to(number), UNREACHABLE[type(message.body)]))

    def step(self, place: int, choice: int) -> NodeStep:
        """Return what a node does, once it is its turn or something arrives."""
        done = self._steps.get((place, choice))
        if done is None:
            before = self.places[place]
            replica, now_ms = before.replica.fork(), before.now_ms
            awaited = _awaited(replica)
            if choice == TICK:
                now_ms = max(now_ms, replica.deadline_ms)
                sent = replica.tick(now_ms)
            elif choice == CRASH:
                sent = replica.restart(now_ms)
            else:
                sent = replica.receive(now_ms, self.messages[choice])
            done = self._steps[place, choice] = self._stepped(replica, now_ms, sent, awaited)
        return done

    def _stepped(
        self,
        replica: SimulatedNode,
        now_ms: int,
        sent: list[SentMessage],
        awaited: frozenset[Asked],
    ) -> NodeStep:
        forgotten: frozenset[Asked] = frozenset()
        if self._is_reduced:
            forgotten = awaited - _awaited(replica)
            _tidy(replica, now_ms)
            sent = [
                message
                if message.is_answer
                else message._replace(correlation_id=_AWAITED, incarnation=0)
                for message in sent
                if not (message.is_answer and message.correlation_id == _FORGOTTEN)
            ]
        numbers = tuple(self._message(message) for message in sent)
        return NodeStep(self._place(replica, now_ms), numbers, forgotten)

    def matters(self, number: int, place: int) -> bool:
        """True if a message does more to whom it is for than nothing: an answer for which nobody
        waits any more does not."""
        message, replica = self.messages[number], self.places[place].replica
        mine = message.is_answer and message.asker == replica.id
        return not mine or replica.expects(message)

    def stale(self, number: int, forgotten: Collection[Asked]) -> int | None:
        """A message on its way, once its asker has forgotten some requests; None if it is over."""
        message = self.messages[number]
        if message.correlation_id == _FORGOTTEN or _asked(message) not in forgotten:
            return number
        if message.is_answer:
            return None
        if number not in self._stale:
            self._stale[number] = self._message(message._replace(correlation_id=_FORGOTTEN))
        return self._stale[number]

    def without(self, place: int, forgotten: frozenset[Asked]) -> int:
        """A node's state, once another has forgotten requests that may wait here."""
        here = forgotten & self.places[place].keeping
        if not here:
            return place
        pruned_place = self._without.get((place, here))
        if pruned_place is None:
            before = self.places[place]
            replica = before.replica.fork()
            for key, message in replica.waiting.items():
                if _asked(message) in here:
                    replica.waiting[key] = message._replace(correlation_id=_FORGOTTEN)
            _tidy(replica, before.now_ms)
            pruned_place = self._without[place, here] = self._place(replica, before.now_ms)
        return pruned_place

    def _place(self, replica: SimulatedNode, now_ms: int) -> int:
        key = of_replica(replica, now_ms)
        place_id = self._place_ids.get(key)
        if place_id is not None:
            return place_id
        raft = replica.raft
        high = raft.role.high_watermark
        self.places.append(
            NodeState(
                replica=replica,
                now_ms=now_ms,
                leads=(raft.epoch, replica.id) if isinstance(raft.role, Leader) else None,
                commits=replica.can_commit,
                known=(high, clipped(raft.log.epochs, high)) if high is not None else None,
                log=(raft.log.end_offset, tuple(raft.log.epochs)),
                keeping=frozenset(
                    _asked(message)
                    for message in replica.waiting.values()
                    if message.correlation_id == _AWAITED
                ),
            )
        )
        self._place_ids[key] = len(self.places) - 1
        return len(self.places) - 1

    def _message(self, message: SentMessage) -> int:
        key = of_message(message)
        message_id = self._message_ids.get(key)
        if message_id is None:
            message_id = self._message_ids[key] = len(self.messages)
            self.messages.append(message)
        return message_id


def clipped(epochs: Sequence[EpochEntry], end: int) -> Epochs:
    """The epochs that begin below an offset."""
    return tuple(epoch for epoch in epochs if epoch.start_offset < end)


def _asked(message: SentMessage) -> Asked:
    return message.asker, message.destination_id


def _awaited(replica: SimulatedNode) -> frozenset[Asked]:
    """Requests from before this step of which the answer is still waited for. In this step there
    may have been new ones, with numbers from 0 on."""
    if replica.broken:
        return frozenset()
    return frozenset(
        (replica.id, destination)
        for destination, connection in replica.raft.connections._busy.items()
        if connection.correlation_id == _AWAITED
    )


def _tidy(replica: SimulatedNode, now_ms: int) -> None:
    """Give anew what is only a name, the same for states that behave the same."""
    raft = replica.raft
    replica.incarnation = raft._next_correlation_id = 0
    for connection in raft.connections._busy.values():
        if connection.correlation_id is not None:
            connection.correlation_id = _AWAITED
    in_order = sorted(
        replica.waiting.items(), key=lambda keyed_message: repr(of_message(keyed_message[1]))
    )
    names = {old: new for new, (old, _) in enumerate(in_order, 1)}
    replica.waiting = {names[old]: message for old, message in in_order}
    replica._requests = len(names)
    for parked in raft.parked:
        parked.request_id = names.get(parked.request_id, 0)
    raft.parked.sort(key=lambda fetch: fetch.request_id)
    role = raft.role
    change = role.change if isinstance(role, Leader) else None
    if change is not None and change.request_id is not None:
        change.request_id = names.get(change.request_id, 0)
    for name in type(role).__slots__:
        if name.endswith("_deadline_ms") and getattr(role, name) < now_ms:
            setattr(role, name, now_ms)
