"""What `recover plan` narrates: the loss first, lines within the width, commands in one piece."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands.output import Output
from kraftool.commands.recover_layout import commands_of, loss
from kraftool.commands.recover_plan_view import write_plan
from kraftool.commands.text_console import rendered, text_console
from kraftool.repair.plan import (
    UNREADABLE,
    LostObjects,
    LostRecords,
    Plan,
    PlannedLoss,
    RecordCount,
    Risk,
)
from kraftool.repair.plan_yaml import plan_from_yaml
from kraftool.reports.election.assessment import LossBound
from tests.commands.recover_files import on_terminal
from tests.repair.directories import APART, EQUAL, Quorum, batches, flip, flip_in_batch

Run = Callable[..., Any]


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    """In directories whose names have blanks, which a shell would split."""
    return Quorum(tmp_path / "data of a", APART, (2, 3, 11))


@pytest.fixture
def plan(quorum: Quorum) -> Plan:
    return quorum.plan("lost=2,4", nodes=(3, 11))


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_shows_the_loss_then_the_survivors_then_the_steps(
    quorum: Quorum, tmp_path: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("the plan.yaml")
    words = ("recover", "plan", quorum[11], quorum[3], "--set", "lost=2,4", "--out", file)
    code, output = on_terminal(words, columns=columns)
    assert code == 0, output
    first, second, *_ = output.splitlines()
    plan = plan_from_yaml(file.read_bytes())
    assert f"PLAN {plan.id[:12]}" in plain(first)
    assert second.startswith("\x1b[1;31m▲ DATA LOSS  \x1b[0m\x1b[1;31munbounded and undetectable")
    lines = plain(output).splitlines()
    heads = [line.split()[0] for line in lines if re.match(r"[▲A-Z]", line)]
    assert heads == ["PLAN", "▲", "Quorum", "Plan", "Survivors", "Steps", "Next"]
    survivors = [line for line in lines if re.search(r" \d+\. node-", line)]
    assert "1. node-3 " in survivors[0]
    assert survivors[0].endswith("← leads")
    commands = [one for step in plan.steps for one in commands_of(step, str(file))]
    shown = [line.strip().removeprefix("$ ") for line in lines if line.strip().startswith("$ ")]
    assert shown[:-1] == commands
    rehearsed = shlex.split(shown[-1])
    assert rehearsed[:3] == ["kraftool", "recover", "rehearse"]
    assert rehearsed[3:] == [str(file), "--dir", str(quorum[3])]
    applied = next(shlex.split(one) for one in shown if " recover apply " in one)
    assert applied[3:] == [str(file), "--dir", str(quorum[3])]
    assert max(len(line) for line in lines if not line.strip().startswith("$ ")) <= columns
    steps = [line for line in lines if "[ ]" in line]
    assert [int(step.split("[ ]")[1].split()[0]) for step in steps] == [
        *range(1, len(plan.steps) + 1)
    ]


def test_a_pipe_has_the_lines_of_a_terminal_without_colour(
    kraftool: Run, quorum: Quorum, tmp_path: Path
) -> None:
    file = tmp_path / "p.yaml"
    words = ("recover", "plan", quorum[3], "--set", "lost=2,4", "--out", file)
    ran = kraftool(*words)
    assert ran.code == 0
    assert "\x1b" not in ran.err
    file.unlink()
    _, output = on_terminal(words)
    identity = re.compile(r"[0-9a-f]{12}")
    assert identity.sub("ID", plain(output)) == identity.sub("ID", ran.err)


def test_quiet_narrates_nothing(kraftool: Run, quorum: Quorum, tmp_path: Path) -> None:
    options = ("--set", "lost=2,4", "--out", tmp_path / "p.yaml", "--quiet")
    assert kraftool("recover", "plan", quorum[3], *options).err == ""


def test_the_records_that_are_given_up_and_the_risks_are_beside_the_loss(
    plan: Plan, capfd: pytest.CaptureFixture[str]
) -> None:
    lost = LostRecords(
        host="node-2",
        first_offset=7,
        end_offset=17,
        types=(
            RecordCount(type="TOPIC_RECORD", count=9),
            RecordCount(type=UNREADABLE, count=1),
        ),
        objects=(LostObjects(kind="topics", count=9, names=tuple("abcdefgh")),),
        has_names=True,
    )
    loss = PlannedLoss(
        verdict=LossBound.BOUNDED, text="bounded: what only node 2 has", records=(lost,)
    )
    risk = Risk(word="ahead", text="node 2 is ahead")
    write_plan(Output(), replace(plan, loss=loss, risks=(risk,)), "", ["Node 3 survives."])
    head, _, rest = capfd.readouterr().err.partition("\nQuorum       Node 3 survives.\nPlan")
    assert head.splitlines()[1:] == [
        "▲ DATA LOSS  bounded: what only node 2 has",
        "             node-2 has records at offsets 7 to 16: 9 TOPIC_RECORD, 1 unreadable",
        "               topics: a, b, c, d, e and 4 more",
        "               unknown: the changes of 1 unreadable record",
        "             accepted (ahead): node 2 is ahead",
    ]
    assert "recover apply plan.yaml" in rest
    unnamed = replace(lost, objects=(), has_names=False)
    without = replace(plan, loss=replace(loss, records=(unnamed,)))
    write_plan(Output(), without, "", [])
    words = "give its directory to see the names of topics and other objects"
    assert words in capfd.readouterr().err, "of a collect file"


def test_readable_records_that_are_given_up_can_be_saved(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those behind an unreadable batch; the command that is shown has all of them."""
    monkeypatch.chdir(tmp_path)
    quorum = Quorum(tmp_path / "data", EQUAL, (1,))
    for snapshot in quorum.snapshots(1):
        snapshot.unlink()
    damaged = flip_in_batch(quorum.segment(1), -20)
    options = ("--set", "lost=2,3", "--accept", "ahead", "--kafka-version", "4.3.0")
    ran = kraftool("recover", "plan", quorum[1], *options)
    assert ran.code == 0, ran.err
    assert "No plan keeps records after an unreadable one" in " ".join(ran.err.split())
    (command,) = re.findall(r"\$ kraftool (dump-log .*)", ran.err)
    assert kraftool(*shlex.split(command)).code in (0, 3)
    saved = [json.loads(line) for line in Path("node-1-given-up.jsonl").read_text().splitlines()]
    offsets = {entry["offset"] for entry in saved if entry["kind"] == "record"}
    assert offsets >= set(range(damaged.last_offset + 1, 160))


