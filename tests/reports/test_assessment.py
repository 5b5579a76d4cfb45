"""The one judgement of a quorum, against quorums whose past is known."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kraftool.reports.election.assessment import LossBound, QuorumSafety, assess
from kraftool.reports.election.scenario import parse_scenario
from tests.reports.quorum_histories import EMPTIED, LOST, OLD_COPY, History

MANY = 150
"""Histories for each size of a quorum."""


def judged(text: str):
    return assess(parse_scenario(text.encode(), "test").case)


@pytest.mark.parametrize("voters", [3, 5])
def test_the_verdict_is_never_better_than_the_truth(voters: int) -> None:
    # Of every old copy something may be impossible to know: no other directory shows the records.
    counts: Counter[str] = Counter()
    for seed in range(MANY):
        history = History.played(seed, voters)
        chance = random.Random(seed)
        hurt = chance.sample(list(history.ids), chance.randint(0, 3))
        incidents = {each: chance.choice([LOST, EMPTIED, OLD_COPY]) for each in hurt}
        if chance.random() < 0.5:
            incidents[history.broker] = LOST
        disks = history.after(incidents)
        has_records = any(each.log for each in disks.values())
        if not disks or (set(history.ids) <= disks.keys() and not has_records):
            continue  # no directory, or the same as a quorum that was formatted and never started
        found = assess(history.case(disks))
        is_plain = OLD_COPY not in incidents.values()
        loses = history.can_lose(disks, is_shown=not is_plain)
        says_safe = found.state is QuorumSafety.SAFE
        assert not (loses and says_safe), (seed, incidents, found)
        assert says_safe == (found.loss is LossBound.NONE and bool(found.can_lead)), seed
        if is_plain and found.may_be_committed_to is not None:
            assert found.may_be_committed_to >= len(history.committed), (seed, incidents, found)
        counts["safe" if says_safe else "worse" if not loses else "loses"] += 1
    print(voters, counts)
    assert counts["safe"] > 10
    assert counts["loses"] > 10
