"""A quorum of real Kafka whose nodes reach each other, and are reached, only through the proxy.

Owns what is done to it so that every kind of request of the protocol is seen (`SCENARIOS`). Kafka's
raft layer writes a trace of its own, in which `wirecontext.py` finds the state in which a node took
a request. What is asked on top of what Kafka's nodes ask each other is `wireprobes.py`'s.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kraftool.raft.messages import DescribeQuorumRequest
from tests.interop import kafka, wireprobes
from tests.interop.clusters import Cluster, Node
from tests.interop.operations import must
from tests.interop.wireproxy import Proxy
from tests.support.ports import HOST

CONTROLLER = "CONTROLLER"
SETTINGS = {
    "metadata.log.max.record.bytes.between.snapshots": "1500",
    "controller.quorum.fetch.snapshot.max.bytes": "600",
    "controller.quorum.retry.backoff.ms": "100",
}
_LOGGING = """\
rootLogger.level=INFO
rootLogger.appenderRef.stderr.ref=STDERR
logger.raft.name=org.apache.kafka.raft
logger.raft.level=TRACE
appender.stderr.type=Console
appender.stderr.name=STDERR
appender.stderr.target=SYSTEM_ERR
appender.stderr.layout.type=PatternLayout
appender.stderr.layout.pattern=%d{UNIX_MILLIS} %p %c{1} %replace{%m}{\\n}{ }%n
"""


class Quorum(Cluster):
    """Three dynamic controllers behind a proxy; `ports` are the proxy's, `own` the nodes'."""

    def __init__(self, version: str, root: Path, proxy: Proxy) -> None:
        super().__init__(version, root, common=SETTINGS)
        self.proxy = proxy
        self.own: dict[int, int] = {}
        self.logging = self.logs / "log4j2.properties"
        self.logging.write_text(_LOGGING)
        self.runs: dict[int, list[int]] = {}
        """Where in a node's log each of its runs begins."""

    def add_controller(self, node_id: int, settings: Mapping[str, str] | None = None) -> Node:
        node = self.add_node(node_id, ("controller",), settings)
        own = node.ports[CONTROLLER]
        self.own[node_id] = own
        node.settings["listeners"] = f"{CONTROLLER}://{HOST}:{own}"
        self.move(node)
        return node

    def move(self, node: Node) -> None:
        """Advertise a node at another port."""
        node.ports[CONTROLLER] = self.proxy.front(node.id, self.own[node.id])
        node.settings["advertised.listeners"] = f"{CONTROLLER}://{node.at(CONTROLLER)}"

    def start(self, *nodes: Node, heap: str = "-Xmx300m", options: Sequence[str] = ()) -> None:
        for node in nodes:
            java, *rest = kafka.java_command(
                self.version, "kafka.Kafka", "server.properties", heap=heap, options=options
            )
            command = [java, f"-Dlog4j2.configurationFile={self.logging}", *rest]
            log = self.log_of(node.id)
            self.runs.setdefault(node.id, []).append(log.stat().st_size if log.exists() else 0)
            node.process = kafka.Process(command, log, cwd=node.directory)
            self.note(f"node {node.id}: start")
        for node in nodes:
            self.wait_listening(node)

    def wait_listening(self, node: Node, *, timeout: float = kafka.PATIENCE_S) -> None:
        assert node.process is not None
        node.process.wait_for_line(r"KafkaRaftServer nodeId=\d+\] Kafka Server started")

    def quorum(self) -> dict[str, Any] | None:
        """What a leader says of itself, asked past the proxy.

        An admin client that once knew a leader keeps asking it: behind the proxy, which accepts
        connections for it, a killed node never looks gone.
        """
        for node in self.running():
            with contextlib.suppress(OSError), wireprobes.Prober(self.own[node.id]) as prober:
                body = prober.ask(DescribeQuorumRequest()).body
                part = body["topics"][0]["partitions"][0]
                if part["errorCode"] == 0:
                    for listed in ("currentVoters", "observers"):
                        part[listed] = [
                            {**replica, "id": replica["replicaId"]} for replica in part[listed]
                        ]
                    return {**part, "voters": part["currentVoters"]}
        return None

    def log_of(self, node_id: int) -> Path:
        return self.logs / f"node-{node_id}.log"

    def wait_line(self, node: Node, pattern: str, *, since: int) -> None:
        """Until a node has logged something since a place in its log."""
        expression = re.compile(pattern)

        def probe() -> bool:
            with self.log_of(node.id).open("rb") as source:
                source.seek(since)
                return expression.search(source.read().decode(errors="replace")) is not None

        kafka.wait_for(f"/{pattern}/ of node {node.id}", probe, every=0.1)

    def log_size(self, node: Node) -> int:
        return self.log_of(node.id).stat().st_size


Mark = Callable[[str], None]
"""Is told what comes next."""