def test_no_loss_is_said_first_and_no_word_acts_on_the_terminal(
    plan: Plan, capfd: pytest.CaptureFixture[str]
) -> None:
    loss = PlannedLoss(verdict=LossBound.NONE, text="none: \x1b]0;x\x07 all is there")
    write_plan(Output(), replace(plan, loss=loss), "")
    output = capfd.readouterr().err
    assert output.splitlines()[1].startswith("✓ No loss    ")
    assert "\x1b" not in output
    assert "\x07" not in output


def test_no_loss_is_not_green_where_the_quorum_may_lose_records(plan: Plan) -> None:
    """The plan loses nothing, but a start without it may: the label says if, and warns."""
    loss = PlannedLoss(verdict=LossBound.NONE, text="none: no readable record is given up")
    shown = _head(replace(plan, loss=loss), is_quorum_safe=True)
    assert shown.startswith("\x1b[32m✓ No loss    \x1b[0mno readable record")
    shown = _head(replace(plan, loss=loss), is_quorum_safe=False)
    assert shown.startswith("\x1b[33m▲ No loss if \x1b[0myou carry out this plan: no readable")
    idle = replace(plan, loss=loss, hosts=(), steps=())
    assert _head(idle, is_quorum_safe=False).startswith("\x1b[33m▲ No loss    \x1b[0mno readable")
    ordered = PlannedLoss(
        verdict=LossBound.NONE, text="none, if the controllers start in the order of the steps"
    )
    for is_safe in (True, False):
        shown = _head(replace(plan, loss=ordered), is_quorum_safe=is_safe)
        assert shown.startswith("\x1b[33m▲ No loss if \x1b[0mthe controllers start in the order")


