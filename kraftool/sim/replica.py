"""One replica of a simulated election: the core, its disk, and the requests it has not answered.

Owns carrying out what the core wants: the disk is kept, messages are handed out. It has no clock,
no network and no chance of its own, so that runs by seed and the search of every order in the tests
share it. The disk is never late: what is to be durable is durable within the step.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, cast

from kraftool.decoders.errors import KraftoolError
from kraftool.raft import core
from kraftool.raft.connections import Random
from kraftool.raft.events import (
    Append,
    AppendBatches,
    Deliver,
    Effect,
    Event,
    Flush,
    InstallSnapshot,
    LogFlushed,
    PersistElection,
    Reply,
    RequestReceived,
    ResponseReceived,
    Send,
    SetDeadline,
    SnapshotInstalled,
    StateMachineAt,
    TimePassed,
    Truncate,
)
from kraftool.raft.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchResponse,
    FetchSnapshotResponse,
    Request,
    Response,
)
from kraftool.raft.names import Endpoint, OffsetAndEpoch
from kraftool.raft.raft import Raft
from kraftool.raft.roles import NEVER, Leader
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.sim.disk import Disk
from kraftool.sim.machine import Snapshot

STARTED_AGAIN_MS = 5000
"""After what a node that ended with an error is started again, by whatever watches over it."""
_KILLED = "killed"
_CHUNK = b"s"
"""All snapshots have one byte on their way; what they say goes along beside it."""


class SentMessage(NamedTuple):
    """A request on its way to a node, or the answer on its way back."""

    source: int
    """Who sends this message."""
    asker: int
    """Whose request it is, or answers."""
    correlation_id: int
    endpoint: Endpoint
    """Where the request was sent to."""
    destination_id: int
    """The asker's name for that place; bootstrap servers have numbers below -1."""
    body: Request | Response
    is_answer: bool = False
    incarnation: int = 0
    """How often the asker had started again; a connection does not outlive the process."""
    snapshot: Snapshot | None = None
    """What is fetched of a snapshot."""

    def answered(self, by: int, body: Response, snapshot: Snapshot | None = None) -> SentMessage:
        _, asker, number, endpoint, destination, _, _, incarnation, _ = self
        return SentMessage(
            by, asker, number, endpoint, destination, body, True, incarnation, snapshot
        )


def disks_of(case: ElectionCase) -> dict[int, Disk]:
    """The disk of each node, to copy for each run."""
    borders = case.borders
    return {node.id: disk_of(node, borders) for node in case.nodes}


def disk_of(node: NodeCase, borders: Iterable[int] = ()) -> Disk:
    """A node's disk, with its log cut at the borders: where others end or part from it."""
    disk = Disk(node.settings.directory_id)
    disk.election = node.election
    view, control = node.log.view(), node.log.control(node.settings.static_voters)
    for snapshot in view.snapshots:
        disk.add(
            Snapshot(
                id=snapshot,
                kraft_version=control.kraft_versions.at(snapshot.offset - 1) or 0,
                voters=control.voter_sets.at(snapshot.offset - 1),
                total=0,
            )
        )
    disk.log.start = disk.log.end = view.start_offset
    disk.append(
        tuple(
            batch for batch in node.log.batches(borders) if batch.base_offset >= view.start_offset
        )
    )
    disk.flush(disk.log.end)
    return disk