def dynamic(quorum: Quorum, mark: Mark) -> None:
    """Everything that may happen to a quorum of kraft.version 1, in order."""
    nodes = [quorum.add_controller(number) for number in (1, 2, 3)]
    fourth = quorum.add_controller(4)
    quorum.use_bootstrap_servers()
    initial = ",".join(quorum.initial_controllers().split(",")[:3])
    quorum.format(nodes, "--initial-controllers", initial)
    quorum.format([fourth], "--no-initial-controllers")

    mark("first election")
    quorum.start(*nodes)
    leader = quorum.wait_leader()
    quorum.wait_caught_up(*nodes)
    kafka.wait_for("an answer to an admin client", lambda: quorum.peek("describe-quorum", leader))

    mark("probes of a leader and its followers")
    wireprobes.steady(quorum)

    mark("an isolated leader whose log parts from the others'")
    leader, epoch = quorum.wait_leader(), quorum.leader_epoch()
    since = quorum.log_size(leader)
    quorum.proxy.cut_off(leader.id)
    others = [node for node in nodes if node is not leader]
    quorum.wait_line(leader, r"Completed transition to Resigned", since=since)
    wireprobes.alone(quorum, leader, epoch, others)
    quorum.wait_line(leader, r"Completed transition to Prospective", since=since)
    wireprobes.alone(quorum, leader, epoch + 1, others)
    quorum.nodes = {other.id: other for other in others}
    quorum.wait_leader(above_epoch=epoch)
    quorum.nodes = {node.id: node for node in [*nodes, fourth]}
    since = quorum.log_size(leader)
    quorum.proxy.cut_off()
    quorum.wait_line(leader, r"Truncated to offset", since=since)
    quorum.wait_caught_up(*nodes)

    mark("a leader killed, and back at another port")
    second, epoch = quorum.wait_leader(), quorum.leader_epoch()
    quorum.kill(second)
    quorum.wait_leader(above_epoch=epoch)
    quorum.move(second)
    second.write_properties()
    quorum.start(second, fourth)
    quorum.wait_caught_up(second)

    mark("probes of a leader with a long log")
    quorum.wait_caught_up(fourth)
    wireprobes.long_log(quorum, fourth)

    mark("a voter added and removed")
    change(quorum, fourth)

    mark("a leader that shuts down in order")
    leader, epoch = quorum.wait_leader(), quorum.leader_epoch()
    quorum.stop(leader)
    quorum.wait_leader(above_epoch=epoch)

    mark("a follower with an empty disk")
    wipe(quorum, leader, initial)
    quorum.start(leader)
    quorum.wait_caught_up(leader)
    quorum.stop(fourth)


def static(quorum: Quorum, mark: Mark) -> None:
    """A quorum of kraft.version 0, with a leader killed, up to version 1."""
    nodes = [quorum.add_controller(number) for number in (1, 2, 3)]
    quorum.use_static_voters()
    quorum.format(nodes)

    mark("first election of static voters")
    quorum.start(*nodes)
    leader = quorum.wait_leader()
    quorum.wait_caught_up(*nodes)

    mark("probes of static voters")
    wireprobes.steady(quorum)

    mark("a static leader killed, and back")
    leader, epoch = quorum.wait_leader(), quorum.leader_epoch()
    quorum.kill(leader)
    quorum.wait_leader(above_epoch=epoch)
    quorum.start(leader)
    quorum.wait_caught_up(leader)

    mark("the upgrade to kraft.version 1")
    unheard = "not all of the voters support it"
    must(quorum, "update-features", unless=unheard, features={"kraft.version": 1})
    quorum.wait_caught_up(*nodes)
    wireprobes.steady(quorum)

    mark("a leader after the upgrade that shuts down in order")
    leader, epoch = quorum.wait_leader(), quorum.leader_epoch()
    quorum.stop(leader)
    other = quorum.wait_leader(above_epoch=epoch)

    mark("probes of higher epochs")
    [last] = [node for node in nodes if node not in (leader, other)]
    wireprobes.ahead(quorum, last, leader)


def change(quorum: Quorum, fourth: Node) -> None:
    """Add and remove a voter, with the refusals that go with it."""
    endpoint = {"name": CONTROLLER, "host": HOST, "port": fourth.ports[CONTROLLER]}
    fields: dict[str, Any] = {"id": fourth.id, "directory": fourth.directory_id}
    must(
        quorum,
        "add-voter",
        unless="NotLeaderOrFollower",
        at_leader=True,
        endpoints=[endpoint],
        **fields,
    )
    quorum.refused("add-voter", at_leader=True, endpoints=[endpoint], **fields)
    must(quorum, "remove-voter", unless="NotLeaderOrFollower", at_leader=True, **fields)
    quorum.refused("remove-voter", at_leader=True, **fields)


def wipe(quorum: Quorum, node: Node, initial: str) -> None:
    """Give a node an empty disk under the same directory id."""
    shutil.rmtree(node.metadata_log_dir)
    quorum.format([node], "--initial-controllers", initial)


SCENARIOS: dict[str, Callable[[Quorum, Mark], None]] = {"dynamic": dynamic, "static": static}
