"""What a monitor expects and ignores, and the wait until a quorum is healthy."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kraftool.client import checking
from kraftool.client.checking import check_until
from kraftool.client.expectations import expecting
from kraftool.client.health import Health, health
from kraftool.client.model import QuorumView
from kraftool.reports.findings.mutes import FindingFilter
from tests.client.views import NOW, described, gone, node, replica, view, well

CODE = "KT-LIVE-UNEXPECTED-VOTERS"


def _healthy() -> Health:
    return health(well(mark=90, at=NOW - 1500), well())


def test_other_voters_than_the_expected_ones_are_a_warning() -> None:
    assert expecting(_healthy(), (3, 2, 1)).is_well
    for expected in ((1, 2), (1, 2, 3, 4), (1, 2, 4)):
        report = expecting(_healthy(), expected)
        (finding,) = report.findings
        assert finding.code == CODE
        assert finding.text.startswith("the voters are 1, 2, 3; expected were ")
        assert not report.is_well
        assert not report.is_quorum_well


def test_without_a_leader_that_is_said_and_not_that_the_voters_are_others() -> None:
    now = QuorumView(nodes=(node(1, leader=None), node(2, leader=None)))
    codes = {finding.code for finding in expecting(health(now, now), (1, 2)).findings}
    assert "KT-LIVE-NO-LEADER" in codes
    assert CODE not in codes


def test_an_ignored_finding_is_left_out_also_of_the_verdict() -> None:
    now = view(described([replica(1), replica(2), replica(3)]), node(2), gone(3))
    report = health(well(mark=90, at=NOW - 1500), now)
    codes = {finding.code for finding in report.findings}
    assert not report.is_well
    ignored = expecting(report, left_out=FindingFilter(ignored_codes=frozenset(codes)))
    assert ignored.findings == ()
    assert ignored.is_well
    assert expecting(_healthy(), (1, 2), FindingFilter(ignored_codes=frozenset({CODE}))).is_well


def test_it_waits_until_the_quorum_is_healthy_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    now = view(described([replica(1), replica(2), replica(3)]), node(2), gone(3))
    sick = health(well(mark=90, at=NOW - 1500), now)
    monkeypatch.setattr(checking, "POLLS_APART_S", 0)
    for wait_s, expected, told in ((60.0, True, 1), (0.0, False, 0)):
        reports = [sick, sick, _healthy()]

        async def check(*_: Any, reports: list[Health] = reports, **__: Any) -> Health:
            return reports.pop(0)

        monkeypatch.setattr(checking, "check", check)
        reasons: list[str] = []
        target: Any = None
        run = check_until(target, lambda report: report, wait_s, reasons.append)
        assert asyncio.run(run).is_well is expected
        assert len(reasons) == told, "once for the same reason"
