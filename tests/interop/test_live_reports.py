"""A live quorum in reports: who reads its metadata is seen by nobody, and what is told of it is so.

One quorum of three controllers and a broker goes from well to without a leader; its tests are in
the order in which that happens. Older releases show only that the reader is none of their replicas.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftool.client.model import QuorumView
from kraftool.client.observer import Observation, SilentObserver
from kraftool.client.target import Target, target_of
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from tests.commands.test_help import EXAMPLES
from tests.interop import kafka, scenarios
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import document, kraftool
from tests.support.backups import PUBLIC_KEY, back_up
from tests.support.documented import Machine, examples
from tests.support.places import ROOT
from tests.support.ports import HOST

pytestmark = pytest.mark.interop


def _at(*nodes: Node) -> tuple[str, ...]:
    """The options of whoever asks nodes on a busy machine."""
    servers = ",".join(node.at("CONTROLLER") for node in nodes)
    return "--bootstrap-controller", servers, "--timeout", "60"


def _target(node: Node) -> Target:
    return target_of(node.at("CONTROLLER"), (), "", 60)


def _until(holds: Callable[[Any], object], *arguments: object, code: int = 0) -> Any:
    """What a command says as JSON, once it ends with this exit code and says this."""

    last: object = None

    def probe() -> Any:
        nonlocal last
        try:
            last = report = document(*arguments, code=code)
        except AssertionError as error:  # it ends otherwise as yet
            last = error
            return None
        return report if holds(report) else None

    try:
        return kafka.wait_for(f"{arguments[0]} to end with {code}", probe, every=0.3)
    except kafka.KafkaFailed as failure:
        failure.add_note(f"the last answer: {last}"[:5000])
        raise


def _codes(document: Any) -> set[str]:
    """Of health, diff-voters or doctor."""
    findings = document.get("health", document).get("findings", [])
    findings += document.get("diagnoses", [])
    findings += [
        one for directory in document.get("directories", []) for one in directory["diagnoses"]
    ]
    return {finding["code"] for finding in findings}


def _on_one_line(shown: str) -> str:
    return " ".join(shown.split())


def _replicas(cluster: Cluster) -> set[int]:
    shown = kafka.wait_for("an answer to describe-quorum", cluster.quorum)
    return {replica["id"] for replica in shown["voters"] + shown["observers"]}


# --- nobody sees the reader -----------------------------------------------------------------------


async def _watch(target: Target, cluster: Cluster) -> tuple[Observation, QuorumView]:
    """Read, let the log grow, read on."""
    observer = SilentObserver(target.access)
    first = await observer.advance(await target.survey())
    for name in ("one", "two", "three"):
        cluster.admin("create-topic", topic=name, partitions=3, replication=1)
        last = await observer.advance(await target.survey())
    assert last.end_offset > first.end_offset
    return last, await target.survey()


def _check_unseen(cluster: Cluster, node: Node, directory: Path) -> None:
    before = _replicas(cluster)
    observation, view = asyncio.run(_watch(_target(node), cluster))
    assert _replicas(cluster) == before, "who reads is listed nowhere"
    assert {replica.replica.id for replica in (*view.voters, *view.observers)} == before
    kept = load_state(str(directory), at=observation.end_offset).image
    assert state_hash(observation.image) == state_hash(kept)
    assert {"one", "two", "three"} <= set(observation.image.topics.by_name)


@pytest.fixture(scope="module", params=["3.9.1", pytest.param("4.3.0", marks=pytest.mark.soak)])
def single(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """One combined node; whose id another cluster's node has too."""
    if problem := kafka.available(request.param, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    root = tmp_path_factory.mktemp("single") / "nodes"
    with Cluster(request.param, root, common=scenarios.SMALL_SNAPSHOTS) as cluster:
        node = cluster.add_node(1, ("broker", "controller"))
        cluster.use_static_voters()
        cluster.format([node])
        cluster.start(node)
        yield cluster


def test_who_reads_is_no_replica_of_an_older_release(single: Cluster) -> None:
    node = single.nodes[1]
    _check_unseen(single, node, node.metadata_log_dir)
    report = document("diff-voters", *_at(node))
    (source,) = report["sources"]
    assert source["kind"] == "live controller"
    assert [voter["id"] for voter in source["voterSet"]["voters"]] == [1]


# --- one quorum, from well to without a leader ----------------------------------------------------


@pytest.fixture(scope="module")
def quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if problem := kafka.available(kafka.NEWEST, kafka.TOOLS_VERSION):
        pytest.skip(problem)
    root = tmp_path_factory.mktemp("live-reports") / "nodes"
    with Cluster(kafka.NEWEST, root, common=scenarios.SMALL_SNAPSHOTS) as cluster:
        controllers = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        broker = cluster.add_node(11, ("broker",))
        cluster.use_bootstrap_servers()
        cluster.format(controllers, "--initial-controllers", cluster.initial_controllers())
        cluster.format([broker])
        cluster.start(*controllers)
        cluster.wait_leader()
        cluster.start(broker)
        cluster.wait_caught_up(*controllers)
        yield cluster


def _directories(cluster: Cluster) -> list[str]:
    return [str(cluster.nodes[number].metadata_log_dir) for number in (1, 2, 3)]


def test_who_reads_is_no_replica(quorum: Cluster) -> None:
    node = quorum.wait_leader()
    _check_unseen(quorum, node, node.metadata_log_dir)


def test_a_quorum_that_is_well(quorum: Cluster) -> None:
    report = _until(
        lambda answer: (answer["health"]["clusterHealth"] or {}).get("controllerIds") == [1, 2, 3],
        *("quorum", "health", *_at(quorum.nodes[2])),
    )
    assert report["health"]["isWell"], report["health"]["findings"]
    cluster = report["health"]["clusterHealth"]
    assert {name: ids for name, ids in cluster.items() if name.endswith("BrokerIds")} == {
        "registeredBrokerIds": [11],
        "fencedBrokerIds": [],
        "shuttingDownBrokerIds": [],
        "notFetchingBrokerIds": [],
    }
    assert cluster["partitionCount"] == 9
    assert cluster["offlinePartitionCount"] == cluster["underReplicatedPartitionCount"] == 0
    only = ("quorum", "health", "--quorum-only", *_at(quorum.nodes[2]))
    assert _until(bool, *only)["health"]["clusterHealth"] is None


def _of_nodes(report: Any) -> list[Any]:
    return [source for source in report["sources"] if source["kind"] == "live controller"]


def test_its_nodes_and_their_directories_tell_the_same_voters(quorum: Cluster) -> None:
    def in_one_epoch(report: Any) -> bool:
        """Nobody is elected meanwhile, and all know of it."""
        epochs = {node["quorumState"]["leaderEpoch"] for node in _of_nodes(report)}
        return epochs == {quorum.leader_epoch()}

    asked = ("diff-voters", *_directories(quorum), *_at(quorum.nodes[2]))
    report = _until(in_one_epoch, *asked)
    assert not report["hasDifferences"]
    assert len(report["sources"]) == 6
    live = _of_nodes(report)
    own = {number: quorum.nodes[number].directory_id for number in (1, 2, 3)}
    assert {source["node"]["nodeId"]: source["node"]["directoryId"] for source in live} == own
    (leader,) = (source for source in live if source["voterSet"] is not None)
    assert {voter["id"]: voter["directoryId"] for voter in leader["voterSet"]["voters"]} == own
    assert {entry["commitment"] for entry in leader["history"]} == {"committed"}
    assert 0 < leader["highWatermark"] <= leader["endOffset"]
    assert _until(bool, "diff-voters", *_at(quorum.nodes[2]))["findingCounts"]["error"] == 0


def test_doctor_finds_nothing_wrong_with_it(quorum: Cluster) -> None:
    alone = _until(bool, "doctor", *_at(quorum.nodes[2]))
    assert alone["isLive"]
    (section,) = alone["directories"]
    assert section["isAsked"]
    assert section["nodeId"] == quorum.wait_leader().id
    both = _until(bool, "doctor", *_directories(quorum), *_at(quorum.nodes[2]))
    assert [directory["isAsked"] for directory in both["directories"]] == [False] * 3


def test_its_features_are_those_of_a_directory(quorum: Cluster) -> None:
    live = document("features", *_at(quorum.nodes[2]), "--to", "4.4")
    kept = document("features", _directories(quorum)[0], "--to", "4.4")
    assert live["plan"] == kept["plan"]
    assert [(feature["name"], feature["level"]) for feature in live["features"]] == [
        (feature["name"], feature["level"]) for feature in kept["features"]
    ]


def test_a_backup_of_its_leader_is_committed_and_has_its_state(
    quorum: Cluster, tmp_path: Path
) -> None:
    store, leader = tmp_path / "prod", quorum.wait_leader()
    replicas = _replicas(quorum)
    manifest = _until(bool, "backup", "create", store, *_at(leader))
    assert _replicas(quorum) == replicas
    assert manifest["isCommitted"] is True
    assert manifest["clusterId"] == quorum.id
    own = {number: quorum.nodes[number].directory_id for number in (1, 2, 3)}
    assert {key["id"]: key["directoryId"] for key in manifest["voterKeys"]} == own
    kept = load_state(str(leader.metadata_log_dir), at=manifest["offset"]).image
    assert manifest["stateHash"] == state_hash(kept)
    assert manifest["epoch"] == kept.provenance.last_epoch
    verified = document("backup", "verify", store)
    assert [backup["isVerified"] for backup in verified["backups"]] == [True]
    again = _until(bool, "backup", "create", store, *_at(leader))
    assert again["checkpoint"] == manifest["checkpoint"], "nothing changed but the offset"
    diff = document("diff-state", store / manifest["name"], leader.metadata_log_dir)
    assert not diff["changes"]


CHANGES = ("add-controller", "endpoints", "plan.yaml", "s3://")
"""Examples that change the quorum, or require a plan or a store: test_quorum.py,
test_recover_apply.py, tests/commands/test_backup_urls.py."""


def _live_examples() -> list[str]:
    shown = [line.line for path in sorted((ROOT / "docs").glob("*.md")) for line in examples(path)]
    live = [line for line in [*shown, *EXAMPLES] if "--bootstrap-controller" in line]
    return [line for line in dict.fromkeys(live) if not any(part in line for part in CHANGES)]


def test_the_documented_commands_run(quorum: Cluster, tmp_path: Path) -> None:
    """Those that ask running nodes, as docs and help have them."""
    names = {
        f"{host}-{number}:9093": quorum.nodes[number].at("CONTROLLER")
        for host in ("ctl", "node")
        for number in (1, 2, 3)
    }
    names |= {"c1:9093": names["ctl-1:9093"]}
    machine = Machine(tmp_path / "machine", tmp_path / "home", names)
    machine.program("kubectl", 'test "$1" = annotate')
    node = quorum.nodes[1]
    machine.place("/var/lib/kafka/data").symlink_to(node.metadata_log_dir)
    settings = (node.directory / "server.properties").read_text()
    machine.place("/etc/kafka/server.properties").write_text(
        re.sub(r"(?m)^log.dirs=.*$", f"log.dirs={node.metadata_log_dir}", settings)
    )
    machine.place("/etc/kraftool/age.pub").write_text(PUBLIC_KEY)
    back_up(machine.place("/backup/prod"), node.metadata_log_dir)
    quorum.wait_caught_up(*(quorum.nodes[number] for number in (1, 2, 3)))
    shutil.copytree(node.metadata_log_dir, machine.place("/backup/data"))
    wrong = []
    for line in _live_examples():
        if line.startswith("kraftool exporter"):  # it would serve until it is stopped
            line += " --once --textfile kraftool.prom"
        # There is no way back from the records of Kafka 4.4, and 24 hours ago there was nothing.
        expected = int("--to 4.3" in line or "--at-time 24h" in line)
        if "-controller 3" in line or "renew-registration 3" in line:  # it is a voter
            expected = 1 if "--dry-run" in line else 5
        if "--follow" in line:
            expected = 130
            code, printed = machine.interrupt(line, "BrokerRegistrationChange|NoOp")
        elif line.startswith("kraftool watch"):
            code, printed = machine.type(line, [("Quorum", lambda _: "q")])
        else:
            code, printed = machine.run(line)
        if code != expected:
            wrong.append(f"{line}\nexit code {code}\n{printed[-1000:]}")
    assert not wrong, "\n\n".join(wrong)


def test_a_node_of_another_cluster_in_the_bootstrap_list(quorum: Cluster, tmp_path: Path) -> None:
    """It has a node's id, as any cluster has a node 1."""
    with Cluster(kafka.NEWEST, tmp_path / "other") as other:
        stranger = other.add_node(1, ("controller",))
        other.use_bootstrap_servers()
        other.format([stranger], "--standalone")
        other.start(stranger)
        other.wait_leader()
        at = _at(quorum.nodes[1], quorum.nodes[2], quorum.nodes[3], stranger)
        # A controller tells its cluster's id once it has read its metadata.
        report = _until(
            lambda answer: "KT-LIVE-CLUSTER-ID" in _codes(answer),
            *("quorum", "health", *at),
            code=1,
        )
        assert len(report["nodes"]) == 4
        report = document("diff-voters", *at, code=1)
        assert "KT-DIR-CLUSTER-ID" in _codes(report)
        assert {
            source["node"]["clusterId"]
            for source in report["sources"]
            if source["isOfOtherCluster"]
        } == {other.id}
        assert {"KT-LIVE-CLUSTER-ID", "KT-DIR-CLUSTER-ID"} <= _codes(
            document("doctor", *at, code=1)
        )


def test_a_voter_formatted_anew_is_known_by_its_directory_id(quorum: Cluster) -> None:
    leader = quorum.wait_leader()
    node = next(quorum.nodes[node_id] for node_id in (3, 2) if node_id != leader.id)
    was = node.directory_id
    quorum.kill(node)
    shutil.move(node.metadata_log_dir, node.directory / "old-data")
    quorum.format([node], "--no-initial-controllers")
    quorum.start(node)

    def probe() -> bool:
        completed = kraftool("quorum", "describe", *_at(leader), "-o", "json")
        shown = json.loads(completed.stdout)
        return node.id in {
            replica["id"] for replica in shown["replicas"] or [] if not replica["isVoter"]
        }

    kafka.wait_for("the new directory to fetch", probe, every=0.3)
    report = document("doctor", *_at(leader), code=1)
    assert {"KT-LIVE-OTHER-DIRECTORY", "KT-DIR-STALE-VOTER"} <= _codes(report)
    (diagnosis,) = (
        diagnosis for diagnosis in report["diagnoses"] if diagnosis["code"] == "KT-DIR-STALE-VOTER"
    )
    assert (diagnosis["expected"], diagnosis["found"]) == (was, node.directory_id)
    assert "KT-LIVE-OTHER-DIRECTORY" in _codes(document("quorum", "health", *_at(leader), code=1))


def test_a_removed_voter_that_would_join_again(quorum: Cluster) -> None:
    """Its own directory knows nothing of the removal: that the running leader tells."""
    leader = quorum.wait_leader()
    node = next(node for node in quorum.running() if (node.directory / "old-data").exists())
    quorum.kill(node)
    shutil.rmtree(node.metadata_log_dir)
    shutil.move(node.directory / "old-data", node.metadata_log_dir)
    quorum.admin("remove-voter", id=node.id, directory=node.directory_id, at_leader=True)
    settings = node.directory / "server.properties"
    settings.write_text(settings.read_text() + "controller.quorum.auto.join.enable=true\n")
    alone = kraftool("doctor", str(settings), "-o", "json")
    assert "KT-SIG-AUTO-JOIN" not in _codes(json.loads(alone.stdout))
    # On a busy machine there may be more elections, also when they are asked, and more findings,
    # by which the last line of doctor is broken.
    live = (str(settings), *_at(leader))
    _until(lambda report: "KT-SIG-AUTO-JOIN" in _codes(report), "doctor", *live, code=1)
    kafka.wait_for(
        "doctor to have read both",
        lambda: "1 directory and a live quorum" in _on_one_line(kraftool("doctor", *live).stdout),
        every=0.3,
    )
    only_here = f"voter {node.id} only here"
    _until(
        lambda report: (
            report["sources"][0]["isBehind"] and only_here in report["sources"][0]["differences"]
        ),
        *("diff-voters", str(node.metadata_log_dir), *_at(leader)),
        code=1,
    )


def test_a_broker_that_is_gone(quorum: Cluster) -> None:
    quorum.kill(quorum.nodes[11])
    leader = quorum.wait_leader()

    report = _until(
        lambda answer: (answer["health"]["clusterHealth"] or {}).get("fencedBrokerIds"),
        *("quorum", "health", *_at(leader)),
        code=1,
    )
    assert report["health"]["clusterHealth"]["fencedBrokerIds"] == [11]
    assert report["health"]["clusterHealth"]["offlinePartitionCount"] == 9
    assert "KT-LIVE-FENCED" in _codes(report)


def test_without_a_leader_what_is_known_is_told(quorum: Cluster) -> None:
    leader = quorum.wait_leader()
    follower = next(node for node in quorum.running() if node.controller and node is not leader)
    quorum.kill(follower)

    report = _until(
        lambda answer: (
            answer["leaderId"] is None
            and "NOT_LEADER_OR_FOLLOWER" in answer["health"]["unobservedReason"]
        ),
        *("quorum", "health", *_at(leader)),
        code=1,
    )
    assert report["health"]["clusterHealth"] is None
    assert {"KT-LIVE-NO-LEADER", "KT-LIVE-UNOBSERVED"} <= _codes(report)
    report = document("diff-voters", str(leader.metadata_log_dir), *_at(leader), code=1)
    assert any(
        source["quorumState"] for source in report["sources"] if source["kind"] == "live controller"
    )
    assert "KT-LIVE-NO-LEADER" in _codes(document("doctor", *_at(leader), code=1))
    assert kraftool("features", *_at(leader)).returncode == 3
    kept = str(leader.metadata_log_dir)
    assert document("features", kept, *_at(leader))["features"]
    shown = kraftool("quorum", "health", *_at(leader))
    assert "Nothing is known about brokers and partitions" in " ".join(shown.stdout.split()), (
        shown.stderr
    )

    quorum.kill(leader)
    for command in (("quorum", "health"), ("diff-voters",), ("doctor",), ("features",)):
        assert kraftool(*command, *_at(leader)).returncode == 4, command
    # What can be read is told all the same.
    report = document("diff-voters", kept, *_at(leader), code=4)
    assert report["sources"][0]["voterSet"]["voters"]
    assert f"{HOST}:" in document("doctor", kept, *_at(leader), code=4)["deeperCommands"][0]
