"""Random histories of metadata records that real Kafka could replay: valid, and full of edge cases.

Owns the choice of records; what is there to be changed it asks the state that it has made so far.
Batches are the commits of a log. A removal of SCRAM users or of topics has a batch for itself,
since Kafka's deltas have bugs there (KT-SNAP-SCRAM-LOST).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from random import Random
from typing import Any

from kraftool.decoders import schema
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.image.image import MetadataImage
from kraftool.image.loader import ImageLoader
from tests.image.metadata import (
    BAR,
    Told,
    broker,
    change,
    config,
    credential,
    feature,
    partition,
    quota,
    registration_change,
    topic,
)

Batch = list[Told]

_KEYS = ("retention.ms", "cleanup.policy", "segment.bytes", "min.insync.replicas")
_NAMES = ("foo", "bar", "__consumer_offsets", "a.b_c-d")
_USERS = ("alice", "bob", "a(b)\\c", "Zoë", "")
_BROKERS = range(5)
_BEGAN = 1_700_000_000_000
_SINGLE = ("scram_removed", "topic_removed", "transaction", "token_removed")


class History:
    """Makes batches one after the other."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._loader = ImageLoader()
        self._offset = 0

    def batches(self, count: int) -> Iterator[Batch]:
        yield self._taken([feature("metadata.version", 30)])
        makers = [name[1:] for name in dir(self) if name.startswith("_make_")]
        for _ in range(count):
            name = self._random.choice(makers).removeprefix("make_")
            if name in _SINGLE:
                batch = self._made(name)
            else:
                batch = []
                for _ in range(self._random.randint(1, 4)):
                    batch += self._made(name)
                    name = self._random.choice(makers).removeprefix("make_")
                    if name in _SINGLE:
                        break
            if batch:
                yield batch

    def _made(self, name: str) -> Batch:
        made: Batch = list(getattr(self, f"_make_{name}")())
        return self._taken(made)

    def _taken(self, batch: Batch) -> Batch:
        for name, value in batch:
            self._loader.replay(self._offset, name, value)
            self._offset += 1
        return batch

    @property
    def _image(self) -> MetadataImage:
        return self._loader.image()

    def _uuid(self) -> str:
        data = self._random.randbytes(16)
        return urlsafe_b64encode(data).decode().rstrip("=")

    def _some(self, most: int = 4) -> list[int]:
        return self._random.sample(_BROKERS, self._random.randint(0, most))

    def _maybe(self, value: Any) -> Any:
        return value if self._random.random() < 0.4 else None

    def _topic(self) -> str | None:
        ids = list(self._image.topics.by_id)
        return self._random.choice(ids) if ids else None

    # The names below are the things that can happen.

    def _make_feature(self) -> Batch:
        name = self._random.choice(["group.version", "eligible.leader.replicas.version"])
        return [feature(name, self._random.randint(0, 1))]

    def _make_broker(self) -> Batch:
        directories = [self._uuid() for _ in range(self._random.randint(0, 3))]
        return [
            broker(
                self._random.choice(_BROKERS),
                self._random.randrange(1000),
                rack=self._maybe("rack"),
                fenced=self._random.random() < 0.5,
                inControlledShutdown=self._random.random() < 0.2,
                logDirs=directories,
                cordonedLogDirs=self._maybe(directories[:1]),
                incarnationId=self._uuid(),
            )
        ]

    def _make_broker_change(self) -> Batch:
        brokers = list(self._image.cluster.brokers.values())
        if not brokers:
            return []
        chosen = self._random.choice(brokers)
        if self._random.random() < 0.1:
            gone = {"brokerId": chosen.id, "brokerEpoch": chosen.epoch}
            return [("UnregisterBrokerRecord", gone)]
        return [
            registration_change(
                chosen.id,
                chosen.epoch,
                fenced=self._random.choice([-1, 0, 1]),
                inControlledShutdown=self._random.choice([0, 1]),
                logDirs=[self._uuid() for _ in range(self._random.randint(0, 2))],
                cordonedLogDirs=self._maybe([self._uuid()]),
            )
        ]

    def _make_controller(self) -> Batch:
        value = broker(endPoints=[], features=[])[1]
        kept = {name: value[name] for name in ("endPoints", "features", "incarnationId")}
        who = {"controllerId": self._random.randrange(3), "zkMigrationReady": False}
        return [("RegisterControllerRecord", {**kept, **who})]

    def _make_topic(self) -> Batch:
        name = self._random.choice(_NAMES)
        if name in self._image.topics.by_name:
            return []
        topic_id = self._uuid()
        count = self._random.randint(0, 3)
        return [topic(name, topic_id), *(self._partition(n, topic_id) for n in range(count))]

    def _partition(self, number: int, topic_id: str) -> Told:
        replicas = self._some() or [1]
        return partition(
            number,
            topic_id,
            replicas=replicas,
            isr=replicas[:2],
            leader=replicas[0],
            directories=[self._uuid() for _ in replicas] if self._random.random() < 0.7 else [],
            leaderRecoveryState=self._random.choice([0, 0, 1]),
            leaderEpoch=self._random.randrange(9),
            partitionEpoch=self._random.randrange(9),
            eligibleLeaderReplicas=self._maybe(self._some()),
            lastKnownElr=self._maybe(self._some(1)),
        )

    def _make_partition(self) -> Batch:
        topic_id = self._topic()
        return [self._partition(self._random.randrange(5), topic_id)] if topic_id else []

    def _make_partition_change(self) -> Batch:
        topic_id = self._topic()
        there = self._image.topics.by_id[topic_id].partitions if topic_id else {}
        if topic_id is None or not there:
            return []
        number = self._random.choice(list(there))
        replicas = self._maybe(self._some() or [2])
        count = len(there[number].replicas if replicas is None else replicas)
        directories = [self._uuid() for _ in range(count)]
        # New replicas come with their directories, as from a controller.
        named = directories if replicas is not None else self._maybe(directories)
        return [
            change(
                number,
                topic_id,
                replicas=replicas,
                directories=named,
                isr=self._maybe(self._some()),
                leader=self._random.choice([-2, -1, 0, 1]),
                removingReplicas=self._maybe(self._some(2)),
                addingReplicas=self._maybe(self._some(2)),
                leaderRecoveryState=self._random.choice([-1, 0, 1]),
                eligibleLeaderReplicas=self._maybe(self._some()),
                lastKnownElr=self._maybe([-1]),
            )
        ]

    def _make_topic_removed(self) -> Batch:
        topic_id = self._topic()
        return [("RemoveTopicRecord", {"topicId": topic_id})] if topic_id else []

    def _make_clear_elr(self) -> Batch:
        names = ["", *self._image.topics.by_name]
        return [("ClearElrRecord", {"topicName": self._random.choice(names)})]

    def _make_config(self) -> Batch:
        kind, name = self._random.choice([(4, ""), (4, "1"), *((2, name) for name in _NAMES)])
        value = self._random.choice([None, "1", "x=y,z", ""])
        return [config(kind, name, self._random.choice(_KEYS), value)]

    def _make_quota(self) -> Batch:
        kinds = self._random.choice([("user",), ("client-id",), ("ip",), ("user", "client-id")])
        entity = {kind: self._random.choice((*_USERS, None)) for kind in kinds}
        value = self._random.choice([None, 1.0, 1024.0, 1e21, 0.1])
        return [quota(entity, self._random.choice(["producer_byte_rate", "x"]), value)]

    def _make_producer_ids(self) -> Batch:
        following = self._image.producer_ids.next_producer_id + self._random.randint(1, 5000)
        value = {"brokerId": 1, "brokerEpoch": 1, "nextProducerId": following}
        return [("ProducerIdsRecord", value)]

    def _make_acl(self) -> Batch:
        there = list(self._image.acls.by_id)
        if there and self._random.random() < 0.4:
            return [("RemoveAccessControlEntryRecord", {"id": self._random.choice(there)})]
        return [
            (
                "AccessControlEntryRecord",
                {
                    "id": self._random.choice([self._uuid(), BAR]),
                    "resourceType": self._random.choice([2, 3, 4, 5, 6, 7]),
                    "resourceName": self._random.choice(_NAMES),
                    "patternType": self._random.choice([3, 4]),
                    "principal": "User:" + self._random.choice(_USERS),
                    "host": "*",
                    "operation": self._random.choice(range(2, 16)),
                    "permissionType": self._random.choice([2, 3]),
                },
            )
        ]

    def _make_scram(self) -> Batch:
        user, mechanism = self._random.choice(_USERS), self._random.choice([1, 2])
        return [credential(user, mechanism, self._random.randbytes(5))]

    def _make_scram_removed(self) -> Batch:
        mechanisms = self._image.scram.mechanisms
        if not mechanisms:
            return []
        mechanism = self._random.choice(list(mechanisms))
        name = self._random.choice(list(mechanisms[mechanism]))
        return [("RemoveUserScramCredentialRecord", {"name": name, "mechanism": mechanism})]

    def _make_token(self) -> Batch:
        value = {
            "owner": "User:" + self._random.choice(_USERS),
            "requester": "User:bob",
            "renewers": ["User:alice", "User:Zoë"][: self._random.randint(0, 2)],
            "issueTimestamp": 1,
            "maxTimestamp": 3,
            "expirationTimestamp": self._random.randrange(10),
            "tokenId": self._random.choice(["one", "two"]),
        }
        return [("DelegationTokenRecord", value)]

    def _make_token_removed(self) -> Batch:
        there = list(self._image.delegation_tokens.tokens)
        return [("RemoveDelegationTokenRecord", {"tokenId": there[0]})] if there else []

    def _make_transaction(self) -> Batch:
        """Between its own ends, in a batch of its own; an abort is the last of its batch."""
        end: Told = ("EndTransactionRecord", {})
        if self._random.random() < 0.5:
            end = ("AbortTransactionRecord", {"reason": None})
        inside = [topic(f"t{self._offset}", self._uuid())]
        return [("BeginTransactionRecord", {"name": None}), *inside, end]


def log_of(batches: list[Batch]) -> bytes:
    """The batches as a segment, every record in its newest version."""
    data, offset = b"", 0
    for number, batch in enumerate(batches):
        values = [
            (None, encode_record(name, schema.message(name).versions.high, value))
            for name, value in batch
        ]
        data += encode_batch(
            values, base_offset=offset, epoch=1, timestamp=1_700_000_000_000 + number
        )
        offset += len(batch)
    return data
