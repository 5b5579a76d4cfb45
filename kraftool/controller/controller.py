"""The active controller of one claim: requests and time in, records and answers out.

Owns the order of things: a decision is made on all that was appended, its records are replayed at
the offsets that they will have, and its answer waits until they are committed. An answer without
records waits for what it may depend on. A refusal waits for nothing, as in Kafka. A decision with
very many records takes several steps (`is_busy`), between which nothing else is decided.

A turn may be worked out in a thread of its own. Meanwhile the caller may use `heard` and
`committed`, and nothing else.

Nothing of it survives: who stops being the active controller drops it, fails what waits
(`waiting`), and is left with what is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from kraftool.controller import (
    acls,
    alter_configs,
    alter_partition,
    assign_directories,
    client_quotas,
    create_partitions,
    delegation_tokens,
    delete_topics,
    elections,
    producer_ids,
    reassignments,
    registrations,
    scram_credentials,
    topic_configs,
    update_features,
)
from kraftool.controller.activation import activation
from kraftool.controller.answers import refused_answer
from kraftool.controller.client_quotas import is_address
from kraftool.controller.decision import Decision, KRaftUpgrade
from kraftool.controller.delegation_tokens import DelegationTokens
from kraftool.controller.heartbeats import Heartbeats, Session
from kraftool.controller.mutation_quota import MutationQuota
from kraftool.controller.partition_index import PartitionIndex
from kraftool.controller.permissions import Permissions, everything
from kraftool.controller.placement import RandomSource
from kraftool.controller.refused import RequestRefused
from kraftool.controller.settings import ControllerSettings
from kraftool.controller.state import ControllerState
from kraftool.controller.timers import PeriodicTask, Timers
from kraftool.controller.topics import CreateTopics
from kraftool.controller.weights import LIGHT, weight
from kraftool.decoders.error_codes import Error
from kraftool.decoders.framing import decode_record, encode_record
from kraftool.image.acls import ANONYMOUS
from kraftool.image.image import MetadataImage
from kraftool.image.loader import TRANSACTION_RECORDS
from kraftool.image.replay import WrittenRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRequest:
    """A request for the active controller."""

    number: int
    """By which whoever asked knows the answer."""
    api: str
    version: int
    body: dict[str, Any]
    deadline_ms: int | None = None
    """After this nobody waits for it any more."""
    permissions: Permissions = field(default_factory=everything)
    """Of the client, for what is decided topic by topic. Whoever has no permission for the request
    as a whole was refused before."""
    is_forwarded: bool = False
    """True if a broker sent it on for a client."""
    principal: str = ANONYMOUS
    """The client, as super.users names it."""
    mutation_quota: MutationQuota | None = None
    """Charged for partitions that it creates or deletes."""

    def charging(self, now_ms: int) -> Callable[[int], None]:
        """Return what charges the client for partitions, or raises RequestRefused."""
        quota = self.mutation_quota
        return lambda partitions: quota.charge(partitions, now_ms) if quota is not None else None


class Answered(NamedTuple):
    """The body of an answer, for the request of this number."""

    number: int
    body: dict[str, Any]


class NewBatch(NamedTuple):
    """Records that must be appended at this offset, in one batch."""

    base_offset: int
    records: tuple[bytes, ...]

    @property
    def record_count(self) -> int:
        return len(self.records)


@dataclass(slots=True)
class Step:
    """The result of one event."""

    appends: list[NewBatch | KRaftUpgrade] = field(default_factory=list)
    """To be appended in this order, before the controller is asked anything else."""
    answers: list[Answered] = field(default_factory=list)
    failures: list[tuple[PeriodicTask, Exception]] = field(default_factory=list)
    """Tasks that could not be decided on, and why; each waits before it is tried again."""

    @property
    def record_count(self) -> int:
        """Return the number of offsets that the appends take."""
        return sum(append.record_count for append in self.appends)


class _Parked(NamedTuple):
    offset: int
    answer: Answered | None


@dataclass(slots=True)
class _Work:
    """A decision whose records are being taken."""

    decision: Decision
    records: Iterator[WrittenRecord]
    number: int | None
    """Of the request that it answers."""
    has_written: bool = False


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
        partitions: PartitionIndex | None = None,
        resolves: Callable[[str], bool] = is_address,
    ) -> None:
        """`image`: what is visible of the log below `next_offset`, all of which is committed.
        `new_id`: gives the ids of topics, tokens and ACLs. `registered_at`: see ControllerState.
        `heartbeats`: new ones, where a test wants its own. `partitions`: the index of the image's,
        if it has been made already. `resolves`: returns True for a host that has an address."""
        self.settings, self._chance, self._new_id = settings, chance, new_id
        self._resolves = resolves
        self.state = ControllerState(
            image,
            settings,
            registered_at=registered_at,
            partitions=partitions,
        )
        self.next_offset = next_offset
        self._parked: deque[_Parked] = deque()
        self._work: _Work | None = None
        self.handling: ControllerRequest | None = None
        """The request that is being decided on."""
        self._timers = Timers(settings)
        self._tokens = DelegationTokens(self.state, settings.tokens)
        self.kraft_version = 0
        """The finalized level, which the log's control records have; whoever runs this sets it."""
        self.plan_kraft_upgrade: Callable[[int], int] = _no_upgrade
        """Returns how many records the log appends for another level; raises RequestRefused. The
        caller sets it, too."""
        self.timed_out_heartbeats = 0
        self._heartbeats = heartbeats or Heartbeats(settings.session_timeout_ms)
        for broker in image.cluster.brokers.values():
            self._heartbeats.register(broker.id, is_fenced=broker.fenced)
            if not broker.fenced:
                self._heartbeats.heard(Session(broker.id, broker.epoch), now_ms)

    # What whoever runs it asks for

    def activate(self, now_ms: int, *, has_open_transaction: bool) -> Step:
        """The first step: bring the log into a state that can be worked with."""
        decision = activation(
            metadata_version=self.state.metadata_version,
            has_open_transaction=has_open_transaction,
            bootstrap=self.settings.bootstrap,
            min_insync_replicas=topic_configs.min_insync_replicas_of_file(self.state),
        )
        step = Step()
        self._carry_out(decision, None, step)
        self._timers.start(now_ms)
        return step

    def heard(self, broker_id: int, epoch: int, now_ms: int) -> None:
        """A heartbeat has arrived. It is noted at once, so that a busy controller fences nobody."""
        self._heartbeats.heard(Session(broker_id, epoch), now_ms)

    def turn(self, now_ms: int, queue: deque[ControllerRequest]) -> Step:
        """Go on with what was begun, decide on what waits, and do what is due: as much as one step
        may have. There is more to do where requests are left, or `is_busy`. Whatever it raises is a
        fault of this software, after which the state is not to be trusted; `handling` has caused
        it."""
        step = Step()
        if self._work is not None:
            self._take(step)
        while queue and not self._is_full(step):
            self.handling = queue.popleft()
            self._handle(now_ms, self.handling, step)
            self.handling = None
        while not self._is_full(step) and (task := self._timers.take_due(now_ms)) is not None:
            try:
                decision, has_more = self._run(task, now_ms)
            except Exception as error:
                self._timers.failed(task, now_ms)
                step.failures.append((task, error))
                continue
            self._timers.ran(task, now_ms, has_more=has_more)
            self._carry_out(decision, None, step)
        return step

    def is_light(self, now_ms: int, queue: deque[ControllerRequest]) -> bool:
        """True if a turn takes some milliseconds at most, so that a thread would cost more than it
        is worth: most heartbeats, and what names few partitions."""
        return (
            not self.is_busy
            and not self._timers.is_due(now_ms, besides=PeriodicTask.WRITE_NO_OP)
            and sum(
                weight(request.api, request.body, self._heartbeats, self.settings)
                for request in queue
            )
            <= LIGHT
        )

    def _is_full(self, step: Step) -> bool:
        return self.is_busy or step.record_count >= self.settings.most_records_at_once

    @property
    def is_busy(self) -> bool:
        """True if a decision has more records than one step may."""
        return self._work is not None

    def _handle(self, now_ms: int, request: ControllerRequest, step: Step) -> None:
        """Decide on a request. Its answer is in this step or in a later one."""
        try:
            if request.deadline_ms is not None and now_ms > request.deadline_ms:
                self._time_out(request)
                raise RequestRefused(Error.REQUEST_TIMED_OUT)
            decision = _OPERATIONS[request.api](self, now_ms, request)
        except RequestRefused as refused:
            body = refused_answer(request.api, request.body, refused)
            step.answers.append(Answered(request.number, body))
            return
        self._carry_out(decision, request.number, step)

    @property
    def next_at_ms(self) -> int | None:
        """When a turn is due, whoever asks or not."""
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

    def _carry_out(self, decision: Decision, number: int | None, step: Step) -> None:
        """Append what was decided. `number`: that of the request that it answers."""
        assert self._work is None, "what was decided before comes first"
        if decision.kraft_upgrade is not None:
            step.appends.append(decision.kraft_upgrade)
            self.next_offset += decision.kraft_upgrade.record_count
        self._work = _Work(decision, iter(decision.records), number)
        self._take(step)

    def _take(self, step: Step) -> None:
        """Append records of the decision, up to as many as one step may have."""
        work, most = self._work, self.settings.max_batch_records
        assert work is not None, "somebody asked `is_busy` before"
        decision = work.decision
        at_once = most + 1 if decision.is_atomic else self.settings.most_records_at_once
        records = list(islice(work.records, at_once))
        if decision.is_atomic and len(records) > most:
            raise AssertionError(f"more than {most} records are too many for one batch")
        for start in range(0, len(records), most):
            step.appends.append(self._replay(records[start : start + most]))
        work.has_written |= bool(records)
        if len(records) < at_once:
            self._work = None
            self._finish(work, step)

    def _finish(self, work: _Work, step: Step) -> None:
        """All records of a decision are there: let its answer wait for them."""
        decision, last = work.decision, self.next_offset - 1
        if decision.at_offset is not None:
            decision.at_offset(last)
        answer = None if work.number is None else Answered(work.number, decision.answer)
        if work.has_written:
            self._parked.append(_Parked(last, answer))
        elif answer is not None:
            try:
                waits_for = self._parked[-1].offset
            except IndexError:  # `committed` may take the last one at any moment
                step.answers.append(answer)
            else:
                self._parked.append(_Parked(waits_for, answer))

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

    def _unregister_controller(self, _: int, request: ControllerRequest) -> Decision:
        return registrations.unregister_controller(self.state, request.body)

    def _allocate_producer_ids(self, _: int, request: ControllerRequest) -> Decision:
        return producer_ids.allocate(self.state, request.body)

    def _alter_partition(self, _: int, request: ControllerRequest) -> Decision:
        return alter_partition.alter_partition(self.state, request.body, version=request.version)

    def _alter_reassignments(self, _: int, request: ControllerRequest) -> Decision:
        return reassignments.alter_partition_reassignments(self.state, request.body)

    def _assign_directories(self, _: int, request: ControllerRequest) -> Decision:
        return assign_directories.assign_directories(self.state, request.body)

    def _create_topics(self, now_ms: int, request: ControllerRequest) -> Decision:
        creation = CreateTopics(
            self.state, self._heartbeats, self.settings, self._chance, self._new_id
        )
        return creation.decision(request.body, request.permissions, charge=request.charging(now_ms))

    def _create_partitions(self, now_ms: int, request: ControllerRequest) -> Decision:
        return create_partitions.create_partitions(
            self.state,
            self._heartbeats,
            self._chance,
            request.body,
            request.permissions,
            charge=request.charging(now_ms),
        )

    def _delete_topics(self, now_ms: int, request: ControllerRequest) -> Decision:
        return delete_topics.delete_topics(
            self.state,
            request.body,
            request.permissions,
            version=request.version,
            charge=request.charging(now_ms),
        )

    def _elect_leaders(self, _: int, request: ControllerRequest) -> Decision:
        return elections.elect_leaders(self.state, request.body)

    def _incremental_alter_configs(self, _: int, request: ControllerRequest) -> Decision:
        return alter_configs.incremental_alter_configs(
            self.state, request.body, request.permissions, is_forwarded=request.is_forwarded
        )

    def _alter_configs(self, _: int, request: ControllerRequest) -> Decision:
        return alter_configs.alter_configs(
            self.state, request.body, request.permissions, is_forwarded=request.is_forwarded
        )

    def _alter_client_quotas(self, _: int, request: ControllerRequest) -> Decision:
        return client_quotas.alter_client_quotas(self.state, request.body, self._resolves)

    def _delegation_token(self, now_ms: int, request: ControllerRequest) -> Decision:
        return self._tokens.decide(
            request.api, request.body, request.principal, now_ms, self._new_id
        )

    def _update_features(self, _: int, request: ControllerRequest) -> Decision:
        return update_features.update_features(
            self.state,
            request.body,
            version=request.version,
            kraft_version=self.kraft_version,
            plan_upgrade=self.plan_kraft_upgrade,
        )

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
        """Return what a task comes to, and whether it has more to do."""
        match task:
            case PeriodicTask.WRITE_NO_OP:
                return Decision(answer={}, records=[("NoOpRecord", 0, {})]), False
            case PeriodicTask.FENCE_STALE:
                fenced = registrations.fence_stale(self.state, self._heartbeats, now_ms)
                return fenced or Decision(answer={}), fenced is not None
            case PeriodicTask.ELECT_PREFERRED:
                records = elections.elect_preferred(self.state)
            case PeriodicTask.ELECT_UNCLEAN:
                records = elections.elect_uncleanly(self.state)
            case PeriodicTask.EXPIRE_TOKENS:
                records = self._tokens.sweep(now_ms)
                has_more = len(records) >= delegation_tokens.MOST_REMOVALS
                return Decision(answer={}, records=records, is_atomic=False), has_more
        has_more = len(records) >= elections.MOST_ELECTIONS
        return Decision(answer={}, records=records, is_atomic=False), has_more


