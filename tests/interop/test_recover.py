"""Other nights of two lost controllers than that of test_recover_cases.py.

Nobody was ahead, the old majority goes on under the old cluster id, or voters are a setting.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftool.repair.plan import Action, Method
from tests.interop import kafka
from tests.interop.nights import Night
from tests.interop.recovering import begin, cluster_of, on

pytestmark = [pytest.mark.interop, pytest.mark.soak]


def begun(version: str, folder: Path, *, dynamic: bool = True) -> Iterator[Night]:
    with cluster_of(version, folder) as cluster:
        night = Night(cluster, *begin(cluster, dynamic=dynamic), [])
        cluster.admin("configs", type="TOPIC", name="kept", set={"retention.ms": "3600000"})
        yield night


@pytest.fixture
def night(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Night]:
    yield from begun(request.param, tmp_path)


@pytest.fixture
def static_night(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Night]:
    """As `night`, of a quorum whose voters are a setting."""
    yield from begun(request.param, tmp_path, dynamic=False)


@on("night")
def test_nobody_was_ahead_and_a_record_is_appended(night: Night) -> None:
    cluster, survivor = night.cluster, night.controllers[0]
    cluster.wait_caught_up(*night.controllers, night.broker)
    night.topics = sorted(cluster.admin("list-topics"))
    cluster.stop(night.broker)
    cluster.wait_caught_up(survivor)
    cluster.kill(*night.controllers[1:])
    cluster.kill(survivor)
    lost = night.controllers[1:]
    plan = night.collect_and_plan(survivor, lost)
    assert plan.method is Method.APPEND
    night.do(plan, Action.APPLY)
    cluster.start(survivor)
    cluster.start(night.broker)
    night.do(plan, Action.CHECK)
    night.has_everything()
    night.add_controllers(survivor)
    epoch = cluster.leader_epoch()
    cluster.kill(survivor)
    cluster.wait_leader(above_epoch=epoch)
    night.has_everything()


@on("night")
def test_a_new_cluster_id_keeps_the_old_majority_apart(night: Night) -> None:
    """The others elect one another and go on by themselves; nothing of either is changed."""
    cluster = night.cluster
    survivor, lost = night.strike()
    plan = night.collect_and_plan(survivor, lost, "--fence")
    night.do(plan, Action.APPLY)
    cluster.start(survivor)
    cluster.start(night.broker)
    night.has_everything()
    for node in lost:
        shutil.move(node.directory / "lost", node.metadata_log_dir)
    cluster.start(*lost)
    kafka.wait_for(
        "the old majority to have a leader",
        lambda: (cluster.peek("describe-quorum", lost[0]) or {"leaderId": -1})["leaderId"] >= 0,
    )
    asked = kafka.wait_for(
        "an answer to describe-quorum", lambda: cluster.peek("describe-quorum", survivor)
    )
    assert [voter["id"] for voter in asked["voters"]] == [survivor.id]
    cluster.admin("create-topic", topic="after", partitions=1, replication=1)
    night.has_everything()


@on("static_night")
def test_static_voters_are_set_everywhere(static_night: Night) -> None:
    night, cluster = static_night, static_night.cluster
    survivor, lost = night.strike()
    plan = night.collect_and_plan(survivor, lost)
    assert plan.method is Method.STATIC_PROPERTIES
    for host in plan.hosts:
        node = cluster.nodes[host.identity.node_id or 0]
        node.settings |= {setting.key: setting.value for setting in host.settings}
        node.write_properties()
    night.do(plan, Action.APPLY)
    cluster.start(survivor)
    assert cluster.wait_leader() is survivor
    cluster.start(night.broker)
    night.has_everything()
