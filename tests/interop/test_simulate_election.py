"""simulate-election against real controllers, started on the very directories it was asked about.

Whom it calls impossible never leads; whoever leads is among those it calls possible.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftool.decoders import quorum_state
from kraftool.decoders.wire import ZERO_UUID
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.read import read_case
from kraftool.sim.conditions import Conditions
from kraftool.sim.outlook import Likelihood
from kraftool.sim.report import Report, simulate
from tests.interop import kafka, real_elections
from tests.interop.clusters import Cluster, Node
from tests.support.places import PARTITION

pytestmark = pytest.mark.interop
PATIENT = {"controller.quorum.election.timeout.ms": "15000"}
"""Of a node that must not go on to a next epoch before another node has answered it."""


@dataclass(frozen=True, slots=True)
class Quorum:
    """Three dynamic voters that were killed: one of them first, and then the others."""

    cluster: Cluster
    behind: Node
    """A follower that misses the last records."""
    other: Node
    """The other follower."""
    leader: Node


@pytest.fixture(scope="module")
def kept_quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quorum]:
    """Created once: each test starts nodes on a copy of its directories."""
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, tmp_path_factory.mktemp("election") / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        cluster.start(*nodes)
        quorum = Quorum(cluster, *left_behind(cluster))
        for node in nodes:
            shutil.copytree(node.directory, real_elections.kept(node))
        yield quorum


@pytest.fixture
def quorum(kept_quorum: Quorum) -> Iterator[Quorum]:
    """The directories and settings as they were."""
    settings = {node.id: dict(node.settings) for node in kept_quorum.cluster.controllers}
    for node in kept_quorum.cluster.controllers:
        shutil.rmtree(node.directory)
        shutil.copytree(real_elections.kept(node), node.directory)
    yield kept_quorum
    for node in kept_quorum.cluster.controllers:
        node.settings = settings[node.id]
        if node.process is not None:
            node.process.close()
            node.process = None


def case_of(*nodes: Node) -> ElectionCase:
    """What the directories hold."""
    return read_case([str(node.directory / "server.properties") for node in nodes])


def simulated(*nodes: Node) -> Report:
    """What is said of the directories as they are."""
    return simulate(case_of(*nodes), Conditions(), seed=1, runs=60)


def elected(*nodes: Node, above_epoch: int) -> int:
    """The leader by the nodes' own quorum-state files, once a majority of three agrees.

    (An admin client that asks controllers while they load their metadata never recovers.)
    """

    def probe() -> int | None:
        elections = []
        for node in nodes:
            assert node.process is not None
            node.process.require_alive()
            data = (node.metadata_log_dir / PARTITION / "quorum-state").read_bytes()
            state = quorum_state.decode(data)[0].quorum_state if data else None
            if state is not None and state.leader_epoch > above_epoch and state.leader_id >= 0:
                elections.append((state.leader_epoch, state.leader_id))
        agreed = [election for election in elections if elections.count(election) >= 2]
        return max(agreed)[1] if agreed else None

    return kafka.wait_for(f"a leader above epoch {above_epoch}", probe, every=0.2)


def has_ended(node: Node) -> bool:
    assert node.process is not None
    return not node.process.alive()


def left_behind(cluster: Cluster) -> tuple[Node, Node, Node]:
    """A follower that misses the last records, the other follower, the leader; all are killed."""
    leader = cluster.wait_leader()
    behind, other = (controller for controller in cluster.controllers if controller is not leader)
    cluster.wait_caught_up(behind, other)
    cluster.kill(behind)
    before = case_of(leader).nodes[0].end.offset
    # The leader of an idle quorum writes a record every half a second.
    cluster.admin(
        "configs", at_leader=True, type="BROKER", name="", set={"log.cleaner.threads": "2"}
    )
    kafka.wait_for(
        "the others to have more",
        lambda: min(node.end.offset for node in case_of(leader, other).nodes) > before + 2,
        every=0.5,
    )
    cluster.kill(other, leader)
    without_own_votes(behind, other)
    return behind, other, leader


@contextmanager
def patient(node: Node) -> Iterator[None]:
    """Have a node that is started in this block wait long for the end of its election."""
    before = dict(node.settings)
    node.settings |= PATIENT
    node.write_properties()
    yield
    node.settings = before
    node.write_properties()


def without_own_votes(*nodes: Node) -> None:
    """As if none of them had been a candidate when the leader was elected, for which Kafka may end
    a node; whether one was is up to chance."""
    for node in nodes:
        promise(node, voted_id=-1, voted_directory_id=ZERO_UUID)


def test_a_voter_with_a_shorter_log_never_leads_the_one_that_it_is_beside(quorum: Quorum) -> None:
    cluster = quorum.cluster
    behind, other, leader = quorum.behind, quorum.other, quorum.leader
    report = simulated(behind, other)
    assert report.leaders == (other.id,)
    (chance,) = (chance for chance in report.chances if chance.node == behind.id)
    assert chance.refusals[0].kind in ("log", "silent")
    assert any(
        refusal.reason.startswith(f"{other.id} refuses {behind.id}: its log ends at ")
        for refusal in chance.refusals
    )
    epoch = max(node.end.epoch for node in report.case.nodes)
    cluster.start(behind, other)
    assert elected(behind, other, above_epoch=epoch) == other.id
    kafka.wait_for(
        "both to have the new leader's first record, which is committed by that",
        lambda: min(node.end.epoch for node in case_of(behind, other).nodes) > epoch,
        every=0.2,
    )

    cluster.kill(behind, other)
    report = simulated(behind, other, leader)
    assert leader.id not in report.leaders, "it has not what was committed since"
    epoch = max(node.end.epoch for node in report.case.nodes)
    cluster.start(behind, other, leader)
    assert elected(behind, other, leader, above_epoch=epoch) in report.leaders


def promise(node: Node, **changed: Any) -> int:
    """Change what the node's quorum-state says; the epoch that it is in then."""
    path = node.metadata_log_dir / PARTITION / "quorum-state"
    kept = quorum_state.decode(path.read_bytes())[0].quorum_state
    assert kept is not None
    state = replace(kept, **changed)
    path.write_bytes(quorum_state.encode(state))
    return state.leader_epoch


