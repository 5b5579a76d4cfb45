"""The night of two lost controllers, on real Kafka: collect, plan, apply, and Kafka runs again.

Three controllers and a broker are killed under load, after the first leader was killed before: it
has an older epoch, and records that nobody took. Two lose their disks. Kafka starts on what the
plan makes of the third; the broker comes back with everything it had; two new controllers are added
with Kafka's own tool; and the quorum bears the loss of the one that was saved. In between the old
majority comes back from the dead.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftool.repair.plan import Action, Method, Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from kraftool.reports.election.assessment import LossBound
from tests.interop import kafka, recovering
from tests.interop.clusters import Cluster, Node
from tests.interop.recovering import begin, cluster_of, kraftool, on, voters

pytestmark = pytest.mark.interop


class Night:
    """A cluster, what it had before, and the files that recovery makes."""

    def __init__(self, cluster: Cluster, *, dynamic: bool = True) -> None:
        self.cluster = cluster
        self.controllers, self.broker = begin(cluster, dynamic=dynamic)
        self.plan_file = cluster.root.parent / "plan.yaml"
        self.topics: list[str] = []
        cluster.admin("configs", type="TOPIC", name="kept", set={"retention.ms": "3600000"})

    def strike(self) -> tuple[Node, list[Node]]:
        """Kill the leader, let the others go on, kill them all; the survivor and the lost."""
        survivor, self.topics = recovering.strike(self.cluster, self.broker)
        lost = [controller for controller in self.controllers if controller is not survivor]
        for node in lost:
            shutil.move(node.metadata_log_dir, node.directory / "lost")
        return survivor, lost

    def collect_and_plan(self, survivor: Node, lost: list[Node], *more: str) -> Plan:
        collected = []
        for node in (survivor, self.broker):
            file = self.plan_file.with_name(f"node-{node.id}.collect")
            kraftool("recover", "collect", node.directory / "server.properties", "--out", file)
            collected.append(file)
        ids = ",".join(str(node.id) for node in lost)
        options = ("--set", f"lost={ids}", "--kafka-version", self.cluster.version, *more)
        kraftool("recover", "plan", *collected, *options, "--out", self.plan_file)
        return plan_from_yaml(self.plan_file.read_bytes())

    def do(self, plan: Plan, action: Action) -> None:
        """Run kraftool's commands of a step as the plan prints them."""
        for step in plan.steps:
            for command in step.commands if step.action is action else ():
                words = shlex.split(command)
                if words[0] != "kraftool":
                    continue
                words = [word.replace("plan.yaml", str(self.plan_file)) for word in words[1:]]
                words = [
                    re.sub(r"=node-\d+-data$", f"={self.broker.metadata_log_dir}", word)
                    for word in words
                ]
                kraftool(*words, *(("--yes", plan.id) if action is Action.APPLY else ()))

    def has_everything(self) -> None:
        """Topics, configs and messages are those of before."""
        kafka.wait_for(
            "the broker to know of every topic",
            lambda: set(self.topics) <= set(self.cluster.admin("list-topics")),
        )
        shown = kraftool("state", self.broker.metadata_log_dir, "-o", "json")
        assert '"retention.ms"' in shown
        recovering.consumed(self.cluster, self.broker)

    def add_controllers(self, survivor: Node) -> list[Node]:
        """Two new ones, with Kafka's own tools, as the plan says."""
        cluster = self.cluster
        for controller in self.controllers:
            if controller is not survivor:
                del cluster.nodes[controller.id]
        new = [cluster.add_node(number, ("controller",)) for number in (4, 5)]
        cluster.use_bootstrap_servers()
        cluster.format(new, "--no-initial-controllers")
        for node in new:
            cluster.start(node)
            cluster.wait_caught_up(node)
            at = ("--bootstrap-controller", survivor.at("CONTROLLER"))
            options = (*at, "--command-config", "server.properties", "add-controller")
            tool = "org.apache.kafka.tools.MetadataQuorumCommand"
            kafka.run(cluster.version, tool, *options, cwd=node.directory, check=True)
        # A broker finds a new leader by its bootstrap servers alone, which are others now.
        cluster.stop(self.broker)
        cluster.start(self.broker)
        return new


@pytest.fixture
def night(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Night]:
    with cluster_of(request.param, tmp_path) as cluster:
        yield Night(cluster)


@pytest.fixture
def static_night(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Night]:
    """As `night`, of a quorum whose voters are a setting."""
    with cluster_of(request.param, tmp_path) as cluster:
        yield Night(cluster, dynamic=False)


@on("night", always=True)
def test_two_of_three_controllers_are_lost_and_the_survivor_was_behind(night: Night) -> None:
    cluster = night.cluster
    survivor, lost = night.strike()
    plan = night.collect_and_plan(survivor, lost)
    assert plan.method is Method.SNAPSHOT_JUMP
    assert plan.loss.verdict is LossBound.UNBOUNDED
    assert plan.ranking[0].host == "node-11", "the broker has the later epoch"
    assert sorted(node.node_id for node in plan.quarantine) == [node.id for node in lost]
    night.do(plan, Action.APPLY)
    cluster.start(survivor)
    assert cluster.wait_leader() is survivor
    cluster.start(night.broker)
    night.do(plan, Action.CHECK)
    night.has_everything()
    cluster.admin("create-topic", topic="after", partitions=1, replication=1)

    # The old majority comes back from the dead: it takes the checkpoint, and votes no more.
    for node in lost:
        shutil.move(node.directory / "lost", node.metadata_log_dir)
    cluster.start(*lost)
    cluster.wait_caught_up(*lost)
    assert voters(cluster) == [survivor.id]
    assert "after" in cluster.admin("list-topics")
    cluster.stop(*lost)

    new = night.add_controllers(survivor)
    assert voters(cluster) == sorted([survivor.id, *(node.id for node in new)])
    epoch = cluster.leader_epoch()
    cluster.kill(survivor)
    assert cluster.wait_leader(above_epoch=epoch) in new
    cluster.admin("create-topic", topic="at-last", partitions=1, replication=1)
    night.topics += ["after", "at-last"]
    night.has_everything()


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
    assert [each["id"] for each in asked["voters"]] == [survivor.id]
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
