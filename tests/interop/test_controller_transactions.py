"""A metadata transaction that is open when leadership moves between Kafka and kraftool.

A controller opens one for its first records and ends it at once, so the tests write an open one to
the log of the node that will lead: the longest log wins the election. Whoever leads then, Kafka or
kraftool, aborts it, and the other kind follows, takes over and goes on.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_nodes import end_of, start_ours
from tests.interop.test_node_controller import record_names
from tests.interop.transactions import ABORTED_TOPIC, with_open_transaction
from tests.support.places import PARTITION

pytestmark = pytest.mark.interop
ABORT = "AbortTransactionRecord"


@pytest.mark.parametrize("leader_is_ours", [True, False], ids=["ours leads", "Kafka leads"])
def test_whoever_leads_next_aborts_an_open_transaction(
    leader_is_ours: bool, tmp_path: Path
) -> None:
    if problem := kafka.available("4.3.0"):
        pytest.skip(problem)
    with Cluster("4.3.0", tmp_path / "cluster") as cluster:
        nodes = [cluster.add_node(number, ["controller"]) for number in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        voters = ("--initial-controllers", cluster.initial_controllers())
        cluster.format(nodes, *voters, "--release-version", "4.3")
        theirs, *ours = nodes
        leader, follower = (ours[0], theirs) if leader_is_ours else (theirs, ours[0])
        start_all(cluster, nodes, theirs)
        cluster.wait_caught_up(*nodes)
        cluster.stop(*nodes)

        log = open_transaction(leader, nodes)
        start_all(cluster, [leader, follower], theirs)
        assert cluster.wait_leader() is leader
        kafka.wait_for("the end of the transaction", lambda: ABORT in record_names(log.parent))
        cluster.wait_caught_up(follower)
        assert record_names(log.parent).count(ABORT) == 1

        # The other kind goes on with what it has followed.
        start_all(cluster, [ours[1]], theirs)
        cluster.wait_caught_up(*nodes)
        cluster.kill(leader)
        cluster.wait_leader()
        start_all(cluster, [leader], theirs)
        cluster.wait_caught_up(*nodes)
        cluster.stop(*nodes)
        folders = [str(node.metadata_log_dir) for node in nodes]
        end = min(load_state(folder).end_offset for folder in folders)
        states = [load_state(folder, at=end) for folder in folders]
        assert all(state.is_whole for state in states), [state.findings for state in states]
        assert len({state_hash(state.image) for state in states}) == 1
        assert ABORTED_TOPIC not in states[0].image.topics.by_name


def open_transaction(leader: Node, nodes: list[Node]) -> Path:
    """Give one node the longest log, with a transaction at its end that nobody has ended."""
    longest = max(nodes, key=lambda node: (end_of(node).epoch, end_of(node).offset))
    source, target = (node.metadata_log_dir / PARTITION for node in (longest, leader))
    if source != target:
        shutil.copy(source / "leader-epoch-checkpoint", target)
    for index in (*target.glob("*.index"), *target.glob("*.timeindex")):
        index.unlink()
    name = f"{0:020}.log"
    opened = with_open_transaction((source / name).read_bytes(), leader.directory_id)
    (target / name).write_bytes(opened.data)
    return target / name


def start_all(cluster: Cluster, nodes: list[Node], theirs: Node) -> None:
    for node in nodes:
        if node is theirs:
            cluster.start(node)
        else:
            start_ours(cluster, node)
