"""Nodes are killed, paused, throttled and cut off while clients work: nothing acknowledged is lost.

Three brokers of Kafka (4.3.0 and 4.4.0 mixed) serve an idempotent producer, a transactional one, a
group of consumers and a share group. The controllers are three of kraftool's, or one of Kafka's and
two of ours, so that leadership goes back and forth. All of it is for the soak; `make chaos` has 200
rounds for each quorum (KRAFTOOL_CHAOS_ROUNDS, KRAFTOOL_CHAOS_SEED).
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.framing import decode_record
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from tests.interop import kafka, namespaces, shelltrees
from tests.interop.clusters import Cluster, Node
from tests.interop.namespaces import Link, Network
from tests.interop.our_nodes import batches, start_ours
from tests.interop.our_trees import differences, nodes_of, state_of, tree_of
from tests.interop.throttling import throttled
from tests.support.places import PARTITION

pytestmark = [pytest.mark.interop, pytest.mark.soak]
ROUNDS = int(os.environ.get("KRAFTOOL_CHAOS_ROUNDS", "20"))
SEED = int(os.environ.get("KRAFTOOL_CHAOS_SEED", "1"))
PAUSE_MS = 10
"""Between two records of a producer. At 200 a second brokers leave others no core."""
LONGEST_FAULT_S = 8.0
"""Brokers are fenced after three seconds, and voters elect after one or two."""
SHARE = 0.1
"""Of a core, for a node that is throttled."""
CONTROLLERS = (1, 2, 3)
BROKERS = {11: "4.3.0", 12: "4.4.0", 13: "4.3.0"}
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")
TOPICS = ("plain", "first", "second")
LOAD = Path(__file__).with_name("java") / "ClientLoad.java"
REPLICATED = {
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.share.delivery.count.limit": "10",
    "min.insync.replicas": "2",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}
RECOVERING = 1
SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "8000"}


@pytest.mark.parametrize("kafkas", [0, 1], ids=["ours", "mixed"])
def test_clients_lose_nothing_whatever_befalls_controllers_and_brokers(
    kafkas: int, tmp_path: Path
) -> None:
    if problem := kafka.available("4.3.0", "4.4.0") or namespaces.problem():
        pytest.skip(problem)
    theirs = frozenset(CONTROLLERS[:kafkas])
    with Network() as network, Cluster("4.3.0", tmp_path / "cluster") as cluster:
        network.start([*CONTROLLERS, *BROKERS])
        begin(cluster, network, theirs)
        faults = Faults(cluster, network, theirs, random.Random(SEED))
        try:
            with Clients(cluster) as clients:
                for number in range(ROUNDS):
                    faults.round(number)
                assert_nothing_lost(clients.end())
            cluster.wait_caught_up(*cluster.controllers)
            cluster.stop(*(cluster.nodes[broker] for broker in BROKERS))
            cluster.stop(*cluster.controllers)
            assert_same_states(cluster)
            assert_no_unclean_election(cluster)
            assert faults.led >= theirs, "a Kafka led, too"
        except BaseException as error:
            error.add_note(f"seed {SEED}: {'; '.join(faults.told)}")
            raise


def begin(cluster: Cluster, network: Network, theirs: frozenset[int]) -> None:
    """Start three controllers and three brokers, and create the topics of the clients."""

    def add(number: int, role: str) -> Node:
        host, within = network.host(number), network.within(number)
        return cluster.add_node(number, [role], SNAPSHOTS, host=host, within=within)

    controllers = [add(number, "controller") for number in CONTROLLERS]
    brokers = [add(number, "broker") for number in BROKERS]
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
    cluster.admin(
        "configs", type="GROUP", name="sharers", set={"share.auto.offset.reset": "earliest"}
    )


def start(cluster: Cluster, node: Node, theirs: frozenset[int]) -> None:
    if node.broker or node.id in theirs:
        cluster.start(node)
    else:
        start_ours(cluster, node)


@dataclass(slots=True)
class Faults:
    """What befalls the nodes. A seed brings the same again; the timing is the machine's."""

    cluster: Cluster
    network: Network
    theirs: frozenset[int]
    random: random.Random
    told: list[str] = field(default_factory=list)
    led: set[int] = field(default_factory=set)

    def round(self, number: int) -> None:
        """Hurt a controller, a broker or both, change metadata meanwhile, and wait for the end."""
        leader = self.cluster.wait_leader()
        self.led.add(leader.id)
        # The leader twice as often as any other.
        controller = self.random.choice([leader, *self.cluster.controllers])
        broker = self.cluster.nodes[self.random.choice([*BROKERS])]
        hurt = self.random.choice(([controller], [controller], [broker], [controller, broker]))
        topic = f"made-{number}"
        with ExitStack() as faults:
            for node in hurt:
                faults.enter_context(self._fault(node, is_leader=node is leader))
            time.sleep(self.random.uniform(0.1, LONGEST_FAULT_S))
            self._changed("create-topic", "TopicExists", topic=topic, partitions=2, replication=2)
        if number % 2:
            self._changed("delete-topic", "UnknownTopic", topic=topic)
        for wanted in (*TOPICS, *INTERNAL):
            wait_in_sync(self.cluster, wanted, after=self.told[-2:])
        self.cluster.wait_caught_up(*self.cluster.controllers)
        for node in self.cluster.running():
            assert node.process is not None
            node.process.require_alive()

    def _changed(self, operation: str, is_done: str, **fields: Any) -> None:
        """Change metadata. What was asked again may have been done by the first request."""

        def probe() -> bool:
            refusal = self.cluster.refused(operation, quiet=True, timeoutMs=5000, **fields)
            return refusal is None or is_done in refusal

        kafka.wait_for(f"{operation} after {self.told[-2:]}", probe, every=0.2)

    def _fault(self, node: Node, *, is_leader: bool) -> AbstractContextManager[None]:
        fault = self.random.choice((self._killed, self._paused, self._throttled, self._cut))
        role = "leader" if is_leader else "broker" if node.broker else "controller"
        self.told.append(f"{fault.__name__[1:]} {role} {node.id}")
        return fault(node)

    @contextlib.contextmanager
    def _killed(self, node: Node) -> Iterator[None]:
        """Brokers stop in order half of the time, which moves their leadership before."""
        if node.broker and self.random.random() < 0.5:
            self.cluster.stop(node)
        else:
            self.cluster.kill(node)
        yield
        start(self.cluster, node, self.theirs)

    def _paused(self, node: Node) -> AbstractContextManager[None]:
        return self.cluster.paused(node)

    def _throttled(self, node: Node) -> AbstractContextManager[None]:
        assert node.process is not None
        return throttled(node.process.pid, SHARE)

    @contextlib.contextmanager
    def _cut(self, node: Node) -> Iterator[None]:
        """Cut a node off from the controllers, in both directions or in one of them."""
        others = [number for number in CONTROLLERS if number != node.id]
        to: list[Link] = [(node.id, other) for other in others]
        back: list[Link] = [(other, node.id) for other in others]
        self.network.cut(*self.random.choice(([*to, *back], [*to, *back], to, back)))
        yield
        self.network.heal()


