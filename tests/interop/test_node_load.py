"""`kraftool node run` follows Kafka's TestRaftServer under load, byte for byte."""

from __future__ import annotations

import time
from pathlib import Path

import kafka
import pytest
import raft_load
from clusters import Cluster
from our_nodes import assert_same_log, end_of, start_ours

pytestmark = pytest.mark.interop
RATE = 20_000
SECONDS = 15
LAG_S = 3.0
"""By how much an observer may be behind on a machine that does other things."""


def test_an_observer_keeps_up_with_twenty_thousand_records_a_second(tmp_path: Path) -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes") as cluster:
        leader = raft_load.form(cluster)
        observer = raft_load.add_observer(cluster, 2)
        raft_load.start(cluster, leader, RATE)
        kafka.wait_for("a log", lambda: raft_load.written(leader) > 5_000_000)
        start_ours(cluster, observer, options=("--role", "observer", "--no-image"))
        kafka.wait_for(
            "ours to have caught up",
            lambda: raft_load.written(observer) >= raft_load.written(leader) - 10_000_000,
        )
        began, before = time.monotonic(), raft_load.written(leader)
        while time.monotonic() - began < SECONDS:
            there = raft_load.written(leader)
            kafka.wait_for(
                "ours to have what the leader had",
                lambda there=there: raft_load.written(observer) >= there,
                timeout=LAG_S,
            )
            time.sleep(0.5)
        took = time.monotonic() - began
        rate = (raft_load.written(leader) - before) / raft_load.IN_THE_LOG / took
        assert rate > 0.9 * RATE, "the leader was too slow for this to say anything"
        cluster.kill(leader)
        assert observer.process is not None
        observer.process.require_alive()
        assert observer.process.stop() == 0
        observer.process = None
        # Every batch that ours has is the leader's, and there are about as many.
        behind = end_of(leader).offset - end_of(observer).offset
        assert 0 <= behind < LAG_S * RATE
        assert assert_same_log(observer, leader, below=end_of(observer).offset) > SECONDS * 5
