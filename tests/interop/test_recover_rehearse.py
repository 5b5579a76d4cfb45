"""A rehearsal says what comes: its Kafka, on copies, and the real one, on the applied directory.

Two of three controllers are lost under load, as in test_recover; their disks are still there, which
the plan does not know, and come back in the rehearsal.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftool.repair.plan import Method, Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.interop import kafka, ondisk
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document
from tests.interop.our_nodes import end_of
from tests.interop.recovering import begin, cluster_of, kraftool, on, strike

pytestmark = pytest.mark.interop


class Night:
    """A quorum that lost two of three, and the plan for the third."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        controllers, self.broker = begin(cluster)
        self.survivor, self.topics = strike(cluster, self.broker)
        self.lost: list[Node] = [
            controller for controller in controllers if controller is not self.survivor
        ]
        self.plan_file = cluster.root.parent / "plan.yaml"

    def plan(self, *more: str) -> Plan:
        ids = ",".join(str(node.id) for node in self.lost)
        paths = [node.metadata_log_dir for node in (self.survivor, self.broker)]
        options = ("--set", f"lost={ids}", "--kafka-version", self.cluster.version, *more)
        kraftool("recover", "plan", *paths, *options, "--out", self.plan_file)
        return plan_from_yaml(self.plan_file.read_bytes())

    def rehearse(self, *options: object, version: str = "", code: int = 0) -> Any:
        """With a Kafka, which is this one if nothing is said; the document."""
        home = kafka.home(version or self.cluster.version)
        given = (*options, "--kafka", home, "--seeds", 1, "--timeout", 300, "--quiet")
        return document("recover", "rehearse", self.plan_file, *given, code=code)

    def rehearse_all(self, plan: Plan) -> Any:
        """With the lost directories; all is well, but for what only they have.

        Their leader was killed, too, and may have records that nobody else took.
        """
        known = max((each.last_epoch, each.end_offset) for each in plan.ranking)
        ends = [end_of(node) for node in self.lost]
        is_ahead = any((end.epoch, end.offset) > known for end in ends)
        nodes = (self.survivor, self.broker, *self.lost)
        given = [word for node in nodes for word in ("--dir", node.metadata_log_dir)]
        told = self.rehearse(*given, code=1 if is_ahead else 0)
        # What takes the leader's death at the wrong moment is info.
        codes = {each["code"] for each in told["findings"] if each["severity"] != "info"}
        assert codes == ({"KT-REC-AHEAD"} if is_ahead else set())
        assert told["isWell"] is not is_ahead
        return told


@pytest.fixture
def night(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Night]:
    with cluster_of(request.param, tmp_path) as cluster:
        yield Night(cluster)


@on("night", always=True)
def test_what_a_rehearsal_shows_is_what_comes(night: Night) -> None:
    cluster, survivor = night.cluster, night.survivor
    plan = night.plan()
    assert plan.method is Method.SNAPSHOT_JUMP
    everyone = [survivor, night.broker, *night.lost]
    before = {node.id: ondisk.contents(node.directory) for node in everyone}
    told = night.rehearse_all(plan)
    assert {node.id: ondisk.contents(node.directory) for node in everyone} == before
    nodes = told["startedNodes"]
    assert nodes["software"] == f"Kafka {cluster.version}"
    assert (nodes["leaderId"], nodes["voterIds"]) == (survivor.id, [survivor.id])
    assert nodes["isCompared"]
    assert nodes["topicCount"] >= len(night.topics)
    assert nodes["returned"] == [
        {"nodeId": node.id, "isFollowing": True, "leaderId": survivor.id, "lastWords": None}
        for node in sorted(night.lost, key=lambda each: each.id)
    ], "a real Kafka takes the checkpoint, and votes no more"

    options = ("--dir", survivor.metadata_log_dir, "--source",
               f"node-11={night.broker.metadata_log_dir}", "--yes", plan.id)  # fmt: skip
    words = [f"--accept={risk.word}" for risk in plan.risks]
    kraftool("recover", "apply", night.plan_file, *options, *words)
    cluster.start(survivor)
    assert cluster.wait_leader() is survivor
    shown = kafka.wait_for("an answer to describe-quorum", cluster.quorum)
    assert [each["id"] for each in shown["voters"]] == nodes["voterIds"]
    assert shown["leaderEpoch"] == nodes["epoch"], "the first election after the same checkpoint"
    cluster.start(night.broker)
    assert set(night.topics) <= set(cluster.admin("list-topics"))
    assert len(cluster.admin("list-topics")) == nodes["topicCount"]


@on("night", (kafka.TOOLS_VERSION, kafka.NEWEST, "3.9.1"))
def test_a_fence_is_rehearsed_with_both_quorums(night: Night) -> None:
    told = night.rehearse_all(night.plan("--fence"))
    nodes = told["startedNodes"]
    assert nodes["leaderId"] == night.survivor.id
    old = {node.id for node in night.lost}
    assert {node["leaderId"] for node in nodes["returned"]} <= old
    assert not any(node["isFollowing"] or node["lastWords"] for node in nodes["returned"])


@on("night", ("4.3.0",))
def test_a_kafka_that_is_too_old_is_found_out(night: Night) -> None:
    """3.9.1 does not know the metadata.version of 4.3: a rehearsal with it ends with its words."""
    if problem := kafka.available("3.9.1"):
        pytest.skip(problem)
    night.plan()
    source = f"node-11={night.broker.metadata_log_dir}"
    given = ("--dir", night.survivor.metadata_log_dir, "--source", source)
    told = night.rehearse(*given, version="3.9.1", code=1)
    assert [each["code"] for each in told["findings"]] == ["KT-REC-START"]
    assert "MetadataVersion" in told["findings"][0]["reason"]
