"""The bench of a node measures what it says: how fast a log grows, and how long nobody led."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.bench import node
from tests.interop import kafka, raft_load
from tests.interop.clusters import Cluster
from tests.interop.our_nodes import start_ours

pytestmark = pytest.mark.interop


@pytest.fixture(autouse=True)
def _needs_kafka() -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)


def test_a_writer_is_seen_to_write_what_it_was_told_to(tmp_path: Path) -> None:
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes") as cluster:
        leader = raft_load.form(cluster)
        raft_load.start_writer(cluster, leader, 2_000, records=10)
        kafka.wait_for("it to lead", lambda: raft_load.written(leader) > 100_000)
        use = node.used(leader, 3.0)
    assert use.records == pytest.approx(2_000, rel=0.2)
    assert 0 < use.cpu_percent < 100
    assert 20 < use.memory < 200


def test_a_failover_ends_when_another_node_has_committed(tmp_path: Path) -> None:
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes") as cluster:
        node.three(cluster)
        for controller in cluster.controllers:
            start_ours(cluster, controller, options=node.OPTIONS)
        old, epoch = cluster.wait_leader(), cluster.leader_epoch()
        cluster.wait_caught_up(*cluster.controllers)
        began = time.monotonic()
        took_ms = node.failover(
            cluster, lambda cluster, node_id: start_ours(cluster, node_id, options=node.OPTIONS)
        )
        assert 100 < took_ms <= (time.monotonic() - began) * 1000
        assert cluster.wait_leader(above_epoch=epoch) is not old
