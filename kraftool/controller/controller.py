"""The active controller of one claim: requests and time in, records and answers out.

Owns the order of things: a decision is made on all that was appended, its records are replayed at
the offsets that they will have, and its answer waits until they are committed. An answer without
records waits for what it may depend on. A refusal waits for nothing, as in Kafka.

Nothing of it survives: who stops being the active controller drops it, fails what waits
(`waiting`), and is left with what is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kraftool.controller import (
    alter_partition,
    assign_directories,
    elections,
    producer_ids,
    registrations,
    topic_configs,
)
from kraftool.controller.activation import activation
from kraftool.controller.decision import Decision
from kraftool.controller.heartbeats import Heartbeats, Session
from kraftool.controller.placement import RandomSource
from kraftool.controller.refused import RequestRefused
from kraftool.controller.settings import ControllerSettings
from kraftool.controller.state import ControllerState
from kraftool.controller.timers import PeriodicTask, Timers
from kraftool.controller.topics import CreateTopics
from kraftool.decoders.error_codes import Error
from kraftool.decoders.framing import decode_record, encode_record
from kraftool.image.image import MetadataImage
from kraftool.image.loader import TRANSACTION_RECORDS
from kraftool.image.replay import WrittenRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRequest:
    """A request for the active controller. Who may ask has been decided before."""

    number: int
    """By which whoever asked knows the answer."""
    api: str
    version: int
    body: dict[str, Any]
    deadline_ms: int | None = None
    """After this nobody waits for it any more."""
    may_describe: Callable[[str], bool] = lambda _: True
    """Whether the client may see a topic's configs."""


class Answered(NamedTuple):
    """The body of an answer, for the request of this number."""

    number: int
    body: dict[str, Any]


class NewBatch(NamedTuple):
    """Records that must be appended at this offset, in one batch."""

    base_offset: int
    records: tuple[bytes, ...]


@dataclass(slots=True)
class Step:
    """What came of one event."""

    batches: list[NewBatch] = field(default_factory=list)
    """To be appended in this order, before the controller is asked anything else."""
    answers: list[Answered] = field(default_factory=list)


class _Parked(NamedTuple):
    offset: int
    answer: Answered | None


