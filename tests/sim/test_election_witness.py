"""Simulated elections with witnesses: last resort, hand-over, and what is said of it."""

from __future__ import annotations

from kraftool.reports.election.scenario import parse_scenario
from kraftool.reports.election.what_if import witness
from kraftool.reports.text.json_document import json_value
from kraftool.sim.chances import Chances
from kraftool.sim.conditions import Conditions
from kraftool.sim.document import simulate_election_document
from kraftool.sim.report import Report, simulate
from kraftool.sim.verdict import verdict

AHEAD = "nodes: {1: {end: 100, down: true}, 2: {end: 80}, 3: {end: 100}}"
EQUAL = "nodes: {1: {end: 100, down: true}, 2: {end: 100}, 3: {end: 100}}"


def report(text: str, *witnesses: int, runs: int = 10) -> Report:
    scenario = parse_scenario(text.encode(), "test")
    case = scenario.case
    for node_id in witnesses:
        case = witness(case, node_id)
    return simulate(case, Conditions(down=frozenset(scenario.down)), seed=5, runs=runs)


def test_a_witness_that_is_ahead_hands_over_to_the_kafka_that_it_refused() -> None:
    result = report(AHEAD, 3)
    assert result.wins == {2: 10}
    assert result.after_witness == 10
    assert result.leaders == (2,)
    assert result.is_fine
    words = verdict(result)
    assert words.elected
    assert any("leads as a last resort until 2 has caught up" in detail for detail in words.details)
    assert 4_000 < (result.quantile_ms(1) or 0) < 15_000
    document = json_value(simulate_election_document(result))
    nodes = {node["id"]: node for node in document["nodes"]}
    assert (nodes[2]["isPossibleLeader"], nodes[2]["handedOverById"]) == (True, 3)
    assert (nodes[3]["isPossibleLeader"], nodes[3]["isWitness"]) == (False, True)
    assert document["afterWitnessRunCount"] == 10


def test_nothing_is_lost_when_the_witness_hands_its_records_over() -> None:
    """Node 2 would cut off records if it won with its own log."""
    result = report(AHEAD, 3)
    assert result.losses_by(2) == ()
    assert result.grave == ()


def test_a_witness_that_is_not_ahead_is_no_candidate() -> None:
    result = report(EQUAL, 3)
    assert result.wins == {2: 10}
    assert result.after_witness == 0
    assert any("leads only as a last resort" in detail for detail in verdict(result).details)


def test_several_witnesses_are_several_nodes() -> None:
    details = verdict(report(EQUAL, 2, 3, runs=1)).details
    assert "Nodes 2 and 3 are witnesses: they vote, and lead only as a last resort." in details


def test_without_the_witness_the_longer_log_wins() -> None:
    assert report(AHEAD).wins == {3: 10}


def test_witnesses_alone_elect_nobody() -> None:
    """Neither asks, so neither refuses."""
    result = report(EQUAL, 2, 3)
    assert not result.leaders
    assert not verdict(result).elected


def test_a_failure_that_only_a_witness_helps_with_is_tolerated() -> None:
    scenario = parse_scenario(b"nodes: {1: {end: 100}, 2: {end: 80}, 3: {end: 100}}", "test")
    chances = Chances(witness(scenario.case, 3))
    lost = Conditions(down=frozenset({1}))
    assert chances.stands(lost)
    assert chances.leaders(lost) == (2,)
    assert chances.electable(lost) == (3,)
    assert not chances.stands(Conditions(down=frozenset({1, 3})))
