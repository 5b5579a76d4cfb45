"""A controller that became active on an empty log, and brokers that ask it.

Owns the clock, the commits, and the bodies of requests with Kafka's defaults.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Any

import pytest

from kraftool.controller import controller
from kraftool.controller.controller import (
    ActiveController,
    ControllerRequest,
    NewBatch,
    Step,
)
from kraftool.controller.decision import KRaftUpgrade
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.settings import ControllerSettings
from kraftool.decoders.error_codes import Error
from kraftool.decoders.framing import decode_record
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.metadata_version import (
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    release_levels,
)
from kraftool.image.replay import WrittenRecord
from kraftool.image.topics import PartitionRegistration

CLUSTER_ID = "J8qXRwI-Qyi2G0guFTiuYw"
SESSION_MS = 9_000


class Sequential:
    """No chance: always the first, and never another order."""

    def below(self, bound: int) -> int:
        return 0

    def shuffle(self, items: list[Any]) -> None:
        """Leave it."""


def bootstrap(level: int = 30, **features: int) -> tuple[WrittenRecord, ...]:
    """The first records of a cluster at a level, without ELR unless it is asked for."""
    levels = release_levels(level) | {"eligible.leader.replicas.version": 0}
    levels |= {name.replace("_", "."): value for name, value in features.items()}
    del levels[KRAFT_VERSION]
    return tuple(
        ("FeatureLevelRecord", 0, {"name": name, "featureLevel": levels[name]})
        for name in (METADATA_VERSION, *sorted(set(levels) - {METADATA_VERSION}))
        if levels[name]
    )


class Bench:
    """One controller; what it appends is committed at once unless `holds` is set."""

    def __init__(
        self,
        level: int = 30,
        *,
        elr: bool = False,
        image: MetadataImage = EMPTY,
        has_open_transaction: bool = False,
        **settings: Any,
    ) -> None:
        features = {"eligible_leader_replicas_version": 1} if elr else {}
        self.settings = ControllerSettings(
            node_id=3000,
            cluster_id=CLUSTER_ID,
            bootstrap=bootstrap(level, **features),
            **{"max_idle_ms": None, **settings},
        )
        self.now_ms = 1_000
        self.holds = False
        self.records: list[WrittenRecord] = []
        """Of the last step."""
        self.appends: list[NewBatch | KRaftUpgrade] = []
        self.answers: dict[int, dict[str, Any]] = {}
        self._numbers, self._ids = count(), count()
        self.active = ActiveController(
            self.settings,
            Sequential(),
            lambda: f"T{next(self._ids):020d}A",
            image=image,
            next_offset=3,
            registered_at={},
            now_ms=self.now_ms,
        )
        step = self.active.activate(self.now_ms, has_open_transaction=has_open_transaction)
        self._take_all(step, deque())

    def take(self, step: Step) -> None:
        self.appends = step.appends
        batches = [append for append in step.appends if isinstance(append, NewBatch)]
        self.records = [decode_record(record) for batch in batches for record in batch.records]
        self.answers |= dict(step.answers)
        if not self.holds:
            self.commit()

    def turns(self, *requests: ControllerRequest) -> None:
        """As many turns as these requests and what is due take."""
        queue = deque(requests)
        self._take_all(self.active.turn(self.now_ms, queue), queue)

    def _take_all(self, step: Step, queue: deque[ControllerRequest]) -> None:
        while queue or self.active.is_busy:
            more = self.active.turn(self.now_ms, queue)
            step.appends += more.appends
            step.answers += more.answers
        self.take(step)

    def commit(self, offset: int | None = None) -> None:
        last = self.active.next_offset - 1 if offset is None else offset
        self.answers |= dict(self.active.committed(last))

    def send(self, api: str, version: int, body: dict[str, Any], **more: Any) -> int:
        number = next(self._numbers)
        request = ControllerRequest(number=number, api=api, version=version, body=body, **more)
        self.turns(request)
        return number

    def ask(self, api: str, version: int, body: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self.answers[self.send(api, version, body, **more)]

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms
        self.turns()

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.records]

    # Brokers

    def register(self, broker_id: int, **fields: Any) -> dict[str, Any]:
        version = fields.pop("version", 4)
        features = {METADATA_VERSION: (7, 33), **dict.fromkeys(FEATURES, (0, 9))}
        body = {
            "brokerId": broker_id,
            "clusterId": CLUSTER_ID,
            "incarnationId": incarnation(broker_id, 1),
            "listeners": [],
            "features": ranges(features),
            "rack": None,
            "isMigratingZkBroker": False,
            "logDirs": [directory(broker_id)],
            "previousBrokerEpoch": -1,
            **fields,
        }
        return self.ask("BrokerRegistration", version, body)

    def beat(self, broker_id: int, **fields: Any) -> dict[str, Any]:
        broker = self.active.state.broker(broker_id)
        body = {
            "brokerId": broker_id,
            "brokerEpoch": broker.epoch if broker is not None else 0,
            "currentMetadataOffset": self.active.next_offset - 1,
            "wantFence": False,
            "wantShutDown": False,
            "offlineLogDirs": [],
            "cordonedLogDirs": None,
            **fields,
        }
        more = {"deadline_ms": body.pop("deadline_ms", None)}
        self.active.heard(broker_id, body["brokerEpoch"], self.now_ms)
        return self.ask("BrokerHeartbeat", 2, body, **more)

    def with_brokers(self, ids: Iterable[int]) -> Bench:
        for broker_id in ids:
            self.register(broker_id)
            self.beat(broker_id)
        return self

    # Topics

    def create(self, name: str, **fields: Any) -> dict[str, Any]:
        topic = {
            "name": name,
            "numPartitions": -1,
            "replicationFactor": -1,
            "assignments": [],
            "configs": [],
            **fields,
        }
        body = {"topics": [topic], "timeoutMs": 1_000, "validateOnly": False}
        answer: dict[str, Any] = self.ask("CreateTopics", 7, body)["topics"][0]
        return answer

    def assigned(self, name: str, *replicas: list[int]) -> None:
        assignments = [
            {"partitionIndex": number, "brokerIds": ids} for number, ids in enumerate(replicas)
        ]
        assert self.create(name, assignments=assignments)["errorCode"] == Error.NONE

    def partition(self, name: str, number: int = 0) -> PartitionRegistration:
        topic_id = self.active.state.topic_id(name)
        assert topic_id is not None
        registration = self.active.state.partition(PartitionKey(topic_id, number))
        assert registration is not None
        return registration

    def alter(self, name: str, isr: list[int], **fields: Any) -> dict[str, Any]:
        """An AlterPartition of partition 0, by default of its leader."""
        partition, version = self.partition(name), fields.pop("version", 3)
        sender = fields.pop("sender", partition.leader)
        broker = self.active.state.broker(sender)
        assert broker is not None
        epochs = fields.pop("epochs", {})
        proposal = {
            "partitionIndex": 0,
            "leaderEpoch": partition.leader_epoch,
            "partitionEpoch": partition.partition_epoch,
            "leaderRecoveryState": 0,
            "newIsr": isr,
            "newIsrWithEpochs": [
                {"brokerId": broker_id, "brokerEpoch": epochs.get(broker_id, -1)}
                for broker_id in isr
            ],
            **fields,
        }
        body = {
            "brokerId": sender,
            "brokerEpoch": broker.epoch,
            "topics": [{"topicId": self.active.state.topic_id(name), "partitions": [proposal]}],
        }
        answer = self.ask("AlterPartition", version, body)
        altered: dict[str, Any] = answer["topics"][0]["partitions"][0]
        return altered


def decide_by(
    patch: pytest.MonkeyPatch, active: ActiveController, api: str, decide: Callable[..., Any]
) -> Callable[..., Any]:
    """Have this controller decide otherwise on requests of an API; how it did so before."""
    usual = controller._OPERATIONS[api]

    def other(asked: ActiveController, *arguments: Any) -> Any:
        return decide(*arguments) if asked is active else usual(asked, *arguments)

    patch.setitem(controller._OPERATIONS, api, other)
    return partial(usual, active)


def incarnation(broker_id: int, life: int) -> str:
    return f"B{broker_id:08d}{life:012d}A"


def directory(broker_id: int, number: int = 1) -> str:
    return f"D{broker_id:08d}{number:012d}A"


def ranges(features: dict[str, tuple[int, int]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "minSupportedVersion": low, "maxSupportedVersion": high}
        for name, (low, high) in features.items()
    ]