def test_a_voter_without_its_log_is_enough_to_elect_a_leader_that_lacks_records(
    quorum: Quorum,
) -> None:
    behind, other, leader = quorum.behind, quorum.other, quorum.leader
    # The disk of one who has the records is lost, but for meta.properties.
    shutil.rmtree(other.metadata_log_dir / PARTITION)
    report = simulated(behind, other)
    assert report.leaders == (behind.id,)
    with_all = simulated(behind, other, leader)
    lost = [loss for loss in with_all.losses_by(behind.id) if loss.commit_status.weighs]
    assert lost, "the old leader's records were on a majority that no longer is"
    epoch = max(node.end.epoch for node in report.case.nodes)
    end = report.case.by_id[behind.id].end.offset
    quorum.cluster.start(behind, other)
    assert elected(behind, other, above_epoch=epoch) == behind.id
    assert lost[0].first_offset == end


def test_a_voter_that_voted_for_itself_in_an_epoch_that_another_won_ends(quorum: Quorum) -> None:
    """It is a candidate of that epoch again at every start, until quorum-state has a later one."""
    cluster, behind, other = quorum.cluster, quorum.behind, quorum.other
    shutil.rmtree(other.metadata_log_dir / PARTITION)
    directory = case_of(behind).nodes[0].settings.directory_id
    epoch = promise(behind, voted_id=behind.id, voted_directory_id=directory)
    assert {node for node, _, _ in simulated(behind, other).broken} == {behind.id}
    # A candidate whose election times out asks for pre-votes, which nobody finds invalid: on a busy
    # machine that can be before its first request is answered.
    with patient(behind):
        cluster.start(other)
        with suppress(kafka.KafkaFailed):  # it may end before it listens
            cluster.start(behind)
        kafka.wait_for("the candidate to end", lambda: has_ended(behind), every=0.2)
    assert behind.process is not None
    assert "Received unexpected invalid request error" in behind.process.output()
    behind.process.close()
    behind.process = None

    cluster.kill(other)
    promise(behind, leader_id=-1, leader_epoch=epoch + 1, voted_id=-1, voted_directory_id=ZERO_UUID)
    assert simulated(behind, other).broken == ()
    cluster.start(behind, other)
    assert elected(behind, other, above_epoch=epoch + 1) == behind.id


def test_a_voter_without_its_log_ends_when_a_restarted_leader_says_goodbye(quorum: Quorum) -> None:
    cluster = quorum.cluster
    wiped, other, leader = quorum.behind, quorum.other, quorum.leader
    shutil.rmtree(wiped.metadata_log_dir / PARTITION)
    report = simulated(wiped, other, leader)
    assert {node for node, _, _ in report.broken} == {wiped.id}
    assert wiped.id not in report.leaders

    cluster.start(wiped)
    # It says goodbye until it stands for election again, which must not be before it is heard.
    with patient(leader):
        cluster.start(leader)
        kafka.wait_for("the wiped voter to end", lambda: has_ended(wiped), every=0.2)
    assert wiped.process is not None
    wiped.process.close()
    wiped.process = None
    epoch = max(node_case.end.epoch for node_case in report.case.nodes)
    cluster.start(other)
    assert elected(other, leader, above_epoch=epoch) in report.leaders


def started_quorum(version: str, name: str, folder: Path, starts: int) -> None:
    """Start a quorum again and again: whoever leads first is called able to, and nobody else."""
    if problem := kafka.available(version):
        pytest.skip(problem)
    situation = real_elections.SITUATIONS[name]
    random = Random(name)
    with real_elections.prepared(version, situation, folder) as cluster:
        case = real_elections.case_of(cluster)
        report = simulate(case, Conditions(), seed=1, runs=20)
        stated = {outlook.node: outlook.likelihood for outlook in report.outlooks}
        for number in range(starts):
            plan = list(real_elections.PACES.values())[number % 2]
            election = real_elections.start(cluster, plan(random, sorted(cluster.nodes)))
            assert election.leader in report.leaders, (version, name, election)
            assert stated[election.leader] is not Likelihood.NO
            assert election.epoch > max(node.end.epoch for node in case.nodes)


@pytest.mark.soak
def test_a_kafka_without_pre_vote_is_led_by_a_node_that_can_lead(tmp_path: Path) -> None:
    started_quorum("3.9.1", "one-behind", tmp_path, 2)


@pytest.mark.soak
@pytest.mark.parametrize("version", ["4.3.0", "3.9.1"])
@pytest.mark.parametrize("name", sorted(real_elections.SITUATIONS))
def test_the_first_leader_is_always_a_node_that_can_lead(
    version: str, name: str, tmp_path: Path
) -> None:
    started_quorum(version, name, tmp_path, 10)
