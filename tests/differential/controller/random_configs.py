"""Random changes of configs."""

from __future__ import annotations

from kraftool.image.configs import BROKER, CLIENT_METRICS, GROUP, TOPIC
from tests.differential.controller.random_requests import Body, Command, Requests

RESOURCES = (TOPIC, BROKER, GROUP, CLIENT_METRICS)
_ALTERED: dict[int, list[tuple[str, list[str]]]] = {
    TOPIC: [
        ("min.insync.replicas", ["1", "2", "3", "0"]),
        ("unclean.leader.election.enable", ["true", "false", "perhaps"]),
        ("cleanup.policy", ["compact", "delete", "compact,delete", "shred", "", "compact,compact"]),
        ("leader.replication.throttled.replicas", ["*", "0:1", "0:1,1:2", "x"]),
        ("follower.replication.throttled.replicas", ["*", "0:1", ""]),
        ("retention.ms", ["-1", "1000", "-2"]),
        ("max.compaction.lag.ms", ["7"]),
        ("min.compaction.lag.ms", ["8"]),
        ("no.such.config", ["1"]),
    ],
    BROKER: [
        ("min.insync.replicas", ["1", "2"]),
        ("unclean.leader.election.enable", ["true", "false"]),
        ("log.cleaner.threads", ["2", "x"]),
        ("leader.replication.throttled.rate", ["1000", "x"]),
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
        ("streams.task.offset.interval.ms", ["14999", "15000"]),
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


class ConfigRequests(Requests):
    """IncrementalAlterConfigs and AlterConfigs."""

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
