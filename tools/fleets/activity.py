"""The activity in a generated cluster after its real history: topics, moves, configurations.

Owns the choice of records, each valid after those before it, in the versions of the cluster's
metadata.version; and the bulk of a large cluster, whose state is known without replaying all of it.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from fleets.cluster import uuid
from fleets.template import Told
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import partition_version, register_broker_version
from kraftool.image.topics import TopicsImage

BROKERS = (2001, 2002, 2003)
_BULK_TOPICS, _BULK_PARTITIONS = 20, 50
_KEYS = ("retention.ms", "segment.bytes", "max.message.bytes")
_THROTTLED = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
_DIRECTORIES_VERSION = 1
_NO_LEADER_CHANGE = -2


class Activity:
    """Makes batches of records, one after the other."""

    def __init__(self, random: Random, image: MetadataImage) -> None:
        level = image.features.metadata_version
        assert level is not None, "the real history set it"
        self._random = random
        self._level = level
        self._next_producer_id = max(image.producer_ids.next_producer_id, 0)
        self._epochs: dict[int, int] = {}
        self._directories = {broker: uuid(random) for broker in BROKERS}
        self._topics: list[tuple[str, str, int]] = []
        self._leaders: dict[tuple[str, int], int] = {}

    def brokers(self, model: dict[str, Any], offset: int) -> list[Told]:
        """Registrations of more brokers, as one that was there registered; `offset` is theirs."""
        made: list[Told] = []
        for number, broker in enumerate(BROKERS):
            self._epochs[broker] = offset + number
            endpoints = [
                {**end_point, "host": f"broker-{broker}.example"}
                for end_point in model["endPoints"]
            ]
            value = {
                **model,
                "brokerId": broker,
                "brokerEpoch": offset + number,
                "incarnationId": uuid(self._random),
                "endPoints": endpoints,
                "fenced": False,
            }
            if "logDirs" in value:
                value["logDirs"] = [self._directories[broker]]
            made.append(Told("RegisterBrokerRecord", register_broker_version(self._level), value))
        return made

    def topic_id(self, name: str) -> str:
        return next(topic_id for topic_name, topic_id, _ in self._topics if topic_name == name)

    def batch(self, number: int) -> list[Told]:
        """The records of the next batch."""
        kind = self._random.choices(
            ("topic", "changes", "config", "producer_ids", "quota"), (2, 6, 3, 1, 1)
        )[0]
        if kind == "topic" or not self._topics:
            return self.topic(f"topic-{number}", self._random.randint(1, 12))
        made: list[Told] = getattr(self, f"_{kind}")()
        return made

    def topic(self, name: str, partitions: int) -> list[Told]:
        topic_id = uuid(self._random)
        self._topics.append((name, topic_id, partitions))
        made = [Told("TopicRecord", 0, {"name": name, "topicId": topic_id})]
        for number in range(partitions):
            turn = number % len(BROKERS)
            replicas = [*BROKERS[turn:], *BROKERS[:turn]]
            self._leaders[topic_id, number] = replicas[0]
            value: dict[str, Any] = {
                "partitionId": number,
                "topicId": topic_id,
                "replicas": replicas,
                "isr": replicas,
                "removingReplicas": [],
                "addingReplicas": [],
                "leader": replicas[0],
                "leaderRecoveryState": 0,
                "leaderEpoch": 0,
                "partitionEpoch": 0,
            }
            version = partition_version(self._level)
            if version >= _DIRECTORIES_VERSION:
                value["directories"] = [self._directories[replica] for replica in replicas]
            made.append(Told("PartitionRecord", version, value))
        return made

    def change(self, topic_id: str, number: int, isr: list[int], leader: int) -> Told:
        value: dict[str, Any] = {
            "partitionId": number,
            "topicId": topic_id,
            "isr": isr,
            "leader": leader,
            "replicas": None,
            "removingReplicas": None,
            "addingReplicas": None,
            "leaderRecoveryState": -1,
        }
        return Told("PartitionChangeRecord", partition_version(self._level), value)

    def _changes(self) -> list[Told]:
        """Replicas leave and come back, and leaders change; at the end all are in sync."""
        _, topic_id, partitions = self._random.choice(self._topics)
        chosen = self._random.sample(range(partitions), self._random.randint(1, partitions))
        made = []
        for number in chosen:
            out = self._random.choice(BROKERS)
            rest = [broker for broker in BROKERS if broker != out]
            leader = self._leaders[topic_id, number]
            if leader == out:
                leader = self._leaders[topic_id, number] = rest[0]
                made.append(self.change(topic_id, number, rest, leader))
            else:
                made.append(self.change(topic_id, number, rest, _NO_LEADER_CHANGE))
            made.append(self.change(topic_id, number, list(BROKERS), _NO_LEADER_CHANGE))
        return made

    def _config(self) -> list[Told]:
        name = self._random.choice(self._topics)[0]
        value = str(self._random.randint(10_000_000, 99_999_999))
        return [config(name, self._random.choice(_KEYS), value)]

    def _producer_ids(self) -> list[Told]:
        broker = BROKERS[0]
        self._next_producer_id += 1000
        value = {
            "brokerId": broker,
            "brokerEpoch": self._epochs[broker],
            "nextProducerId": self._next_producer_id,
        }
        return [Told("ProducerIdsRecord", 0, value)]

    def _quota(self) -> list[Told]:
        value = {
            "entity": [{"entityType": "client-id", "entityName": f"c{self._random.randrange(9)}"}],
            "key": "producer_byte_rate",
            "value": float(self._random.randint(1, 1 << 20)),
            "remove": False,
        }
        return [Told("ClientQuotaRecord", 0, value)]


def config(topic: str, key: str, value: str) -> Told:
    fields = {"resourceType": 2, "resourceName": topic, "name": key, "value": value}
    return Told("ConfigRecord", 0, fields)


class Bulk:
    """Batches that repeat for as long as it takes, each of 120 records of 100 bytes on average.

    Replicas of one topic leave and come back, and its throttles are set to what they are.
    """

    def __init__(self, activity: Activity) -> None:
        self._activity = activity
        self.names = [f"bulk-{number}" for number in range(_BULK_TOPICS)]

    def topics(self) -> list[list[Told]]:
        """The topics, a batch each."""
        return [self._activity.topic(name, _BULK_PARTITIONS) for name in self.names]

    def batches(self) -> list[list[Told]]:
        """The batches, in the order in which they repeat."""
        return [self._batch(name) for name in self.names]

    def _batch(self, name: str) -> list[Told]:
        topic_id = self._activity.topic_id(name)
        made = [
            self._activity.change(topic_id, number, isr, _NO_LEADER_CHANGE)
            for number in range(_BULK_PARTITIONS)
            for isr in (list(BROKERS[:2]), list(BROKERS))
        ]
        text = ",".join(f"{number}:{BROKERS[number % 3]}" for number in range(_BULK_PARTITIONS))
        return made + [config(name, key, text) for key in _THROTTLED] * 10

    def after(self, image: MetadataImage, batches: list[int]) -> MetadataImage:
        """The image once each topic had so many more of the batches: only epochs rise."""
        by_id = dict(image.topics.by_id)
        for name, count in zip(self.names, batches, strict=True):
            topic = image.topics.by_name[name]
            partitions = {
                number: partition._replace(partition_epoch=partition.partition_epoch + 2 * count)
                for number, partition in topic.partitions.items()
            }
            by_id[topic.id] = replace(topic, partitions=partitions)
        topics = TopicsImage(
            by_id=by_id, by_name={topic_image.name: topic_image for topic_image in by_id.values()}
        )
        return replace(image, topics=topics)
