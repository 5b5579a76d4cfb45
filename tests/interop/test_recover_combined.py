"""Combined nodes with several log directories after a lost majority, on real Kafka.

What is followed is the plan's own words: the old voters come back without their metadata, and with
their meta.properties and topics.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftool.repair.plan import Action, Plan
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.interop import kafka, recovering
from tests.interop.clusters import Cluster, Node
from tests.interop.recovering import MESSAGES, cluster_of, kraftool
from tests.support.places import PARTITION

pytestmark = pytest.mark.interop

LOG_DIRS = ("d1", "d2", "d3")


def replicas(node: Node) -> set[str]:
    """The folders of topics, in all log directories."""
    folders = (folder for name in LOG_DIRS for folder in (node.directory / name).iterdir())
    return {folder.name for folder in folders if folder.is_dir() and folder.name != PARTITION}


@pytest.fixture(
    params=[
        pytest.param((kafka.TOOLS_VERSION, True), id="dynamic", marks=pytest.mark.soak),
        pytest.param((kafka.TOOLS_VERSION, False), id="static", marks=pytest.mark.soak),
        pytest.param(("3.9.1", True), id="3.9.1", marks=pytest.mark.soak),
    ]
)
def combined(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    """Three combined nodes; node 1 was left behind, and is the one whose disks are left."""
    version, is_dynamic = request.param
    with cluster_of(version, tmp_path) as cluster:
        settings = {"log.dirs": ",".join(LOG_DIRS), "metadata.log.dir": LOG_DIRS[0]}
        nodes = [
            cluster.add_node(number, ("broker", "controller"), settings) for number in (1, 2, 3)
        ]
        for node in nodes:
            node.settings |= {
                "log.dirs": ",".join(str(node.directory / name) for name in LOG_DIRS),
                "metadata.log.dir": str(node.directory / LOG_DIRS[0]),
            }
        if is_dynamic:
            cluster.use_bootstrap_servers()
            cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        else:
            cluster.use_static_voters()
            cluster.format(nodes)
        cluster.start(*nodes)
        cluster.admin("create-topic", topic="kept", partitions=3, replication=3)
        cluster.admin("produce", topic="kept", count=MESSAGES)
        cluster.wait_caught_up(*nodes)
        cluster.kill(nodes[0])
        cluster.admin("create-topic", topic="later", assignment=[[2, 3]])
        kafka.wait_for(
            "both replicas of the topic to have a folder",
            lambda: all("later-0" in replicas(node) for node in nodes[1:]),
        )
        cluster.kill(*nodes[1:])
        yield cluster


def planned(cluster: Cluster) -> Plan:
    file = cluster.root.parent / "plan.yaml"
    survivor = cluster.nodes[1].directory / "server.properties"
    version = ("--kafka-version", cluster.version)
    kraftool("recover", "plan", survivor, "--set", "lost=2,3", *version, "--out", file)
    plan = plan_from_yaml(file.read_bytes())
    for step in plan.steps:
        if step.action is Action.APPLY:
            for command in step.commands:
                words = shlex.split(command)[1:]
                kraftool(*words, "--yes", plan.id, cwd=file.parent)
    return plan


def returned(cluster: Cluster, plan: Plan, node: Node) -> None:
    """An old voter comes back as the plan says."""
    step = next(step for step in plan.steps if f"node-{node.id}" in step.hosts and step.commands)
    (command,) = step.commands
    assert command.startswith("# replace data-directory: mv data-directory/__cluster_metadata-0 ")
    _, _, source, target = shlex.split(command.partition(": ")[2].replace("mv", "mv -n", 1))
    where = str(node.metadata_log_dir)
    shutil.move(source.replace("data-directory", where), target.replace("data-directory", where))


def test_no_step_starts_an_old_voter_that_is_a_broker_too(combined: Cluster) -> None:
    """Followed literally, a plan once started nodes 2 and 3 over ten topics that only they had."""
    cluster, survivor = combined, combined.nodes[1]
    plan = planned(cluster)
    started = {
        host
        for step in plan.steps
        if step.action in (Action.START, Action.RESTART)
        for host in step.hosts
    }
    assert started == {"node-1"}
    for setting in plan.hosts[0].settings:
        for node in cluster.nodes.values():
            node.settings[setting.key] = setting.value
    static = "controller.quorum.voters" in survivor.settings
    for node in cluster.nodes.values():
        node.write_properties()
    cluster.start(survivor)
    assert cluster.wait_leader() is survivor
    for number in (2, 3):
        node = cluster.nodes[number]
        before = replicas(node)
        assert "later-0" in before
        returned(cluster, plan, node)
        if static:
            voters = ",".join(
                f"{one}@{cluster.nodes[one].at('CONTROLLER')}" for one in range(1, number + 1)
            )
            for one in cluster.nodes.values():
                one.settings["controller.quorum.voters"] = voters
                one.write_properties()
            cluster.kill(*cluster.running())
            cluster.start(*(cluster.nodes[one] for one in range(1, number + 1)))
        else:
            cluster.start(node)
        cluster.wait_caught_up(node)
        if not static:
            at = ("--bootstrap-controller", survivor.at("CONTROLLER"))
            options = ("add-controller", *at, "-c", node.directory / "server.properties")
            kraftool("quorum", *options)
        assert {name.partition(".")[0] for name in replicas(node)} >= {
            name for name in before if not name.startswith("later")
        }
        assert any(
            name.startswith("later-0") and name.endswith("-stray") for name in replicas(node)
        )
    assert recovering.voters(cluster) == [1, 2, 3]
    kafka.wait_for(
        "every replica to be in sync",
        lambda: all(
            len(partition["isr"]) == 3
            for partition in cluster.admin("describe-topic", topic="kept")["partitions"]
        ),
    )
    cluster.kill(survivor)
    cluster.wait_leader()
    for node in (cluster.nodes[2], cluster.nodes[3]):
        recovering.consumed(cluster, node)
