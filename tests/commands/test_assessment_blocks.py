"""One judgement: doctor, recover plan, recover rehearse, simulate-election and watch agree."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands.recover_plan_json import plan_document
from kraftool.decoders.segment import scan
from kraftool.repair.document import from_document, to_document
from kraftool.repair.judging import judge
from kraftool.repair.planner import read_quorum
from kraftool.repair.rehearsal import assessed
from kraftool.repair.survey import Survey
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.election.assessment import assess
from kraftool.reports.election.assessment_json import assessment_json
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.reports.election.read import read_case
from kraftool.reports.text.json_document import json_value
from kraftool.sim.conditions import Conditions
from kraftool.sim.document import simulate_election_document
from kraftool.sim.report import without_runs
from kraftool.storage.source import BytesSource
from kraftool.watching.document import watch_document
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import of_directories, quorum_report
from tests.repair.incidents import Incident, NoIncident
from tests.reports.quorum_histories import History, hurt
from tests.support.copies import let_change
from tests.support.places import FIXTURES, PARTITION

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
Block = dict[str, Any]
QUORUMS = sorted(
    path
    for path in FIXTURES.glob("kafka-*/*")
    if any(path.glob("node-*/data*/__cluster_metadata-0"))
)
DAMAGED = sorted(path for path in FIXTURES.glob("damaged/*") if any(path.glob("*")))
GENERATED = 500
ON_DISK = 250 if os.environ.get("KRAFTOOL_SOAK") == "1" else 12
"""Of each number of voters."""
INCIDENTS = int(os.environ.get("KRAFTOOL_INCIDENTS", "24"))
"""About three of four seeds make an incident."""


def of_doctor(paths: Sequence[str]) -> Block:
    locations, findings = locations_of(paths)
    document = diagnose(examine(locations, findings))
    block: Block = json_value(document.assessment)
    return block


def of_plan(paths: Sequence[str]) -> Block:
    """By the surveys, as a collect file carries them."""
    surveys = [
        from_document(Survey, json.loads(json.dumps(to_document(survey))))
        for survey in read_quorum(paths, now_ms=0).surveys
    ]
    block: Block = json_value(plan_document(judge(surveys)))["assessment"]
    return block


def of_rehearsal(paths: Sequence[str]) -> Block:
    block: Block = json_value(assessment_json(assessed(paths)))
    return block


def of_simulation(paths: Sequence[str]) -> Block:
    document = simulate_election_document(without_runs(read_case(paths), Conditions()))
    block: Block = json_value(document.assessment)
    return block


def of_watch(paths: Sequence[str]) -> Block:
    report = of_directories(quorum_report(Picture(at_ms=0)), paths)
    block: Block = json_value(watch_document(report).assessment)
    return block


def equal_block(paths: Sequence[str], *more: Callable[[Sequence[str]], Block]) -> Block:
    """The block that doctor and the surveys of recover plan have, and more functions.

    recover rehearse, simulate-election and watch read by one function. Each command gets the
    directories in another order.
    """
    first = of_doctor(paths)
    for number, function in enumerate((of_plan, of_rehearsal, *more)):
        turned = [*paths[number:], *paths[:number]][::-1]
        assert function(turned) == first, function.__name__
    return first


def directories(quorum: Path) -> list[str]:
    return sorted(str(path.parent) for path in quorum.glob("node-*/data*/__cluster_metadata-0"))


@pytest.mark.parametrize(
    "quorum", QUORUMS, ids=lambda quorum: f"{quorum.parent.name}-{quorum.name}"
)
def test_the_blocks_of_every_fixture_are_equal(quorum: Path) -> None:
    paths = directories(quorum)
    assert equal_block(paths, of_watch, of_simulation)["state"] == "safe"
    alone = of_doctor(paths[:1])
    assert len(alone["voterIds"]) - len(alone["notGivenIds"]) <= 1
    unlooked = len(alone["notGivenIds"]) > len(alone["voterIds"]) // 2
    assert (alone["loss"] == "unbounded and undetectable") == unlooked


@pytest.mark.parametrize("damaged", DAMAGED, ids=lambda damaged: damaged.name)
def test_the_blocks_of_every_damaged_fixture_are_equal(damaged: Path, tmp_path: Path) -> None:
    """With its files in the directory of voter 2 of three."""
    paths = []
    for node in (1, 2, 3):
        source = FIXTURES / f"kafka-4.3.0/upgrade/node-{node}"
        copy = shutil.copytree(min(source.glob("data*")), tmp_path / str(node))
        paths.append(str(let_change(copy)))
    partition = tmp_path / "2/__cluster_metadata-0"
    if folders := [str(path) for path in damaged.iterdir() if path.is_dir()]:
        equal_block(folders)
        return
    for file in damaged.iterdir():
        if file.name == "meta.properties":
            shutil.copy(file, tmp_path / "2" / file.name)
        elif file.name != "SOURCE":
            shutil.copy(file, partition / file.name)
    equal_block(paths)
    equal_block(paths[1:], of_watch)


def upgraded(root: Path) -> list[Path]:
    """Copies of three voters that are at the same offset."""
    copies = []
    for node in (1, 2, 3):
        source = min((FIXTURES / f"kafka-4.3.0/upgrade/node-{node}").glob("data*"))
        copies.append(shutil.copytree(source, root / str(node), copy_function=shutil.copyfile))
    let_change(root)
    return copies


def test_a_snapshot_without_a_log_beside_a_laggard_is_a_loss_in_every_command(
    tmp_path: Path,
) -> None:
    one, two, three = upgraded(tmp_path)
    for path in (one / PARTITION).glob("*.log"):
        path.unlink()
    (log,) = (two / PARTITION).glob("*.log")
    log.write_bytes(log.read_bytes()[:-200])
    block = equal_block([str(one), str(two), str(three)])
    assert (block["state"], block["loss"], block["harmfulIds"]) == ("at risk", "bounded", [2])
    assert [voter["id"] for voter in block["forgetful"]] == [1, 2]


def test_a_log_where_kafka_does_not_look_for_it_counts_in_every_command(tmp_path: Path) -> None:
    """The mounts of node 2 are in each other's place: the log is not in metadata.log.dir."""
    paths = upgraded(tmp_path)
    other = tmp_path / "other"
    paths[1].rename(other)
    paths[1].mkdir()
    shutil.copy(other / "meta.properties", paths[1])
    properties = tmp_path / "server.properties"
    properties.write_text(
        "node.id=2\nprocess.roles=broker,controller\ncontroller.listener.names=CONTROLLER\n"
        f"listeners=CONTROLLER://localhost:9093\nlog.dirs={paths[1]},{other}\n"
        f"metadata.log.dir={paths[1]}\n"
    )
    block = equal_block([str(paths[0]), str(properties), str(paths[2])])
    assert (block["forgetful"], block["toRepairIds"]) == ([], [2])


