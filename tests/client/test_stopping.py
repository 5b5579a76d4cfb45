"""A node may stop only if the others can go on: each reason against it, from both sides."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kraftool.client import stopping
from kraftool.client.judgement import judge
from kraftool.client.model import QuorumView
from kraftool.client.stopping import StopPermission, StopVerdict, ask_may_stop, may_stop
from kraftool.client.thresholds import SILENT_MS
from kraftool.net.errors import Failure
from tests.client.views import (
    NOW,
    described,
    gone,
    node,
    replica,
    view,
    well,
    without_controller,
)

BEFORE = NOW - 1500
THEN = well(mark=90, at=BEFORE)
"""The first poll at three voters: everything up to 90 is committed."""
KAFKAS = [node(node_id, runs_controller=True) for node_id in (2, 3)]


def _may_stop(before: QuorumView, now: QuorumView, node_id: int) -> StopPermission:
    return may_stop(judge(now, before), node_id)


def _quorum(*voters: Any, mark: int = 100, others: Sequence[Any] = KAFKAS) -> QuorumView:
    return view(described(voters, mark=mark), *others)


def test_any_of_three_voters_may_stop_while_all_follow() -> None:
    now = _quorum(replica(1), replica(2), replica(3))
    for voter in (1, 2, 3):
        assert _may_stop(THEN, now, voter).verdict is StopVerdict.YES
    leading = _may_stop(THEN, now, 1)
    assert any("node 1 leads" in check.reason for check in leading.checks)


def test_no_other_voter_may_stop_while_one_is_down() -> None:
    now = _quorum(replica(1), replica(2), replica(3, fetched=BEFORE), others=[KAFKAS[0], gone(3)])
    assert _may_stop(THEN, now, 1).verdict is StopVerdict.NOT_NOW
    assert _may_stop(THEN, now, 2).verdict is StopVerdict.NOT_NOW
    assert _may_stop(THEN, now, 3).verdict is StopVerdict.YES, "it is down already"


def test_a_voter_that_is_down_is_not_only_out_of_reach() -> None:
    """It refuses the connection and does not fetch; one that fetches runs."""
    refused = replace(gone(3), problem="connection refused")
    for fetched, words in (
        (NOW - 55_000, "it is down (connection refused, last fetch 55 s ago). Bring it back first"),
        (-1, "it is down (connection refused, it has not fetched). Bring it back first"),
        (NOW, "it fetches, but it cannot be reached from here (connection refused). Set its"),
    ):
        now = _quorum(
            replica(1), replica(2), replica(3, fetched=fetched), others=[KAFKAS[0], refused]
        )
        reasons = [check.reason for check in _may_stop(THEN, now, 1).checks]
        assert any(words in reason for reason in reasons), reasons


def test_enough_ready_voters_are_named_as_such() -> None:
    reasons = [
        check.reason for check in _may_stop(THEN, _quorum(*map(replica, (1, 2, 3))), 2).checks
    ]
    assert "2 of 3 voters are ready without node 2 (voters 1 and 3), and 2 are enough" in reasons


@pytest.mark.parametrize(("fetched", "verdict"), [(1, StopVerdict.YES), (0, StopVerdict.NOT_NOW)])
def test_a_voter_that_died_a_moment_ago_does_not_count(fetched: int, verdict: StopVerdict) -> None:
    """`health` lets it keep up for 6 s; a gate may not."""
    now = _quorum(replica(1), replica(2), replica(3, fetched=BEFORE + fetched))
    assert _may_stop(THEN, now, 2).verdict is verdict


@pytest.mark.parametrize(("end", "verdict"), [(90, StopVerdict.YES), (89, StopVerdict.NOT_NOW)])
def test_a_voter_without_all_committed_records_does_not_count(
    end: int, verdict: StopVerdict
) -> None:
    now = _quorum(replica(1), replica(2), replica(3, end=end))
    answer = _may_stop(THEN, now, 2)
    assert answer.verdict is verdict
    assert any("1 committed record" in check.reason for check in answer.checks) is (end == 89)


def test_a_voter_that_is_not_reached_or_knows_another_leader_does_not_count() -> None:
    voters = (replica(1), replica(2), replica(3))
    for other in (gone(3), node(3, leader=None, epoch=5), node(3, leader=1, epoch=4)):
        now = _quorum(*voters, others=[KAFKAS[0], other])
        assert _may_stop(THEN, now, 2).verdict is StopVerdict.NOT_NOW
        assert _may_stop(THEN, now, 3).verdict is StopVerdict.YES


def test_a_voter_that_refuses_connections_but_fetched_just_now_may_be_stopping() -> None:
    voters = (replica(1), replica(2), replica(3))
    refusing = replace(gone(3), failure=Failure.REFUSED)
    answer = _may_stop(THEN, _quorum(*voters, others=[KAFKAS[0], refusing]), 3)
    assert answer.verdict is StopVerdict.NOT_NOW
    assert answer.reason.startswith("node 3 may be stopping already: it fetches, but")
    voters = (replica(1), replica(2), replica(3, fetched=NOW - SILENT_MS))
    answer = _may_stop(THEN, _quorum(*voters, others=[KAFKAS[0], refusing]), 3)
    assert answer.verdict is StopVerdict.YES, "the others do without it"
    assert "node 3 is down already (refused)" in [check.reason for check in answer.checks]


def test_the_leader_may_stop_only_if_another_controller_is_ready() -> None:
    voters = (replica(1), replica(2), replica(3))
    witnesses = [node(other, runs_controller=False) for other in (2, 3)]
    unknown = [node(other, runs_controller=None) for other in (2, 3)]
    for others in (witnesses, unknown):
        assert _may_stop(THEN, _quorum(*voters, others=others), 1).verdict is StopVerdict.NOT_NOW
    mixed = [witnesses[0], KAFKAS[1]]
    assert _may_stop(THEN, _quorum(*voters, others=mixed), 1).verdict is StopVerdict.YES


def test_a_leader_without_a_controller_lets_nobody_stop_but_itself() -> None:
    before, now = without_controller(end=90, at=BEFORE), without_controller()
    assert _may_stop(before, now, 1).verdict is StopVerdict.NOT_NOW
    assert _may_stop(before, now, 3).verdict is StopVerdict.YES


def test_nobody_may_stop_around_an_election() -> None:
    voters = (replica(1), replica(2), replica(3))
    now = _quorum(*voters)
    no_leader = QuorumView(nodes=tuple(node(other, leader=None, epoch=6) for other in (1, 2, 3)))
    assert _may_stop(THEN, no_leader, 2).verdict is StopVerdict.NOT_NOW
    assert _may_stop(no_leader, now, 2).verdict is StopVerdict.NOT_NOW
    earlier = view(replace(described(voters, mark=90), leader_epoch=4), *KAFKAS)
    assert _may_stop(earlier, now, 2).verdict is StopVerdict.NOT_NOW


def test_nobody_may_stop_while_nothing_is_committed() -> None:
    stuck = _quorum(replica(1, end=120), replica(2, end=90), replica(3, end=90), mark=90)
    assert _may_stop(THEN, stuck, 2).verdict is StopVerdict.NOT_NOW


def test_of_five_voters_two_may_be_down() -> None:
    ids = range(1, 6)
    kafkas = [node(other, runs_controller=True) for other in ids if other > 1]
    before = view(described([replica(n, end=90, fetched=BEFORE) for n in ids], mark=90), *kafkas)
    for down, verdict in ((1, StopVerdict.YES), (2, StopVerdict.NOT_NOW)):
        gone_ids = [5, 4][:down]
        voters = [replica(n, fetched=BEFORE if n in gone_ids else NOW) for n in ids]
        others = [gone(n) if n in gone_ids else kafkas[n - 2] for n in ids if n > 1]
        answer = _may_stop(before, view(described(voters), *others), 2)
        assert answer.verdict is verdict
        assert not any("KAFKA-20895" in check.reason for check in answer.checks), "no leader"
        if verdict is StopVerdict.YES:
            leader = _may_stop(before, view(described(voters), *others), 1)
            assert any("KAFKA-20895" in check.reason for check in leader.checks)


def test_waiting_does_not_help_with_two_voters_or_an_unknown_node() -> None:
    now = view(described([replica(1), replica(2)]), KAFKAS[0])
    assert _may_stop(now, now, 2).verdict is StopVerdict.NEVER
    assert _may_stop(THEN, well(), 9).verdict is StopVerdict.NEVER


def test_an_observer_may_stop_and_its_partitions_were_not_looked_at() -> None:
    quorum = described([replica(1), replica(2), replica(3)], [replica(4)])
    answer = _may_stop(THEN, view(quorum, *KAFKAS), 4)
    assert answer.verdict is StopVerdict.YES
    assert any("were not checked" in check.reason for check in answer.checks)


class _Looks:
    """A target that is seen in these states, one after the other; the last one stays."""

    def __init__(self, *views: QuorumView) -> None:
        self._views = [*views]

    async def survey(self) -> QuorumView:
        return self._views.pop(0) if len(self._views) > 1 else self._views[0]


def test_it_waits_until_the_voter_that_was_down_has_caught_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stopping, "POLLS_APART_S", 0)
    down = _quorum(replica(1), replica(2), replica(3, fetched=-1), others=[KAFKAS[0], gone(3)])
    again = _quorum(
        *(replica(voter, fetched=NOW + 1500) for voter in (1, 2, 3)), mark=100, others=KAFKAS
    )
    for wait_s, verdict in ((60.0, StopVerdict.YES), (0.0, StopVerdict.NOT_NOW)):
        reasons: list[str] = []
        target: Any = _Looks(down, down, again)
        answer, seen = asyncio.run(ask_may_stop(target, 2, wait_s=wait_s, waiting=reasons.append))
        assert answer.verdict is verdict
        assert bool(reasons) is bool(wait_s)
        assert seen is (again if wait_s else down)


def test_it_does_not_wait_for_a_quorum_that_it_never_reached() -> None:
    target: Any = _Looks(QuorumView(nodes=(gone(1), gone(2), gone(3))))
    answer, _ = asyncio.run(ask_may_stop(target, 2, wait_s=60.0, waiting=pytest.fail))
    assert answer.verdict is StopVerdict.NOT_NOW
