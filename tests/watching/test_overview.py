"""The title and the tabs are as bad as the worst that any view has found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.client.model import QuorumView
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.status import Status
from kraftool.watching.checkup import DoctorCheckup, Doctored
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.overview import Overview
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import Remembering
from tests.client.views import NOW, described, node, replica, well
from tests.tui.recording import pictures


@pytest.mark.parametrize(
    ("recording", "status"), [("leader-killed", Status.WARN), ("no-leader", Status.BAD)]
)
def test_a_real_quorum_without_a_spare_voter_is_not_green(recording: str, status: Status) -> None:
    """The nodes that are down are statements; so is that no voter can be lost."""
    overview = Overview()
    overview.take(pictures(recording)[-1])
    assert overview.status is status
    tab = overview.tab("quorum")
    assert tab is not None
    assert tab.status is status
    assert overview.report is not None
    assert tab.count == sum(
        statement.severity is not Severity.INFO for statement in overview.report.statements
    )


def test_a_note_keeps_the_title_from_being_green() -> None:
    overview = Overview()
    overview.take(pictures("healthy")[-1])
    assert overview.loud == ()
    assert overview.status is Status.NOTE, "node 4 is a standby: a note"


def test_a_stale_directory_is_a_warning_of_the_title(fixtures_dir: Path) -> None:
    paths = [fixtures_dir / f"kafka-4.3.0/dynamic-quorum/node-{node_id}/data" for node_id in (1, 2)]
    looks = tuple(DirectoryWatch(str(path)).read(60) for path in paths)
    overview = Overview()
    overview.take(Picture(at_ms=looks[0].at_ms, directories=looks))
    assert overview.status is Status.WARN
    assert overview.loud == (Severity.WARNING,)


def test_unexamined_directories_keep_the_title_of_a_live_quorum_from_being_green() -> None:
    looks = (DirectoryReading(path="data", at_ms=1, log_end_offset=100),)
    overview = Overview()
    overview.take(Picture(at_ms=NOW, view=well()))
    assert overview.loud == ()
    alone = overview.status
    overview.take(Picture(at_ms=NOW, view=well(), directories=looks))
    assert (alone, overview.status) == (Status.GOOD, Status.UNKNOWN)
    overview.examined = DoctorCheckup(doctored=Doctored(complaints=(), rules=1), at_ms=1, took_ms=1)
    assert overview.status is alone


def test_the_quorum_view_and_health_find_a_stuck_log_at_the_same_poll() -> None:
    overview, remembering = Overview(), Remembering()
    codes = []
    for second in range(4):
        at = NOW + second * 1_000
        voters = [replica(1, end=100 + second, fetched=at)]
        voters += [replica(number, fetched=at) for number in (2, 3)]
        answers = (node(1, quorum=described(voters)), node(2), node(3))
        view = QuorumView(nodes=tuple(replace(answer, asked_ms=at) for answer in answers))
        overview.take(Picture(at_ms=at, view=view, history=remembering.take(at, view, ())))
        assert overview.report is not None
        assert overview.live is not None
        reasons = [statement.reason for statement in overview.report.statements]
        is_found = "KT-LIVE-STUCK" in {finding.code for finding in overview.live.findings}
        codes.append((any("but committed none" in reason for reason in reasons), is_found))
        assert overview.further == ()
    assert codes == [(False, False), (False, False), (True, True), (True, True)]
    assert overview.loud == (Severity.ERROR,), "both views have found one thing"


def _finding(severity: Severity, position: int) -> Finding:
    return log_kinds.CRC.at("0.log", "the CRC does not match", position=position, severity=severity)


def test_a_finding_of_several_views_counts_once_with_its_worst_severity() -> None:
    overview = Overview()
    overview.tell("files", [_finding(Severity.WARNING, 7), _finding(Severity.ERROR, 9)])
    overview.tell("voters", [_finding(Severity.ERROR, 7)])
    overview.tell("state", [_finding(Severity.WARNING, 7)])
    assert overview.loud == (Severity.ERROR, Severity.ERROR)
    tab = overview.tab("state")
    assert tab is not None
    assert (tab.status, tab.count) == (Status.WARN, 1), "a tab says what its view shows"


def test_an_error_of_any_view_is_the_title_s() -> None:
    overview = Overview()
    overview.take(pictures("healthy")[-1])
    before = overview.status
    assert before is not Status.BAD
    overview.tell("files", [_finding(Severity.INFO, 1), _finding(Severity.ERROR, 2)])
    with_error = overview.status
    assert with_error is Status.BAD
    overview.tell("files", [])
    assert overview.status is before
