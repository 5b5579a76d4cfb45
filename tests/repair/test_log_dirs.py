"""Further log directories of a node are no hosts of a plan, and have no vote of their own."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.meta_properties import decode
from kraftool.raft.names import NO_VOTERS, ReplicaKey, Voter, VoterSet
from kraftool.repair.plan import Action, Method, Plan
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.ranking import host_names
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import EQUAL, NOW, Quorum
from tests.support.places import PARTITION

NEW_ID = "AAAAAAAAAAAAAAAAAAAAAg"


def with_log_dirs(quorum: Quorum, node_id: int, count: int = 2) -> list[Path]:
    """Give a node further log directories, and a server.properties that names all of them."""
    first = quorum[node_id]
    meta = (first / "meta.properties").read_text()
    own, _ = decode(meta.encode())
    assert own.directory_id is not None
    made = []
    for number in range(count):
        log_dir = first.with_name(f"{first.name}-more-{number}")
        log_dir.mkdir()
        other = f"{'CD'[number] * 21}g"
        (log_dir / "meta.properties").write_text(meta.replace(own.directory_id, other))
        made.append(log_dir)
    properties = first.with_name(f"node-{node_id}.properties")
    properties.write_text(
        f"process.roles=broker,controller\nnode.id={node_id}\n"
        "controller.listener.names=CONTROLLER\nlisteners=CONTROLLER://127.0.0.1:9093\n"
        "controller.quorum.bootstrap.servers=127.0.0.1:9093\n"
        f"log.dirs={','.join(map(str, (*made, first)))}\nmetadata.log.dir={first}\n"
    )
    quorum.directories[node_id] = properties
    return made


def plan_of(quorum: Quorum, *settings: str, fence: bool = False) -> Plan:
    paths = [str(path) for path in quorum.directories.values()]
    request = PlanRequest(
        surveys=read_quorum(paths, now_ms=NOW).surveys,
        now_ms=NOW,
        fence=fence,
        cluster_id=NEW_ID if fence else "",
    )
    return plan_for(with_settings(request, settings))


def test_a_further_log_directory_is_not_a_host(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3, 11])
    for voter in (1, 2, 3):
        with_log_dirs(quorum, voter)
    names = ["node-1", "node-2", "node-3", "node-11"]
    assert plan_of(quorum).method is Method.NONE
    plan = plan_of(quorum, "seed=1")
    assert [host.name for host in plan.hosts] == names
    hosts = {host for step in plan.steps for host in step.hosts}
    assert hosts == set(names)


def test_a_directory_that_is_named_by_itself_is_one_of_its_node_too(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3, 11])
    first, second = with_log_dirs(quorum, 1)
    paths = [str(first), str(second), str(tmp_path / "node-1"), str(tmp_path / "node-2")]
    surveys = read_quorum(paths, now_ms=NOW).surveys
    assert host_names(surveys) == ["node-1.log-dir-2", "node-1.log-dir-3", "node-1", "node-2"]


def test_a_new_cluster_id_is_written_into_each_log_directory_by_hand(tmp_path: Path) -> None:
    """Apply would make a metadata partition there for its backup, on which Kafka exits."""
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    log_dirs = with_log_dirs(quorum, 1)
    plan = plan_of(quorum, "lost=2,3", fence=True)
    assert [host.name for host in plan.hosts] == ["node-1", "node-11"]
    actions = [step.action for step in plan.steps]
    (by_hand,) = (step for step in plan.steps if "sed" in "".join(step.commands))
    assert by_hand.hosts == ("node-1",)
    assert actions.index(Action.APPLY) < plan.steps.index(by_hand) < actions.index(Action.START)
    for command in by_hand.commands:
        subprocess.run(shlex.split(command), check=True)
    for log_dir in log_dirs:
        meta, problems = decode((log_dir / "meta.properties").read_bytes())
        assert (meta.cluster_id, problems) == (NEW_ID, ())
        assert not (log_dir / PARTITION).exists()
        assert (log_dir / "meta.properties.before-recovery").exists()


@pytest.mark.parametrize("damage", ["repeated", "lost", "damaged"])
def test_the_meta_properties_of_a_log_directory_is_repaired_by_hand(
    damage: str, tmp_path: Path
) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3, 11])
    first, second = with_log_dirs(quorum, 2)
    file = second / "meta.properties"
    if damage == "repeated":
        shutil.copy(first / "meta.properties", file)
    elif damage == "lost":
        file.unlink()
        (second / "bootstrap.checkpoint").write_bytes(b"")
    else:
        file.write_text("node.id=x\n")
    plan = plan_of(quorum)
    assert (plan.method, plan.cases) == (Method.MEND, ("log-directory",))
    assert plan.changes
    assert not any(host.edits for host in plan.hosts)
    (by_hand,) = (step for step in plan.steps if step.action is Action.RUN)
    for command in by_hand.commands:
        subprocess.run(["sh", "-c", command], check=True)
    again = plan_of(quorum)
    assert again.method is Method.NONE, again.summary


def test_a_log_directory_whose_disk_is_not_mounted_stops_no_plan(tmp_path: Path) -> None:
    """A disk that is missing is what the plan is made for: the doctor reports it."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3, 11])
    (_, second) = with_log_dirs(quorum, 2)
    (second / "meta.properties").unlink()
    assert plan_of(quorum).method is Method.NONE


def test_a_static_voter_is_not_lost_by_its_further_log_directories(tmp_path: Path) -> None:
    """They have no directory id to tell them apart: each was once a voter whose log is gone."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 11])
    with_log_dirs(quorum, 1)
    voters = VoterSet.of(*(Voter(key=ReplicaKey(voter)) for voter in (1, 2, 3)))
    paths = [str(path) for path in quorum.directories.values()]
    surveys = tuple(
        replace(survey, kraft_version=0, voters=voters if survey.voters else NO_VOTERS)
        for survey in read_quorum(paths, now_ms=NOW).surveys
    )
    request = PlanRequest(surveys=surveys, now_ms=NOW)
    request = with_settings(request, ["lost=3", "seed=1"])
    assert plan_for(request).loss.verdict is not LossBound.UNBOUNDED