def _no_upgrade(level: int) -> int:
    raise RequestRefused(
        Error.INVALID_UPDATE_VERSION,
        f"this node has no raft log that could change kraft.version to {level}",
    )


_OPERATIONS: dict[str, Callable[[ActiveController, int, ControllerRequest], Decision]] = {
    "BrokerRegistration": ActiveController._register_broker,
    "BrokerHeartbeat": ActiveController._heartbeat,
    "ControllerRegistration": ActiveController._register_controller,
    "UnregisterBroker": ActiveController._unregister_broker,
    "UnregisterController": ActiveController._unregister_controller,
    "AllocateProducerIds": ActiveController._allocate_producer_ids,
    "AlterPartition": ActiveController._alter_partition,
    "AlterPartitionReassignments": ActiveController._alter_reassignments,
    "AssignReplicasToDirs": ActiveController._assign_directories,
    "CreateTopics": ActiveController._create_topics,
    "CreatePartitions": ActiveController._create_partitions,
    "DeleteTopics": ActiveController._delete_topics,
    "ElectLeaders": ActiveController._elect_leaders,
    "IncrementalAlterConfigs": ActiveController._incremental_alter_configs,
    "AlterConfigs": ActiveController._alter_configs,
    "AlterClientQuotas": ActiveController._alter_client_quotas,
    "CreateDelegationToken": ActiveController._delegation_token,
    "RenewDelegationToken": ActiveController._delegation_token,
    "ExpireDelegationToken": ActiveController._delegation_token,
    "UpdateFeatures": ActiveController._update_features,
    "CreateAcls": lambda active, _, request: acls.create_acls(
        active.state, request.body, active._new_id
    ),
    "DeleteAcls": lambda active, _, request: acls.delete_acls(active.state, request.body),
    "AlterUserScramCredentials": lambda active, _, request: (
        scram_credentials.alter_scram_credentials(active.state, request.body)
    ),
}
