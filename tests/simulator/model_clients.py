"""Brokers of a simulated cluster, as far as a controller sees them; with them, its admins.

Owns what brokers ask, when, and what an answer must be worth once it was given: the producer ids
are nobody else's, the broker is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from kraftool.controller.controller import Answered, ControllerRequest
from kraftool.decoders.error_codes import Error
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import RELEASE_RANGES
from kraftool.image.topics import NO_LEADER
from tests.simulator.model_admins import ModelAdmins
from tests.simulator.node import Node
from tests.simulator.world import CLUSTER, World

_BROKERS = (101, 102, 103)
_HEARTBEAT_MS = 400
_LOST = 0.1
"""The part of requests that never arrive."""


@dataclass(slots=True)
class ModelBroker:
    """One broker, through all its lives."""

    id: int
    life: int = 1
    epoch: int | None = None
    """None until it is registered."""
    silent_until: int = 0

    @property
    def incarnation(self) -> str:
        return f"B{self.id:09d}{self.life:011d}A"

    @property
    def directory(self) -> str:
        return f"D{self.id:020d}A"


class ModelClients:
    """All of them, in one run."""

    def __init__(
        self,
        world: World,
        ask: Callable[[Node, ControllerRequest], None],
        controllers: Callable[[], list[Node]],
    ) -> None:
        """`controllers`: the nodes that may be asked, of which some may be mistaken."""
        self._world, self._ask, self._controllers = world, ask, controllers
        self._numbers = count()
        self._asked: dict[int, tuple[str, dict[str, Any]]] = {}
        self._blocks: dict[int, int] = {}
        """The first producer id of each block, with the broker that got it."""
        self._brokers = [ModelBroker(broker_id) for broker_id in _BROKERS]
        for broker in self._brokers:
            world.after(100 + broker.id, self._beat, broker)
        self._admins = ModelAdmins(world, self._send, lambda: self.image)
        world.after(1_000, self._allocate)
        world.after(1_100, self._alter)

    # What they ask

    def _send(self, api: str, version: int, body: dict[str, Any]) -> None:
        random, nodes = self._world.random, self._controllers()
        if not nodes or random.random() < _LOST:
            return
        request = ControllerRequest(number=next(self._numbers), api=api, version=version, body=body)
        self._asked[request.number] = (api, body)
        self._world.after(random.randrange(20), self._ask, random.choice(nodes), request)

    def _beat(self, broker: ModelBroker) -> None:
        world = self._world
        if world.random.random() < 0.01:  # it restarts
            broker.life, broker.epoch = broker.life + 1, None
        if world.random.random() < 0.01:
            broker.silent_until = world.now + world.random.randrange(6_000)
        if world.now >= broker.silent_until:
            if broker.epoch is None:
                self._send("BrokerRegistration", 4, _registration(broker))
            else:
                self._send("BrokerHeartbeat", 2, self._heartbeat(broker))
        world.after(world.random.randrange(2 * _HEARTBEAT_MS), self._beat, broker)

    def _heartbeat(self, broker: ModelBroker) -> dict[str, Any]:
        random = self._world.random
        return {
            "brokerId": broker.id,
            "brokerEpoch": broker.epoch,
            "currentMetadataOffset": self._world.committed.end - 1,
            "wantFence": False,
            "wantShutDown": random.random() < 0.02,
            "offlineLogDirs": [],
            "cordonedLogDirs": [],
        }

    def _allocate(self) -> None:
        broker = self._world.random.choice(self._brokers)
        if broker.epoch is not None:
            body = {"brokerId": broker.id, "brokerEpoch": broker.epoch}
            self._send("AllocateProducerIds", 0, body)
        self._world.after(self._world.random.randrange(900), self._allocate)

    def _alter(self) -> None:
        """A leader that lost sight of a follower, or found it again; by what is committed."""
        image = self.image
        if image is not None and image.topics.by_id:
            random = self._world.random
            topic = random.choice(list(image.topics.by_id.values()))
            number = random.choice(list(topic.partitions))
            partition = topic.partitions[number]
            leader = image.cluster.brokers.get(partition.leader)
            if partition.leader != NO_LEADER and leader is not None:
                isr = [
                    broker_id
                    for broker_id in partition.replicas
                    if broker_id == leader.id or random.random() < 0.7
                ]
                proposal = {
                    "partitionIndex": number,
                    "leaderEpoch": partition.leader_epoch,
                    "partitionEpoch": partition.partition_epoch,
                    "leaderRecoveryState": 0,
                    "newIsrWithEpochs": [
                        {"brokerId": broker_id, "brokerEpoch": -1} for broker_id in isr
                    ],
                }
                body = {
                    "brokerId": leader.id,
                    "brokerEpoch": leader.epoch,
                    "topics": [{"topicId": topic.id, "partitions": [proposal]}],
                }
                self._send("AlterPartition", 3, body)
        self._world.after(self._world.random.randrange(400), self._alter)

    image: MetadataImage | None = None
    """What was committed when the last answer came."""

    # What they are told

    def take(self, answered: Answered, committed: MetadataImage) -> str | None:
        """An answer arrives; what is wrong about it."""
        self.image = committed
        api, asked = self._asked.pop(answered.number)
        body = answered.body
        error = Error(body.get("errorCode", 0))
        self._world.count(f"{api}: {error.name}")
        broker = next(
            (broker for broker in self._brokers if broker.id == asked.get("brokerId")), None
        )
        match api:
            case "BrokerRegistration" if broker is not None and error is Error.NONE:
                return self._registered(broker, asked, body, committed)
            case "BrokerHeartbeat" if broker is not None:
                self._beaten(broker, asked, error, body)
            case "AllocateProducerIds" if error is Error.NONE:
                first = body["producerIdStart"]
                if first in self._blocks:
                    return f"producer ids from {first} on are given out twice"
                self._blocks[first] = asked["brokerId"]
            case _ if broker is None:
                return self._admins.take(api, asked, body, committed)
        return None

    def _registered(
        self,
        broker: ModelBroker,
        asked: dict[str, Any],
        body: dict[str, Any],
        committed: MetadataImage,
    ) -> str | None:
        if asked["incarnationId"] == broker.incarnation:
            broker.epoch = body["brokerEpoch"]
        known = committed.cluster.brokers.get(broker.id)
        if known is None or known.epoch < body["brokerEpoch"]:
            return f"broker {broker.id} is told epoch {body['brokerEpoch']}, and it is not there"
        return None

    def _beaten(
        self, broker: ModelBroker, asked: dict[str, Any], error: Error, body: dict[str, Any]
    ) -> None:
        is_of_this_life = asked["brokerEpoch"] == broker.epoch
        if is_of_this_life and (error is Error.STALE_BROKER_EPOCH or body.get("shouldShutDown")):
            broker.life, broker.epoch = broker.life + 1, None


def _registration(broker: ModelBroker) -> dict[str, Any]:
    ranges = RELEASE_RANGES["4.3"]
    return {
        "brokerId": broker.id,
        "clusterId": CLUSTER,
        "incarnationId": broker.incarnation,
        "listeners": [],
        "features": [
            {"name": name, "minSupportedVersion": low, "maxSupportedVersion": high}
            for name, (low, high) in ranges.items()
        ],
        "rack": None,
        "isMigratingZkBroker": False,
        "logDirs": [broker.directory],
        "previousBrokerEpoch": -1,
    }
