"""kraftool's controller, taking the same steps as Kafka's."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from kraftool.controller.answers import answered_at_once, refused_answer
from kraftool.controller.controller import (
    ActiveController,
    Answered,
    ControllerRequest,
    NewBatch,
    Step,
)
from kraftool.controller.heartbeats import Heartbeats, Session
from kraftool.controller.mutation_quota import MutationQuota, MutationQuotas
from kraftool.controller.permissions import Permissions
from kraftool.controller.reassignments import list_partition_reassignments
from kraftool.controller.refused import RequestRefused
from kraftool.controller.settings import ControllerSettings, TokenSettings
from kraftool.decoders import codec
from kraftool.decoders.error_codes import Error
from kraftool.decoders.framing import decode_record
from kraftool.image.client_quotas import ClientQuotasDelta, ClientQuotasImage
from kraftool.image.loader import ImageLoader
from kraftool.node.resolving import resolves
from tests.differential.controller.java_chance import JavaRandom

_NOT_CONTROLLER = RequestRefused(Error.NOT_CONTROLLER)


class _Heartbeats(Heartbeats):
    """Takes that one of several expired sessions first which Kafka's hash map gave first."""

    def __init__(self, ours: OurController) -> None:
        super().__init__(ours.settings.session_timeout_ms)
        self._ours = ours

    def first_of(self, expired: list[Session]) -> Session:
        """The one that Kafka fenced; if it fenced nobody, one of which nothing is left to fence."""
        active = self._ours.active
        assert active is not None, "only an active controller looks for sessions"
        fitting = []
        for session in expired:
            broker = active.state.broker(session.broker_id)
            is_over = broker is None or broker.epoch != session.epoch
            if self._ours.fenced == (None if is_over else session.broker_id):
                fitting.append(session)
        self._ours.has_guessed |= len(fitting) > 1
        return [*fitting, *expired][0]


@dataclass(slots=True)
class Did:
    """What a controller did in a step: batches of encoded records, and answers by number."""

    batches: list[tuple[int, list[bytes]]] = field(default_factory=list)
    answers: dict[int, dict[str, Any]] = field(default_factory=dict)


