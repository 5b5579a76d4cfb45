"""The second poll of a live quorum waits for a commit before it shows that there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from kraftool.client import second_poll as looking
from kraftool.client.health import health
from kraftool.client.model import QuorumView
from tests.client.views import NOW, described, node, replica, view, well


class _Quorum:
    """Shows one poll after the other, and the last one from then on."""

    def __init__(self, *looks: QuorumView, seconds: float = 0) -> None:
        self._seconds = seconds
        self._readings: Iterator[QuorumView] = iter(looks)
        self._last = looks[-1]

    async def survey(self) -> QuorumView:
        await asyncio.sleep(self._seconds)
        return next(self._readings, self._last)


def _with_one_record_more() -> QuorumView:
    return view(described([replica(number, end=101) for number in (1, 2, 3)]), node(2), node(3))


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "_PAUSE_S", 0.001)
    monkeypatch.setattr(looking, "COMMIT_S", 0.05)


def test_a_record_that_is_committed_a_moment_later_is_no_finding() -> None:
    """A busy leader had written one record in 1.5 s, and committed it after the second poll."""
    before = well(at=NOW - 1500)
    committed = view(
        described([replica(number, end=101) for number in (1, 2, 3)], mark=101), node(2), node(3)
    )
    now = asyncio.run(looking.second_poll(_Quorum(_with_one_record_more(), committed), before))
    assert now is committed
    assert health(before, now).findings == ()


def test_a_look_that_takes_longer_than_the_wait_is_not_the_last_one() -> None:
    """Two stopped nodes took 5 s each. The leader's answer was as old as that."""
    before = well(at=NOW - 1500)
    committed = view(
        described([replica(number, end=101) for number in (1, 2, 3)], mark=101), node(2), node(3)
    )
    quorum = _Quorum(_with_one_record_more(), committed, seconds=0.06)
    assert asyncio.run(looking.second_poll(quorum, before)) is committed


def test_a_leader_that_commits_nothing_is_found() -> None:
    before = well(at=NOW - 1500)
    now = asyncio.run(looking.second_poll(_Quorum(_with_one_record_more()), before))
    (finding,) = health(before, now).findings
    assert finding.code == "KT-LIVE-STUCK"
    assert finding.text == "the leader wrote 1 record in 1.5 s, but committed none"


def test_a_voter_that_fetches_a_moment_later_is_ready() -> None:
    """A collection of garbage kept it from fetching for longer than the polls are apart."""
    before = well(mark=90, at=NOW - 1500)
    late = [replica(1), replica(2), replica(3, fetched=NOW - 1600)]
    silent = view(described(late), node(2), node(3))
    target = _Quorum(silent, well())
    now = asyncio.run(looking.second_poll(target, before))
    assert health(before, now).judgement.ready == (1, 2, 3)
    still = asyncio.run(looking.second_poll(_Quorum(silent), before))
    assert health(before, still).judgement.ready == (1, 2), "it is not waited for without end"
