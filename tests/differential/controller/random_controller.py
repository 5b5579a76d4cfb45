"""Random starts and steps for two controllers.

Owns what is plausible: brokers that register, send heartbeats and fall silent, leaders that change
ISRs, topics with and without assignments; and, more rarely, what no honest node sends. It looks at
kraftool's state, which is equal to Kafka's as long as the trial goes on.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from random import Random
from typing import Any

from kraftool.controller.state import ControllerState
from kraftool.decoders.codec import EncodeError
from kraftool.decoders.framing import encode_record
from kraftool.image.configs import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kraftool.image.metadata_version import (
    ELR_VERSION,
    FEATURES,
    KAFKA_4_4_LEVEL,
    METADATA_VERSION,
    OLDEST_KRAFT_LEVEL,
    RELEASE_RANGES,
    release_levels,
)
from kraftool.image.replay import WrittenRecord
from kraftool.image.topics import PartitionRegistration, TopicImage
from kraftool.image.uuids import LOST
from tests.differential.controller.our_controller import OurController, encoded_body

NODE_ID = 3000
CLUSTER_ID = "J8qXRwI-Qyi2G0guFTiuYw"
BROKERS = range(8)
RACKS = (None, "a", "b", "c")
SESSION_MS = 9_000
SMALL_BATCHES = 4
"""With so small ones activation takes several, and new topics would not fit into one."""
_CONFIGS = (
    ("unclean.leader.election.enable", "true"),
    ("unclean.leader.election.enable", "false"),
    ("min.insync.replicas", "2"),
    ("min.insync.replicas", "3"),
    ("retention.ms", "-1"),
    ("retention.ms", "-2"),
    ("cleanup.policy", "compact,delete"),
    ("cleanup.policy", "shred"),
    ("max.compaction.lag.ms", "7"),
    ("min.compaction.lag.ms", "8"),
    ("remote.storage.enable", "true"),
    ("no.such.config", "1"),
)

RESOURCES = (TOPIC, BROKER, GROUP, CLIENT_METRICS)
_ALTERED: dict[int, list[tuple[str, list[str]]]] = {
    TOPIC: [
        ("min.insync.replicas", ["1", "2", "3", "0"]),
        ("unclean.leader.election.enable", ["true", "false", "perhaps"]),
        ("cleanup.policy", ["compact", "delete", "compact,delete", "shred", ""]),
        ("leader.replication.throttled.replicas", ["*", "0:1", "0:1,1:2", "x"]),
        ("retention.ms", ["-1", "1000", "-2"]),
        ("max.compaction.lag.ms", ["7"]),
        ("min.compaction.lag.ms", ["8"]),
        ("no.such.config", ["1"]),
    ],
    BROKER: [
        ("min.insync.replicas", ["1", "2"]),
        ("unclean.leader.election.enable", ["true", "false"]),
        ("log.cleaner.threads", ["2", "x"]),
        ("cordoned.log.dirs", ["/a", "/a,/b", "/a, /b", "", "*"]),
        ("ssl.enabled.protocols", ["TLSv1.2", "TLSv1.3,TLSv1.2", ",", "", "a,,b,"]),
        ("log.retention.ms", ["77"]),
    ],
    GROUP: [
        ("consumer.session.timeout.ms", ["45000", "50000", "1", "70000", "x"]),
        ("consumer.heartbeat.interval.ms", ["5000", "15000", "16000", "0"]),
        ("share.heartbeat.interval.ms", ["5000", "4999"]),
        ("share.record.lock.duration.ms", ["15000", "1000", "60001"]),
        ("share.auto.offset.reset", ["latest", "EARLIEST", "by_duration:PT1H", "by_duration:-P1D"]),
        ("share.isolation.level", ["read_committed", "none"]),
        ("streams.num.standby.replicas", ["2", "3"]),
        ("consumer.assignment.interval.ms", ["0", "15001"]),
        ("no.such.config", ["1"]),
    ],
    CLIENT_METRICS: [
        ("interval.ms", ["100", "99", "3600000", "3600001", "x"]),
        ("metrics", ["a", "a,b", "a,a", "", "*"]),
        ("match", ["client_id=b.*", "client_id=[", "client=1", "client_id=1=2", "client_id="]),
        ("no.such.config", ["1"]),
    ],
}

Body = dict[str, Any]
Command = dict[str, Any]


def uuid(number: int) -> str:
    raw = bytes([7] * 8) + number.to_bytes(8, "big")
    return urlsafe_b64encode(raw).decode().rstrip("=")


def random_start(random: Random, kafka: str) -> Command:
    """A cluster that has not begun, and a node's settings."""
    newest = RELEASE_RANGES[kafka.rpartition(".")[0]][METADATA_VERSION][1]
    levels = [OLDEST_KRAFT_LEVEL, 8, 11, 12, 13, 14, 15, 17, 21, 23, 25, newest]
    if newest >= KAFKA_4_4_LEVEL:
        # What a release changed, kraftool does from its metadata.version on.
        levels = [*range(KAFKA_4_4_LEVEL, newest)]
    level = random.choice([*levels, newest, newest, newest])
    features = {**release_levels(level)}
    if level >= 23:
        features[ELR_VERSION] = random.randint(0, 1)
    features.pop("kraft.version", None)
    records: list[WrittenRecord] = [
        ("FeatureLevelRecord", 0, {"name": name, "featureLevel": value})
        for name, value in features.items()
        if value
    ]
    configs = {}
    if random.random() < 0.3:
        configs["unclean.leader.election.enable"] = "true"
    if random.random() < 0.3:
        configs["min.insync.replicas"] = "2"
    if random.random() < 0.1:
        configs["log.retention.hours"] = "5"
    return {
        "command": "start",
        "nodeId": NODE_ID,
        "clusterId": CLUSTER_ID,
        "kraftVersion": random.randint(0, 1),
        "features": RELEASE_RANGES[kafka.rpartition(".")[0]],
        "voters": [NODE_ID, 3001] if random.random() < 0.1 else [NODE_ID],
        "bootstrap": [b64encode(encode_record(*record)).decode() for record in records],
        "configs": configs,
        "seed": random.randrange(1 << 48),
        "now": 1_000_000,
        "defaultReplicationFactor": random.randint(1, 3),
        "defaultPartitions": random.randint(1, 4),
        "sessionTimeoutMs": SESSION_MS,
        "maxIdleMs": 500,
        "leaderImbalanceCheckMs": 30_000,
        "uncleanElectionCheckMs": 41_000,
        "maxBatchRecords": random.choice([10_000, 10_000, 40, SMALL_BATCHES]),
    }


