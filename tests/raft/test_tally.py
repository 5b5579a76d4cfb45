"""The count of one election, where no message can lead to it."""

import pytest

from kraftool.raft.names import ProtocolError
from kraftool.raft.tally import Tally


def test_a_node_has_granted_to_itself_and_waits_for_the_others() -> None:
    tally = Tally({3, 1, 2}, 1)
    assert (tally.granting, tally.rejecting, tally.unrecorded) == ((1,), (), (2, 3))
    assert not tally.is_won
    assert not tally.is_lost


def test_a_sole_voter_has_won_at_once() -> None:
    assert Tally({1}, 1).is_won


@pytest.mark.parametrize(("voters", "majority"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (6, 4)])
def test_a_majority_wins_and_nothing_less(voters: int, majority: int) -> None:
    tally = Tally(range(1, voters + 1), 1)
    assert tally.majority == majority
    for other in range(2, majority + 1):
        assert not tally.is_won
        tally.record(other, granted=True)
    assert tally.is_won


@pytest.mark.parametrize(("voters", "rejections"), [(2, 1), (3, 2), (4, 2), (5, 3)])
def test_it_is_lost_when_those_who_are_left_are_too_few(voters: int, rejections: int) -> None:
    tally = Tally(range(1, voters + 1), 1)
    for other in range(2, rejections + 2):
        assert not tally.is_lost
        tally.record(other, granted=False)
    assert tally.is_lost


def test_a_vote_counts_once() -> None:
    tally = Tally(range(1, 6), 1)
    tally.record(2, granted=True, fixed=True)
    tally.record(2, granted=True, fixed=True)
    assert tally.granting == (1, 2)
    assert not tally.is_won


@pytest.mark.parametrize("first", [True, False])
def test_a_candidates_voter_cannot_take_its_answer_back(first: bool) -> None:
    tally = Tally({1, 2, 3}, 1)
    tally.record(2, granted=first, fixed=True)
    with pytest.raises(ProtocolError):
        tally.record(2, granted=not first, fixed=True)


@pytest.mark.parametrize("fixed", [True, False])
def test_only_voters_have_a_vote(fixed: bool) -> None:
    with pytest.raises(ProtocolError):
        Tally({1, 2, 3}, 1).record(4, granted=True, fixed=fixed)


def test_a_pre_vote_may_be_answered_otherwise_the_second_time() -> None:
    tally = Tally({1, 2, 3}, 1)
    tally.record(2, granted=False)
    tally.record(2, granted=True)
    assert tally.is_won
