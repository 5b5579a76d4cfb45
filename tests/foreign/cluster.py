"""The two clusters that foreign clients judge: stock brokers, with Kafka's controllers or ours.

Owns what is the same for both: three controllers, the brokers and their settings.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

from tests.interop.clusters import Cluster
from tests.interop.our_nodes import start_ours

CONTROLLERS = (1, 2, 3)
BROKERS = (11, 12, 13)
_SETTINGS = {
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.num.partitions": "3",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
    "default.replication.factor": "3",
    "group.initial.rebalance.delay.ms": "0",
    "num.network.threads": "2",
    "num.io.threads": "4",
}


_OF_ONE_BROKER = {
    name: "1" if name.endswith((".replication.factor", ".min.isr")) else value
    for name, value in _SETTINGS.items()
}


class Side(Enum):
    """Who runs the controllers."""

    KAFKA = "Kafka"
    KRAFTOOL = "kraftool"


@contextlib.contextmanager
def running_cluster(
    version: str, root: Path, side: Side, broker_ids: Sequence[int] = BROKERS
) -> Iterator[Cluster]:
    """Start the cluster of a side."""
    with Cluster(version, root) as cluster:
        controllers = [cluster.add_node(number, ["controller"]) for number in CONTROLLERS]
        brokers = [cluster.add_node(number, ["broker"]) for number in broker_ids]
        for node in (*controllers, *brokers):
            node.settings |= _SETTINGS if len(broker_ids) > 1 else _OF_ONE_BROKER
        cluster.use_bootstrap_servers()
        release = ("--release-version", ".".join(version.split(".")[:2]))
        voters = ("--initial-controllers", cluster.initial_controllers())
        cluster.format(controllers, *voters, *release)
        cluster.format(brokers, *release)
        if side is Side.KRAFTOOL:
            start_ours(cluster, *controllers)
        else:
            cluster.start(*controllers)
        cluster.start(*brokers)
        yield cluster


def addresses(cluster: Cluster, listener: str) -> str:
    """Return where the nodes with a listener are, as a client is given it."""
    return ",".join(node.at(listener) for node in cluster.nodes.values() if listener in node.ports)
