"""Brokers and controllers die while real clients work: nothing that was acknowledged is lost.

Three brokers of Kafka (4.3.0 and 4.4.0 mixed) serve an idempotent producer, a transactional one and
a group of consumers. The controllers are three of kraftool's, or one of Kafka's and two of ours, so
that leadership goes back and forth. All of it is for the soak.
"""

from __future__ import annotations

import json
import select
from pathlib import Path
from typing import Any, Self

import pytest

from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from tests.interop import kafka, shelltrees
from tests.interop.clusters import Cluster, Node
from tests.interop.our_nodes import start_ours
from tests.interop.our_trees import differences, nodes_of, state_of, tree_of
from tests.support.places import PARTITION

pytestmark = [pytest.mark.interop, pytest.mark.soak]
LEADER_KILLS = 20
BROKER_KILLS = 15
"""In each of the two quorums."""
PAUSE_MS = 5
"""Seconds between two records of a producer. At 200 a second brokers leave others no core."""
BROKERS = {11: "4.3.0", 12: "4.4.0", 13: "4.3.0"}
INTERNAL = ("__consumer_offsets", "__transaction_state")
TOPICS = ("plain", "first", "second")
LOAD = Path(__file__).with_name("java") / "ClientLoad.java"
REPLICATED = {
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "min.insync.replicas": "2",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}
SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "8000"}


@pytest.mark.parametrize("kafkas", [0, 1], ids=["ours", "mixed"])
def test_clients_lose_nothing_while_leaders_and_brokers_are_killed(
    kafkas: int, tmp_path: Path
) -> None:
    if problem := kafka.available("4.3.0", "4.4.0"):
        pytest.skip(problem)
    with Cluster("4.3.0", tmp_path / "cluster") as cluster:
        theirs = frozenset([1, 2, 3][:kafkas])
        begin(cluster, theirs)
        led = set()
        with Clients(cluster) as clients:
            for number in range(max(LEADER_KILLS, BROKER_KILLS)):
                if number < LEADER_KILLS:
                    led.add(restart_leader(cluster, theirs, number).id)
                if number < BROKER_KILLS:
                    restart_broker(cluster, number)
            for topic in (*TOPICS, *INTERNAL):
                wait_in_sync(cluster, topic)
            assert_nothing_lost(clients.end())
        cluster.wait_caught_up(*cluster.controllers)
        cluster.stop(*(cluster.nodes[broker] for broker in BROKERS))
        cluster.stop(*cluster.controllers)
        assert_same_states(cluster)
        assert led >= theirs, "a Kafka led, too"


def begin(cluster: Cluster, theirs: frozenset[int]) -> None:
    """Start three controllers and three brokers, and create the topics of the clients."""
    controllers = [cluster.add_node(number, ["controller"], SNAPSHOTS) for number in (1, 2, 3)]
    brokers = [cluster.add_node(broker, ["broker"]) for broker in BROKERS]
    for node in (*controllers, *brokers):
        node.settings |= REPLICATED
    cluster.use_bootstrap_servers()
    voters = ("--initial-controllers", cluster.initial_controllers())
    cluster.format(controllers, *voters, "--release-version", "4.3")
    cluster.format(brokers, "--release-version", "4.3")
    for broker in brokers:
        broker.version = BROKERS[broker.id]
    for controller in controllers:
        start(cluster, controller, theirs)
    cluster.start(*brokers)
    for topic in TOPICS:
        cluster.admin("create-topic", topic=topic, partitions=3, replication=3)


def start(cluster: Cluster, controller: Node, theirs: frozenset[int]) -> None:
    if controller.id in theirs:
        cluster.start(controller)
    else:
        start_ours(cluster, controller)


def restart_leader(cluster: Cluster, theirs: frozenset[int], number: int) -> Node:
    """Kill the leader, change metadata without it, and let it come back. Return it."""
    leader = cluster.wait_leader()
    cluster.kill(leader)
    topic = f"made-{number}"
    cluster.admin("create-topic", topic=topic, partitions=2, replication=3)
    start(cluster, leader, theirs)
    cluster.wait_caught_up(leader)
    if number % 2:
        cluster.admin("delete-topic", topic=topic)
    return leader