class RandomSteps:
    """The steps of one trial, each made when the one before was taken."""

    def __init__(self, random: Random, ours: OurController) -> None:
        self.random, self.ours = random, ours
        self.epoch = 1
        self.uncommitted: list[Command] = []
        """Batches that both have appended."""
        self.end_offset = 1
        self._number = 0
        self._silent: set[int] = set()
        """Brokers that send no heartbeats for a while."""
        self._makers: list[tuple[Callable[[], Command], int]] = [
            (self._heartbeat, 40),
            (self._commit, 20),
            (self._advance, 15),
            (self._register_broker, 9),
            (self._create_topics, 0 if ours.settings.max_batch_records == SMALL_BATCHES else 7),
            (self._create_partitions, 0 if ours.settings.max_batch_records == SMALL_BATCHES else 3),
            (self._delete_topics, 2),
            (self._elect_leaders, 4),
            (self._alter_configs, 0 if ours.settings.max_batch_records == SMALL_BATCHES else 6),
            (self._alter_partition, 12),
            (self._assign_directories, 3),
            (self._allocate_producer_ids, 2),
            (self._register_controller, 1),
            (self._unregister_broker, 1),
            (self._update_features, 2),
            (self._fall_silent, 2),
            (self._lose_leadership, 1),
        ]

    def next(self) -> Command:
        if self.ours.active is None:
            return self._follow_or_lead()
        makers, weights = zip(*self._makers, strict=True)
        maker: Callable[[], Command] = self.random.choices(makers, weights)[0]
        return maker()

    # The node's life

    def _follow_or_lead(self) -> Command:
        """What is not committed when leadership is lost may be lost, too."""
        if self.random.random() < 0.2:
            return self._request("BrokerHeartbeat", 0, 1, self._heartbeat_body(0, 5))
        if self.uncommitted:
            if self.random.random() < 0.5:
                return self._commit()
            self.end_offset = self.uncommitted[0]["baseOffset"]
            self.uncommitted.clear()
        self.epoch += 1
        self.end_offset += 1  # the LeaderChange record
        return {"command": "lead", "epoch": self.epoch, "endOffset": self.end_offset}

    def _lose_leadership(self) -> Command:
        if self.ours.loader.open_transaction is not None:
            # Kafka 4.3 and 4.4 take back a Begin that is committed when they stop being the active
            # controller, and then end at its End. kraftool keeps it.
            return self._advance()
        self.epoch += 1
        return {"command": "follow", "epoch": self.epoch}

    def _commit(self) -> Command:
        if not self.uncommitted:
            return self._advance()
        count = self.random.choice([len(self.uncommitted), len(self.uncommitted), 1])
        batches = self.uncommitted[:count]
        del self.uncommitted[:count]
        return {"command": "commit", "batches": batches}

    def _advance(self) -> Command:
        ms = self.random.choice([1, 100, 600, 1_200, 3_000])
        ms += self.random.randrange(97)
        if self.random.random() < 0.02:
            ms += self.random.choice([SESSION_MS, 45_000])
        return {"command": "advance", "now": self.ours.now_ms + ms}

    def _fall_silent(self) -> Command:
        self._silent = {broker_id for broker_id in BROKERS if self.random.random() < 0.2}
        return self._advance()

    def _request(self, api: str, low: int, high: int, body: Body, **more: Any) -> Command:
        self._number += 1
        version = self.random.choice([high, high, self.random.randint(low, high)])
        try:
            encoded = encoded_body(api, version, body)
        except EncodeError:  # this version lacks a field that is set
            version, encoded = high, encoded_body(api, high, body)
        return {
            "command": "request",
            "api": api,
            "version": version,
            "number": self._number,
            "body": encoded,
            "describable": [],
            **more,
        }

    # Brokers

    @property
    def _state(self) -> ControllerState:
        assert self.ours.active is not None, "asked for while it leads"
        return self.ours.active.state

    def _heartbeat(self) -> Command:
        brokers = list(self._state.brokers())
        speaking = [broker for broker in brokers if broker.id not in self._silent]
        if not speaking:
            return self._register_broker()
        broker = self.random.choice(speaking)
        body = self._heartbeat_body(broker.id, broker.epoch)
        if broker.directories and self.random.random() < 0.03:
            body["offlineLogDirs"] = [self.random.choice(broker.directories)]
        if self.random.random() < 0.03:
            body["cordonedLogDirs"] = [
                directory for directory in broker.directories if self.random.random() < 0.5
            ]
        more: Command = {}
        if self.random.random() < 0.02:
            more["deadlineMs"] = self.ours.now_ms - 1
        return self._request("BrokerHeartbeat", 0, 2, body, **more)

    def _heartbeat_body(self, broker_id: int, epoch: int) -> Body:
        random, end = self.random, self.end_offset
        return {
            "brokerId": broker_id,
            "brokerEpoch": epoch if random.random() < 0.97 else epoch + random.choice([-1, 1]),
            "currentMetadataOffset": random.choice([end, end, end - 1, end - 5, -1]),
            "wantFence": random.random() < 0.05,
            "wantShutDown": random.random() < 0.07,
        }

    def _register_broker(self) -> Command:
        random, state = self.random, self._state
        broker_id = random.choice(BROKERS)
        known = state.broker(broker_id)
        count = random.choice([0, 1, 1, 1, 2])
        directories = [uuid(10 * broker_id + at) for at in range(1, count + 1)]
        if random.random() < 0.03:
            directories = [random.choice(["AAAAAAAAAAAAAAAAAAAAAQ", uuid(11)])] * 2
        incarnation = uuid(random.randrange(1_000, 1_000_000))
        if known is not None and random.random() < 0.2:
            incarnation = known.incarnation_id
        ranges = {METADATA_VERSION: (7, 33), **dict.fromkeys(FEATURES, (0, 9))}
        if random.random() < 0.05:
            ranges[random.choice([*ranges])] = random.choice([(0, 0), (7, 9), (1, 1)])
        if random.random() < 0.04:
            del ranges[random.choice([*ranges])]
        body = {
            "brokerId": broker_id,
            "clusterId": CLUSTER_ID if random.random() < 0.98 else "another",
            "incarnationId": incarnation,
            "listeners": self._listeners(broker_id),
            "features": _feature_ranges(ranges),
            "rack": random.choice(RACKS),
            "isMigratingZkBroker": False,
            "logDirs": directories,
            "previousBrokerEpoch": known.epoch
            if known is not None and random.random() < 0.7
            else -1,
        }
        return self._request("BrokerRegistration", 0, 4, body)

    def _listeners(self, node_id: int) -> list[Body]:
        return [
            {"name": name, "host": f"host-{node_id}", "port": port, "securityProtocol": 0}
            for name, port in (("PLAINTEXT", 9092), ("OTHER", 9093))
            if self.random.random() < 0.8
        ]

    def _unregister_broker(self) -> Command:
        return self._request("UnregisterBroker", 0, 0, {"brokerId": self.random.choice(BROKERS)})

    def _register_controller(self) -> Command:
        ranges = {METADATA_VERSION: (7, 33), **dict.fromkeys(FEATURES, (0, 9))}
        if self.random.random() < 0.2:
            ranges[self.random.choice([*ranges])] = (7, 30)
        body = {
            "controllerId": self.random.randrange(3_000, 3_003),
            "incarnationId": uuid(self.random.randrange(1_000)),
            "zkMigrationReady": False,
            "listeners": self._listeners(3_000),
            "features": _feature_ranges(ranges),
        }
        return self._request("ControllerRegistration", 0, 0, body)

    def _update_features(self) -> Command:
        random, state = self.random, self._state
        names = [METADATA_VERSION, METADATA_VERSION, ELR_VERSION, *FEATURES, "no.such.feature"]
        updates: list[Body] = []
        for name in dict.fromkeys(random.choices(names, k=random.choice([1, 1, 1, 2, 3]))):
            level = random.choice([0, 1, 1, 2, -1])
            if name == METADATA_VERSION:
                level = max(state.level + random.choice([-9, -2, -1, 0, 1, 1, 2, 3, 9]), -1)
            finalized = state.finalized().get(name, 0)
            kind = 1 if level >= finalized else random.choice([2, 3])
            if random.random() < 0.1:
                kind = random.randrange(5)
            updates.append({"feature": name, "maxVersionLevel": level, "upgradeType": kind})
        body: Body = {"timeoutMs": 1_000, "featureUpdates": updates}
        # What a release changed is kraftool's from its metadata.version on: no lower one there.
        wanted = {item["feature"]: item["maxVersionLevel"] for item in updates}
        goes_back = wanted.get(METADATA_VERSION, state.level) < KAFKA_4_4_LEVEL <= state.level
        if random.random() < 0.1 or goes_back:
            body["validateOnly"] = True
        return self._request("UpdateFeatures", 1, 2, body)

    def _allocate_producer_ids(self) -> Command:
        broker_id = self.random.choice(BROKERS)
        broker = self._state.broker(broker_id)
        body = {"brokerId": broker_id, "brokerEpoch": broker.epoch if broker is not None else 4}
        return self._request("AllocateProducerIds", 0, 0, body)

    # Topics

    def _create_topics(self) -> Command:
        random = self.random
        topics = [self._topic(name) for name in self._names()]
        body = {
            "topics": topics,
            "timeoutMs": 1_000,
            "validateOnly": random.random() < 0.05,
        }
        describable = [topic["name"] for topic in topics if random.random() < 0.7]
        return self._request("CreateTopics", 2, 7, body, describable=describable)

    def _names(self) -> list[str]:
        """Each once: who has one twice is refused before a controller sees the request."""
        names = [f"topic{self.random.randrange(40)}" for _ in range(self.random.choice([1, 1, 2]))]
        if self.random.random() < 0.1:
            names.append(self.random.choice(["a.b", "a_b", "", ".", "..", "ü", "x" * 250, "a b"]))
        return list(dict.fromkeys(names))

    def _topic(self, name: str) -> Body:
        random = self.random
        configs = [
            {"name": key, "value": value if random.random() < 0.97 else None}
            for key, value in dict(random.sample(_CONFIGS, random.choice([0, 0, 0, 1, 2]))).items()
        ]
        topic: Body = {
            "name": name,
            "numPartitions": random.choice([-1, -1, 1, 2, 5, 9, 0, -2]),
            "replicationFactor": random.choice([-1, 1, 2, 3, 3, 3, 9, 0, -2]),
            "assignments": [],
            "configs": configs,
        }
        if random.random() < 0.3:
            topic["assignments"] = self._assignments()
            if random.random() < 0.95:
                topic["numPartitions"] = topic["replicationFactor"] = -1
        return topic

    def _assignments(self) -> list[Body]:
        random = self.random
        there = [broker.id for broker in self._state.brokers()]
        factor = random.randint(1, 4)
        found = []
        for number in range(random.randint(1, 4)):
            brokers = random.sample(there, min(factor, len(there)))
            if random.random() < 0.03:
                brokers = random.choice([[], [*brokers, 99], brokers + brokers, brokers[1:]])
            if random.random() < 0.03:
                number = random.choice([0, 7])
            found.append({"partitionIndex": number, "brokerIds": brokers})
        return list({each["partitionIndex"]: each for each in found}.values())

    def _create_partitions(self) -> Command:
        random = self.random
        topics = list(self._state.topics())
        items = []
        for topic in random.sample(topics, min(len(topics), random.choice([1, 1, 2]))):
            more = random.choice([1, 1, 2, 5, 0, -1])
            assignments = None
            if random.random() < 0.4:
                factor = len(topic.partitions[0].replicas)
                assignments = [
                    {"brokerIds": self._brokers_for(factor)}
                    for _ in range(max(more + random.choice([0] * 9 + [1]), 0))
                ]
            count = len(topic.partitions) + more
            items.append({"name": topic.name, "count": count, "assignments": assignments})
        if not items or random.random() < 0.03:
            items.append({"name": "no-such-topic", "count": 3, "assignments": None})
        body = {"topics": items, "timeoutMs": 1_000, "validateOnly": random.random() < 0.05}
        return self._request("CreatePartitions", 0, 3, body)

    def _brokers_for(self, factor: int) -> list[int]:
        there = [broker.id for broker in self._state.brokers()]
        brokers = self.random.sample(there, min(factor, len(there)))
        if self.random.random() < 0.05:
            brokers = self.random.choice([[], [*brokers, 99], brokers + brokers, brokers[1:]])
        return brokers

    def _delete_topics(self) -> Command:
        random = self.random
        there = [topic.id for topic in self._state.topics()]
        ids = random.sample(there, min(len(there), random.choice([1, 1, 1, 2])))
        if not ids or random.random() < 0.05:
            ids.append(uuid(5))
        topics = [{"name": None, "topicId": topic_id} for topic_id in ids]
        return self._request("DeleteTopics", 6, 6, {"topics": topics, "timeoutMs": 1_000})

    def _elect_leaders(self) -> Command:
        random = self.random
        asked = None
        if random.random() < 0.8:
            topics = list(self._state.topics())
            chosen = random.sample(topics, min(len(topics), random.choice([1, 2, 4])))
            asked = [
                {
                    "topic": topic.name,
                    "partitions": [number for number in topic.partitions if random.random() < 0.8],
                }
                for topic in chosen
            ]
            if random.random() < 0.1:
                asked.append({"topic": "no-such-topic", "partitions": [0]})
            if asked and random.random() < 0.1:
                asked[0]["partitions"] = [77]
        body = {
            "electionType": random.choice([0, 0, 0, 1, 1, 1, 1, 2]),
            "topicPartitions": asked,
            "timeoutMs": 1_000,
        }
        return self._request("ElectLeaders", 1, 2, body)

    def _alter_configs(self) -> Command:
        random = self.random
        resources = [self._altered_resource() for _ in range(random.choice([1, 1, 1, 2, 3]))]
        by_name = {(item["resourceType"], item["resourceName"]): item for item in resources}
        body: Body = {"resources": [*by_name.values()], "validateOnly": random.random() < 0.05}
        forwarded = random.random() < 0.5
        if random.random() < 0.75:
            return self._request("IncrementalAlterConfigs", 0, 1, body, forwarded=forwarded)
        for item in body["resources"]:
            for config in item["configs"]:
                del config["configOperation"]
        return self._request("AlterConfigs", 0, 2, body, forwarded=forwarded)

    def _altered_resource(self) -> Body:
        random = self.random
        kind = random.choice([*RESOURCES, TOPIC, TOPIC, BROKER])
        names: dict[int, list[str]] = {
            TOPIC: [topic.name for topic in self._state.topics()],
            BROKER: ["", "", *(str(broker.id) for broker in self._state.brokers())],
            GROUP: ["readers", "writers"],
            CLIENT_METRICS: ["slow", "all"],
        }
        name = random.choice(names[kind] or ["no-such-topic"])
        if random.random() < 0.05:
            name = random.choice(["", "no-such", "99", "-1", "3000", "3001", ".."])
        configs = {}
        for _ in range(random.choice([0, 1, 1, 1, 2, 4])):
            key, values = random.choice(_ALTERED[kind])
            operation = random.choice([0, 0, 0, 1, 2, 3])
            value = random.choice(values)
            configs[key] = {"name": key, "configOperation": operation, "value": value}
        return {"resourceType": kind, "resourceName": name, "configs": [*configs.values()]}

    def _alter_partition(self) -> Command:
        random = self.random
        version = random.choice([2, 3, 3])
        chosen = self._some_partition()
        brokers = list(self._state.brokers())
        if chosen is None or not brokers:
            return self._heartbeat()
        topic, number, partition = chosen
        sender = self._state.broker(partition.leader) or random.choice(brokers)
        proposal: Body = {
            "partitionIndex": number if random.random() < 0.98 else 77,
            "leaderEpoch": partition.leader_epoch + random.choice([0] * 20 + [-1, 1]),
            "leaderRecoveryState": 0 if random.random() < 0.9 else 1,
            "partitionEpoch": partition.partition_epoch + random.choice([0] * 20 + [-1, 1]),
        }
        isr = [
            broker_id
            for broker_id in partition.replicas
            if broker_id == partition.leader or random.random() < 0.7
        ]
        if random.random() < 0.03:
            isr = random.choice([[], isr + isr[:1], [*isr, 98], isr[1:]])
        if version == 2:
            proposal["newIsr"] = isr
        else:
            proposal["newIsrWithEpochs"] = [
                {"brokerId": broker_id, "brokerEpoch": self._epoch_of(broker_id)}
                for broker_id in isr
            ]
        body = {
            "brokerId": sender.id,
            "brokerEpoch": sender.epoch if random.random() < 0.98 else sender.epoch + 1,
            "topics": [
                {
                    "topicId": topic.id if random.random() < 0.98 else uuid(5),
                    "partitions": [proposal],
                }
            ],
        }
        return self._request("AlterPartition", version, version, body)

    def _assign_directories(self) -> Command:
        random, chosen = self.random, self._some_partition()
        brokers = list(self._state.brokers())
        if chosen is None or not brokers:
            return self._heartbeat()
        topic, number, partition = chosen
        broker = self._state.broker(random.choice(partition.replicas)) or random.choice(brokers)
        known = [*broker.directories, uuid(99), LOST]
        body = {
            "brokerId": broker.id,
            "brokerEpoch": broker.epoch if random.random() < 0.95 else broker.epoch - 1,
            "directories": [
                {
                    "id": directory,
                    "topics": [
                        {
                            "topicId": topic.id if random.random() < 0.95 else uuid(5),
                            "partitions": [
                                {"partitionIndex": number if random.random() < 0.95 else 77}
                            ],
                        }
                    ],
                }
                for directory in random.sample(known, 1 if random.random() < 0.9 else 2)
            ],
        }
        return self._request("AssignReplicasToDirs", 0, 0, body)

    def _epoch_of(self, broker_id: int) -> int:
        broker = self._state.broker(broker_id)
        if broker is None or self.random.random() < 0.1:
            return self.random.choice([-1, 1])
        return broker.epoch

    def _some_partition(self) -> tuple[TopicImage, int, PartitionRegistration] | None:
        topics = list(self._state.topics())
        if not topics:
            return None
        topic = self.random.choice(topics)
        number = self.random.choice([*topic.partitions])
        return topic, number, topic.partitions[number]


def _feature_ranges(ranges: dict[str, tuple[int, int]]) -> list[Body]:
    return [
        {"name": name, "minSupportedVersion": low, "maxSupportedVersion": high}
        for name, (low, high) in ranges.items()
    ]
