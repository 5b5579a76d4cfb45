"""The table of methods in docs/recover.md, cell by cell, in the simulator.

That what is guaranteed holds over many histories is `test_methods_sim.py`'s. Here is what else the
cells say: that old voters lead on, where they are apart; what they take, where they are not; and
what goes wrong where the table says so. (What a crash of real Kafka is, the interop tests show.)
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kraftool.repair.plan import Method
from tests.repair.simulated_loss import (
    APPEND,
    FENCED,
    JUMP,
    Case,
    NotAllowed,
    NothingLeft,
    Return,
    repaired_quorum,
)
from tests.repair.simulated_recovery import Outcome, first

pytestmark = pytest.mark.slow

OLD_SETTINGS = Case(dynamic=False, old_settings=True, mortal=True)


def _follow(outcome: Outcome) -> bool:
    return bool(outcome.old_ids) and outcome.old_ids <= outcome.joined


def _led(outcome: Outcome) -> bool:
    """Whether old voters committed something among themselves."""
    return outcome.rogue > 0


def _is_broken(outcome: Outcome) -> bool:
    return bool(outcome.violation or outcome.deaths)


# --- the old majority is started afterwards, able to reach the new leader ----------------------


def test_append_afterwards_they_follow(tmp_path: Path) -> None:
    outcome = first(replace(APPEND, returns=Return.AFTERWARDS), tmp_path, _follow)
    assert not outcome.violation, outcome


def test_append_afterwards_what_was_ahead_may_break_the_quorum(tmp_path: Path) -> None:
    case = replace(APPEND, returns=Return.AFTERWARDS, only_behind=False, rough=True)
    assert first(case, tmp_path).plan.method is Method.APPEND


@pytest.mark.parametrize(("case", "start"), [(APPEND, 76), (JUMP, 0)], ids=["append", "jump"])
def test_afterwards_all_at_once_a_leader_that_ends_may_be_outvoted(
    case: Case, start: int, tmp_path: Path
) -> None:
    """Who has heard of the new epoch, and has not the new voters yet, goes by the old ones still: a
    majority of such voters elects one of them, in a higher epoch, which the new leader follows."""
    outcome = first(replace(case, returns=Return.AFTERWARDS, rough=True), tmp_path, start=start)
    assert outcome.violation.startswith(("committed", "single-leader", "core")), outcome


def test_jump_afterwards_they_take_the_checkpoint_and_vote_no_more(tmp_path: Path) -> None:
    def is_alone(outcome: Outcome) -> bool:
        return _follow(outcome) and not outcome.old_votes

    outcome = first(replace(JUMP, returns=Return.AFTERWARDS), tmp_path, is_alone)
    assert not outcome.violation, outcome
    assert not outcome.rogue, "they have elected nobody"


def test_static_afterwards_old_settings_break_the_quorum(tmp_path: Path) -> None:
    case = replace(OLD_SETTINGS, returns=Return.AFTERWARDS, rough=True)
    assert first(case, tmp_path, _is_broken)


def test_fence_afterwards_they_stay_a_quorum_of_their_own(tmp_path: Path) -> None:
    outcome = first(replace(FENCED, returns=Return.AFTERWARDS), tmp_path, _led)
    assert not outcome.violation, outcome
    assert not outcome.joined & outcome.old_ids


# --- the old majority is started apart from the new leader --------------------------------------


@pytest.mark.parametrize(
    "case", [APPEND, JUMP, OLD_SETTINGS, FENCED], ids=["append", "jump", "static", "fence"]
)
def test_apart_they_elect_and_commit_their_own(case: Case, tmp_path: Path) -> None:
    outcome = first(replace(case, returns=Return.APART_FOR_EVER), tmp_path, _led)
    assert not outcome.violation, "the recovered quorum loses nothing by that"


def test_jump_apart_until_they_meet_and_then_they_lose_those(tmp_path: Path) -> None:
    def is_met(outcome: Outcome) -> bool:
        return _led(outcome) and _follow(outcome)

    outcome = first(replace(JUMP, returns=Return.APART), tmp_path, is_met)
    assert not outcome.violation, outcome


def test_append_apart_and_then_not_breaks_somebody(tmp_path: Path) -> None:
    outcome = first(replace(APPEND, returns=Return.APART), tmp_path)
    assert outcome.rogue, outcome


def test_static_apart_and_then_not_makes_nodes_die(tmp_path: Path) -> None:
    case = replace(OLD_SETTINGS, returns=Return.APART)
    assert first(case, tmp_path, lambda outcome: outcome.deaths)


# --- nodes that were ahead ------------------------------------------------------------------------


def test_append_is_not_allowed_where_somebody_is_ahead(tmp_path: Path) -> None:
    refused = 0
    for seed in range(30, 50):
        try:
            repaired_quorum(Random(seed), tmp_path / str(seed), APPEND)
        except NotAllowed:
            refused += 1
        except NothingLeft:
            continue
    assert refused


@pytest.mark.parametrize("case", [JUMP, Case(dynamic=False)], ids=["jump", "static"])
def test_nodes_that_were_ahead_take_the_checkpoint(case: Case, tmp_path: Path) -> None:
    """Static voters emptied, as the plan says."""

    def is_ahead(outcome: Outcome) -> bool:
        return outcome.jumps and bool(outcome.ahead & outcome.joined)

    outcome = first(replace(case, returns=Return.AFTERWARDS), tmp_path, is_ahead)
    assert not outcome.violation, outcome
