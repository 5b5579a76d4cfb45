"""One address is enough: it may be a broker's, and it may go while one watches.

A real quorum of three with a broker, for each release. The oldest two have static voters, and their
brokers cannot name the controllers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from kraftool.client.target import target_of
from kraftool.watching.quorum import QuorumReport, quorum_report
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Watcher
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document, kraftool

pytestmark = pytest.mark.interop
VOTERS = (1, 2, 3)
IN_CI = kafka.TOOLS_VERSION
NAMES_CONTROLLERS = (IN_CI, "4.3.1", kafka.NEWEST, "4.1.1", "3.9.1")
"""Whose brokers name the controllers."""
OLD = ("3.7.2", "3.3.2")


def releases(*versions: str) -> pytest.MarkDecorator:
    """Run a test with a quorum of each release, of all but one in the soak only."""
    params = [
        version if version == IN_CI else pytest.param(version, marks=pytest.mark.soak)
        for version in versions
    ]
    return pytest.mark.parametrize("quorum", params, indirect=True, scope="module")


@pytest.fixture(scope="module")
def quorum(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    if problem := kafka.available(request.param, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(request.param, tmp_path_factory.mktemp("bootstrap") / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in VOTERS]
        broker = cluster.add_node(10, ("broker",))
        if _names_controllers(cluster):
            cluster.use_bootstrap_servers()
            cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
            cluster.format([broker])
        else:
            cluster.use_static_voters()
            cluster.format([*nodes, broker])
        cluster.start(*nodes, broker)
        cluster.wait_caught_up(*nodes)
        yield cluster


def _names_controllers(cluster: Cluster) -> bool:
    return cluster.version in NAMES_CONTROLLERS


def _at(*nodes: Node) -> tuple[str, ...]:
    """The options of a command that asks controllers on a busy machine."""
    return "--bootstrap-controller", ",".join(map(_where, nodes)), "--timeout", "60"


def _where(node: Node) -> str:
    return node.at("BROKER" if node.broker else "CONTROLLER")


@releases(*NAMES_CONTROLLERS)
def test_a_broker_names_the_controllers_which_are_asked_instead(quorum: Cluster) -> None:
    broker = quorum.nodes[10]
    kafka.wait_for("every controller to be registered and to agree", partial(_is_whole, broker))
    report = document("quorum", "health", *_at(broker))
    assert [node["id"] for node in report["nodes"]] == [*VOTERS]
    assert [node["endpoint"] for node in report["nodes"]] == [
        _where(quorum.nodes[number]) for number in VOTERS
    ]
    [shown] = report["brokers"]
    assert shown["endpoint"] == _where(broker)
    assert [controller["id"] for controller in shown["controllers"]] == [*VOTERS]
    codes = {finding["code"] for finding in report["health"]["findings"]}
    assert "KT-LIVE-BROKER" in codes
    assert not codes & {"KT-LIVE-REFUSED", "KT-LIVE-UNREACHED", "KT-LIVE-UNOBSERVED"}
    message = f"{_where(broker)} is a broker; the controllers are 1 ({_where(quorum.nodes[1])})"
    for command in ("quorum describe", "watch --once", "diff-voters"):
        done = kraftool(*command.split(), *_at(broker))
        assert done.returncode in (0, 1), done.stderr
        assert message in " ".join((done.stdout + done.stderr).split()), command
        assert "authorizer" not in done.stdout + done.stderr


def _is_whole(node: Node) -> bool:
    done = kraftool("quorum", "describe", *_at(node))
    return done.returncode == 0 and done.stdout.count(" ms\n") == len(VOTERS)


@releases(*NAMES_CONTROLLERS, *OLD)
def test_a_change_is_sent_to_the_leader_not_to_the_broker(quorum: Cluster) -> None:
    broker, follower = (
        quorum.nodes[10],
        next(
            controller
            for controller in quorum.controllers
            if controller.id != quorum.wait_leader().id
        ),
    )
    options = ("-i", follower.id, *_at(broker), "--dry-run")
    done = kraftool("quorum", "remove-controller", *options)
    if _names_controllers(quorum):
        assert done.returncode == 0, done.stdout + done.stderr
        assert "is a broker; the controllers are" in " ".join(done.stdout.split())
    else:
        assert done.returncode == 4, done.stdout
        assert "controller.quorum.voters" in done.stderr


@releases(*OLD)
def test_an_old_broker_is_not_taken_for_the_leader(quorum: Cluster) -> None:
    broker = quorum.nodes[10]
    report = document("quorum", "describe", *_at(broker), code=4)
    assert (report["nodes"], report["leaderId"]) == ([], None)
    [shown] = report["brokers"]
    assert shown["controllers"] == []
    assert "controller.quorum.voters" in shown["advice"]
    # A controller's address beside it is enough.
    leader = quorum.wait_leader()
    report = document("quorum", "describe", *_at(broker, leader))
    assert report["leaderId"] == leader.id


@releases(*NAMES_CONTROLLERS, "3.7.2")
def test_each_node_is_killed_while_only_its_address_is_watched(quorum: Cluster) -> None:
    """The count of voters reached stays right, the leader stays or another is elected and shown.

    Controllers of 3.3.2 do not name each other.
    """
    with asyncio.Runner() as runner:
        for number in VOTERS:
            node = quorum.nodes[number]
            target = target_of(_where(node), (), "", 10.0)
            watcher = Watcher(Sources(target=target))
            until = partial(_until, runner, watcher)
            try:
                until("all are reached", lambda report: _reached(report) == {*VOTERS})
                quorum.kill(node)
                rest = {*VOTERS} - {number}

                def has_another_leader(report: QuorumReport, rest: set[int] = rest) -> bool:
                    return (
                        _reached(report) == rest
                        and report.leader_id in rest
                        and report.tolerance.reason.startswith("2 of 3 voters are ready")
                    )

                report = until(f"a leader without node {number}", has_another_leader)
                assert not any(
                    "No node leads" in statement.reason for statement in report.statements
                )
                quorum.start(node)
                until("all are reached again", lambda report: _reached(report) == {*VOTERS})
            finally:
                runner.run(watcher.close())


def _reached(report: QuorumReport) -> set[int | None]:
    return {replica.id for replica in report.replicas if replica.is_voter and replica.is_reached}


def _until(
    runner: asyncio.Runner, watcher: Watcher, what: str, holds: Callable[[QuorumReport], bool]
) -> QuorumReport:
    """What the dashboard shows, once it is so."""
    last: list[QuorumReport] = []

    def probe() -> QuorumReport | None:
        last[:] = [quorum_report(runner.run(watcher.poll()))]
        return last[0] if holds(last[0]) else None

    try:
        report: QuorumReport = kafka.wait_for(what, probe, every=0.2)
    except kafka.KafkaFailed as error:
        raise AssertionError(f"{error}; the last look: {last}") from None
    return report
