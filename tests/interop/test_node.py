"""`kraftool node run` in quorums of real controllers: as a voter, as the leader, as an observer.

What it writes is compared byte for byte with what Kafka wrote; what it says, with Kafka's tools.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document, kraftool
from tests.interop.our_nodes import (
    assert_same_log,
    batches,
    high_watermark,
    metric,
    stands_still,
    start_ours,
    wait_committed,
    wait_same_end,
)

pytestmark = pytest.mark.interop
WITNESS = ("--role", "voter", "--witness")


@pytest.fixture
def quorum(tmp_path: Path) -> Iterator[Cluster]:
    """Three dynamic voters, formatted and not started."""
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        yield cluster


def load(cluster: Cluster, rounds: int = 10) -> None:
    """Records of some size beside those that an idle quorum writes."""
    for number in range(rounds):
        cluster.admin(
            "configs", at_leader=True, type="BROKER", name="",
            set={"log.cleaner.threads": str(number % 5 + 1)},
        )  # fmt: skip


def test_two_kafkas_and_one_of_ours_commit_when_a_kafka_dies(quorum: Cluster) -> None:
    one, two, three = quorum.controllers
    quorum.start(one, two)
    start_ours(quorum, three, options=WITNESS)
    leader = quorum.wait_leader()
    assert leader is not three
    load(quorum)
    below = high_watermark(quorum)
    quorum.wait_caught_up(three, leader)
    assert assert_same_log(three, leader, below=below) > 10

    dying = two if leader is one else one
    quorum.kill(dying)
    after = wait_committed(quorum, high_watermark(quorum) + 3)
    kafka.wait_for("ours to know that", lambda: metric(three, "high_watermark") >= after, every=0.2)
    # Without ours there is no majority, which proves that it was counted.
    quorum.kill(three)
    # What it had fetched when it was killed may be counted a moment later.
    kafka.wait_for("the quorum to stand still", lambda: stands_still(quorum, 2.0))
    start_ours(quorum, three, options=WITNESS)
    wait_committed(quorum, after + 2)
    assert_same_log(three, leader, below=after)


def test_ours_votes_a_kafka_into_office_after_the_leader_died(quorum: Cluster) -> None:
    quorum.start(*quorum.controllers)
    old = quorum.wait_leader()
    ours, other = (controller for controller in quorum.controllers if controller is not old)
    quorum.stop(ours)
    start_ours(quorum, ours, options=WITNESS)
    quorum.wait_caught_up(ours, other)
    epoch = quorum.leader_epoch()
    quorum.kill(old)
    assert quorum.wait_leader(above_epoch=epoch) is other
    wait_committed(quorum, high_watermark(quorum) + 3)
    assert metric(ours, "current_leader") == other.id


def test_ours_leads_kafkas_that_replicate_from_it(quorum: Cluster) -> None:
    quorum.start(*quorum.controllers)
    old = quorum.wait_leader()
    ours, other = (controller for controller in quorum.controllers if controller is not old)
    load(quorum)
    quorum.stop(ours)
    start_ours(quorum, ours, keeps_leading=True)
    quorum.wait_caught_up(ours, other)
    # With a shorter log, no other can win.
    quorum.kill(other)
    load(quorum, 3)
    quorum.wait_caught_up(ours)
    quorum.kill(old)
    quorum.start(other)
    kafka.wait_for("ours to lead", lambda: metric(ours, "current_leader") == ours.id, every=0.2)
    quorum.start(old)
    end = wait_same_end(ours, other, old)
    assert assert_same_log(ours, old, below=end.offset) > 10
    assert assert_same_log(ours, other, below=end.offset) > 10

    def committed() -> dict[str, Any] | None:
        """What is told by way of a follower, once its leader has heard that others have it all."""
        told = quorum.peek("describe-quorum", other) or {"leaderId": -1}
        is_so = told["leaderId"] == ours.id and told["highWatermark"] == end.offset
        return told if is_so else None

    shown = kafka.wait_for("all of it to be committed", committed, every=0.2)
    assert {each["id"] for each in shown["voters"]} == {1, 2, 3}
    at = ("--bootstrap-controller", ours.at("CONTROLLER"), "--timeout", "60")
    judged = document("quorum", "health", "--quorum-only", *at, code=1)
    found = {each["code"]: each for each in judged["health"]["findings"]}
    assert found["KT-LIVE-NO-CONTROLLER"]["severity"] == "error"
    assert found["KT-LIVE-NO-CONTROLLER"]["advice"].startswith(f"wait: node {ours.id} hands")
    assert {each["id"] for each in judged["nodes"] if each["isWitness"]} == {ours.id}
    looked = document("watch", "--once", *at, code=1)
    assert "runs no controller" in looked["statements"][0]["reason"]
    examined = document("doctor", *at, code=1)
    assert examined["findingCounts"]["error"] == 1

    # An orderly end hands over to one of them.
    epoch = metric(ours, "current_epoch")
    assert ours.process is not None
    assert ours.process.stop() == 0
    ours.process = None
    quorum.wait_leader(above_epoch=epoch)
    # Once it votes again and does not stand for election, the quorum is healthy.
    start_ours(quorum, ours, options=WITNESS)
    quorum.wait_caught_up(ours, old, other)

    def healthy() -> bool:
        shown = kraftool("quorum", "health", "--quorum-only", *at)
        return shown.returncode == 0 and "The quorum is healthy." in shown.stdout

    kafka.wait_for("a healthy quorum", healthy, every=0.5)
    assert {
        each["id"] for each in document("quorum", "describe", *at)["nodes"] if each["isWitness"]
    } == {ours.id}


def test_three_of_ours_and_a_rolling_change_from_kafka_and_back(quorum: Cluster) -> None:
    quorum.start(*quorum.controllers)
    quorum.wait_leader()
    load(quorum)
    kept = high_watermark(quorum)
    before = [(controller, batches(controller)) for controller in quorum.controllers]

    def turn(node: Node, *, to_ours: bool) -> None:
        assert node.process is not None
        node.process.stop()
        node.process = None
        if to_ours:
            start_ours(quorum, node)
        else:
            quorum.start(node)

    for controller in quorum.controllers:
        turn(controller, to_ours=True)

        def knows_a_leader_that_commits(node: Node = controller) -> bool:
            return metric(node, "high_watermark") >= kept and metric(node, "current_leader") > 0

        kafka.wait_for("a leader that commits", knows_a_leader_that_commits, every=0.2)
    ends = wait_same_end(*quorum.controllers)
    for controller in quorum.controllers[1:]:
        assert_same_log(quorum.controllers[0], controller, below=ends.offset)
    for controller in quorum.controllers:
        turn(controller, to_ours=False)
    wait_committed(quorum, ends.offset + 3)
    load(quorum, 3)
    for node, had in before:
        now = batches(node)
        lost = {base for base, data in had.items() if base < kept and now.get(base) != data}
        assert not lost, f"node {node.id} has lost {sorted(lost)}"


def test_an_observer_comes_by_a_snapshot_and_follows_leaders(
    quorum: Cluster, tmp_path: Path
) -> None:
    for controller in quorum.controllers:
        controller.settings["metadata.log.max.record.bytes.between.snapshots"] = "2000"
        controller.settings["metadata.max.retention.bytes"] = "1"
        controller.write_properties()
    quorum.start(*quorum.controllers)
    leader = quorum.wait_leader()
    load(quorum, 40)
    kafka.wait_for("a snapshot", lambda: len(quorum.snapshots(leader)) > 1, every=0.5)
    observer = quorum.add_node(4, ("controller",))
    servers = quorum.controllers[0].settings["controller.quorum.bootstrap.servers"]
    observer.settings["controller.quorum.bootstrap.servers"] = servers
    observer.write_properties()
    quorum.format([observer], "--no-initial-controllers")
    start_ours(quorum, observer, options=("--role", "observer"))
    below = high_watermark(quorum)
    quorum.wait_caught_up(observer, leader)
    assert quorum.snapshots(observer), "a log that was cleaned is followed by way of a snapshot"
    assert min(batches(observer)) > 0
    assert_same_log(observer, leader, below=below)

    for _ in range(2):
        leader = quorum.wait_leader()
        epoch = quorum.leader_epoch()
        quorum.kill(leader)
        other = quorum.wait_leader(above_epoch=epoch)
        quorum.start(leader)
        load(quorum, 3)
        below = high_watermark(quorum)
        quorum.wait_caught_up(observer, leader, other)
        assert_same_log(observer, other, below=below)
    shown = kafka.wait_for("an answer to describe-quorum", quorum.quorum)
    assert 4 in {each["id"] for each in shown["observers"]}


def test_a_voter_that_lost_its_log_does_not_observe_once_it_learns_what_it_is(
    quorum: Cluster,
) -> None:
    one, two, three = quorum.controllers
    quorum.start(one, two)
    quorum.wait_leader()
    shutil.rmtree(three.metadata_log_dir / "__cluster_metadata-0")
    start_ours(quorum, three, options=("--role", "observer"))
    process = three.process
    assert process is not None
    kafka.wait_for("it to end", lambda: not process.alive(), every=0.2)
    assert process.stop() == 5, process.output()
    assert "it cannot only observe" in process.output()
    three.process = None


def test_ours_writes_snapshots_that_kafka_starts_on_after_cleaning_the_log(quorum: Cluster) -> None:
    for controller in quorum.controllers:
        controller.settings["metadata.log.max.record.bytes.between.snapshots"] = "2000"
        controller.write_properties()
    one, two, ours = quorum.controllers
    quorum.start(one, two)
    start_ours(quorum, ours, options=WITNESS)
    quorum.wait_leader()
    for number in range(30):
        wanted = {
            "log.cleaner.threads": str(number % 7 + 1),
            "message.max.bytes": str(9000 + number),
        }
        quorum.admin("configs", at_leader=True, type="BROKER", name="", set=wanted)
    kafka.wait_for("snapshots of ours", lambda: len(quorum.snapshots(ours)) > 2, every=0.5)
    quorum.wait_caught_up(ours)
    assert ours.process is not None
    assert ours.process.stop() == 0
    ours.process = None
    folder = ours.metadata_log_dir
    done = kraftool("verify-snapshot", folder, "--against", folder)
    assert done.returncode == 0, done.stdout
    # Without its log, what the newest snapshot says is all that is left of it.
    newest = quorum.snapshots(ours)[-1]
    for path in (folder / "__cluster_metadata-0").iterdir():
        if path.suffix in (".log", ".index", ".timeindex", ".snapshot"):
            path.unlink()
    (folder / "__cluster_metadata-0" / "leader-epoch-checkpoint").unlink()
    quorum.start(ours)
    quorum.wait_caught_up(ours)
    assert min(batches(ours)) == int(newest.partition("-")[0]), "its log begins after the snapshot"
