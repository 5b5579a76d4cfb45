"""Active controllers in virtual time, with brokers that register, fall silent and come back.

Owns the controller of each node that leads, the modelled brokers and admins that ask it, and what
must hold: what was answered is committed, each record fits the records before it, one controller
writes in an epoch, no producer id is given twice, and partitions are led by brokers that are there.

The quorum below is the simulator's own: records are its numbers, and what they stand for is kept
here. So all checkers of the protocol hold beside these.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from kraftool.controller.controller import (
    ActiveController,
    Answered,
    ControllerRequest,
    NewBatch,
    Step,
)
from kraftool.controller.settings import ControllerSettings
from kraftool.decoders.framing import decode_record
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.loader import ImageLoader, OpenTransaction
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION, release_levels
from kraftool.image.replay import ReplayError
from kraftool.image.topics import NO_LEADER, PartitionRegistration, TopicImage, is_reassigning
from kraftool.raft.events import Append
from kraftool.raft.records import Batch
from kraftool.raft.roles import Leader, Role
from tests.simulator.checkers.base import Checker
from tests.simulator.model_clients import ModelClients
from tests.simulator.node import Node
from tests.simulator.world import CLUSTER, RECORD_BYTES

_LEVEL = 30
_SESSION_MS = 3_000
_TURN_MS = 5
_MOST_AT_ONCE = 3
"""Requests that a piece of a turn takes."""
_PIECE_MS = 60
_IS_LAST = 0.3
"""How often a turn ends before its queue is empty."""
_NOT_WRITTEN = frozenset({METADATA_VERSION, KRAFT_VERSION})


class RandomOrder:
    """Chance of the run's seed."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def shuffle(self, items: list[Any]) -> None:
        self._random.shuffle(items)


class CommittedState(NamedTuple):
    """The metadata below an offset."""

    image: MetadataImage
    open_transaction: OpenTransaction | None


@dataclass(slots=True)
class Claim:
    """The controller of one node in one epoch, with the requests that wait for its turn."""

    epoch: int
    incarnation: int
    active: ActiveController | None = None
    queue: deque[ControllerRequest] = field(default_factory=deque)


@dataclass(slots=True)
class CutTurn:
    """A turn that goes on while other things happen."""

    next_offset: int
    now_ms: int
    queue: deque[ControllerRequest]
    step: Step = field(default_factory=Step)


