"""Every order of small cases: what is reachable, and that a broken core is found out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftool.raft import transitions, vote
from kraftool.reports.election.scenario import parse_scenario
from kraftool.sim.chances import PATIENT, Chances
from kraftool.sim.conditions import Conditions
from kraftool.sim.replica import SimulatedNode, disk_of
from tests.sim.board import CRASH, Board
from tests.sim.explorer import Exploration, Explorer
from tests.sim.replica_forms import of_replica

pytestmark = pytest.mark.slow

CANDIDATES = """
nodes:
  1: {end: 5, epoch: 3, voted: 1}
  2: {end: 5, epoch: 3, voted: 2}
  3: {end: 5, epoch: 3}
"""


def explored(
    text: str, depth: int, *, crashes: int = 1, is_reduced: bool = True, to_the_end: bool = False
) -> Exploration:
    scenario = parse_scenario(text.encode(), "test")
    conditions = Conditions(down=frozenset(scenario.down))
    explorer = Explorer(scenario.case, conditions, depth, crashes=crashes, is_reduced=is_reduced)
    return explorer.go(to_the_end=to_the_end)


def test_either_of_two_candidates_can_win_and_never_both() -> None:
    exploration = explored(CANDIDATES, 5)
    assert exploration.violation is None
    assert exploration.is_complete
    assert exploration.elected == {1: 2, 2: 2, 3: 5}, "a vote and its answer; a whole election"
    assert exploration.choices.states > 1000


def test_a_replica_that_forgets_its_vote_makes_two_leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transitions, "add_vote", lambda raft, voted: None)
    exploration = explored(CANDIDATES, 5, crashes=0)
    assert exploration.violation is not None
    assert exploration.violation.invariant == "single leader"
    assert len(exploration.violation.steps) == 4
    assert exploration.violation.steps[0].startswith(("1 → 3: Vote", "2 → 3: Vote"))


def test_a_replica_that_does_not_write_its_vote_makes_two_leaders_by_a_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transitions, "persist", lambda raft, role: None)
    exploration = explored(CANDIDATES, 6)
    assert exploration.violation is not None
    assert any("crashes" in step for step in exploration.violation.steps)


def test_a_leader_without_committed_records_is_found_out() -> None:
    # A snapshot of 1 proves that all below 60 is committed; 3 has lost its log.
    text = """
    nodes:
      1: {log: {1: 0}, end: 60, snapshot: [60, 1], down: true}
      2: {end: 50}
      3: {voters: []}
    """
    exploration = explored(text, 6, crashes=0)
    assert exploration.violation is not None
    assert exploration.violation.invariant == "leader completeness"


def test_a_core_that_ignores_logs_elects_a_leader_that_lacks_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = """
    nodes:
      1: {end: 50, epoch: 3, voted: 1}
      2: {log: {1: 0}, end: 60, epoch: 3, snapshot: [60, 1]}
      3: {end: 60, down: true}
    """
    assert explored(text, 4).violation is None
    monkeypatch.setattr(vote, "grants", lambda raft, asked: True)
    exploration = explored(text, 4)
    assert exploration.violation is not None
    assert exploration.violation.invariant == "leader completeness"


def test_whoever_the_trial_calls_impossible_is_never_reached() -> None:
    text = "nodes: {1: {end: 40}, 2: {end: 50}, 3: {end: 50, down: true}}"
    scenario = parse_scenario(text.encode(), "test")
    conditions = Conditions(down=frozenset(scenario.down))
    wins = {chance.node for chance in Chances(scenario.case).all(conditions) if chance.wins}
    exploration = Explorer(scenario.case, conditions, 9, crashes=0).go()
    assert set(exploration.elected) == wins == {2}
    assert exploration.is_complete
    assert set(exploration.committing) == {2}


def test_all_messages_to_their_end_are_an_election_and_a_commit() -> None:
    exploration = explored("nodes: {1: {end: 5}, 2: {end: 5}}", 2, to_the_end=True)
    assert exploration.violation is None
    assert exploration.choices.complete_to == 2, "too few choices for anything to happen"
    assert exploration.to_the_end.complete_to == 1, "the timer of the one or of the other"
    assert exploration.elected == {1: 5, 2: 5}, "a timer, a pre-vote, a vote, and their answers"
    assert exploration.committing == {1: 8, 2: 8}
    assert 100 < exploration.to_the_end.states < 5000


def _forgets_votes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(transitions, "add_vote", lambda raft, voted: None)


def _writes_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(transitions, "persist", lambda raft, role: None)


def _grants_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(vote, "grants", lambda raft, asked: True)


def _is_sound(_: pytest.MonkeyPatch) -> None:
    pass


STALE = """
nodes:
  1: {end: 50, epoch: 3, voted: 1}
  2: {log: {1: 0}, end: 60, epoch: 3, snapshot: [60, 1]}
  3: {end: 60, down: true}