def restart_broker(cluster: Cluster, number: int) -> None:
    """Stop a broker in order, or kill it; the others serve until it is in sync again."""
    for broker_id in BROKERS:
        process = cluster.nodes[broker_id].process
        assert process is not None
        process.require_alive()
    broker = cluster.nodes[[*BROKERS][number % len(BROKERS)]]
    if number % 2:
        cluster.stop(broker)
    else:
        cluster.kill(broker)
        wait_led_by_others(cluster, broker)
    cluster.start(broker)
    for topic in (*TOPICS, *INTERNAL):
        wait_in_sync(cluster, topic)


def partitions_of(cluster: Cluster, topic: str) -> list[dict[str, Any]]:
    shown = cluster.admin("describe-topic", topic=topic)
    partitions: list[dict[str, Any]] = shown["partitions"]
    return partitions


def wait_led_by_others(cluster: Cluster, broker: Node) -> None:
    """Wait until the controller has fenced a broker that was killed."""

    def probe() -> bool:
        return all(
            partition["leader"] not in (-1, broker.id) and broker.id not in partition["isr"]
            for topic in TOPICS
            for partition in partitions_of(cluster, topic)
        )

    kafka.wait_for(f"other leaders than broker {broker.id}", probe, every=0.2)


def wait_in_sync(cluster: Cluster, topic: str) -> None:
    def probe() -> bool:
        return all(
            len(partition["isr"]) == len(BROKERS) and partition["leader"] in partition["isr"]
            for partition in partitions_of(cluster, topic)
        )

    kafka.wait_for(f"every replica of {topic} to be in sync", probe, every=0.2)


class Clients:
    """The clients, in a JVM of their own."""

    def __init__(self, cluster: Cluster) -> None:
        servers = ",".join(cluster.nodes[broker].at("BROKER") for broker in BROKERS)
        command = kafka.java_command("4.3.0", LOAD, servers, str(PAUSE_MS), level="ERROR")
        self._process = kafka.Process(command, cluster.logs / "clients.log", piped=True)

    def __enter__(self) -> Self:
        assert self._line() == b"ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def end(self) -> dict[str, Any]:
        """End the load; return what the clients found of it."""
        self._process.stdin.write(b"end\n")
        self._process.stdin.flush()
        result: dict[str, Any] = json.loads(self._line())
        return result

    def _line(self) -> bytes:
        ready, _, _ = select.select([self._process.stdout], [], [], 4 * kafka.PATIENCE_S)
        line = self._process.stdout.readline() if ready else b""
        assert line, self._process.output()[-3000:]
        return line


def assert_nothing_lost(result: dict[str, Any]) -> None:
    assert result["acknowledged"] > 100
    assert result["committed"] > 10
    faults = ("lost", "unreadByGroup", "lostCommitted", "torn", "aborted", "errors")
    assert {name: result[name] for name in faults} == {name: [] for name in faults}
    assert result["twice"] == 0, "an idempotent producer writes each record once"


def newest_snapshot(folder: Path) -> list[str]:
    snapshots = sorted(path.name for path in (folder / PARTITION).glob("*.checkpoint"))
    return [name for name in snapshots if not name.startswith(f"{0:020}-")][-1:]


def assert_same_states(cluster: Cluster) -> None:
    """Logs, snapshots and Kafka's reading of them have one state, whoever wrote them."""
    folders = [node.metadata_log_dir for node in cluster.controllers]
    end = min(load_state(str(folder)).end_offset for folder in folders)
    assert len({state_hash(load_state(str(folder), at=end).image) for folder in folders}) == 1
    whole = max(folders, key=lambda folder: load_state(str(folder)).end_offset)
    files = [
        f"{folder.relative_to(cluster.root)}/{PARTITION}/{name}"
        for folder in folders
        for name in [*newest_snapshot(folder), f"{0:020}.log"]
    ]
    assert any(name.endswith(".checkpoint") for name in files)
    for name, tree in shelltrees.kafka_trees(files, cluster.root).items():
        state = state_of(cluster.root / name)
        differing = differences(
            shelltrees.comparable(nodes_of(tree_of(state))), shelltrees.comparable(tree.nodes)
        )
        assert not differing, f"{name}: {differing[:3]}"
        at_offset = load_state(str(whole), at=state.end_offset)
        assert state_hash(state.image) == state_hash(at_offset.image), name
