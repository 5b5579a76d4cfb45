"""Random requests about topics and their partitions."""

from __future__ import annotations

from kraftool.image.topics import PartitionRegistration, TopicImage
from kraftool.image.uuids import LOST
from tests.differential.controller.random_brokers import BrokerRequests
from tests.differential.controller.random_requests import Body, Command, uuid

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


class TopicRequests(BrokerRequests):
    """Topics that begin, grow and go; their leaders, ISRs and directories."""

    partitions_wanted = 0
    """Until there are so many, new topics have many partitions."""

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
        elif sum(len(topic.partitions) for topic in self._state.topics()) < self.partitions_wanted:
            topic["numPartitions"] = random.choice([100, 300, 900])
        return topic

    def _assignments(self) -> list[Body]:
        random = self.random
        there = [broker.id for broker in self._state.brokers()]
        factor = random.randint(1, 4)
        partitions = []
        for number in range(random.randint(1, 4)):
            brokers = random.sample(there, min(factor, len(there)))
            if random.random() < 0.03:
                brokers = random.choice([[], [*brokers, 99], brokers + brokers, brokers[1:]])
            if random.random() < 0.03:
                number = random.choice([0, 7])
            partitions.append({"partitionIndex": number, "brokerIds": brokers})
        return list({partition["partitionIndex"]: partition for partition in partitions}.values())

    def _create_partitions(self) -> Command:
        """Let topics grow whose partitions have one number of replicas: Kafka takes the number from
        the partition that its hash map gives first, kraftool from partition 0."""
        random = self.random
        topics = [
            topic
            for topic in self._state.topics()
            if len({len(partition.replicas) for partition in topic.partitions.values()}) == 1
        ]
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