class Controllers(Checker):
    """Checks that no answered change is lost, and that each epoch has one controller."""

    name = "controllers"

    def __init__(self) -> None:
        self._claims: dict[int, Claim] = {}
        """By node, while it leads."""
        self._records: dict[int, bytes] = {}
        """What the numbers in batches stand for; other numbers stand for nothing."""
        self._writers: dict[int, tuple[int, int]] = {}
        """The node and its start that wrote in an epoch."""
        self._loader = ImageLoader()
        self._ends = [0]
        self._states = [CommittedState(EMPTY, None)]
        self._clients: ModelClients | None = None
        self._next_id = 0
        self._settings: dict[int, ControllerSettings] = {}

    # The life of the nodes

    def starts(self, node: Node) -> None:
        self._claims.pop(node.id, None)
        if self._clients is None:
            self._clients = ModelClients(self.world, self.ask, self.leaders)

    def stepped(self, node: Node, event: object) -> None:
        """Claim when the state machine is told, which is not before all that is older is here."""
        claim = self._claims.get(node.id)
        if claim is not None and not self._holds(node, claim):
            del self._claims[node.id]
            node.release_appends()
            claim = None
        if claim is None and node.leads and node.active_epoch == node.raft.epoch:
            claim = Claim(node.raft.epoch, node.incarnation)
            self._claims[node.id] = claim
            self.world.after(1, self._turn, node, claim)

    def watermark(self, node: Node, role: Role, before: int | None, after: int | None) -> None:
        """Replay what is committed, and answer what waited for it."""
        self._replay()
        claim = self._claims.get(node.id)
        if claim is None or claim.active is None or after is None or not isinstance(role, Leader):
            return
        if role.epoch == claim.epoch:
            for answered in claim.active.committed(after - 1):
                self._answer(answered, after)

    @staticmethod
    def _holds(node: Node, claim: Claim) -> bool:
        return (
            node.leads and node.raft.epoch == claim.epoch and node.incarnation == claim.incarnation
        )

    # Turns

    def leaders(self) -> list[Node]:
        """The nodes that take themselves for the active controller."""
        nodes = self.world.nodes
        return [nodes[node_id] for node_id, claim in self._claims.items() if claim.active]

    def ask(self, node: Node, request: ControllerRequest) -> None:
        """A request reaches a node; one that is not the controller leaves it without an answer."""
        claim = self._claims.get(node.id)
        if claim is None or claim.active is None or not self._holds(node, claim):
            return
        if request.api == "BrokerHeartbeat":
            body = request.body
            claim.active.heard(body["brokerId"], body["brokerEpoch"], self._now_ms(node))
        claim.queue.append(request)

    def _now_ms(self, node: Node) -> int:
        return node.clock.local(self.world.now)

    def _turn(self, node: Node, claim: Claim) -> None:
        if self._claims.get(node.id) is not claim:
            return
        if not self._holds(node, claim):
            del self._claims[node.id]
            return
        if self.world.now >= node.paused_until:
            assert isinstance(node.raft.role, Leader), "which holding a claim means"
            now_ms, next_offset = self._now_ms(node), node.raft.role.accumulator.next_offset
            if self.world.options.cuts_turns:
                queue, claim.queue = claim.queue, deque()
                node.hold_appends()
                self._piece(node, claim, CutTurn(next_offset, now_ms, queue))
                return
            turn = CutTurn(next_offset, now_ms, claim.queue)
            self._decide(node, claim, turn, claim.queue)
            self._carry_out(node, claim, turn.step)
        self.world.after(_TURN_MS, self._turn, node, claim)

    def _piece(self, node: Node, claim: Claim, turn: CutTurn) -> None:
        """Go on with a turn for as long as nothing else happens, or end it. A claim that has ended
        meanwhile is not noticed before that, as by a thread."""
        random = node.random
        if self.world.now >= node.paused_until:
            size = random.randrange(_MOST_AT_ONCE + 1)
            taken = deque(turn.queue.popleft() for _ in range(min(size, len(turn.queue))))
            self._decide(node, claim, turn, taken)
            turn.queue.extendleft(reversed(taken))
            if not turn.queue or random.random() < _IS_LAST:
                self.world.after(random.randrange(_PIECE_MS), self._end_cut, node, claim, turn)
                return
        self.world.after(random.randrange(_PIECE_MS), self._piece, node, claim, turn)

    def _end_cut(self, node: Node, claim: Claim, turn: CutTurn) -> None:
        """Let the log have what a turn came to, unless the claim has ended."""
        if self._claims.get(node.id) is not claim or not self._holds(node, claim):
            self.world.count("turns whose claim had ended")
            return
        if self.world.now < node.paused_until:
            self.world.at(node.paused_until, self._end_cut, node, claim, turn)
            return
        role = node.raft.role
        assert isinstance(role, Leader), "which holding a claim means"
        if role.accumulator.next_offset != turn.next_offset:
            self.violated(f"{node.name} appended while a turn decided on {turn.next_offset}")
        self.world.count("turns that were cut")
        node.release_appends()
        claim.queue.extendleft(reversed(turn.queue))
        self._carry_out(node, claim, turn.step)
        self.world.after(_TURN_MS, self._turn, node, claim)

    def _decide(
        self, node: Node, claim: Claim, turn: CutTurn, queue: deque[ControllerRequest]
    ) -> None:
        """Decide on requests of a turn."""
        step = turn.step
        if claim.active is None:
            claim.active, first = self._claim(node, turn.next_offset, turn.now_ms)
            step.appends += first.appends
            step.answers += first.answers
            self.world.count("controllers activated")
        active = claim.active
        active.next_offset = turn.next_offset + step.record_count
        more = active.turn(turn.now_ms, queue)
        step.appends += more.appends
        step.answers += more.answers

    def _carry_out(self, node: Node, claim: Claim, step: Step) -> None:
        for answered in step.answers:
            self._answer(answered, None)
        for batch in step.appends:
            assert isinstance(batch, NewBatch), "no client here upgrades kraft.version"
            if not self._holds(node, claim):
                return
            self._append(node, claim, batch.base_offset, batch.records)

    def _claim(self, node: Node, next_offset: int, now_ms: int) -> tuple[ActiveController, Step]:
        state = self._state_below(node.machine.next_offset)
        active = ActiveController(
            self._settings_of(node),
            RandomOrder(node.random),
            self._new_id,
            image=state.image,
            next_offset=next_offset,
            registered_at={},
            now_ms=now_ms,
        )
        has_open_transaction = state.open_transaction is not None
        return active, active.activate(now_ms, has_open_transaction=has_open_transaction)

    def _settings_of(self, node: Node) -> ControllerSettings:
        known = self._settings.get(node.id)
        if known is None:
            levels = release_levels(_LEVEL)
            records = tuple(
                ("FeatureLevelRecord", 0, {"name": name, "featureLevel": levels[name]})
                for name in (METADATA_VERSION, *sorted(set(levels) - _NOT_WRITTEN))
            )
            known = self._settings[node.id] = ControllerSettings(
                node_id=node.id,
                cluster_id=CLUSTER,
                bootstrap=records,
                session_timeout_ms=_SESSION_MS,
                leader_imbalance_check_ms=4_000,
                unclean_election_check_ms=5_000,
                # Some need several batches for the first transaction.
                max_batch_records=6 if node.id % 3 == 0 else 10_000,
                # Some need several turns for what a broker's failure changes.
                most_records_at_once=2 if node.id % 2 == 0 else 1_000,
            )
        return known

    def _new_id(self) -> str:
        self._next_id += 1
        return f"T{self._next_id:020d}A"

    def _append(self, node: Node, claim: Claim, base: int, records: tuple[bytes, ...]) -> None:
        writer = (node.id, node.incarnation)
        if self._writers.setdefault(claim.epoch, writer) != writer:
            self.violated(f"{node.name} writes in epoch {claim.epoch}, as {writer} did before")
        first = self.world.next_value
        self.world.next_value += len(records)
        self._records.update(enumerate(records, first))
        numbers = tuple(range(first, first + len(records)))
        size = RECORD_BYTES * len(records)
        node.step(Append(epoch=claim.epoch, records=numbers, size=size, base_offset=base))
        role = node.raft.role
        if isinstance(role, Leader) and role.accumulator.next_offset != base + len(records):
            self._claims.pop(
                node.id, None
            )  # it was refused: what this controller believes is wrong

    # What is committed

    def _replay(self) -> None:
        """Follow the log that any leader has called committed."""
        committed = self.world.committed
        for batch in committed.between(self._ends[-1], committed.end):
            self._replay_batch(batch)

    def _replay_batch(self, batch: Batch) -> None:
        before = self._states[-1].image
        for offset, number in enumerate(batch.data or (), batch.base_offset):
            encoded = self._records.get(number)
            if encoded is None:
                continue
            name, _, value = decode_record(encoded)
            try:
                self._loader.replay(offset, name, value)
            except ReplayError as error:
                self.violated(f"{name} at {offset} does not fit: {error.message}")
        self._loader.end_batch(batch.last_offset, batch.epoch, batch.timestamp_ms)
        image = self._loader.image()
        self._ends.append(batch.last_offset + 1)
        self._states.append(CommittedState(image, self._loader.open_transaction))
        self._check_image(before, image)

    def _state_below(self, offset: int) -> CommittedState:
        """The metadata of all batches below an offset, as a node has it that consumed so far."""
        return self._states[bisect_right(self._ends, offset) - 1]

    def _check_image(self, before: MetadataImage, image: MetadataImage) -> None:
        topics = image.topics.by_id
        for topic_id, topic in topics.items():
            known = before.topics.by_id.get(topic_id)
            if known is not topic:
                self._check_topic(known, topic)

    def _check_topic(self, known: TopicImage | None, topic: TopicImage) -> None:
        for number, partition in topic.partitions.items():
            old = known.partitions.get(number) if known is not None else None
            problem = None if old is partition else _problem(old, partition)
            if old is not None and is_reassigning(old) and not is_reassigning(partition):
                self.world.count("reassignments ended")
            if problem is not None:
                self.violated(f"partition {topic.name}-{number} {problem}: {partition}")

    # Answers

    def _answer(self, answered: Answered, committed: int | None) -> None:
        assert self._clients is not None, "somebody has asked"
        if committed is not None and committed > self.world.committed.end:
            self.violated(f"answered at {committed}, of which no leader says that it is committed")
        problem = self._clients.take(answered, self._states[-1].image)
        if problem is not None:
            self.violated(problem)


def _problem(old: PartitionRegistration | None, partition: PartitionRegistration) -> str | None:
    """Return what must not be, of a partition that has just changed."""
    leader = partition.leader
    if not set(partition.isr) <= set(partition.replicas):
        return "has a broker in its ISR that has no replica"
    if set(partition.elr) & set(partition.isr):
        return "has a broker in both ISR and ELR"
    if leader != NO_LEADER and leader not in partition.isr:
        return "is led from outside its ISR"
    if not {*partition.adding_replicas, *partition.removing_replicas} <= set(partition.replicas):
        return "adds or removes a broker that has no replica"
    if old is not None and not set(old.replicas) <= set(partition.replicas):
        is_one_change = partition.partition_epoch == old.partition_epoch + 1
        if is_one_change and is_reassigning(partition):
            return "lost a replica before its reassignment ended"
        if partition.leader_epoch == old.leader_epoch:
            return "lost a replica within a leader epoch"
    if old is not None and (
        partition.leader_epoch < old.leader_epoch
        or partition.partition_epoch <= old.partition_epoch
        or (leader != old.leader and partition.leader_epoch == old.leader_epoch)
    ):
        return "has an epoch that did not grow"
    return None
