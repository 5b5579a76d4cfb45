"""The one judgement of a quorum, against quorums whose past is known."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import pytest

from kraftool.raft.names import OffsetAndEpoch
from kraftool.reports.election.assessment import Assessment, LossBound, QuorumSafety, assess
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.losses import (
    CommitEvidence,
    CommitStatus,
    losses,
    may_have_unseen_by_doubt,
)
from kraftool.reports.election.scenario import parse_scenario
from tests.reports.quorum_histories import OLD_COPY, History, hurt

pytestmark = pytest.mark.slow

MANY = 150
"""Histories for each size of a quorum."""


def judged(text: str) -> Assessment:
    return assess(parse_scenario(text.encode(), "test").case)


@pytest.mark.parametrize("voters", [3, 5])
def test_the_verdict_is_never_better_than_the_truth(voters: int) -> None:
    # Of every old copy something may be impossible to know: no other directory shows the records.
    counts: Counter[str] = Counter()
    for seed in range(MANY):
        history = History.played(seed, voters)
        incidents = hurt(history, seed)
        disks = history.after(incidents)
        has_records = any(disk.log for disk in disks.values())
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
        first = found.start_first
        if first:
            assert not history.can_lose(disks, is_shown=not is_plain, among=first), (seed, found)
        verdict = "safe" if says_safe else "safe in an order" if first else "at risk"
        counts[f"{verdict}, {'loses' if loses else 'loses nothing'}"] += 1
    print(voters, counts)
    assert counts["safe, loses nothing"] + counts["safe in an order, loses nothing"] > 10
    assert counts["safe in an order, loses"] > 5
    assert counts["at risk, loses"] > 10


def at_rest(ends: dict[int, int], *, leader: int, running: tuple[int, ...] = ()) -> ElectionCase:
    """Voters 1 to 3 and broker 4 with parts of one log of epoch 1, a record each 100 ms."""
    nodes = ", ".join(f"{node}: {{end: {end}, epoch: 1}}" for node, end in ends.items())
    text = f"voters: [1, 2, 3]\nkraftVersion: 0\nnodes: {{{nodes}}}"
    case = parse_scenario(text.encode(), "test").case
    for node in case.nodes:
        log = replace(
            node.log, leaders=((1, leader),), last_timestamp_ms=1_000_000 + 100 * node.log.end
        )
        case = case.with_node(replace(node, log=log, is_running=node.id in running))
    return case


@pytest.mark.parametrize("running", [(), (4,)])
def test_a_running_broker_is_evidence_against_a_stopped_leader(running: tuple[int, ...]) -> None:
    """The leader wrote what the broker has, and lacks it: its directory is an old copy."""
    found = assess(at_rest({1: 90, 2: 80, 3: 80, 4: 100}, leader=2, running=running))
    assert [(voter.id, voter.is_doubt) for voter in found.forgetful] == [
        (1, False),
        (2, False),
        (3, False),
    ]
    assert found.loss is LossBound.UNBOUNDED
    assert not found.start_first


@pytest.mark.parametrize(("reaches", "forgetful"), [(90, {2, 3}), (100, {1, 2, 3})])
def test_batches_behind_damage_are_evidence_against_their_leader(
    reaches: int, forgetful: set[int]
) -> None:
    """The leader's log was cut inside a batch at 90. A follower is damaged at its first batch, and
    its sound batches behind that show how much the leader wrote."""
    case = at_rest({1: 90, 2: 80, 3: 100}, leader=1)
    node = case.by_id[3]
    damaged = replace(node.log, end=0, epochs=(), voter_sets=(), behind=OffsetAndEpoch(reaches, 1))
    found = assess(case.with_node(replace(node, log=damaged)))
    assert {voter.id for voter in found.forgetful} == forgetful
    assert (found.loss is LossBound.UNBOUNDED) is (1 in forgetful)


def test_the_log_of_a_running_leader_may_have_grown() -> None:
    found = assess(at_rest({1: 100, 2: 90, 3: 90, 4: 100}, leader=2, running=(2,)))
    assert all(voter.is_doubt for voter in found.forgetful)
    assert 2 not in {voter.id for voter in found.forgetful}


def test_followers_that_lag_behind_their_leader_start_after_it() -> None:
    """Old copies of a second ago look the same, so that the leader's records may be committed."""
    found = assess(at_rest({1: 100, 2: 90, 3: 90, 4: 90}, leader=1))
    assert found.state is QuorumSafety.AT_RISK
    assert found.lost_range == (90, 100)
    assert 1 in found.start_first
    assert [voter.is_doubt for voter in found.forgetful] == [True, True]
    one_behind = assess(at_rest({1: 100, 2: 100, 3: 90, 4: 90}, leader=1))
    assert one_behind.state is QuorumSafety.SAFE, "a majority has all of it"


@pytest.mark.parametrize(
    ("others", "is_open"), [((94, 94), False), ((30, 94), False), ((30, 30), True)]
)
def test_no_leader_writes_alone_for_long(others: tuple[int, int], is_open: bool) -> None:
    """A record every 100 ms. A leader resigns after 3 s without a majority. So if both other voters
    end 7 s before it, one of them had more, and both may have had what it lacks."""
    case = at_rest({1: 100, 2: others[0], 3: others[1]}, leader=1)
    assert may_have_unseen_by_doubt(CommitEvidence.of(case)) is is_open


def test_what_only_a_snapshot_has_is_cut_off_too() -> None:
    """Voter 1 has a snapshot at 33 and no record behind it. Voters 2 and 3 can elect each other,
    and one of them has lost what it had confirmed: without that, there would be no snapshot."""
    case = at_rest({1: 40, 2: 6, 3: 1}, leader=1)
    node = case.by_id[1]
    log = replace(node.log, start=33, end=33, epochs=(), snapshots=(OffsetAndEpoch(33, 1),))
    found = assess(case.with_node(replace(node, log=log)))
    assert 2 in found.can_lead
    assert found.state is QuorumSafety.AT_RISK
    assert found.lost_range == (6, None)
    assert [(voter.id, voter.first_offset, voter.is_doubt) for voter in found.forgetful] == [
        (2, 6, False),
        (3, 1, False),
    ]
    (cut,) = losses(case.with_node(replace(node, log=log)), case.by_id[2])
    assert (cut.first, cut.end, cut.standing) == (6, 33, CommitStatus.COMMITTED)


@pytest.mark.parametrize("voters", [5, 7])
def test_a_judgement_takes_no_two_seconds(voters: int) -> None:
    """By the processor's time: every set of voters, every leader, and then a second leader."""
    longest = 0.0
    for seed in range(30):
        history = History.played(seed, voters)
        disks = history.after(hurt(history, seed) if seed % 2 else {})
        if not seed % 2:  # equal logs but for one: every set is tried, and a second leader
            best = max(disks.values(), key=lambda each: each.rank)
            disks = {each: disks[each] if each == 1 else best for each in history.ids}
        case = history.case(disks)
        begun = time.process_time()
        assess(case)
        longest = max(longest, time.process_time() - begun)
    assert longest < 2
    print(voters, f"{longest:.3f} s")