class OurController:
    """One node: it follows what is committed, and may be the active controller."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.settings = ControllerSettings(
            node_id=start["nodeId"],
            cluster_id=start["clusterId"],
            bootstrap=tuple(decode_record(b64decode(record)) for record in start["bootstrap"]),
            features={name: tuple(levels) for name, levels in start["features"].items()},
            static_voters=frozenset(start["voters"]),
            default_replication_factor=start["defaultReplicationFactor"],
            default_partitions=start["defaultPartitions"],
            session_timeout_ms=start["sessionTimeoutMs"],
            max_idle_ms=start["maxIdleMs"],
            leader_imbalance_check_ms=start["leaderImbalanceCheckMs"],
            unclean_election_check_ms=start["uncleanElectionCheckMs"],
            tokens=TokenSettings(
                secret_key=start["tokenSecretKey"],
                max_lifetime_ms=start["tokenMaxLifetimeMs"],
                expiry_ms=start["tokenExpiryMs"],
                check_ms=start["tokenCheckMs"],
            ),
            static_configs=start["configs"],
            max_batch_records=start["maxBatchRecords"],
            most_records_at_once=10_000,
        )
        self.kraft_version = start["kraftVersion"]
        self.now_ms = start["now"]
        self.chance = JavaRandom(start["seed"])
        self.topic_ids: list[str] = []
        """The ids that Kafka gave to new topics, in their order."""
        self.fenced: int | None = None
        """The broker that Kafka fences in this step."""
        self.has_guessed = False
        """True once several sessions ended of brokers that registered again since: nothing shows
        which of them Kafka forgot first."""
        self.loader = ImageLoader()
        self.registered_at: dict[int, int] = {}
        self.active: ActiveController | None = None
        self._asked: dict[int, dict[str, Any]] = {}
        self._mutation_quotas = MutationQuotas()
        self._client_quotas = ClientQuotasImage()
        """Those that are committed."""
        self._charged: dict[int, MutationQuota] = {}
        """By the number of the request."""

    def step(self, step: dict[str, Any]) -> Did:
        did = Did()
        match step["command"]:
            case "lead":
                self._take(self._lead(step["endOffset"]), did)
            case "follow":
                waiting = self.active.waiting() if self.active else []
                self.active = None
                for number in waiting:
                    self._refuse(number, did)
            case "commit":
                for batch in step["batches"]:
                    self._commit(batch, did)
            case "advance":
                self.now_ms = step["now"]
                if self.active is not None:
                    self._take(self.active.turn(self.now_ms, deque()), did)
            case "request":
                self._asked[step["number"]] = step
                self._request(step, did)
        return did

    def _lead(self, end_offset: int) -> Step:
        image = self.loader.image()
        self.active = ActiveController(
            self.settings,
            self.chance,
            lambda: self.topic_ids.pop(0),
            image=image,
            next_offset=end_offset,
            registered_at=self.registered_at,
            now_ms=self.now_ms,
            heartbeats=_Heartbeats(self),
            resolves=resolves,
        )
        self.active.kraft_version = self.kraft_version
        self.active.plan_kraft_upgrade = lambda _: 0  # the log that Kafka's has here takes nothing
        has_open_transaction = self.loader.open_transaction is not None
        return self.active.activate(self.now_ms, has_open_transaction=has_open_transaction)

    def _commit(self, batch: dict[str, Any], did: Did) -> None:
        offset = batch["baseOffset"]
        for record in batch["records"]:
            name, _, value = decode_record(b64decode(record))
            self.loader.replay(offset, name, value)
            if name == "RegisterBrokerRecord":
                self.registered_at[value["brokerId"]] = offset
            if name == "ClientQuotaRecord":
                changed = ClientQuotasDelta(self._client_quotas)
                changed.quota(value)
                self._client_quotas = changed.apply()
                self._mutation_quotas.use(self._client_quotas)
            offset += 1
        self.loader.end_batch(offset - 1, batch["epoch"], 0)
        if self.active is not None:
            for answered in self.active.committed(offset - 1):
                self._answer(answered, did)

    def _request(self, step: dict[str, Any], did: Did) -> None:
        body = request_body(step)
        quota = self._mutation_quotas.of(
            step["api"],
            step["version"],
            user=step["principal"].partition(":")[2],
            client_id=step["clientId"],
            now_ms=self.now_ms,
        )
        if quota is not None:
            self._charged[step["number"]] = quota
        at_once = answered_at_once(step["api"], body)
        if at_once is not None:
            self._answer(Answered(step["number"], at_once), did)
            return
        if step["api"] == "ListPartitionReassignments":
            listed = list_partition_reassignments(self.loader.image().topics, body)
            self._answer(Answered(step["number"], listed), did)
            return
        if self.active is None:
            self._refuse(step["number"], did)
            return
        if step["api"] == "BrokerHeartbeat":
            self.active.heard(body["brokerId"], body["brokerEpoch"], self.now_ms)
        request = ControllerRequest(
            number=step["number"],
            api=step["api"],
            version=step["version"],
            body=body,
            deadline_ms=step.get("deadlineMs"),
            permissions=_permissions(step),
            is_forwarded=step.get("forwarded", False),
            principal=step["principal"],
            mutation_quota=quota,
        )
        self._take(self.active.turn(self.now_ms, deque([request])), did)

    def _take(self, step: Step, did: Did) -> None:
        for batch in step.appends:
            assert isinstance(batch, NewBatch), "Kafka's log is told nothing of upgrades"
            did.batches.append((batch.base_offset, list(batch.records)))
        for answered in step.answers:
            self._answer(answered, did)

    def _refuse(self, number: int, did: Did) -> None:
        asked = self._asked[number]
        body = refused_answer(asked["api"], request_body(asked), _NOT_CONTROLLER)
        self._answer(Answered(number, body), did)

    def _answer(self, answered: Answered, did: Did) -> None:
        """As the client reads it."""
        asked = self._asked.pop(answered.number)
        name = f"{asked['api']}Response"
        quota = self._charged.pop(answered.number, None)
        if quota is not None:
            answered.body["throttleTimeMs"] = quota.throttle_time_ms(self.now_ms)
        encoded = codec.encode(name, asked["version"], answered.body)
        did.answers[answered.number] = codec.decode(name, asked["version"], encoded)[0]


def _permissions(step: dict[str, Any]) -> Permissions:
    """Everything, but the configs of single topics only: a controller is asked about these."""
    return Permissions(
        lambda operation, resource, name: (
            (operation, resource) != ("DESCRIBE_CONFIGS", "TOPIC") or name in step["describable"]
        )
    )


def request_body(step: dict[str, Any]) -> dict[str, Any]:
    """A request as a controller reads it."""
    name = f"{step['api']}Request"
    return codec.decode(name, step["version"], b64decode(step["body"]))[0]


def encoded_body(api: str, version: int, body: dict[str, Any]) -> str:
    return b64encode(codec.encode(f"{api}Request", version, body)).decode()
