"""Voters added, removed and moved: by Kafka's tools and ours, at leaders of both; by themselves.

One quorum for the tests of dynamic voters, in their order: 1 is ours and leads, 2 is Kafka's, 3 is
a Kafka that joins by itself, 4 one that is added and removed. The Kafkas wait long before they
stand for election, so that ours wins as long as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import kraftool
from tests.interop.our_nodes import assert_same_log, metric, start_ours, wait_same_end
from tests.interop.shared_jvms import ToolOutput, tool_session
from tests.support.ports import HOST

pytestmark = pytest.mark.interop
PATIENT = {"controller.quorum.election.timeout.ms": "15000"}
JOINS = {"controller.quorum.auto.join.enable": "true"}
VERSIONS = [kafka.TOOLS_VERSION, pytest.param(kafka.NEWEST, marks=pytest.mark.soak)]


def tool(cluster: Cluster, leader: Node, *arguments: str, at: Node | None = None) -> str:
    """kafka-metadata-quorum with the configuration of a node.

    A leader refuses a change of voters until the one before is committed, and a user asks again.
    """

    def answer() -> ToolOutput | None:
        done = metadata_quorum(cluster, leader, *arguments, at=at)
        return None if "the newest voters are not committed yet" in done.err else done

    done = kafka.wait_for("the voters to be committed", answer, every=0.2)
    assert done.code == 0, done.err
    return done.out


def metadata_quorum(
    cluster: Cluster, leader: Node, *arguments: str, at: Node | None = None
) -> ToolOutput:
    node = at or leader
    # The tool has another working directory.
    whole = node.directory / "whole.properties"
    settings = node.settings | {"log.dirs": str(node.metadata_log_dir)}
    whole.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return tool_session(kafka.tools_version(cluster.version)).run(
        "org.apache.kafka.tools.MetadataQuorumCommand",
        *("--command-config", str(whole)),
        *("--bootstrap-controller", leader.at("CONTROLLER"), *arguments),
    )


def features(cluster: Cluster, leader: Node, *arguments: str) -> ToolOutput:
    """kafka-features."""
    return tool_session(kafka.tools_version(cluster.version)).run(
        "org.apache.kafka.tools.FeatureCommand",
        *("--bootstrap-controller", leader.at("CONTROLLER"), *arguments),
    )


def ours(node: Node, *arguments: str, code: int = 0) -> Any:
    """`kraftool quorum …` by way of a node, as a document."""
    action, *rest = arguments
    at = ("--bootstrap-controller", node.at("CONTROLLER"), "--timeout", "60")
    done = kraftool("quorum", action, *at, *rest, "-o", "json")
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def voters(cluster: Cluster, leader: Node) -> set[int]:
    """The voters, as Kafka's own client reads the leader's answer; nobody while it has none."""
    shown = cluster.peek("describe-quorum", leader) or {"voters": ()}
    return {voter["id"] for voter in shown["voters"]}


def wait_voters(cluster: Cluster, leader: Node, *ids: int) -> None:
    kafka.wait_for(
        f"the voters to be {ids}", lambda: voters(cluster, leader) == set(ids), every=0.2
    )


def leads(cluster: Cluster, node: Node) -> None:
    def probe() -> bool:
        shown = cluster.peek("describe-quorum", node)
        return shown is not None and shown["leaderId"] == node.id

    kafka.wait_for(f"{node.id} to lead", probe, every=0.2)


def advertise(node: Node, host: str) -> None:
    """Have a node advertise the same port at another name of this machine."""
    at = f"CONTROLLER://{host}:{node.ports['CONTROLLER']}"
    node.settings["advertised.listeners"] = at
    node.write_properties()


def endpoint(cluster: Cluster, leader: Node, node: Node) -> str:
    """Where a voter is recorded, as Kafka's tool prints it."""
    shown = tool(cluster, leader, "describe", "--status")
    listed = json.loads(re.findall(r"^CurrentVoters:\s+(.*)$", shown, re.MULTILINE)[0])
    [address] = next(voter["endpoints"] for voter in listed if voter["id"] == node.id)
    return str(address)


