"""Random requests of brokers about themselves, and registrations of controllers."""

from __future__ import annotations

from random import Random

from kraftool.image.metadata_version import FEATURES, METADATA_VERSION
from tests.differential.controller.our_controller import OurController
from tests.differential.controller.random_requests import (
    BROKERS,
    CLUSTER_ID,
    RACKS,
    Body,
    Command,
    Requests,
    uuid,
)


class BrokerRequests(Requests):
    """Brokers that register, send heartbeats and go."""

    def __init__(self, random: Random, ours: OurController) -> None:
        super().__init__(random, ours)
        self.end_offset = 1
        self._silent: set[int] = set()
        """Brokers that send no heartbeats for a while."""

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


def _feature_ranges(ranges: dict[str, tuple[int, int]]) -> list[Body]:
    return [
        {"name": name, "minSupportedVersion": low, "maxSupportedVersion": high}
        for name, (low, high) in ranges.items()
    ]
