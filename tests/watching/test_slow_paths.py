"""Late is not down: a dashboard on slow paths, with nodes that refuse, hang, and come back."""

from __future__ import annotations

import random
from dataclasses import fields
from functools import partial
from itertools import groupby

import pytest
from rich.style import Style

from kraftool.reports.findings.status import Status
from kraftool.tui.headline import headline
from kraftool.tui.palette import Palette
from kraftool.watching.overview import Overview
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import QuorumReport, quorum_report
from tests.watching.virtual_time import REFUSES, SILENT, SlowQuorum

pytestmark = pytest.mark.slow

MINUTE = 60.0
PALETTE = Palette(**dict.fromkeys((field.name for field in fields(Palette)), Style()))
_BEGINS = "watching begins: node 1 leads epoch 5"


def _titles(pictures: list[Picture]) -> list[str]:
    """The title of each picture, without its ages; the same one in a row once."""
    overview, titles = Overview(), []
    for picture in pictures:
        overview.take(picture)
        assert overview.report is not None
        left = f"{overview.status.mark} leader {overview.report.leader_id}"
        titles.append(f"{left} {overview.report.tolerance.failures}")
    return [title for title, _ in groupby(titles)]


def _events(pictures: list[Picture]) -> list[str]:
    return [event.reason for event in pictures[-1].history.events]


def _downs(report: QuorumReport) -> list[int | None]:
    return [replica.id for replica in report.replicas if replica.is_down]


@pytest.mark.parametrize(
    ("round_trip_s", "minutes"), [(0.001, 1), (0.05, 1), (0.3, 1), (0.9, 10), (1.5, 2)]
)
def test_a_slow_path_has_no_false_event_and_its_title_stays(
    round_trip_s: float, minutes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 0.9 s the title went from 'no node leads' to green every two seconds, for ever."""
    quorum = SlowQuorum(lambda *_: round_trip_s)
    pictures = quorum.pictures(minutes * MINUTE, monkeypatch)
    assert len(pictures) > 50 * minutes
    assert _events(pictures) == [_BEGINS]
    assert pictures[-1].history.elections_seen == 0
    reports = [quorum_report(picture) for picture in pictures]
    assert not any(_downs(report) for report in reports)
    titles = _titles(pictures)
    assert titles[-1] == f"{Status.GOOD.mark} leader 1 1"
    assert titles.count(titles[-1]) == 1, f"once green, it stays so: {titles}"
    assert all(title.startswith(Status.UNKNOWN.mark) for title in titles[:-1])


def _between(chance: random.Random, _number: int, _at: float) -> float:
    return chance.uniform(0.05, 1.5)


def test_delays_that_vary_have_no_false_event_either(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(5):
        chance = random.Random(seed)
        quorum = SlowQuorum(partial(_between, chance))
        pictures = quorum.pictures(2 * MINUTE, monkeypatch)
        assert _events(pictures) == [_BEGINS], seed
        reports = [quorum_report(picture) for picture in pictures]
        assert not any(_downs(report) for report in reports)
        assert not any(report.tolerance.is_lost for report in reports)


def test_a_leader_that_hangs_is_late_then_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is late it stays named, without green, and nothing may be restarted."""
    quorum = SlowQuorum(lambda number, at: SILENT if number == 1 and at > 30 else 0.01)
    pictures = quorum.pictures(60, monkeypatch)
    began = pictures[0].at_ms
    late = [
        picture
        for picture in pictures
        for report in [quorum_report(picture)]
        if report.judgement is not None and report.judgement.overdue_ms is not None
        if picture.at_ms - began > 10_000
    ]
    assert late
    for picture in late:
        report, overview = quorum_report(picture), Overview()
        overview.take(picture)
        assert report.leader_id == 1
        assert overview.status is not Status.GOOD
        assert report.tolerance.failures is None
        assert not any(replica.restart and replica.restart.is_safe for replica in report.replicas)
        left, _ = headline(picture, overview, PALETTE, is_paused=False)
        assert "node 1 leads epoch 5 · waiting " in left.plain
    last = quorum_report(pictures[-1])
    assert _downs(last) == [1]
    assert _events(pictures) == [
        _BEGINS,
        "node 1 stopped answering: no answer within 5 s",
        "node 1 leads no longer, and no other node leads",
    ]


def test_a_node_that_refuses_is_down_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    quorum = SlowQuorum(lambda number, at: REFUSES if number == 3 and at > 30 else 0.3)
    pictures = quorum.pictures(40, monkeypatch)
    last = quorum_report(pictures[-1])
    assert _downs(last) == [3]
    assert last.tolerance.failures == 0
    assert _events(pictures)[:2] == [_BEGINS, "node 3 stopped answering: connection refused"]


def test_elected_is_said_of_an_epoch_that_began_while_we_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quorum = SlowQuorum(lambda *_: 0.9)

    def elect(number: int, at: float) -> float:
        if at > 30:
            quorum.leader, quorum.epoch = 2, 6
        return 0.9

    quorum.round_trip_s = elect
    pictures = quorum.pictures(60, monkeypatch)
    events = _events(pictures)
    assert events[0] == _BEGINS
    assert events[-1].startswith("node 2 elected, epoch 6")
    assert pictures[-1].history.elections_seen == 1


def test_a_dashboard_that_was_late_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a SIGSTOP: the answers were there, and every timeout had passed."""
    quorum = SlowQuorum(lambda *_: 0.9)
    stopped = False

    def stop(number: int, at: float) -> float:
        nonlocal stopped
        if at > 30 and not stopped:
            stopped = True
            quorum.loop.jump(20)
        return 0.9

    quorum.round_trip_s = stop
    pictures = quorum.pictures(80, monkeypatch)
    assert _events(pictures)[1:] == ["the dashboard itself was 20 s late"]
    late = [picture for picture in pictures if picture.late_ms]
    assert late
    overview = Overview()
    overview.take(late[0])
    _, right = headline(late[0], overview, PALETTE, is_paused=False)
    assert "dashboard 20 s late" in right.plain
    assert not any(_downs(quorum_report(picture)) for picture in pictures)
