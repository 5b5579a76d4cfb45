"""Quorums of raft alone, with as much load as is asked for: Kafka's TestRaftServer, and ours.

Owns how they are started (java/RaftLoad.java, our_writer.py) and how much a log has grown. No admin
tool is served by a TestRaftServer, so that what happens is read from the files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.support.places import PARTITION

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""TestRaftServer's; no other can be given to it."""
RECORD_BYTES = 256
IN_THE_LOG = RECORD_BYTES + 9
"""Of such a record, without its share of a batch's header."""
_HERE = Path(__file__).resolve().parent


def form(cluster: Cluster) -> Node:
    """A quorum of one voter, formatted and not started."""
    cluster.id = CLUSTER_ID
    leader = cluster.add_node(1, ("controller",))
    cluster.use_bootstrap_servers()
    cluster.format([leader], "--standalone")
    return leader


def add_observer(cluster: Cluster, node_id: int) -> Node:
    """A node that may follow, formatted and not started."""
    leader = cluster.controllers[0]
    key = "controller.quorum.bootstrap.servers"
    made = cluster.add_node(node_id, ("controller",), {key: leader.settings[key]})
    made.write_properties()
    cluster.format([made], "--no-initial-controllers")
    return made


def start(cluster: Cluster, node: Node, rate: int) -> None:
    """Start a TestRaftServer, and wait until it listens. It writes while it leads."""
    command = kafka.java_command(
        cluster.version, _HERE / "java" / "RaftLoad.java", "server.properties", node.directory_id,
        str(rate), str(RECORD_BYTES), heap="-Xmx1500m",
    )  # fmt: skip
    _start(cluster, node, command)


def start_writer(cluster: Cluster, node: Node, rate: int, *, records: int = 1) -> None:
    """Start one of ours that does the same, with so many records an append."""
    writer = str(_HERE / "our_writer.py")
    given = (rate, RECORD_BYTES, records)
    _start(cluster, node, [sys.executable, writer, "server.properties", *map(str, given)])


def _start(cluster: Cluster, node: Node, command: list[str]) -> None:
    log = cluster.logs / f"node-{node.id}.log"
    node.process = kafka.Process(command, log, cwd=node.directory)
    cluster.wait_listening(node)


def written(node: Node) -> int:
    """The bytes of a node's log."""
    return sum(path.stat().st_size for path in (node.metadata_log_dir / PARTITION).glob("*.log"))