def partitions_of(cluster: Cluster, topic: str) -> list[dict[str, Any]]:
    shown = cluster.admin("describe-topic", topic=topic)
    partitions: list[dict[str, Any]] = shown["partitions"]
    return partitions


def wait_in_sync(cluster: Cluster, topic: str, *, after: list[str]) -> None:
    def probe() -> bool:
        return all(
            len(partition["isr"]) == len(BROKERS) and partition["leader"] in partition["isr"]
            for partition in partitions_of(cluster, topic)
        )

    kafka.wait_for(f"every replica of {topic} to be in sync after {after}", probe, every=0.2)


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
    faults = (
        "lost",
        "unreadByGroup",
        "unreadBySharers",
        "lostCommitted",
        "torn",
        "aborted",
        "errors",
    )
    assert {name: result[name] for name in faults} == {name: [] for name in faults}
    assert result["twice"] == 0, "an idempotent producer writes each record once"


def assert_no_unclean_election(cluster: Cluster) -> None:
    """A leader that may lack records is marked as recovering, in the record that elects it."""
    seen = 0
    for node in cluster.controllers:
        for batch in batches(node).values():
            read = RecordBatch.read(batch, 0)
            if read.is_control:
                continue
            for record in read.records():
                name, _, value = decode_record(record.value or b"")
                if name == "PartitionChangeRecord":
                    seen += 1
                    assert value["leaderRecoveryState"] != RECOVERING, value
    assert seen > ROUNDS


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
