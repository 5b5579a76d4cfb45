"""Kafka's TestRaftServer as the leader of a quorum: raft alone, with as much load as is asked for.

Owns how it is started (java/RaftLoad.java) and how much a log has grown. No admin tool is served by
it, so that what happens is read from the files.
"""

from __future__ import annotations

from pathlib import Path

import kafka
from clusters import Cluster, Node
from our_nodes import PARTITION

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""TestRaftServer's; no other can be given to it."""
RECORD_BYTES = 256
IN_THE_LOG = RECORD_BYTES + 9
"""Of such a record, without its share of a batch's header."""
_SOURCE = Path(__file__).parent / "java" / "RaftLoad.java"


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
    """Start a TestRaftServer, and wait until it listens."""
    command = kafka.java_command(
        cluster.version, _SOURCE, "server.properties", node.directory_id, str(rate),
        str(RECORD_BYTES), heap="-Xmx500m",
    )  # fmt: skip
    node.process = kafka.Process(
        command, cluster.logs / f"node-{node.id}.log", cwd=node.directory
    )
    cluster.wait_listening(node)


def written(node: Node) -> int:
    """The bytes of a node's log."""
    return sum(each.stat().st_size for each in (node.metadata_log_dir / PARTITION).glob("*.log"))