@pytest.fixture(scope="module", params=VERSIONS)
def quorum(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    if problem := kafka.available(request.param, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(request.param, tmp_path_factory.mktemp("members") / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",), PATIENT) for number in (1, 2, 3, 4)]
        first, second, joining, added = nodes
        del first.settings["controller.quorum.election.timeout.ms"]
        joining.settings |= JOINS
        cluster.use_bootstrap_servers()
        initial = ",".join(cluster.initial_controllers().split(",")[:2])
        cluster.format([first, second], "--initial-controllers", initial)
        cluster.format([joining, added], "--no-initial-controllers")
        start_ours(cluster, first, keeps_leading=True)
        cluster.start(second)
        leads(cluster, first)
        yield cluster


def test_a_kafka_joins_by_itself_a_quorum_that_ours_leads(quorum: Cluster) -> None:
    leader, joining = quorum.nodes[1], quorum.nodes[3]
    quorum.start(joining)
    wait_voters(quorum, leader, 1, 2, 3)
    assert f'"id": 3, "directoryId": "{joining.directory_id}"' in tool(
        quorum, leader, "describe", "--status"
    )


def test_kafkas_tool_adds_and_removes_a_controller_at_a_leader_of_ours(quorum: Cluster) -> None:
    leader, added = quorum.nodes[1], quorum.nodes[4]
    quorum.start(added)
    quorum.wait_caught_up(added)
    output = tool(quorum, leader, "add-controller", at=added)
    assert "Added controller 4" in output
    wait_voters(quorum, leader, 1, 2, 3, 4)
    again = metadata_quorum(quorum, leader, "add-controller", at=added)
    assert again.code != 0
    assert "DuplicateVoterException" in again.out + again.err
    tool(
        quorum, leader, "remove-controller", "--controller-id", "4",
        "--controller-directory-id", added.directory_id,
    )  # fmt: skip
    wait_voters(quorum, leader, 1, 2, 3)


def test_our_command_adds_and_removes_a_controller_at_a_leader_of_ours(quorum: Cluster) -> None:
    leader, added = quorum.nodes[1], quorum.nodes[4]
    quorum.wait_caught_up(added)
    config = str(added.directory / "server.properties")
    answer = ours(leader, "add-controller", "--config", config)
    assert answer["quorumChange"]["outcome"] == "done", answer
    wait_voters(quorum, leader, 1, 2, 3, 4)
    answer = ours(leader, "remove-controller", "-i", "4")
    assert answer["quorumChange"]["outcome"] == "done", answer
    wait_voters(quorum, leader, 1, 2, 3)
    quorum.stop(added)


def test_a_kafka_that_moved_is_recorded_where_it_is_now_by_ours(quorum: Cluster) -> None:
    leader, moved = quorum.nodes[1], quorum.nodes[2]
    assert HOST in endpoint(quorum, leader, moved)
    quorum.stop(moved)
    advertise(moved, "localhost")
    quorum.start(moved)
    kafka.wait_for(
        "its new endpoint", lambda: "localhost" in endpoint(quorum, leader, moved), every=1
    )


def test_its_followers_have_its_log(quorum: Cluster) -> None:
    leader, second, third = (quorum.nodes[node_id] for node_id in (1, 2, 3))
    end = wait_same_end(leader, second, third)
    assert assert_same_log(leader, second, below=end.offset) >= 7, "each change is a batch"
    assert_same_log(leader, third, below=end.offset)


def test_a_leader_of_ours_that_is_removed_hands_over_to_a_kafka(quorum: Cluster) -> None:
    old = quorum.nodes[1]
    output = tool(
        quorum, old, "remove-controller", "--controller-id", "1",
        "--controller-directory-id", old.directory_id,
    )  # fmt: skip
    assert "Removed" in output

    def successor() -> Node | None:
        leader_id = metric(old, "current_leader")
        return quorum.nodes[leader_id] if leader_id in (2, 3) else None

    leader = kafka.wait_for("a Kafka to lead", successor, timeout=120, every=0.2)
    wait_voters(quorum, leader, 2, 3)
    kafka.wait_for("it to be no witness", lambda: metric(old, "witness") == 0, every=0.2)


def stopped(node: Node) -> int:
    """The exit code of a node's process, after a clean shutdown."""
    assert node.process is not None
    code = node.process.stop()
    node.process = None
    return code


def test_ours_joins_by_itself_a_quorum_that_a_kafka_leads_and_moves_in_it(quorum: Cluster) -> None:
    joining = quorum.nodes[1]
    leader = quorum.wait_leader()
    assert stopped(joining) == 0
    start_ours(quorum, joining, options=("--witness",))
    quorum.wait_caught_up(joining)
    wait_voters(quorum, leader, 2, 3)  # without the key it only observes
    stopped(joining)

    joining.settings |= JOINS
    joining.write_properties()
    start_ours(quorum, joining, options=("--witness",))
    wait_voters(quorum, leader, 1, 2, 3)
    assert HOST in endpoint(quorum, leader, joining)
    kafka.wait_for("it to be a witness", lambda: metric(joining, "witness") == 1, every=0.2)
    stopped(joining)

    advertise(joining, "localhost")
    start_ours(quorum, joining, options=("--witness",))
    assert joining.process is not None
    assert "WARNING recorded elsewhere: will be changed" in joining.process.output()
    kafka.wait_for(
        "its new endpoint", lambda: "localhost" in endpoint(quorum, leader, joining), every=1
    )


@pytest.fixture
def static(tmp_path: Path) -> Iterator[Cluster]:
    """Two static voters, not started: 1 is to be ours."""
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2)]
        cluster.use_static_voters()
        cluster.format(nodes)
        yield cluster


def test_static_voters_become_dynamic_at_a_leader_of_ours(static: Cluster) -> None:
    leader, follower = static.nodes[1], static.nodes[2]
    follower.settings |= PATIENT
    follower.write_properties()
    start_ours(static, leader, keeps_leading=True)
    static.start(follower)
    leads(static, leader)
    refused = features(static, leader, "upgrade", "--feature", "group.version=1")
    assert refused.code != 0
    assert "only a controller can change group.version" in refused.out + refused.err

    def upgraded() -> bool:
        done = features(static, leader, "upgrade", "--feature", "kraft.version=1")
        output = done.out + done.err
        # Until the Kafka has told of itself, ours has to refuse.
        assert done.code == 0 or "is known of: voters" in output, output
        return done.code == 0

    kafka.wait_for("the upgrade", upgraded, every=1)
    wait_voters(static, leader, 1, 2)
    shown = tool(static, leader, "describe", "--status")
    for node in (leader, follower):
        assert f'"directoryId": "{node.directory_id}"' in shown
    assert not ours(leader, "upgrade")["quorumChange"]["isNeeded"]
    end = wait_same_end(leader, follower)
    assert_same_log(leader, follower, below=end.offset)
    # The next word of it in a quorum-state is of version 1: as a voter with a directory id.
    assert follower.process is not None
    follower.process.stop()
    follower.process = None
    static.start(follower)
    state = follower.metadata_log_dir / "__cluster_metadata-0" / "quorum-state"
    kafka.wait_for(
        "its quorum-state to be of version 1",
        lambda: json.loads(state.read_text())["data_version"] == 1,
        every=0.2,
    )


def test_a_voter_of_ours_registers_with_a_kafka_that_leads(static: Cluster) -> None:
    """Without that, the Kafka would refuse: controller 1 has not registered."""
    voter, leader = static.nodes[1], static.nodes[2]
    start_ours(static, voter, options=("--role", "voter", "--witness"))
    static.start(leader)
    leads(static, leader)

    def upgraded() -> bool:
        done = features(static, leader, "upgrade", "--feature", "kraft.version=1")
        output = done.out + done.err
        # Each registers, and tells of where it is, a moment after it has found its leader.
        assert done.code == 0 or "has not registered" in output or "voters" in output, output
        return done.code == 0

    kafka.wait_for("the upgrade", upgraded, every=1)
    shown = tool(static, leader, "describe", "--status")
    for node in (voter, leader):
        assert f'"directoryId": "{node.directory_id}"' in shown
    assert set(controllers(static, leader)) == {1, 2}

    before = registered_as(voter)
    assert voter.process is not None
    voter.process.stop()
    voter.process = None
    start_ours(static, voter, options=("--role", "voter", "--witness"))
    assert registered_as(voter) != before, "each run registers anew"
    assert controllers(static, leader)[1] == f"{HOST}:{voter.ports['CONTROLLER']}"


def registered_as(node: Node) -> str:
    """The incarnation that one of ours has registered."""
    assert node.process is not None
    node.process.wait_for_line(r" INFO registered leader=")
    incarnations: list[str] = re.findall(
        r" INFO registered .*incarnation=(\S+)", node.process.output()
    )
    return incarnations[-1]


def controllers(cluster: Cluster, leader: Node) -> dict[int, str]:
    """Where each registered controller is, as Kafka's tool prints it."""
    done = tool_session(kafka.tools_version(cluster.version)).run(
        "org.apache.kafka.tools.ClusterTool",
        *("list-endpoints", "--bootstrap-controller", leader.at("CONTROLLER")),
    )
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()[1:] if line.strip()]
    return {int(row[0]): f"{row[1]}:{row[2]}" for row in rows}
