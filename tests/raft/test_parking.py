"""Fetches that wait cost by their number, not by its square.

The calls of functions are counted, not the seconds: a count is the same on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import pytest

from kraftool.raft import core
from kraftool.raft.events import SetDeadline, TimePassed
from kraftool.raft.raft import Raft
from tests.raft.parked_fetches import WAIT_MS, append, leader, park, replies

STEP_MS = 10
"""Between two fetches of which each came by itself."""
FEW, MANY = 100, 400
LINEAR = MANY / FEW * 1.25
"""How much more work the many may be than the few; by the square it would be 16 times as much."""


def calls(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called."""
    count = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def append_into(answered: list[int], raft: Raft) -> None:
    answered.extend(append(raft))


@pytest.mark.parametrize("step_ms", [0, 1])
def test_an_append_costs_in_proportion_to_the_fetches_that_it_answers(step_ms: int) -> None:
    work = []
    for count in (FEW, MANY):
        raft = leader()
        park(raft, count, step_ms=step_ms)
        answered: list[int] = []
        work.append(calls(partial(append_into, answered, raft)))
        assert answered == list(range(count))
        assert raft.parked == []
    assert work[1] <= work[0] * LINEAR


def test_a_fetch_costs_the_same_whoever_waits_already() -> None:
    work = []
    for count in (FEW, MANY):
        raft = leader()
        park(raft, count)
        work.append(calls(partial(core.step, raft, raft.now_ms, TimePassed())))
    assert work[0] == work[1]


def test_each_fetch_expires_at_its_own_time_in_the_order_they_came() -> None:
    raft = leader()
    began = raft.now_ms
    park(raft, 3, step_ms=STEP_MS)
    for number in range(3):
        due = began + (number + 1) * STEP_MS + WAIT_MS
        early = core.step(raft, due - 1, TimePassed())
        assert replies(early) == []
        assert early[-1] == SetDeadline(at_ms=due)
        assert replies(core.step(raft, due, TimePassed())) == [number]