class SimulatedNode:
    """A node that runs."""

    def __init__(self, node: NodeCase, random: Random, disk: Disk) -> None:
        self.id, self.node, self.random, self.disk = node.id, node, random, disk
        self.raft = self._opened()
        self.deadline_ms = NEVER
        self.waiting: dict[int, SentMessage] = {}
        """Requests that are not answered yet, by the id that the core knows them by."""
        self.broken = ""
        """How the protocol was broken, if it was: the node has ended, and will start again."""
        self.errors: tuple[str, ...] = ()
        self.incarnation = 0
        self._requests = 0
        self._arriving: Snapshot | None = None

    def _opened(self) -> Raft:
        settings = self.node.settings
        view, control = self.disk.open(settings.static_voters)
        view.protects_snapshots = False  # as a Kafka node, which is what most nodes are
        return Raft(settings, self.random, view, control, self.disk.election)

    @property
    def leads(self) -> bool:
        """True if it has won an election."""
        return isinstance(self.raft.role, Leader)

    @property
    def can_commit(self) -> bool:
        """True if it leads, and a majority has what it wrote first."""
        return isinstance(self.raft.role, Leader) and self.raft.role.high_watermark is not None

    def start(self, now_ms: int) -> list[SentMessage]:
        try:
            return self._carry_out(now_ms, core.start(self.raft, now_ms))
        except KraftoolError as error:
            return self._end(now_ms, error)

    def receive(self, now_ms: int, message: SentMessage) -> list[SentMessage]:
        """Take a message in; what leaves the node because of it."""
        if message.is_answer:
            if message.incarnation != self.incarnation:
                return []
            self._arriving = message.snapshot or self._arriving
            return self._step(
                now_ms,
                ResponseReceived(
                    source_id=message.destination_id,
                    correlation_id=message.correlation_id,
                    response=cast("Response", message.body),
                ),
            )
        if isinstance(message.body, ApiVersionsRequest):
            versions = ApiVersionsResponse(
                kraft_version=self.raft.settings.kraft_version,
                runs_controller=self.raft.settings.runs_controller,
            )
            return [message.answered(self.id, versions)]
        self._requests += 1
        self.waiting[self._requests] = message
        asked = cast("Request", message.body)
        return self._step(now_ms, RequestReceived(request_id=self._requests, request=asked))

    def tick(self, now_ms: int) -> list[SentMessage]:
        return self.restart(now_ms) if self.broken else self._step(now_ms, TimePassed())

    def append(self, now_ms: int, record: bytes) -> list[SentMessage]:
        """Have a leader write a record, as its state machine would; nothing on any other node."""
        if not self.leads:
            return []
        return self._step(
            now_ms, Append(epoch=self.raft.epoch, records=(record,), size=len(record))
        )

    def kill(self) -> None:
        """End without an error, until it is started again."""
        self.broken, self.deadline_ms, self.waiting = _KILLED, NEVER, {}

    def restart(self, now_ms: int) -> list[SentMessage]:
        """Lose everything but the disk, and start again."""
        self.raft, self.waiting, self._arriving = self._opened(), {}, None
        self.incarnation, self.broken = self.incarnation + 1, ""
        return self.start(now_ms)

    def expects(self, message: SentMessage) -> bool:
        """True if anybody still waits for this answer."""
        return (
            message.incarnation == self.incarnation
            and not self.broken
            and self.raft.connections.is_expected(message.destination_id, message.correlation_id)
        )

    def fork(self) -> SimulatedNode:
        """Another replica in the same state."""
        other = copy(self)
        raft, settings, random = self.raft, self.raft.settings, self.raft.random
        effects, raft.effects = raft.effects, []
        vars(raft).update(settings=None, random=None)
        other.raft = pickle.loads(pickle.dumps(raft, pickle.HIGHEST_PROTOCOL))
        for raft_core in (raft, other.raft):
            raft_core.settings, raft_core.random = settings, random
        raft.effects = effects
        other.disk = self.disk.copy()
        other.waiting = dict(self.waiting)
        return other

    def _step(self, now_ms: int, event: Event) -> list[SentMessage]:
        if self.broken:
            return []
        try:
            return self._carry_out(now_ms, core.step(self.raft, now_ms, event))
        except KraftoolError as error:
            return self._end(now_ms, error)

    def _end(self, now_ms: int, error: KraftoolError) -> list[SentMessage]:
        self.broken, self.deadline_ms = error.message, now_ms + STARTED_AGAIN_MS
        self.errors = (*self.errors, error.message)
        self.waiting = {}
        return []

    def _carry_out(self, now_ms: int, effects: list[Effect]) -> list[SentMessage]:
        sent: list[SentMessage] = []
        following: list[Event] = []
        for effect in effects:
            if type(effect) is SetDeadline:  # every step ends with one
                self.deadline_ms = effect.at_ms
            else:
                self._effect(effect, sent, following)
        if not following:
            return sent
        while following:
            events, following = following, []
            effects = [out for event in events for out in core.step(self.raft, now_ms, event)]
            for effect in effects:
                self._effect(effect, sent, following)
        return sent

    def _effect(self, effect: Effect, sent: list[SentMessage], following: list[Event]) -> None:
        match effect:
            case SetDeadline():
                self.deadline_ms = effect.at_ms
            case Send():
                sent.append(
                    SentMessage(
                        self.id, self.id, effect.correlation_id, effect.endpoint,
                        effect.destination_id, effect.request, False, self.incarnation,
                    )
                )  # fmt: skip
            case Reply():
                sent.append(self._reply(effect))
            case PersistElection(state=state):
                self.disk.election = state
            case AppendBatches(batches=batches):
                self.disk.append(batches)
            case Truncate(offset=offset):
                self.disk.truncate(offset)
            case Flush(end_offset=end):
                self.disk.flush(end)
                following.append(LogFlushed(end_offset=end))
            case Deliver(to_offset=to):
                following.append(StateMachineAt(next_offset=to))
            case InstallSnapshot(snapshot_id=snapshot):
                following.append(self._install(snapshot))
            case _:
                pass

    def _reply(self, effect: Reply) -> SentMessage:
        answer: Any = effect.response
        snapshot = None
        if isinstance(answer, FetchResponse) and answer.read is not None:
            batches = self.disk.log.between(answer.read.offset, self.disk.log.end)
            answer = replace(answer, batches=tuple(batches), read=None)
        elif isinstance(answer, FetchSnapshotResponse) and answer.read is not None:
            snapshot = self.disk.snapshots[answer.read.snapshot_id]
            answer = replace(answer, chunk=_CHUNK, size=len(_CHUNK), read=None)
        return self.waiting.pop(effect.request_id).answered(self.id, answer, snapshot)

    def _install(self, snapshot_id: OffsetAndEpoch) -> SnapshotInstalled:
        snapshot = self._arriving
        assert snapshot is not None, "its content came with it"
        assert snapshot.id == snapshot_id, "its content came with it"
        self.disk.install(snapshot)
        return SnapshotInstalled(
            snapshot_id=snapshot_id,
            kraft_version=snapshot.kraft_version,
            voters=snapshot.voters,
        )
