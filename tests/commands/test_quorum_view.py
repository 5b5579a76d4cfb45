"""A live quorum as people see it in 80 columns."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC

import pytest

from kraftool.client.model import QuorumView
from kraftool.commands.output import Output
from kraftool.commands.quorum_view import write_quorum
from tests.client.views import NOW, described, node, replica, view, well, without_controller


def _told(shown: QuorumView, capsys: pytest.CaptureFixture[str]) -> list[str]:
    output = Output()
    write_quorum(output, shown, UTC)
    output.flush()
    return capsys.readouterr().out.splitlines()


def test_the_high_watermark_is_never_parted_from_its_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _told(well(), capsys)[0] == (
        "Quorum of cluster cluster: node 1 leads epoch 5, high watermark 100"
    )
    long = [replica(number, end=12_345_678) for number in (1, 2, 3)]
    quorum = described(long, mark=12_345_678)
    shown = view(quorum, node(2), node(3))
    shown = replace(
        shown,
        nodes=tuple(replace(answer, cluster_id="n6OJ3ecWTLyu-sR-aB5UJQ") for answer in shown.nodes),
    )
    assert _told(shown, capsys)[:2] == [
        "Quorum of cluster n6OJ3ecWTLyu-sR-aB5UJQ: node 1 leads epoch 5,",
        "high watermark 12345678",
    ]


def test_where_nobody_was_reached_it_is_not_said_that_nobody_leads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _told(replace(well(), nodes=()), capsys)[0] == "Quorum: no node was reached"
    followers = _told(replace(well(), nodes=(node(2), node(3))), capsys)
    assert followers[0].startswith("Quorum of cluster cluster: no node leads")


def test_a_leader_without_a_controller_is_said_first_and_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = _told(without_controller(), capsys)
    assert lines[:2] == [
        "Quorum of cluster cluster: node 3 leads epoch 5,",
        "without a controller, high watermark 100",
    ]
    row = next(number for number, line in enumerate(lines) if "3  leader," in line)
    assert lines[row + 1].strip() == "witness"
    table = " ".join(lines)
    assert [line.split()[1] for line in lines if "ctl-" in line] == [
        "controller", "controller", "witness",
    ]  # fmt: skip
    assert "Node 3 leads, but it runs no controller: topics cannot be created" in table
    assert "→ wait: node 3 hands leadership to a controller that has caught up" in table


def test_a_witness_that_follows_is_in_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    table = "\n".join(_told(without_controller(leader=1), capsys))
    assert "3  witness   directory-000000000003" in table
    assert "without a controller" not in table


def test_a_voter_that_is_silent_for_minutes_does_not_widen_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A time with its date made every row a paragraph."""
    ages = (250, 61_000, 900_000)
    states = [replica(number, fetched=NOW - age) for number, age in enumerate(ages, 2)]
    table = "\n".join(_told(view(described([replica(1), *states])), capsys))
    assert re.search(r"^ +2  voter .* 250 ms ago ", table, re.MULTILINE)
    assert re.search(r"^ +3  voter .* 1 min ago ", table, re.MULTILINE)
    assert re.search(r"^ +4  voter .* 15 min ago ", table, re.MULTILINE)
