"""An exchange that changes nothing is repeated without the core, and every run stays the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from kraftool.reports.election.scenario import parse_scenario
from kraftool.reports.election.what_if import wiped, witness
from kraftool.sim.conditions import Conditions, partition
from kraftool.sim.dice import Dice
from kraftool.sim.patience import unhurried
from kraftool.sim.repetition import Repetition
from kraftool.sim.replica import SentMessage, SimulatedNode
from kraftool.sim.returning import Returning, Way
from kraftool.sim.run import ElectionRun
from tests.sim.replica_forms import form

pytestmark = pytest.mark.slow

IS_LONG = os.environ.get("KRAFTOOL_SOAK") == "1"
SEEDS = range(1000 if IS_LONG else 12)

EQUAL = "nodes: {1: {end: 50}, 2: {end: 50}, 3: {end: 50}}"
SCENARIOS: Mapping[str, str] = {
    "equal": EQUAL,
    "static": f"kraftVersion: 0\n{EQUAL}",
    "led": "nodes: {1: {end: 9, leader: 1}, 2: {end: 9, leader: 1}, 3: {end: 9, leader: 1}}",
    "behind": "nodes: {1: {end: 9, leader: 1}, 2: {end: 9, leader: 1}, 3: {end: 7, leader: 1}}",
    "down": "nodes: {1: {end: 40}, 2: {end: 50}, 3: {end: 50, down: true}}",
    "voted": "nodes: {1: {end: 5, epoch: 3, voted: 1}, 2: {end: 5, epoch: 3, voted: 2}, 3: {end: 5,"
    " epoch: 3}}",
    "four": "nodes: {1: {end: 5, leader: 2}, 2: {end: 5, leader: 2}, 3: {end: 5, leader: 2},"
    " 4: {end: 4, leader: 2}}",
    "observer": "nodes: {1: {end: 5, leader: 1}, 2: {end: 5, leader: 1}, 3: {end: 5, leader: 1},"
    " 4: {voters: []}}\nvoters: [1, 2, 3]",
    "patient": f"timing: {{electionTimeoutMs: 40000}}\n{EQUAL}",
    "no endpoint": "nodes: {1: {end: 9, leader: 1}, 2: {end: 9, leader: 1}, 3: {voters: []}}",
}


def case_of(name: str) -> tuple[Any, Conditions]:
    scenario = parse_scenario(SCENARIOS[name].encode(), name)
    return unhurried(scenario.case), Conditions(down=frozenset(scenario.down))


def cases() -> list[tuple[str, Any, Conditions]]:
    scenario_cases = [(name, *case_of(name)) for name in SCENARIOS]
    equal, led = case_of("equal")[0], case_of("led")[0]
    nodes = (1, 2, 3)
    return [
        *scenario_cases,
        ("cut", equal, Conditions(cut=partition("1>2", nodes))),
        ("slow", led, Conditions(delay_ms=300)),
        ("slower than requests", led, Conditions(delay_ms=1200)),
        ("no delay", equal, Conditions(delay_ms=0)),
        ("wiped", wiped(equal, 3), Conditions()),
        ("witness", witness(equal, 3), Conditions(down=frozenset([1]))),
        ("removed", equal, Conditions(removed_voters=(1,))),
    ]


CASES = cases()


def played(case: Any, conditions: Conditions, seed: int) -> tuple[Any, Any]:
    run = ElectionRun(
        case, conditions, seed, pace=conditions.pace_of(seed), watched=True, until_ms=40_000
    )
    return run.go(), [
        (seen.at_ms, seen.node, seen.role, seen.epoch, seen.lost, seen.to, seen.words,
         seen.message and seen.message.body)
        for seen in run.seen
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "case", "conditions"), CASES, ids=[case[0] for case in CASES])
def test_a_run_is_the_same_message_by_message_if_the_core_plays_all_of_it(
    name: str, case: Any, conditions: Conditions, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeated = [played(case, conditions, seed) for seed in SEEDS]
    monkeypatch.setattr(Repetition, "of", lambda self, message, now_ms: None)
    assert [played(case, conditions, seed) for seed in SEEDS] == repeated


@pytest.mark.parametrize("way", Way)
def test_nodes_that_come_back_come_back_the_same(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    case, conditions = case_of("led")
    seeds = SEEDS[:2]

    def endings() -> list[object]:
        return [Returning(case, conditions, seed, (2,), way).ending() for seed in seeds]

    repeated = endings()
    monkeypatch.setattr(Repetition, "of", lambda self, message, now_ms: None)
    assert endings() == repeated


class _Given:
    """Draws one number that is known."""

    def __init__(self, number: int) -> None:
        self.number = number

    def randrange(self, stop: int, /) -> int:
        assert self.number < stop
        return self.number


def _state(replica: SimulatedNode, now_ms: int) -> tuple[Any, ...]:
    """Return all that a later step depends on, without the numbers of requests."""
    raft, connections = replica.raft, replica.raft.connections
    kept = [form(part, now_ms) for part in (raft.role, raft.log, raft.control, raft.stored)]
    paused = {peer: connections.ready_ms(peer, now_ms) for peer in connections.paused(now_ms)}
    due = connections.bootstrap_ready_ms(tuple(raft.bootstrap), now_ms)
    return (*kept, replica.deadline_ms, paused, connections.has_request_in_flight(now_ms), due)


def test_whatever_is_repeated_is_what_the_core_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the core of a copy of the node each time, and compare messages and states."""
    repetition, count = Repetition.of, {"answers": 0, "fetches": 0}

    def compared(self: Repetition, message: SentMessage, now_ms: int) -> SentMessage | None:
        replica = self._replica
        copy, drawn = replica.fork(), self._dice.drawn
        if not message.is_answer:
            assert repetition(self, message, replica.deadline_ms) is None, "its own turn is due"
        again = repetition(self, message, now_ms)
        if again is None:
            return None
        copy.raft.random = _Given(self._dice.number if self._dice.drawn > drawn else 0)
        (sent,) = copy.receive(now_ms, message)
        assert (sent.destination_id, sent.endpoint, sent.body) == (
            again.destination_id,
            again.endpoint,
            again.body,
        )
        assert _state(copy, now_ms) == _state(replica, now_ms)
        count["fetches" if message.is_answer else "answers"] += 1
        return again

    monkeypatch.setattr(Repetition, "of", compared)
    for name, case, conditions in CASES:
        if name not in ("patient", "no delay", "observer") or IS_LONG:
            for seed in SEEDS[:2]:
                played(case, conditions, seed)
    assert min(count.values()) > 300, count


def test_the_core_plays_less_than_half_of_an_election(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0
    receive = SimulatedNode.receive

    def counted(self: SimulatedNode, now_ms: int, message: SentMessage) -> list[SentMessage]:
        nonlocal steps
        steps += 1
        return receive(self, now_ms, message)

    monkeypatch.setattr(SimulatedNode, "receive", counted)
    case, conditions = case_of("led")
    events = sum(played(case, conditions, seed)[0].events for seed in range(40))
    assert steps < events * 0.4


def test_dice_have_the_numbers_of_random_and_give_the_last_one_back() -> None:
    dice, random = Dice(Random(3)), Random(3)
    stops = [1, 2, 3, 7, 8, 1000, 1 << 40]
    assert [dice.randrange(stop) for stop in stops] == [random.randrange(stop) for stop in stops]
    assert (dice.drawn, dice.stop) == (7, 1 << 40)
    last = dice.number
    dice.give_back()
    assert (dice.drawn, dice.randrange(1 << 40), dice.drawn) == (6, last, 7)
    assert dice.randrange(9) == random.randrange(9)
