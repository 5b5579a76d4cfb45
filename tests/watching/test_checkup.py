"""What is wrong: a recorded live quorum and directories in one list, the worst first."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.client.health import health
from kraftool.client.model import QuorumView
from kraftool.client.thresholds import POLLS_APART_S
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.json_document import json_object
from kraftool.watching.checkup import (
    BETWEEN,
    DoctorCheckup,
    Doctored,
    checkup_view,
    complaints,
    counted,
    examine_directories,
)
from kraftool.watching.picture import Picture
from kraftool.watching.safety import live_health
from kraftool.watching.task import Task
from tests.tui.recording import pictures


def _directories(fixtures_dir: Path) -> list[str]:
    quorum = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum"
    return [str(path) for path in sorted(quorum.glob("node-*/data"))]


def test_every_diagnosis_of_doctor_is_a_complaint(fixtures_dir: Path) -> None:
    paths = _directories(fixtures_dir)
    report = diagnose(examine(*locations_of(paths)))
    examined = examine_directories(paths, Task())
    assert [complaint.finding for complaint in examined.complaints] == list(report.findings)
    assert examined.rules == len(report.rules)
    assert {complaint.who for complaint in examined.complaints} >= {
        "node 12",
        "node 2",
        "between nodes",
    }
    assert all(complaint.meaning() for complaint in examined.complaints)
    lost = next(
        complaint
        for complaint in examined.complaints
        if complaint.finding.code == "KT-SIG-LOST-REPLICAS"
    )
    assert lost.commands[0].startswith("kafka-topics.sh ")
    assert lost.evidence


def test_a_directory_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "data")
    (tmp_path / "data").symlink_to("/nowhere/disk-1")
    (complaint,) = examine_directories([path], Task()).complaints
    assert complaint.finding.code == "KT-DIR-READ"
    assert (complaint.subject, complaint.who) == (path, path)


def test_partial_results_are_what_doctor_says_of_single_directories(fixtures_dir: Path) -> None:
    paths = _directories(fixtures_dir)
    task, partial = Task(), list[Doctored]()
    task.take_partial = partial.append
    examine_directories(paths, task)
    assert len(partial) == len(paths) - 1
    for number, so_far in enumerate(partial, 1):
        alone = [
            complaint
            for path in paths[:number]
            for complaint in examine_directories([path], Task()).complaints
            if complaint.subject != BETWEEN
        ]
        assert [complaint.key for complaint in so_far.complaints] == [
            complaint.key for complaint in alone
        ]


@pytest.mark.parametrize("name", ["healthy", "leader-killed", "no-leader", "uncommitted-voter"])
def test_live_nodes_are_judged_as_quorum_health_judges_them(name: str) -> None:
    """By the newest poll, and one that was taken long enough before."""
    given = [picture.view for picture in pictures(name)]
    judged = live_health(pictures(name)[-1])
    now = given[-1]
    assert now is not None

    def asked_ms(view: QuorumView) -> int:
        if view.leader is not None:
            return view.leader.asked_ms
        return max(node.asked_ms for node in view.nodes)

    older = [
        view
        for view in given
        if view is not None and asked_ms(now) - asked_ms(view) >= POLLS_APART_S * 1000
    ]
    assert judged.findings == health(older[-1], now).findings


def test_one_look_says_nothing_of_what_only_time_shows() -> None:
    (first, *_) = pictures("healthy")
    assert first.view is not None
    report = live_health(first)
    assert not {finding.code for finding in report.findings} & {"KT-LIVE-IDLE", "KT-LIVE-STUCK"}
    assert report.commits_per_second is None


def test_the_worst_comes_first_wherever_it_was_found(fixtures_dir: Path) -> None:
    last = pictures("no-leader")[-1]
    live = live_health(Picture(at_ms=last.at_ms, view=last.view))
    doctored = examine_directories(_directories(fixtures_dir), Task())
    examined = DoctorCheckup(doctored=doctored, at_ms=0, took_ms=0)
    merged = complaints(live, examined)
    ranks = [[*Severity].index(complaint.finding.severity) for complaint in merged]
    assert ranks == sorted(ranks)
    assert len(merged) == len(live.findings) + len(doctored.complaints)
    assert merged[0].finding.code == "KT-LIVE-NO-LEADER"
    unreached = [
        complaint.who for complaint in merged if complaint.finding.code == "KT-LIVE-UNREACHED"
    ]
    assert all(name.startswith("node ") for name in unreached)
    assert len({complaint.key for complaint in merged}) == len(merged)
    assert counted(merged).startswith("4 errors, 2 warnings, ")
    content = json_object(checkup_view(live, examined, merged))
    assert content["schemaVersion"] == 3
    assert len(content["complaints"]) == len(merged)


def test_large_directories_are_not_examined_all_the_time() -> None:
    """An examination that took a minute waits twenty before the next."""
    nothing = Doctored(complaints=(), rules=0)
    examined = DoctorCheckup(doctored=nothing, at_ms=0, took_ms=60_000)
    assert not examined.is_due(60_000 + 20 * 60_000 - 1)
    assert examined.is_due(60_000 + 20 * 60_000)
    assert not DoctorCheckup(doctored=nothing, at_ms=0, took_ms=1).is_due(10_000)
