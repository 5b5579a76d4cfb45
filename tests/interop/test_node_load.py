"""`kraftool node run` under load beside Kafka's TestRaftServer: as its observer, and as its leader.

What has been replicated is compared byte for byte.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import kafka, raft_load
from tests.interop.clusters import Cluster, Node
from tests.interop.our_nodes import assert_same_log, end_of, start_ours

pytestmark = [pytest.mark.interop, pytest.mark.soak]
RATE = 20_000
SECONDS = 12
LAG_S = 3.0
"""By how much an observer may be behind on a machine that does other things."""
TRIES = 3
"""Such a machine may leave them too little for some time; who cannot keep up never does."""


@pytest.fixture
def quorum(tmp_path: Path) -> Iterator[Cluster]:
    """One voter and one observer, formatted and not started."""
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes") as cluster:
        raft_load.form(cluster)
        raft_load.add_observer(cluster, 2)
        yield cluster


def test_ours_keeps_up_with_a_leader_that_writes_twenty_thousand_records_a_second(
    quorum: Cluster,
) -> None:
    leader, observer = quorum.controllers
    raft_load.start(quorum, leader, RATE)
    kafka.wait_for("a log", lambda: raft_load.written(leader) > 5_000_000)
    start_ours(quorum, observer, options=("--role", "observer", "--no-image"))
    assert_keeps_up(leader, observer)
    assert observer.process is not None
    quorum.kill(leader)
    assert observer.process.stop() == 0
    observer.process = None
    assert_replicated(leader, observer)


def test_ours_leads_a_kafka_that_replicates_twenty_thousand_records_a_second(
    quorum: Cluster,
) -> None:
    leader, observer = quorum.controllers
    raft_load.start_writer(quorum, leader, RATE, records=20)
    kafka.wait_for("a log", lambda: raft_load.written(leader) > 5_000_000)
    raft_load.start(quorum, observer, RATE)
    assert_keeps_up(leader, observer)
    quorum.kill(leader, observer)
    assert_replicated(leader, observer)


def assert_keeps_up(leader: Node, observer: Node) -> None:
    """What the leader has written, the other has soon after, again and again."""
    for tries_left in reversed(range(TRIES)):
        kafka.wait_for(
            "the observer to have caught up",
            lambda: raft_load.written(observer) >= raft_load.written(leader) - 10_000_000,
        )
        try:
            assert_kept_up(leader, observer)
            return
        except AssertionError:
            if not tries_left:
                raise


def assert_kept_up(leader: Node, observer: Node) -> None:
    began, before = time.monotonic(), raft_load.written(leader)
    while time.monotonic() - began < SECONDS:
        there = raft_load.written(leader)

        def has_it(there: int = there) -> bool:
            return raft_load.written(observer) >= there

        kafka.wait_for("the observer to have what the leader had", has_it, timeout=LAG_S)
        time.sleep(0.5)
    took = time.monotonic() - began
    rate = (raft_load.written(leader) - before) / raft_load.IN_THE_LOG / took
    assert rate > 0.9 * RATE, "the leader was too slow for this to say anything"


def assert_replicated(leader: Node, observer: Node) -> None:
    """Every batch that the observer has is the leader's, and it lacks the last ones at most."""
    end = end_of(observer).offset
    behind = end_of(leader).offset - end
    assert 0 <= behind < LAG_S * RATE
    assert assert_same_log(leader, observer, below=end) > SECONDS * 5
