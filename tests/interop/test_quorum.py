"""`quorum` on real quorums: it tells what kafka-metadata-quorum tells; what it changes is so.

One quorum for each release: three dynamic voters and a fourth controller that observes. Static ones
are upgraded. The last test of a quorum takes its majority away.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kraftool.client.model import QuorumView
from kraftool.client.target import target_of
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document, kraftool
from tests.interop.shared_jvms import tool_session
from tests.support.ports import HOST

T = TypeVar("T")
pytestmark = pytest.mark.interop
_MOVES = re.compile(r"^(HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs): .*", re.MULTILINE)


_kraftool = partial(kraftool, "quorum")
_document = partial(document, "quorum")


def _tool(cluster: Cluster, *arguments: str) -> str:
    done = tool_session(kafka.tools_version(cluster.version)).run(
        "org.apache.kafka.tools.MetadataQuorumCommand",
        *("--bootstrap-controller", cluster.wait_leader().at("CONTROLLER"), *arguments),
    )
    assert done.code == 0, done.err
    return done.out


RELEASES = ("3.9.1", "4.1.1", kafka.TOOLS_VERSION, "4.3.1", kafka.NEWEST)
on_one_release = pytest.mark.parametrize(
    "quorum",
    [
        pytest.param(release, marks=() if release == kafka.NEWEST else pytest.mark.soak)
        for release in RELEASES  # all of them in the fixture's order, so that each is set up once
    ],
    indirect=True,
)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(release, marks=() if release == kafka.NEWEST else pytest.mark.soak)
        for release in RELEASES
    ],
)
def quorum(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    if problem := kafka.available(request.param, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(request.param, tmp_path_factory.mktemp("quorum") / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        fourth = cluster.add_node(4, ("controller",))
        cluster.use_bootstrap_servers()
        initial = ",".join(cluster.initial_controllers().split(",")[:3])
        cluster.format(nodes, "--initial-controllers", initial)
        # As an operator would: no release is given, and every Kafka starts on it.
        words = ("format", "-N", "-t", cluster.id, "-c", _config(fourth))
        done = kraftool(*words, cwd=fourth.directory)
        assert done.returncode == 0, done.stderr
        cluster.start(*nodes)
        cluster.wait_leader()
        _join(cluster, fourth, nodes)
        yield cluster


def _join(cluster: Cluster, observer: Node, voters: list[Node]) -> None:
    """Start an observer, and once more if it has not registered.

    A Kafka that asked for its registration where the leader was before may never ask the next
    leader: "channel manager timed out before sending the request", for as long as it runs.
    """
    cluster.start(observer)
    cluster.wait_caught_up(*voters, observer)
    try:
        _wait_whole(voters[0], len(voters) + 1, timeout=30)
    except kafka.KafkaFailed:
        cluster.stop(observer)
        cluster.start(observer)
        _wait_whole(voters[0], len(voters) + 1)


def _wait_whole(node: Node, count: int, *, timeout: float = kafka.PATIENCE_S) -> None:
    """A controller describes the cluster once it has read its metadata, and is found by others
    once it has registered."""

    def probe() -> bool:
        shown = _kraftool("describe", *_at(node), "-o", "json").stdout
        return sum(not answer["reason"] for answer in json.loads(shown)["nodes"]) == count

    what = f"all {count} controllers to be registered"
    kafka.wait_for(what, probe, timeout=timeout, every=0.5)


def _in_one_epoch(cluster: Cluster, look: Callable[[], T]) -> T:
    """What is seen while nobody is elected: on a busy machine a leader may be lost."""

    def probe() -> tuple[T] | None:
        epoch = cluster.leader_epoch()
        seen = look()
        return (seen,) if cluster.leader_epoch() == epoch else None

    [seen] = kafka.wait_for("a look within one epoch", probe)
    return seen


def _until_health(node: Node, holds: Callable[[Any], object], *, code: int) -> Any:
    """What `quorum health` tells, once it is so."""

    def probe() -> Any:
        with suppress(AssertionError):  # it ends otherwise as yet
            health = _document("health", *_at(node), code=code)["health"]
            return health if holds(health) else None
        return None

    return kafka.wait_for("the health that is expected", probe, every=0.5)


def _codes(health: Any) -> set[str]:
    return {finding["code"] for finding in health["findings"]}


def _observers(described: Any) -> list[int]:
    return [replica["id"] for replica in described["replicas"] if not replica["isVoter"]]


def _at(node: Node) -> tuple[str, ...]:
    """The options of whoever asks a node on a busy machine."""
    return "--bootstrap-controller", node.at("CONTROLLER"), "--timeout", "60"


def _config(node: Node) -> str:
    return str(node.directory / "server.properties")


def _with_log_dir(node: Node, folder: Path) -> str:
    settings = Path(_config(node)).read_text()
    return re.sub(r"(?m)^log\.dirs=.*", f"log.dirs={folder}", settings)


def test_status_is_what_kafkas_tool_prints(quorum: Cluster) -> None:
    theirs, ours = _in_one_epoch(
        quorum,
        lambda: (
            _tool(quorum, "describe", "--status"),
            _kraftool("describe", *_at(quorum.nodes[2]), "--status"),
        ),
    )
    assert ours.returncode == 0, ours.stderr
    assert _MOVES.sub(r"\1", ours.stdout) == _MOVES.sub(r"\1", theirs)


def test_replication_is_what_kafkas_tool_prints(quorum: Cluster) -> None:
    def without_what_moves(shown: str) -> list[list[str]]:
        rows = [line.split() for line in shown.splitlines()]
        kept = [[row[0], row[1], row[-1]] for row in rows]
        return [kept[0], *sorted(kept[1:])]

    theirs, ours = _in_one_epoch(
        quorum,
        lambda: (
            _tool(quorum, "describe", "--replication"),
            _kraftool("describe", *_at(quorum.nodes[2]), "--replication"),
        ),
    )
    assert without_what_moves(ours.stdout) == without_what_moves(theirs)
    assert ours.stdout.splitlines()[0].split() == theirs.splitlines()[0].split()
    human = _kraftool("describe", *_at(quorum.nodes[2]), "--replication", "--human-readable")
    assert " ms ago" in human.stdout


def test_every_controller_is_found_from_one_and_nobody_notices(quorum: Cluster) -> None:
    report = _in_one_epoch(quorum, lambda: _document("describe", *_at(quorum.nodes[1])))
    assert report["clusterId"] == quorum.id
    assert [node["id"] for node in report["nodes"]] == [1, 2, 3, 4]
    assert {node["leaderId"] for node in report["nodes"]} == {report["leaderId"]}
    voters = [replica for replica in report["replicas"] if replica["isVoter"]]
    assert sorted(voter["id"] for voter in voters) == [1, 2, 3]
    assert _observers(report) == [4], "clients do not observe"
    assert report["hasActiveController"], "and so could those that do not lead"
    assert {node["isWitness"] for node in report["nodes"]} == {False}
    endpoints = {voter["id"]: voter["endpoints"][0]["port"] for voter in voters}
    assert endpoints == {
        node_id: quorum.nodes[node_id].ports["CONTROLLER"] for node_id in (1, 2, 3)
    }


def test_a_quorum_that_is_well_is_told_to_be(quorum: Cluster) -> None:
    health = _until_health(quorum.nodes[1], lambda health: health["isWell"], code=0)
    assert health["keepingUpIds"] == [1, 2, 3]
    assert health["commitsPerSecond"] > 0.5
    assert [finding["code"] for finding in health["findings"]] == ["KT-LIVE-STANDBY"]


def _is_ready(node: Node) -> bool | None:
    return _kraftool("ready", *_at(node)).returncode == 0 or None


def test_a_monitor_gets_what_it_expects_and_each_controller_is_ready(quorum: Cluster) -> None:
    at = _at(quorum.nodes[1])
    waited = _document("health", *at, "--expect-voters", "1,2,3", "--wait", "60")["health"]
    assert waited["isWell"]
    assert waited["failureTolerance"] == 1
    assert 0 < waited["stableSinceMs"] / 1000 <= time.time()
    other = _document("health", *at, "--expect-voters", "1,2", code=1)["health"]
    assert "KT-LIVE-UNEXPECTED-VOTERS" in _codes(other)
    for node in quorum.nodes.values():
        kafka.wait_for(
            f"node {node.id} to be ready",
            partial(_is_ready, node),
        )
        assert _document("ready", *at, "--node", str(node.id))["ready"]["nodeId"] == node.id
    assert not _document("ready", *at, "--node", "9", code=1)["ready"]["isReady"]


@on_one_release
def test_a_cluster_begins_at_the_level_that_a_running_quorum_has_finalized(
    quorum: Cluster, tmp_path: Path
) -> None:
    config = tmp_path / "server.properties"
    config.write_text(_with_log_dir(quorum.nodes[1], tmp_path / "data"))
    words = ("format", "-s", "-c", config, *_at(quorum.nodes[2]))
    done = kraftool(*words, "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-o", "json", "--dry-run")
    assert done.returncode == 0, done.stderr
    formatted = json.loads(done.stdout)
    [level] = {
        node["finalizedFeatures"]["metadata.version"]
        for node in _document("describe", *_at(quorum.nodes[2]))["nodes"]
    }
    assert formatted["levels"]["metadata.version"] == level
    assert formatted["metadataVersionSource"].startswith(f"cluster {quorum.id}, node ")
    again = kraftool(*words, "-t", quorum.id)
    assert (again.returncode, "second voter set" in again.stderr) == (5, True)


def _answered(*words: str) -> str:
    """What a command prints; asked again while the quorum elects, as it does on a busy machine."""

    def probe() -> tuple[str] | None:
        done = kraftool(*words)
        if done.returncode == 3 and "no leader's log could be read" in done.stderr:
            return None
        assert done.returncode == 0, done.stderr
        return (done.stdout,)

    [shown] = kafka.wait_for("a leader that tells its log", probe)
    return shown


def _log(*where: str) -> list[dict[str, Any]]:
    """Batches and records, without the files that they were read from and the places in them."""
    shown = [json.loads(line) for line in _answered("dump-log", *where, "-o", "jsonl").splitlines()]
    for entry in shown:
        entry.pop("file")
        entry.pop("position", None)
    return shown


def _kafka_log(*where: str) -> list[str]:
    return _answered("dump-log", *where, "-o", "kafka").splitlines()


@on_one_release
def test_the_log_of_a_running_leader_is_that_of_its_directory(quorum: Cluster) -> None:
    """What is committed: the directory, read afterwards, goes on with the same or more."""

    def look() -> Any:
        at, leader = _at(quorum.nodes[2]), quorum.wait_leader()
        directory = str(leader.metadata_log_dir)
        return leader, _log(*at), _kafka_log(*at), _log(directory), _kafka_log(directory)

    leader, live, verbatim, kept, kept_verbatim = _in_one_epoch(quorum, look)
    assert len(live) > 10
    assert live == kept[: len(live)]
    name = f"/__cluster_metadata-0/{0:020}.log"
    assert verbatim[0] == f"Dumping node {leader.id} ({leader.at('CONTROLLER')}){name}"
    assert verbatim[1:] == kept_verbatim[1 : len(verbatim)]


def _state(*where: str) -> Any:
    """Without the file that it was read from."""
    state = json.loads(_answered("state", *where, "-o", "json"))
    del state["loadedFrom"]
    return state


@on_one_release
def test_the_state_of_a_running_leader_is_that_of_its_directory(quorum: Cluster) -> None:
    at = _at(quorum.nodes[2])
    live = _state(*at)
    offset = live["provenance"]["offset"]
    directory = str(quorum.wait_leader().metadata_log_dir)
    for more in ((), ("--at", "5")):
        live = _state(*at, *more) if more else live
        kept = _state(directory, *(more or ("--at", str(offset))))
        assert live == kept
    tree = ("-c", "tree image", "--at", str(offset))
    assert _answered("shell", *at, *tree) == _answered("shell", directory, *tree)


@on_one_release
def test_the_log_of_a_running_quorum_is_followed(quorum: Cluster) -> None:
    """A quorum without a broker commits a NoOp every half second."""
    at = _at(quorum.nodes[2])
    more = 4 + max(entry["offset"] for entry in _log(*at) if entry["kind"] == "record")
    words = ("dump-log", *at, "-o", "jsonl", "--follow", "--head", str(more + 1))
    records = [json.loads(line) for line in _answered(*words).splitlines()]
    offsets = [record["offset"] for record in records if record["kind"] == "record"]
    assert offsets == list(range(more + 1))


def test_a_controller_is_added_moved_and_removed(quorum: Cluster) -> None:
    fourth = quorum.nodes[4]
    at = _at(quorum.nodes[2])
    plan = _document("add-controller", *at, "--config", _config(fourth), "--dry-run")
    assert plan["quorumChange"]["isPossible"]
    assert plan["quorumChange"]["outcome"] == "not tried"
    before = _document("describe", *at)
    assert _observers(before) == [4], "a dry run changes nothing"

    done = _document("add-controller", *at, "-i", "4")
    assert done["quorumChange"]["outcome"] == "done"
    assert plan["quorumChange"]["subject"] == done["quorumChange"]["subject"]
    again = _document("add-controller", *at, "--config", _config(fourth))
    assert not again["quorumChange"]["isNeeded"]
    assert f'"id": 4, "directoryId": "{fourth.directory_id}"' in _tool(
        quorum, "describe", "--status"
    )

    port = fourth.ports["CONTROLLER"]
    nowhere = _document(
        *("endpoints", *at, "-i", "4", "--endpoint", f"CONTROLLER://{HOST}:1"), code=5
    )
    assert nowhere["quorumChange"]["outcome"] == "not tried"
    moved = _document("endpoints", *at, "-i", "4", "--endpoint", f"CONTROLLER://localhost:{port}")
    assert moved["quorumChange"]["outcome"] == "done"

    gone = _document("remove-controller", *at, "-i", "4", "--dry-run")
    assert gone["quorumChange"]["isPossible"]
    gone = _document("remove-controller", *at, "-i", "4", "-d", fourth.directory_id)
    assert gone["quorumChange"]["outcome"] == "done"
    observes = re.compile(rf"^4\s+{fourth.directory_id}\s.*Observer", re.MULTILINE)
    kafka.wait_for(
        "it to observe", lambda: observes.search(_tool(quorum, "describe", "--replication"))
    )
    if quorum.version != kafka.TOOLS_VERSION:
        return
    ours = _voters_with(quorum, 4)[0]
    whole = fourth.directory / "whole.properties"  # the tool has another working directory
    whole.write_text(_with_log_dir(fourth, fourth.metadata_log_dir))
    _tool(quorum, "--command-config", str(whole), "add-controller")
    assert _voters_with(quorum, 4)[-1] == ours
    assert _document("remove-controller", *at, "-i", "4")["quorumChange"]["outcome"] == "done"


def _voters_with(cluster: Cluster, node_id: int) -> list[Any]:
    """What each set of voters that has a node says of it, in order."""
    records = _log(*_at(cluster.nodes[2]), "--control")
    sets = [record["data"]["voters"] for record in records if record.get("type") == "KRaftVoters"]
    return [voter for voters in sets for voter in voters if voter["voterId"] == node_id]


def test_what_kafka_would_refuse_is_not_asked(quorum: Cluster) -> None:
    at = _at(quorum.nodes[2])
    for arguments in (
        ("remove-controller", *at, "-i", "9"),
        ("remove-controller", *at, "-i", "1", "-d", "AAAAAAAAAAAAAAAAAAAAAQ"),
        ("add-controller", *at, "--controller-id", "9", "--endpoint", f"CONTROLLER://{HOST}:1"),
        ("add-controller", *at, "--controller-id", "4", "--endpoint", f"OTHER://{HOST}:1"),
        ("add-controller", *at, "--config", _config(quorum.nodes[1]).replace("1/s", "1/s")),
    ):
        is_there = "node-1" in arguments[-1]
        answer = _document(*arguments, code=0 if is_there else 5)
        assert answer["quorumChange"]["outcome"] == "not tried"
        assert answer["quorumChange"]["isPossible"] == is_there
        assert _document(*arguments, "--dry-run", code=0 if is_there else 1)


def test_an_upgraded_quorum_is_not_upgraded_again(quorum: Cluster) -> None:
    answer = _document("upgrade", *_at(quorum.nodes[2]))
    assert not answer["quorumChange"]["isNeeded"]


@on_one_release
def test_one_voter_at_a_time_may_stop(quorum: Cluster) -> None:
    leader = quorum.wait_leader()
    at = _at(leader)
    first, second = (node for node in quorum.running() if node.id not in (leader.id, 4))
    for voter in (leader, first, second):
        assert _kraftool("may-stop", str(voter.id), "--wait", *at).returncode == 0
    assert _document("may-stop", "9", *at, code=1)["mayStop"]["verdict"] == "never"

    quorum.kill(first)
    answer = _document("may-stop", str(second.id), *at, code=1)["mayStop"]
    assert answer["verdict"] == "not now", "it was killed a moment ago, and counts no longer"
    assert _kraftool("may-stop", str(first.id), *at).returncode == 0, "it is down already"

    quorum.start(first)
    waited = _kraftool("may-stop", str(second.id), "--wait", *at)
    assert waited.returncode == 0, waited.stderr
    assert f"Node {second.id} may stop now." in waited.stdout
    quorum.kill(second)
    assert quorum.wait_leader().id in (leader.id, first.id)
    quorum.start(second)
    quorum.wait_caught_up(*quorum.running())


def test_without_a_majority_every_node_still_tells_what_it_knows(quorum: Cluster) -> None:
    leader = quorum.wait_leader()
    first, second = (node for node in quorum.running() if node.id not in (leader.id, 4))
    quorum.kill(first)

    # That it is silent takes three fetch timeouts. It is no spare from the first poll on.
    report = _until_health(leader, lambda health: "KT-LIVE-SILENT" in _codes(health), code=1)
    assert len(report["keepingUpIds"]) == len(report["readyVoterIds"]) == 2
    assert {"KT-LIVE-NO-SPARE", "KT-LIVE-UNREACHED"} <= _codes(report)
    blocked = _document("remove-controller", *_at(leader), "-i", str(second.id), code=5)
    assert any(
        "1 of 2 voters keeps up" in check["reason"] for check in blocked["quorumChange"]["checks"]
    )

    quorum.kill(second)

    def probe() -> bool:
        done = json.loads(_kraftool("describe", *_at(leader), "-o", "json").stdout)
        # One that has resigned names itself until it stands for election again.
        return done["leaderId"] is None and done["nodes"][leader.id - 1]["leaderId"] is None

    kafka.wait_for("the leader to resign", probe, every=0.5)
    report = _document("describe", *_at(leader), code=1)
    assert report["replicas"] is None
    reached = [answer for answer in report["nodes"] if answer["isReached"]]
    assert [answer["id"] for answer in reached] == sorted([leader.id, 4])
    assert all(answer["epoch"] >= 1 for answer in reached)
    assert all(answer["finalizedFeatures"]["kraft.version"] == 1 for answer in reached)
    health = _document("health", *_at(leader), code=1)
    assert "KT-LIVE-NO-LEADER" in _codes(health["health"])
    checks = _document("ready", *_at(leader), code=1)["ready"]["checks"]
    assert checks[-1]["reason"] == "no node leads"
    for node in quorum.running():
        quorum.kill(node)
    assert _kraftool("describe", *_at(leader)).returncode == 4
    assert _kraftool("remove-controller", *_at(leader), "-i", "1").returncode == 4


@pytest.mark.soak
@pytest.mark.parametrize("version", ["3.3.2", "3.7.2"])
def test_old_controllers_on_standby_are_no_witnesses(version: str, tmp_path: Path) -> None:
    """The newer ones are those of the quorum above."""
    if problem := kafka.available(version, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(version, tmp_path / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2)]
        cluster.use_static_voters()
        cluster.format(nodes)
        cluster.start(*nodes)
        # Those of 3.3 name no other controller's address.
        where = [f"{node.id}={node.at('CONTROLLER')}" for node in nodes]

        def led() -> QuorumView | None:
            view = asyncio.run(target_of(nodes[0].at("CONTROLLER"), where, "", 60.0).survey())
            return view if view.leader is not None and len(view.reached) == 2 else None

        view = kafka.wait_for("a leader", led, every=0.5)
        assert [node.runs_controller for node in view.nodes] == [True, True]


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
def test_static_voters_become_dynamic(version: str, tmp_path: Path) -> None:
    """Kafka 3.9 would say so and not do it: it is not asked, and what it then claims is seen."""
    if problem := kafka.available(version, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(version, tmp_path / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        cluster.use_static_voters()
        cluster.format(nodes)
        cluster.start(*nodes)
        cluster.wait_caught_up(*nodes)
        _wait_whole(nodes[0], 3)
        at = _at(nodes[0])
        _until_health(nodes[0], lambda health: "KT-LIVE-STATIC" in _codes(health), code=0)
        blocked = _document("remove-controller", *at, "-i", "1", "--dry-run", code=1)
        assert any(
            "kraft.version is 0" in check["reason"] for check in blocked["quorumChange"]["checks"]
        )
        if not kafka.at_least(version, "4.0"):
            report = _document("upgrade", *at, code=5)
            assert report["quorumChange"]["outcome"] == "not tried"
            assert any(
                "older than 4.1" in check["reason"] for check in report["quorumChange"]["checks"]
            )
            cluster.admin("update-features", at_leader=True, features={"kraft.version": 1})
            _until_health(
                nodes[0], lambda health: "KT-LIVE-FALSE-UPGRADE" in _codes(health), code=1
            )
            report = _document("remove-controller", *at, "-i", "1", "--dry-run", code=1)
            assert any(
                "kraft.version is 0" in check["reason"]
                for check in report["quorumChange"]["checks"]
            )
            return

        def probe() -> bool:
            return _kraftool("upgrade", *at, "--dry-run").returncode == 0

        kafka.wait_for("every voter to have told what it supports", probe, every=0.5)
        assert _document("upgrade", *at)["quorumChange"]["outcome"] == "done"

        def levels() -> set[int]:
            report = _document("describe", *at)
            return {node["finalizedFeatures"].get("kraft.version", 0) for node in report["nodes"]}

        kafka.wait_for("it to be told", lambda: 1 in levels(), every=0.5)
        assert '"directoryId"' in _tool(cluster, "describe", "--status")
