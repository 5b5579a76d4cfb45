"""`kraftool node run` in quorums of real controllers: as a voter, as the leader, as an observer.

What it writes is compared byte for byte with what Kafka wrote; what it says, with Kafka's tools.
Tests share quorums: a test begins with what its fixture says, whatever the one before has left.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
    is_ours,
    metric,
    stands_still,
    start_ours,
    wait_committed,
    wait_same_end,
)

pytestmark = pytest.mark.interop
WITNESS = ("--role", "voter", "--witness")
SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "2000"}


@contextmanager
def formatted(folder: Path, settings: Mapping[str, str]) -> Iterator[Cluster]:
    """Three dynamic voters, not started."""
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, folder / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",), settings) for number in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        yield cluster


@pytest.fixture(scope="module")
def kept_quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with formatted(tmp_path_factory.mktemp("quorum"), {}) as cluster:
        yield cluster


@pytest.fixture
def kafkas(kept_quorum: Cluster) -> Cluster:
    """Three Kafkas that have a leader, in the quorum that the test before has left."""
    kept_quorum.kill(*(node for node in kept_quorum.running() if is_ours(node)))
    kept_quorum.start(*(node for node in kept_quorum.controllers if node.process is None))
    kept_quorum.wait_caught_up(*kept_quorum.controllers)
    return kept_quorum


@pytest.fixture(scope="module")
def kept_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with formatted(tmp_path_factory.mktemp("pair"), SNAPSHOTS) as cluster:
        third = cluster.controllers[2].metadata_log_dir
        shutil.copytree(third, third.with_name("formatted"))
        yield cluster


@pytest.fixture
def pair(kept_pair: Cluster) -> Cluster:
    """Two Kafkas that have a leader, and a third voter as it was formatted, not started."""
    one, two, three = kept_pair.controllers
    if three.process is not None:
        three.process.close()
        three.process = None
    shutil.rmtree(three.metadata_log_dir)
    shutil.copytree(three.metadata_log_dir.with_name("formatted"), three.metadata_log_dir)
    kept_pair.start(*(node for node in (one, two) if node.process is None))
    kept_pair.wait_caught_up(one, two)
    return kept_pair


def load(cluster: Cluster, rounds: int = 10) -> None:
    """Records of some size beside those that an idle quorum writes."""
    for number in range(rounds):
        cluster.admin(
            "configs", at_leader=True, type="BROKER", name="",
            set={"log.cleaner.threads": str(number % 5 + 1)},
        )  # fmt: skip


def test_a_voter_that_lost_its_log_does_not_observe_once_it_learns_what_it_is(
    pair: Cluster,
) -> None:
    three = pair.controllers[2]
    shutil.rmtree(three.metadata_log_dir / "__cluster_metadata-0")
    start_ours(pair, three, options=("--role", "observer"))
    process = three.process
    assert process is not None
    kafka.wait_for("it to end", lambda: not process.alive(), every=0.2)
    assert process.stop() == 5, process.output()
    assert "it cannot only observe" in process.output()
    three.process = None


def test_ours_writes_snapshots_that_kafka_starts_on_after_cleaning_the_log(pair: Cluster) -> None:
    ours = pair.controllers[2]
    start_ours(pair, ours, options=WITNESS)
    for number in range(30):
        wanted = {
            "log.cleaner.threads": str(number % 7 + 1),
            "message.max.bytes": str(9000 + number),
        }
        pair.admin("configs", at_leader=True, type="BROKER", name="", set=wanted)
    kafka.wait_for("snapshots of ours", lambda: len(pair.snapshots(ours)) > 3, every=0.5)
    pair.wait_caught_up(ours)
    assert ours.process is not None
    assert ours.process.stop() == 0
    ours.process = None
    folder = ours.metadata_log_dir
    done = kraftool("verify-snapshot", folder, "--against", folder)
    assert done.returncode == 0, done.stdout
    # Without its log, what the newest snapshot says is all that is left of it.
    newest = pair.snapshots(ours)[-1]
    for path in (folder / "__cluster_metadata-0").iterdir():
        if path.suffix in (".log", ".index", ".timeindex", ".snapshot"):
            path.unlink()
    (folder / "__cluster_metadata-0" / "leader-epoch-checkpoint").unlink()
    pair.start(ours)
    pair.wait_caught_up(ours)
    assert min(batches(ours)) == int(newest.partition("-")[0]), "its log begins after the snapshot"


def test_two_kafkas_and_one_of_ours_commit_when_a_kafka_dies(pair: Cluster) -> None:
    one, two, three = pair.controllers
    start_ours(pair, three, options=WITNESS)
    leader = pair.wait_leader()
    assert leader is not three
    load(pair, 20)  # what it has may begin with a snapshot
    below = high_watermark(pair)
    pair.wait_caught_up(three, leader)
    assert assert_same_log(three, leader, below=below) > 10

    dying = two if leader is one else one
    pair.kill(dying)
    after = wait_committed(pair, high_watermark(pair) + 3)
    kafka.wait_for("ours to know that", lambda: metric(three, "high_watermark") >= after, every=0.2)
    # Without ours there is no majority, which proves that it was counted.
    pair.kill(three)
    # What it had fetched when it was killed may be counted a moment later.
    kafka.wait_for("the quorum to stand still", lambda: stands_still(pair, 2.0))
    start_ours(pair, three, options=WITNESS)
    wait_committed(pair, after + 2)
    assert_same_log(three, leader, below=after)


def test_three_of_ours_and_a_rolling_change_from_kafka_and_back(kafkas: Cluster) -> None:
    load(kafkas)
    kept = high_watermark(kafkas)
    before = [(controller, batches(controller)) for controller in kafkas.controllers]

    def turn(node: Node, *, to_ours: bool) -> None:
        assert node.process is not None
        node.process.stop()
        node.process = None
        if to_ours:
            start_ours(kafkas, node)
        else:
            kafkas.start(node)

    for controller in kafkas.controllers:
        turn(controller, to_ours=True)

        def knows_a_leader_that_commits(node: Node = controller) -> bool:
            return metric(node, "high_watermark") >= kept and metric(node, "current_leader") > 0

        kafka.wait_for("a leader that commits", knows_a_leader_that_commits, every=0.2)
    ends = wait_same_end(*kafkas.controllers)
    for controller in kafkas.controllers[1:]:
        assert_same_log(kafkas.controllers[0], controller, below=ends.offset)
    for controller in kafkas.controllers:
        turn(controller, to_ours=False)
    wait_committed(kafkas, ends.offset + 3)
    load(kafkas, 3)
    for node, had in before:
        now = batches(node)
        lost = {base for base, data in had.items() if base < kept and now.get(base) != data}
        assert not lost, f"node {node.id} has lost {sorted(lost)}"


def test_ours_leads_kafkas_that_replicate_from_it(kafkas: Cluster) -> None:
    old = kafkas.wait_leader()
    ours, other = (controller for controller in kafkas.controllers if controller is not old)
    load(kafkas)
    kafkas.stop(ours)
    start_ours(kafkas, ours, keeps_leading=True)
    kafkas.wait_caught_up(ours, other)
    # With a shorter log, no other can win.
    kafkas.kill(other)
    load(kafkas, 3)
    kafkas.wait_caught_up(ours)
    kafkas.kill(old)
    kafkas.start(other)
    kafka.wait_for("ours to lead", lambda: metric(ours, "current_leader") == ours.id, every=0.2)
    kafkas.start(old)
    end = wait_same_end(ours, other, old)
    assert assert_same_log(ours, old, below=end.offset) > 10
    assert assert_same_log(ours, other, below=end.offset) > 10

    def committed() -> dict[str, Any] | None:
        """What is told by way of a follower, once its leader has heard that others have it all."""
        described = kafkas.peek("describe-quorum", other) or {"leaderId": -1}
        is_so = described["leaderId"] == ours.id and described["highWatermark"] == end.offset
        return described if is_so else None

    shown = kafka.wait_for("all of it to be committed", committed, every=0.2)
    assert {voter["id"] for voter in shown["voters"]} == {1, 2, 3}
    at = ("--bootstrap-controller", ours.at("CONTROLLER"), "--timeout", "60")
    judged = document("quorum", "health", "--quorum-only", *at, code=1)
    by_code = {finding["code"]: finding for finding in judged["health"]["findings"]}
    assert by_code["KT-LIVE-NO-CONTROLLER"]["severity"] == "error"
    assert by_code["KT-LIVE-NO-CONTROLLER"]["advice"].startswith(f"wait: node {ours.id} hands")
    assert {node["id"] for node in judged["nodes"] if node["isWitness"]} == {ours.id}
    looked = document("watch", "--once", *at, code=1)
    assert "runs no controller" in looked["statements"][0]["reason"]
    examined = document("doctor", *at, code=1)
    assert examined["findingCounts"]["error"] == 1

    # An orderly end hands over to one of them.
    epoch = metric(ours, "current_epoch")
    assert ours.process is not None
    assert ours.process.stop() == 0
    ours.process = None
    kafkas.wait_leader(above_epoch=epoch)
    # Once it votes again and does not stand for election, the quorum is healthy.
    start_ours(kafkas, ours, options=WITNESS)
    kafkas.wait_caught_up(ours, old, other)

    def healthy() -> bool:
        shown = kraftool("quorum", "health", "--quorum-only", *at)
        return shown.returncode == 0 and "The quorum is healthy." in shown.stdout

    kafka.wait_for("a healthy quorum", healthy, every=0.5)
    assert {
        node["id"] for node in document("quorum", "describe", *at)["nodes"] if node["isWitness"]
    } == {ours.id}


def test_ours_votes_a_kafka_into_office_after_the_leader_died(kafkas: Cluster) -> None:
    old = kafkas.wait_leader()
    ours, other = (controller for controller in kafkas.controllers if controller is not old)
    kafkas.stop(ours)
    start_ours(kafkas, ours, options=WITNESS)
    kafkas.wait_caught_up(ours, other)
    epoch = kafkas.leader_epoch()
    kafkas.kill(old)
    assert kafkas.wait_leader(above_epoch=epoch) is other
    wait_committed(kafkas, high_watermark(kafkas) + 3)
    assert metric(ours, "current_leader") == other.id


def test_an_observer_comes_by_a_snapshot_and_follows_leaders(tmp_path: Path) -> None:
    with formatted(tmp_path, {**SNAPSHOTS, "metadata.max.retention.bytes": "1"}) as quorum:
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
        assert 4 in {replica["id"] for replica in shown["observers"]}