def test_a_log_whose_headers_contradict_is_no_evidence_in_any_command(tmp_path: Path) -> None:
    """No CRC covers the offset of a batch. Kafka believes it, and elects a node without records."""
    paths = upgraded(tmp_path)
    (log,) = (paths[1] / PARTITION).glob("*.log")
    data = bytearray(log.read_bytes())
    last = list(scan(BytesSource("", bytes(data)).read_at))[-1]
    data[last.position + 6] ^= 4  # of the base offset
    log.write_bytes(data)
    block = equal_block([str(path) for path in paths])
    assert (block["state"], block["harmfulIds"]) == ("at risk", [2])


@pytest.mark.parametrize("voters", [3, 5])
def test_the_blocks_of_generated_quorums_on_disk_are_equal(voters: int, tmp_path: Path) -> None:
    states = set()
    for seed in range(ON_DISK):
        history = History.played(seed, voters, steps=60)
        disks = history.after(hurt(history, seed))
        paths = history.written(disks, tmp_path / str(seed))
        if paths:
            block = equal_block(paths, of_watch)
            states.add(block["state"])
            if not any(disk.epoch for disk in disks.values()):
                assert block["state"] == "unknown", "emptied directories name no voters"
                continue
            expected = json_value(assessment_json(assess(history.case(disks))))
            assert {**block, "reasons": ()} == {**expected, "reasons": ()}, seed
    assert {"safe", "at risk"} <= states


_CONTRADICTING = (97, 102, 110, 194, 365)
"""Incidents with flipped bits in offsets and epochs, on which the commands disagreed."""
_WIDE = range(INCIDENTS)
"""Combined nodes too, several log directories, an upgrade from kraft.version 0, small files."""


def test_the_blocks_of_generated_incidents_are_equal(tmp_path: Path) -> None:
    states = set()
    made = 0
    seeds = [*((seed, False) for seed in _CONTRADICTING), *((seed, True) for seed in _WIDE)]
    for seed, is_wide in seeds:
        folder = tmp_path / f"{seed}-{is_wide}"
        try:
            incident = Incident.made(seed, folder, is_wide=is_wide)
        except NoIncident:
            continue
        paths = [str(path) for path in incident.paths.values()]
        try:
            states.add(equal_block(paths)["state"])
        except AssertionError as error:
            raise AssertionError(str(incident)) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        made += 1
    print(f"{made} incidents")
    assert {"safe", "at risk"} <= states


def test_a_collect_file_keeps_all_that_500_generated_quorums_are_judged_by() -> None:
    for seed in range(GENERATED):
        history = History.played(seed, 3 + 2 * (seed % 2), steps=60)
        case = history.case(history.after(hurt(history, seed)))
        kept = json.loads(json.dumps([to_document(node) for node in case.nodes]))
        nodes = [from_document(NodeCase, document) for document in kept]
        again = assess(ElectionCase(nodes=tuple(nodes)))
        assert assessment_json(again) == assessment_json(assess(case)), seed


def test_the_blocks_of_the_commands_are_equal(tmp_path: Path, kraftool: Run) -> None:
    quorum = FIXTURES / "kafka-4.3.0/dynamic-quorum"
    paths = [
        directory
        for directory in directories(quorum)
        if "/node-2/" in directory or "/node-11/" in directory
    ]
    assert len(paths) == 2
    output = kraftool("doctor", "-o", "json", *paths).out
    doctor = json.loads(output)["assessment"]
    plan = tmp_path / "plan.yaml"
    assert kraftool("recover", "plan", *paths, "--set", "lost=3,4", "--out", plan).code == 0
    of_commands = [
        ("recover", "plan", "-o", "json", *paths),
        ("recover", "plan", "-o", "json", *paths, "--set", "lost=3,4"),
        ("recover", "rehearse", plan, "-o", "json", "--no-nodes", "--seeds", 1,
         *(word for path in paths for word in ("--dir", path))),
        ("simulate-election", "-o", "json", "--runs", 1, *paths),
        ("watch", "--once", "-o", "json", *paths),
    ]  # fmt: skip
    for words in of_commands:
        assert json.loads(kraftool(*words).out)["assessment"] == doctor, words
    assert doctor["reasons"], "the same sentences for people"
    sentence = doctor["reasons"][1]
    for words in [("doctor", *paths), ("simulate-election", "-v", "--runs", 1, *paths)]:
        assert sentence in " ".join(kraftool(*words).text.split())
    assert sentence in kraftool("recover", "plan", *paths).err
