"""Admins of a simulated cluster: they create, configure and delete topics, and move leaders and
replicas.

Owns the checks of their answers: an acknowledged topic exists, a deleted one never returns, a topic
has its acknowledged partitions, its config is not older than an acknowledged one, and a partition
changed whose reassignment was acknowledged.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

from kraftool.decoders.error_codes import Error
from kraftool.image.configs import TOPIC, ConfigResource
from kraftool.image.image import MetadataImage
from kraftool.image.topics import TopicImage, is_reassigning
from tests.simulator.world import World

_CONFIG = "retention.ms"
_SET = 0
_PREFERRED, _UNCLEAN = 0, 1
_FEATURE = "streams.version"
_UPGRADE, _SAFE_DOWNGRADE = 1, 2
_MOST_PARTITIONS = 5


class _AskedConfig(NamedTuple):
    topic: str
    value: int
    acknowledged_before: frozenset[int]
    """Values of this topic that were acknowledged when this one was asked for."""


class ModelAdmins:
    """All of them, in one run."""

    def __init__(
        self,
        world: World,
        send: Callable[[str, int, dict[str, Any]], None],
        committed: Callable[[], MetadataImage | None],
    ) -> None:
        self._world, self._send, self._committed = world, send, committed
        self._topics, self._values = count(), count(1)
        self._asked_configs: dict[int, _AskedConfig] = {}
        self._acknowledged: dict[str, set[int]] = {}
        self._epochs: dict[int, dict[int, int]] = {}
        """The partition epochs when a reassignment was asked for; its timeout tells which."""
        self._deleting: set[str] = set()
        self._deleted: set[str] = set()
        """Topic ids: those that an admin asked to delete, and those whose deletion was answered."""
        requests: tuple[tuple[Callable[[], None], int], ...] = (
            (self._create, 900),
            (self._delete, 4_000),
            (self._grow, 2_500),
            (self._configure, 1_200),
            (self._elect, 1_500),
            (self._reassign, 1_500),
            (self._change_feature, 5_000),
        )
        for at, (request, most_ms) in enumerate(requests):
            world.after(900 + 50 * at, self._again, request, most_ms)

    def _again(self, request: Callable[[], None], most_ms: int) -> None:
        request()
        self._world.after(self._world.random.randrange(most_ms), self._again, request, most_ms)

    # Requests

    def _some_topic(self) -> TopicImage | None:
        image = self._committed()
        if image is None or not image.topics.by_id:
            return None
        return self._world.random.choice(list(image.topics.by_id.values()))

    def _create(self) -> None:
        random = self._world.random
        topic = {
            "name": f"topic-{next(self._topics)}",
            "numPartitions": random.randint(1, 4),
            "replicationFactor": random.randint(1, 3),
            "assignments": [],
            "configs": [],
        }
        self._send("CreateTopics", 7, {"topics": [topic], "timeoutMs": 1, "validateOnly": False})

    def _delete(self) -> None:
        topic = self._some_topic()
        if topic is not None:
            self._deleting.add(topic.id)
            topics = [{"name": None, "topicId": topic.id}]
            self._send("DeleteTopics", 6, {"topics": topics, "timeoutMs": 1})

    def _grow(self) -> None:
        topic = self._some_topic()
        if topic is not None and len(topic.partitions) < _MOST_PARTITIONS:
            wanted = {"name": topic.name, "count": len(topic.partitions) + 1, "assignments": None}
            self._send(
                "CreatePartitions", 3, {"topics": [wanted], "timeoutMs": 1, "validateOnly": False}
            )

    def _configure(self) -> None:
        topic = self._some_topic()
        if topic is None:
            return
        value = next(self._values)
        before = frozenset(self._acknowledged.get(topic.name, ()))
        self._asked_configs[value] = _AskedConfig(topic.name, value, before)
        config = {"name": _CONFIG, "configOperation": _SET, "value": str(value)}
        resource = {"resourceType": TOPIC, "resourceName": topic.name, "configs": [config]}
        self._send("IncrementalAlterConfigs", 1, {"resources": [resource], "validateOnly": False})

    def _elect(self) -> None:
        topic = self._some_topic()
        if topic is not None:
            kind = self._world.random.choice([_PREFERRED, _UNCLEAN])
            partitions = [{"topic": topic.name, "partitions": list(topic.partitions)}]
            body = {"electionType": kind, "topicPartitions": partitions, "timeoutMs": 1}
            self._send("ElectLeaders", 2, body)

    def _reassign(self) -> None:
        """Move some partitions of a topic, or cancel what moves."""
        topic, image = self._some_topic(), self._committed()
        if topic is None or image is None or not image.cluster.brokers:
            return
        random, brokers = self._world.random, sorted(image.cluster.brokers)
        items = []
        for number, partition in topic.partitions.items():
            target = random.sample(brokers, random.randint(1, len(brokers)))
            cancels = is_reassigning(partition) and random.random() < 0.4
            items.append({"partitionIndex": number, "replicas": None if cancels else target})
        asked = next(self._values)
        self._epochs[asked] = {
            number: partition.partition_epoch for number, partition in topic.partitions.items()
        }
        body = {
            "timeoutMs": asked,
            "allowReplicationFactorChange": random.random() < 0.8,
            "topics": [{"name": topic.name, "partitions": items}],
        }
        self._send("AlterPartitionReassignments", 1, body)

    def _change_feature(self) -> None:
        image = self._committed()
        if image is not None:
            level = 1 - dict(image.features.finalized).get(_FEATURE, 0)
            kind = _UPGRADE if level else _SAFE_DOWNGRADE
            update = {"feature": _FEATURE, "maxVersionLevel": level, "upgradeType": kind}
            body = {"timeoutMs": 1, "featureUpdates": [update], "validateOnly": False}
            self._send("UpdateFeatures", 2, body)

    # Answers

    def take(
        self, api: str, asked: dict[str, Any], body: dict[str, Any], committed: MetadataImage
    ) -> str | None:
        """Return what is wrong about an answer."""
        match api:
            case "CreateTopics":
                return self._created(body, committed)
            case "DeleteTopics":
                for topic in body["responses"]:
                    if topic["errorCode"] == Error.NONE:
                        self._world.count("topics deleted")
                        self._deleted.add(topic["topicId"])
            case "CreatePartitions" if body["results"][0]["errorCode"] == Error.NONE:
                return self._grown(asked["topics"][0], committed)
            case "AlterPartitionReassignments" if body["errorCode"] == Error.NONE:
                return self._reassigned(asked, body["responses"][0], committed)
            case "IncrementalAlterConfigs" if body["responses"][0]["errorCode"] == Error.NONE:
                config = asked["resources"][0]["configs"][0]
                return self._configured(self._asked_configs[int(config["value"])], committed)
        back = sorted(self._deleted & committed.topics.by_id.keys())
        return f"topics {back} were deleted, but exist" if back else None

    def _created(self, body: dict[str, Any], committed: MetadataImage) -> str | None:
        for topic in body["topics"]:
            if topic["errorCode"] == Error.NONE and topic["topicId"] not in self._deleting:
                self._world.count("topics created")
                known = committed.topics.by_name.get(topic["name"])
                if known is None or known.id != topic["topicId"]:
                    return f"topic {topic['name']} was acknowledged, but does not exist"
        return None

    def _grown(self, wanted: dict[str, Any], committed: MetadataImage) -> str | None:
        self._world.count("topics grown")
        topic = committed.topics.by_name.get(wanted["name"])
        if topic is not None and len(topic.partitions) < wanted["count"]:
            return (
                f"topic {topic.name} has {len(topic.partitions)} partitions,"
                f" but {wanted['count']} were acknowledged"
            )
        return None

    def _reassigned(
        self, asked: dict[str, Any], answer: dict[str, Any], committed: MetadataImage
    ) -> str | None:
        [wanted], epochs = asked["topics"], self._epochs[asked["timeoutMs"]]
        topic = committed.topics.by_name.get(wanted["name"])
        for item, result in zip(wanted["partitions"], answer["partitions"], strict=True):
            number, target = item["partitionIndex"], item["replicas"]
            if result["errorCode"] != Error.NONE:
                continue
            self._world.count(f"reassignments {'cancelled' if target is None else 'started'}")
            if topic is None or topic.partitions[number].partition_epoch > epochs[number]:
                continue
            replicas = topic.partitions[number].replicas
            if target is None or list(replicas[: len(target)]) != target:
                return f"partition {topic.name}-{number} did not change to {target} as acknowledged"
        return None

    def _configured(self, asked: _AskedConfig, committed: MetadataImage) -> str | None:
        self._world.count("configs altered")
        self._acknowledged.setdefault(asked.topic, set()).add(asked.value)
        if asked.topic not in committed.topics.by_name:
            return None
        configs = committed.configs.resources.get(ConfigResource(TOPIC, asked.topic), {})
        value = configs.get(_CONFIG)
        if value is None or int(value) in asked.acknowledged_before:
            return f"{_CONFIG} of {asked.topic} is {value}, but {asked.value} was acknowledged"
        return None
