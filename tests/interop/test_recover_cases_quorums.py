"""Recovery of other quorums than three controllers and a broker: five voters, nodes that are
controller and broker, listeners over TLS with SASL, logs whose begin was cleaned away."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftool.repair.plan import Method
from kraftool.repair.plan_yaml import plan_from_yaml
from kraftool.reports.election.assessment import LossBound
from tests.interop import kafka, recovering
from tests.interop.clusters import Cluster, Node
from tests.interop.ondisk import segments
from tests.interop.our_nodes import end_of
from tests.interop.recovering import (
    OURS,
    SAID,
    VERSIONS,
    Kept,
    cluster_of,
    consumed,
    kraftool,
    voters,
)
from tests.interop.test_net_secured import Stores, stores
from tests.interop.test_node_secured import secured

__all__ = ["stores"]
pytestmark = [pytest.mark.interop, pytest.mark.soak]


@pytest.fixture(scope="module")
def five(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    yield from recovering.made(request.param, tmp_path_factory.mktemp("five"), controllers=5)


@recovering.on("five")
def test_three_of_five_are_lost_and_the_other_comes_back_by_the_checkpoint(five: Kept) -> None:
    """Of the two that are left the better one leads; the state is the best of all."""
    five.put_back()
    left = [five.survivor, five.others[0]]
    # Where the better one is as far as the broker, a record would be appended by itself.
    plan = five.plan_lost(five.others[1:], "--method", "snapshot-jump")
    assert plan.loss.verdict is LossBound.UNBOUNDED
    seed, other = sorted(left, key=lambda node: plan.seed != f"node-{node.id}")
    assert (end_of(seed).epoch, end_of(seed).offset) >= (end_of(other).epoch, end_of(other).offset)
    assert five.apply(plan) == {seed.id}
    wanted = five.planned_tree(plan, seed) | {SAID: str(OURS)}
    five.cluster.start(seed)
    five.leads(seed)
    five.say(seed, OURS)
    five.cluster.start(other, five.broker)
    five.has_everything()
    five.follow(seed, other, five.broker)
    five.assert_tree(wanted, seed, other, five.broker)


@pytest.fixture(scope="module")
def cleaned(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    yield from recovering.made(request.param, tmp_path_factory.mktemp("cleaned"), cleaned=True)


@recovering.on("cleaned")
def test_a_log_that_begins_late_is_jumped_from(cleaned: Kept) -> None:
    cleaned.put_back()
    survivor = cleaned.survivor
    assert int(segments(survivor)[0].stem) > 0
    plan = cleaned.plan_lost(cleaned.others)
    assert plan.method is Method.SNAPSHOT_JUMP
    cleaned.apply(plan)
    wanted = cleaned.planned_tree(plan, survivor)
    cleaned.cluster.start(survivor)
    cleaned.leads(survivor)
    cleaned.cluster.start(*cleaned.others, cleaned.broker)
    cleaned.has_everything()
    cleaned.follow(survivor, *cleaned.others, cleaned.broker)
    cleaned.assert_tree(wanted, *cleaned.nodes)


@pytest.mark.parametrize("version", VERSIONS)
def test_nodes_that_are_controller_and_broker(version: str, tmp_path: Path) -> None:
    """What a topic had is on the survivor, which has a replica of all; a wiped node joins."""
    with cluster_of(version, tmp_path) as cluster:
        nodes = [cluster.add_node(number, ("controller", "broker")) for number in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        cluster.start(*nodes)
        cluster.admin("create-topic", topic="kept", partitions=1, replication=3)
        cluster.admin("produce", topic="kept", count=recovering.MESSAGES)
        leader = cluster.wait_leader()
        survivor, _ = recovering.strike(cluster, next(node for node in nodes if node != leader))
        lost = [node for node in nodes if node is not survivor]
        for node in lost:
            shutil.rmtree(node.metadata_log_dir)
        plan_file = tmp_path / "plan.yaml"
        ids = ",".join(str(node.id) for node in lost)
        here = survivor.directory / "server.properties"
        arguments = ("--set", f"lost={ids}", "--kafka-version", version)
        kraftool("recover", "plan", here, *arguments, "--out", plan_file)
        plan = plan_from_yaml(plan_file.read_bytes())
        assert plan.loss.verdict is LossBound.UNBOUNDED
        where = ("--dir", survivor.metadata_log_dir)
        kraftool("recover", "apply", plan_file, *where, "--yes", plan.id)
        cluster.start(survivor)
        lead_uncleanly(cluster, survivor)
        consumed(cluster, survivor)

        wiped = lost[0]
        cluster.format([wiped], "--no-initial-controllers")
        cluster.start(wiped)
        cluster.wait_caught_up(wiped)
        tool = "org.apache.kafka.tools.MetadataQuorumCommand"
        at = ("--bootstrap-controller", survivor.at("CONTROLLER"))
        options = (*at, "--command-config", "server.properties", "add-controller")
        kafka.run(version, tool, *options, cwd=wiped.directory, check=True)
        assert voters(cluster) == sorted([survivor.id, wiped.id])


def lead_uncleanly(cluster: Cluster, survivor: Node) -> None:
    """With eligible leader replicas Kafka takes a broker that was killed out of those in sync;
    where all others are lost, an operator has to say that it leads."""

    def leads() -> bool:
        shown = cluster.peek("describe-topic", survivor, topic="kept")
        if shown is not None and shown["partitions"][0]["leader"] == survivor.id:
            return True
        cluster.refused("elect-leaders", topic="kept", partition=0, unclean=True, quiet=True)
        return False

    kafka.wait_for("the survivor to lead the topic", leads, every=0.5)


@pytest.mark.parametrize("version", VERSIONS)
def test_listeners_over_tls_with_sasl(version: str, tmp_path: Path, stores: Stores) -> None:
    """The voter is reached by the listener that it had; verify goes by that, too."""
    with cluster_of(version, tmp_path) as cluster:
        nodes = secured(cluster, stores, "SASL_SSL")
        cluster.start(*nodes)
        survivor = cluster.wait_leader()
        cluster.wait_caught_up(*nodes)
        cluster.kill(survivor)
        lost = [node for node in nodes if node is not survivor]
        cluster.wait_leader()
        cluster.kill(*lost)
        plan_file = tmp_path / "plan.yaml"
        ids = ",".join(str(node.id) for node in lost)
        here = survivor.directory / "server.properties"
        options = ("--set", f"lost={ids}", "--kafka-version", version)
        kraftool("recover", "plan", here, *options, "--method", "snapshot-jump", "--out", plan_file)
        plan = plan_from_yaml(plan_file.read_bytes())
        assert "CANARY" not in plan_file.read_text()
        where = ("--dir", survivor.metadata_log_dir)
        kraftool("recover", "apply", plan_file, *where, "--yes", plan.id)
        cluster.start(survivor)
        assert cluster.wait_leader() is survivor
        cluster.start(*lost)
        cluster.wait_caught_up(*lost)
        assert voters(cluster) == [survivor.id]
        client = tmp_path / "client.properties"
        client.write_text(client_of(survivor.settings))
        at = ("--bootstrap-controller", survivor.at("SECURE"), "--command-config", client)
        shown = kraftool("recover", "verify", plan_file, *where, *at)
        assert "KT-REC-RETURNED" in shown
        assert "KT-REC-OLD-QUORUM" not in shown


def client_of(settings: dict[str, str]) -> str:
    """What a client says to the secured listener."""
    wanted = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": settings["listener.name.secure.plain.sasl.jaas.config"],
        **{key: value for key, value in settings.items() if key.startswith("ssl.truststore")},
    }
    return "".join(f"{key}={value}\n" for key, value in wanted.items())
