"""The rig's own judgement: what is better than the truth, what is worse, and what is neither."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.interop.rig_truth import (
    NOTICED_S,
    SETTLED_S,
    Moment,
    Poll,
    Title,
    flickers,
    read_poll,
    wrong,
)

VOTERS = frozenset({1, 2, 3})
WELL = Moment(at=0, voters=VOTERS, running=VOTERS, is_healthy=True)
ONE_DOWN = Moment(at=100, voters=VOTERS, running=VOTERS - {3})
TWO_DOWN = Moment(at=100, voters=VOTERS, running=frozenset({1}))
ONE_CUT = Moment(at=100, voters=VOTERS, running=VOTERS, cut=frozenset({(1, 2), (2, 3)}))


def _poll(began: float, *, command: str = "watch", code: int = 0, spare: int | None = 1) -> Poll:
    return Poll(
        command=command,
        began=began,
        ended=began + 2,
        code=code,
        commits=code == 0,
        spare=spare,
        is_well=code == 0,
        text="",
    )


def test_how_many_may_fail_is_counted_by_the_best_leader() -> None:
    assert [moment.spare for moment in (WELL, ONE_DOWN, TWO_DOWN)] == [1, 0, -1]
    assert ONE_CUT.spare == 0, "1 and 3 still have each other"
    assert ONE_CUT.spare_without_cuts == 1
    one_way = replace(WELL, cut=frozenset({(1, 2), (3, 2), (1, 3)}))
    assert one_way.spare == -1, "no answer comes back over half a link"


def test_a_promise_is_held_against_nodes_at_once_and_against_links_a_moment_later() -> None:
    assert "better" in wrong(_poll(101), [WELL, ONE_DOWN])
    assert not wrong(_poll(99), [WELL, ONE_DOWN]), "it began before"
    assert not wrong(_poll(101, spare=0), [WELL, ONE_DOWN])
    assert not wrong(_poll(101), [WELL, ONE_CUT])
    assert "better" in wrong(_poll(101 + NOTICED_S), [WELL, ONE_CUT])


def test_a_leader_that_cannot_commit_is_a_promise_too() -> None:
    assert "commits" in wrong(_poll(110, spare=0), [WELL, TWO_DOWN])
    assert not wrong(_poll(110, spare=0), [WELL, TWO_DOWN], created=[109.0]), "it did commit"
    describe = _poll(102, command="describe", spare=None)
    assert not wrong(describe, [WELL, TWO_DOWN]), "the leader itself is late to know"
    assert "commits" in wrong(replace(describe, began=112, ended=113), [WELL, TWO_DOWN])


def test_a_complaint_is_wrong_only_once_all_is_over_for_long() -> None:
    again = replace(WELL, at=200)
    moments = [WELL, ONE_DOWN, again]
    assert not wrong(_poll(201, code=1, spare=0), moments)
    assert "worse" in wrong(_poll(201 + SETTLED_S, code=1, spare=0), moments)
    assert "worse" in wrong(_poll(201 + SETTLED_S, spare=0), moments)
    assert not wrong(_poll(201 + SETTLED_S), moments)
    assert not wrong(_poll(110, code=1, spare=0), moments[:2]), "there is a fault"


def test_what_a_command_says_is_read_from_its_document() -> None:
    shown = {"leaderId": 1, "tolerance": {"failureCount": 1, "isLost": False}}
    poll = read_poll("watch", 0, 1, 0, json.dumps(shown))
    assert (poll.commits, poll.spare, poll.is_well) == (True, 1, True)
    shown["tolerance"] = {"failureCount": 0, "isLost": True}
    assert not read_poll("watch", 0, 1, 1, json.dumps(shown)).commits
    health = read_poll("health", 0, 1, 1, json.dumps({"leaderId": 1}))
    assert (health.commits, health.spare, health.is_well) == (False, None, False)
    assert not read_poll("describe", 0, 1, 4, "").commits


def _title(at: float, mark: str, *, is_grey: bool = False) -> Title:
    return Title(at=at, mark=mark, leader=1, epoch=5, failures=1, is_grey=is_grey)


def test_a_title_that_comes_back_while_nothing_changed_is_a_flicker() -> None:
    good, bad = _title(101, "✓"), replace(_title(102, "✖"), leader=None)
    again = _title(103, "✓")
    assert flickers([good, bad, again], [WELL]) == [
        "101.0 ✓ node 1 leads epoch 5, can lose 1; 102.0 ✖ no node leads; 103.0 again"
    ]
    assert not flickers([good, _title(102, "?", is_grey=True), again], [WELL]), "only late"
    assert not flickers([good, bad, again], [WELL, replace(ONE_DOWN, at=102.5)]), "it went down"
    assert not flickers([good, bad, replace(again, epoch=6)], [WELL]), "an election"
    lost = replace(bad, at=99)
    elected = [good, replace(lost, at=101.5), replace(good, at=102, epoch=6), replace(lost, at=103)]
    assert not flickers(elected, [WELL]), "elected and lost"
    assert flickers([good, *(replace(t, epoch=5) for t in elected[1:])], [WELL])