"""
LEADER_IS_BACK = """
nodes:
  1: {end: 5, epoch: 3, leader: 1}
  2: {end: 5, epoch: 3, leader: 1}
  3: {voters: []}
"""


@pytest.mark.parametrize("core", [_is_sound, _forgets_votes, _writes_nothing, _grants_everything])
@pytest.mark.parametrize(
    ("text", "depth", "crashes"),
    [(CANDIDATES, 6, 0), (CANDIDATES, 4, 1), (STALE, 6, 1), (LEADER_IS_BACK, 4, 1)],
)
def test_the_states_that_are_left_out_change_nothing_of_what_is_found(
    core: Callable[[pytest.MonkeyPatch], None],
    text: str,
    depth: int,
    crashes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core(monkeypatch)
    plain = explored(text, depth, crashes=crashes, is_reduced=False)
    reduced = explored(text, depth, crashes=crashes)
    assert (reduced.violation is None) == (plain.violation is None)
    if plain.violation is not None and reduced.violation is not None:
        assert len(reduced.violation.steps) == len(plain.violation.steps)
        return
    assert reduced.elected == plain.elected
    assert reduced.committing == plain.committing
    assert {node: after for node, (after, _) in reduced.stopping.items()} == {
        node: after for node, (after, _) in plain.stopping.items()
    }
    assert reduced.choices.states < plain.choices.states


def test_a_request_that_its_asker_has_forgotten_is_answered_to_nobody() -> None:
    scenario = parse_scenario(CANDIDATES.encode(), "test")
    board = Board(scenario.case, Conditions(), is_reduced=True)
    places, mail = board.begin()
    asked = next(message for message in mail if board.to(message) == 3)
    asker = board.messages[asked].asker
    crashed = board.step(places[asker - 1], CRASH)
    stale = board.stale(asked, crashed.forgotten)
    assert stale not in {None, asked}
    assert stale is not None
    fresh, old = board.step(places[2], asked), board.step(places[2], stale)
    assert [board.to(message) for message in fresh.sent] == [asker]
    assert old.sent == ()
    assert old.after == fresh.after, "it is taken in as before"


def test_a_fork_leaves_the_original_as_it_is() -> None:
    case = parse_scenario(CANDIDATES.encode(), "test").case
    replica = SimulatedNode(case.nodes[2], PATIENT, disk_of(case.nodes[2]))
    asker = SimulatedNode(case.nodes[0], PATIENT, disk_of(case.nodes[0]))
    sent = [*asker.start(1)]
    replica.start(1)
    before = of_replica(replica, 1)
    fork = replica.fork()
    assert of_replica(fork, 1) == before
    message = next(message for message in sent if message.endpoint.host == "node-3")
    fork.receive(1, message)
    assert of_replica(replica, 1) == before
    assert of_replica(fork, 1) != before


def test_the_same_state_later_has_the_same_form() -> None:
    case = parse_scenario(CANDIDATES.encode(), "test").case
    one, other = (SimulatedNode(case.nodes[2], PATIENT, disk_of(case.nodes[2])) for _ in range(2))
    one.start(10)
    other.start(7000)
    assert of_replica(one, 10) == of_replica(other, 7000)
    assert of_replica(one, 10) != of_replica(other, 7001)