class ActiveController:
    """One claim of one node. All times are those of one clock."""

    def __init__(
        self,
        settings: ControllerSettings,
        chance: RandomSource,
        new_id: Callable[[], str],
        *,
        image: MetadataImage,
        next_offset: int,
        registered_at: Mapping[int, int],
        now_ms: int,
        heartbeats: Heartbeats | None = None,
    ) -> None:
        """`image`: what is visible of the log below `next_offset`, all of which is committed.
        `new_id`: gives the ids of topics. `registered_at`: see ControllerState. `heartbeats`: new
        ones, where a test wants its own."""
        self.settings, self._chance, self._new_id = settings, chance, new_id
        self.state = ControllerState(
            image,
            registered_at=registered_at,
            static_configs=settings.static_configs,
            node_id=settings.node_id,
        )
        self.next_offset = next_offset
        self._parked: deque[_Parked] = deque()
        self._timers = Timers(settings)
        self.kraft_version = 0
        """The finalized level, which the log's control records have; whoever runs this sets it."""
        self.timed_out_heartbeats = 0
        self._heartbeats = heartbeats or Heartbeats(settings.session_timeout_ms)
        for broker in image.cluster.brokers.values():
            self._heartbeats.register(broker.id, is_fenced=broker.fenced)
            if not broker.fenced:
                self._heartbeats.heard(Session(broker.id, broker.epoch), now_ms)
        self._operations: dict[str, Callable[[int, ControllerRequest], Decision]] = {
            "BrokerRegistration": self._register_broker,
            "BrokerHeartbeat": self._heartbeat,
            "ControllerRegistration": self._register_controller,
            "UnregisterBroker": self._unregister_broker,
            "AllocateProducerIds": self._allocate_producer_ids,
            "AlterPartition": self._alter_partition,
            "AssignReplicasToDirs": self._assign_directories,
            "CreateTopics": self._create_topics,
        }

    # What whoever runs it asks for

    def activate(
        self, now_ms: int, *, has_open_transaction: bool, metadata_version: int | None
    ) -> Step:
        """The first step: bring the log into a state that can be worked with.

        `metadata_version`: the newest that was replayed, also in a transaction that is open.
        """
        decision = activation(
            metadata_version=metadata_version,
            has_open_transaction=has_open_transaction,
            bootstrap=self.settings.bootstrap,
            min_insync_replicas=topic_configs.min_insync_replicas_of_file(self.state),
        )
        step = Step()
        if decision.records:
            self._append(decision, step)
            self._park(None)
        self._timers.start(now_ms)
        return step

    def heard(self, broker_id: int, epoch: int, now_ms: int) -> None:
        """A heartbeat has arrived. It is noted at once, so that a busy controller fences nobody."""
        self._heartbeats.heard(Session(broker_id, epoch), now_ms)

    def handle(self, now_ms: int, request: ControllerRequest) -> Step:
        """Decide on a request. Its answer is in this step or in a later one."""
        step = Step()
        try:
            if request.deadline_ms is not None and now_ms > request.deadline_ms:
                self._time_out(request)
                raise RequestRefused(Error.REQUEST_TIMED_OUT)
            decision = self._operations[request.api](now_ms, request)
        except RequestRefused as refused:
            body = refused_answer(request.api, request.body, refused)
            step.answers.append(Answered(request.number, body))
            return step
        self._append(decision, step)
        if decision.at_offset is not None:
            decision.at_offset(self.next_offset - 1)
        answer = Answered(request.number, decision.answer)
        if decision.records or self._parked:
            self._park(answer, at=self.next_offset - 1 if decision.records else None)
        else:
            step.answers.append(answer)
        return step

    def tick(self, now_ms: int) -> Step:
        """Do what is due. `next_at_ms` says when that is."""
        step = Step()
        while (task := self._timers.take_due(now_ms)) is not None:
            decision, has_more = self._run(task, now_ms)
            self._timers.ran(task, now_ms, has_more=has_more)
            if decision.records:
                self._append(decision, step)
                self._park(None)
        return step

    @property
    def next_at_ms(self) -> int | None:
        return self._timers.next_at_ms()

    def committed(self, offset: int) -> list[Answered]:
        """Everything up to an offset is committed: the answers that waited for it."""
        answers = []
        while self._parked and self._parked[0].offset <= offset:
            answer = self._parked.popleft().answer
            if answer is not None:
                answers.append(answer)
        return answers

    def waiting(self) -> list[int]:
        """The numbers of the requests whose answers wait; they fail when the claim ends."""
        return [parked.answer.number for parked in self._parked if parked.answer is not None]

    # Records

    def _append(self, decision: Decision, step: Step) -> None:
        most = self.settings.max_batch_records
        records = decision.records
        if decision.is_atomic and len(records) > most:
            raise AssertionError(f"{len(records)} records are too many for one batch of {most}")
        for start in range(0, len(records), most):
            step.batches.append(self._replay(records[start : start + most]))

    def _replay(self, records: Sequence[WrittenRecord]) -> NewBatch:
        """Take records into the state as everybody else will read them."""
        base, encoded = self.next_offset, []
        for record in records:
            data = encode_record(*record)
            encoded.append(data)
            name, _, value = decode_record(data)
            if name not in TRANSACTION_RECORDS:
                self.state.replay(self.next_offset, name, value)
                self._follow(name, value)
            self.next_offset += 1
        return NewBatch(base, tuple(encoded))

    def _follow(self, name: str, value: dict[str, Any]) -> None:
        """Let the heartbeats know of registrations."""
        match name:
            case "RegisterBrokerRecord":
                self._heartbeats.remove(value["brokerId"])
                self._heartbeats.register(value["brokerId"], is_fenced=value["fenced"])
            case "UnregisterBrokerRecord":
                self._heartbeats.remove(value["brokerId"])
            case "BrokerRegistrationChangeRecord":
                broker = self.state.broker(value["brokerId"])
                assert broker is not None, "the record was replayed"
                self._heartbeats.register(broker.id, is_fenced=broker.fenced)

    def _park(self, answer: Answered | None, *, at: int | None = None) -> None:
        """Let an answer wait for an offset, or for all that waits already."""
        if at is None:
            at = self._parked[-1].offset if answer is not None else self.next_offset - 1
        self._parked.append(_Parked(at, answer))

    # Requests

    def _register_broker(self, now_ms: int, request: ControllerRequest) -> Decision:
        return registrations.register_broker(
            self.state,
            self._heartbeats,
            now_ms,
            request.body,
            cluster_id=self.settings.cluster_id,
            next_offset=self.next_offset,
            kraft_version=self.kraft_version,
            version=request.version,
        )

    def _heartbeat(self, _: int, request: ControllerRequest) -> Decision:
        return registrations.heartbeat(self.state, self._heartbeats, request.body)

    def _register_controller(self, _: int, request: ControllerRequest) -> Decision:
        return registrations.register_controller(self.state, request.body)

    def _unregister_broker(self, _: int, request: ControllerRequest) -> Decision:
        return registrations.unregister_broker(self.state, request.body)

    def _allocate_producer_ids(self, _: int, request: ControllerRequest) -> Decision:
        return producer_ids.allocate(self.state, request.body)

    def _alter_partition(self, _: int, request: ControllerRequest) -> Decision:
        return alter_partition.alter_partition(self.state, request.body, version=request.version)

    def _assign_directories(self, _: int, request: ControllerRequest) -> Decision:
        return assign_directories.assign_directories(self.state, request.body)

    def _create_topics(self, _: int, request: ControllerRequest) -> Decision:
        creation = CreateTopics(
            self.state, self._heartbeats, self.settings, self._chance, self._new_id
        )
        return creation.decision(request.body, may_describe=request.may_describe)

    def _time_out(self, request: ControllerRequest) -> None:
        """Of a heartbeat that waited too long, what it says still counts."""
        if request.api == "BrokerHeartbeat":
            self.timed_out_heartbeats += 1
            body = request.body
            broker = self.state.broker(body["brokerId"])
            if broker is not None and broker.epoch == body["brokerEpoch"]:
                offset = body["currentMetadataOffset"]
                self._heartbeats.note(broker.id, is_fenced=broker.fenced, metadata_offset=offset)

    # Tasks

    def _run(self, task: PeriodicTask, now_ms: int) -> tuple[Decision, bool]:
        """What a task comes to, and whether it has more to do."""
        match task:
            case PeriodicTask.WRITE_NO_OP:
                return Decision(answer={}, records=[("NoOpRecord", 0, {})]), False
            case PeriodicTask.FENCE_STALE:
                fenced = registrations.fence_stale(self.state, self._heartbeats, now_ms)
                return fenced or Decision(answer={}), fenced is not None
            case PeriodicTask.ELECT_PREFERRED:
                decision = elections.elect_preferred(self.state)
            case PeriodicTask.ELECT_UNCLEAN:
                decision = elections.elect_uncleanly(self.state)
        return decision, len(decision.records) >= elections.MOST_ELECTIONS


def answered_at_once(api: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to a request that asks for nothing, which any controller gives; None if it asks
    for something."""
    if api in ("CreateTopics", "AlterPartition") and not body["topics"]:
        return {"topics": []}
    return None


_WITH_MESSAGE = frozenset({"ControllerRegistration", "CreateTopics", "UnregisterBroker"})
"""Requests whose answers have a sentence beside the error."""


def refused_answer(api: str, body: dict[str, Any], refused: RequestRefused) -> dict[str, Any]:
    """The answer that says why a request was refused."""
    error: dict[str, Any] = {"errorCode": int(refused.error)}
    if api in _WITH_MESSAGE:
        error |= {"errorMessage": refused.text}
    if api == "CreateTopics":
        return {"topics": [{"name": topic["name"], **error} for topic in body["topics"]]}
    return error
