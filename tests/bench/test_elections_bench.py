"""What simulate-election says of chances, beside what was measured with real Kafka."""

from __future__ import annotations

import os
from math import sqrt

import pytest

from kraftool.sim.conditions import Conditions, StartPace
from kraftool.sim.outlook import LIKELY
from tests.bench import elections
from tests.bench.elections import MeasuredStarts, kinds, signature

QUORUMS = elections.read()
MEASURED = elections.shares()
RUNS = 200 if os.environ.get("KRAFTOOL_SOAK") == "1" else 10


def test_every_first_leader_of_a_real_start_was_a_node_that_can_lead() -> None:
    assert {quorum.version for quorum in QUORUMS} == set(elections.VERSIONS)
    able: dict[str, set[str]] = {}
    refused = set()
    for quorum in QUORUMS:
        kind, of = kinds(quorum.case, Conditions()), signature(quorum.case, Conditions())
        if of not in able:
            able[of] = {kind[node] for node in elections.can_lead(quorum.case)}
        assert {kind[start["leader"]] for start in quorum.starts} <= able[of], quorum.situation
        if set(kind.values()) - able[of]:
            refused.add(quorum.version)
    assert refused == set(elections.VERSIONS), "on both, a node that cannot lead was started"


def test_the_shares_are_those_of_the_data() -> None:
    counted = {
        (row.situation, row.version, row.pace): (row.signature, dict(row.led)) for row in MEASURED
    }
    for quorum in QUORUMS:
        kind = kinds(quorum.case, Conditions())
        for pace in StartPace:
            of, led = counted[quorum.situation, quorum.version, pace]
            assert of == signature(quorum.case, Conditions())
            assert set(led) == set(kind.values())
    assert sum(row.starts for row in MEASURED) == sum(len(measured.starts) for measured in QUORUMS)
    table = elections.RESULTS.read_text()
    for row in MEASURED:
        head = f"| {row.situation} | {row.version} | {row.pace} | {row.starts} |"
        assert head in table, "make bench-elections writes the table"


@pytest.mark.parametrize("pace", list(StartPace))
def test_the_simulation_is_still_the_one_that_was_compared(pace: StartPace) -> None:
    cases = {signature(quorum.case, Conditions()): quorum.case for quorum in QUORUMS}
    for row in {row.signature: row for row in MEASURED if row.pace is pace}.values():
        shares = elections.predicted(cases[row.signature], pace, RUNS)
        for name, share in row.predicted:
            off = 4 * sqrt(max(share * (1 - share), 0.02) / RUNS)
            assert abs(shares[name] - share) < off, (row.signature, name)


def test_real_starts_contradict_some_shares_so_that_none_is_printed() -> None:
    contradicted = [row for row in MEASURED if not row.agrees]
    assert {row.situation for row in contradicted} == {"killed-together"}


def test_a_kind_that_is_called_likely_led_at_least_half_of_the_real_starts() -> None:
    """Of a kind with one node, so that the kind's share is the node's."""
    likely: dict[tuple[str, str], list[MeasuredStarts]] = {}
    for row in MEASURED:
        likely.setdefault((row.situation, row.version), []).append(row)
    checked = 0
    for rows in likely.values():
        for name, _ in rows[0].led:
            shares = [dict(row.predicted)[name] for row in rows]
            if f"1 {name}" in rows[0].signature and min(shares) >= LIKELY:
                checked += 1
                led = sum(dict(row.led)[name] for row in rows)
                assert 2 * led >= sum(row.starts for row in rows), rows[0].situation
    assert checked, "the old leader that ran alone before is likely"


def test_the_fit_is_the_multinomial_test() -> None:
    assert elections.probability({"a": 5, "b": 5}, {"a": 0.5, "b": 0.5}) == pytest.approx(1)
    assert elections.probability({"a": 0, "b": 2}, {"a": 0.5, "b": 0.5}) == pytest.approx(0.5)
    assert elections.probability({"a": 7, "b": 3}, {"a": 1.0, "b": 0.0}) < 0.001