def _head(plan: Plan, *, is_quorum_safe: bool) -> str:
    console = text_console(80, colored=True)
    (first, *_) = loss(plan, is_quorum_safe=is_quorum_safe)
    return rendered(console, [first], unbroken=False)


def test_a_repair_of_a_quorum_at_risk_is_not_green(kraftool: Run, tmp_path: Path) -> None:
    """Three damaged logs can lose records in some order of starts; the plan restores them."""
    equal = Quorum(tmp_path, EQUAL, (1, 2, 3))
    for node, number in ((1, 20), (2, 50), (3, 40)):
        for path in equal.partition(node).glob(f"{144:020}-*.checkpoint"):
            path.unlink()
        flip_in_batch(equal.segment(node), number)
    paths = [equal[voter] for voter in (1, 2, 3)]
    ran = kraftool("recover", "plan", *paths, "--out", tmp_path / "plan.yaml")
    assert ran.code == 0
    lines = ran.err.splitlines()
    assert lines[1].startswith("▲ No loss if you carry out this plan: "), ran.err
    assert "are lost" in ran.narration


def test_a_rehearsal_needs_no_copy_of_a_directory_that_it_is_given(
    kraftool: Run, tmp_path: Path
) -> None:
    """Three damaged logs restore each other: each is rehearsed, and lends batches."""
    equal = Quorum(tmp_path, EQUAL, (1, 2, 3))
    for node, number in ((1, 20), (2, 50), (3, 40)):
        for path in equal.partition(node).glob(f"{144:020}-*.checkpoint"):
            path.unlink()
        flip_in_batch(equal.segment(node), number)
    paths = [equal[voter] for voter in (1, 2, 3)]
    ran = kraftool("recover", "plan", *paths, "--out", tmp_path / "plan.yaml")
    assert ran.code == 0
    commands = [line.strip() for line in ran.err.splitlines() if line.strip().startswith("$ ")]
    assert sum("--source node-" in command for command in commands) == 3
    directories = " ".join(f"--dir {path}" for path in paths)
    assert commands[-1] == f"$ kraftool recover rehearse {tmp_path}/plan.yaml {directories}"


def test_a_plan_names_the_directories_that_its_rehearsal_lacks(
    kraftool: Run, tmp_path: Path
) -> None:
    """Voters 3 and 4 are elsewhere: with one of them the rehearsal has a majority."""
    dynamic = Quorum(tmp_path, "kafka-4.3.0/dynamic-quorum", (2, 3, 4))
    flip_in_batch(dynamic.segment(2), -5)
    flip(dynamic.segment(2), batches(dynamic.segment(2))[-5].position + 64, 0x7F)
    alone = kraftool("recover", "plan", dynamic[2])
    assert alone.code == 0, alone.err
    assert "Add --dir with the directory of voter 3 or 4, or a copy of it:" in alone.narration
    collected = tmp_path / "node-3.collect"
    assert kraftool("recover", "collect", dynamic[3], "--out", collected).code == 0
    far = kraftool("recover", "plan", dynamic[2], collected)
    assert f"--dir {dynamic[3]}" not in far.err, "a path of another host"
    assert "Add --dir with the directory of voter 3 or 4, or a copy of it:" in far.narration
    copy = shutil.copytree(dynamic[3], tmp_path / "copy")
    both = kraftool("recover", "plan", dynamic[2], collected, copy)
    assert both.err.rstrip().endswith(f"--dir {dynamic[2]} --dir {copy}"), "where the copy is"
    near = kraftool("recover", "plan", dynamic[2], dynamic[3])
    assert near.err.rstrip().endswith(f"--dir {dynamic[2]} --dir {dynamic[3]}")
    assert "Add --dir" not in near.narration
