"""The rule behind "No action needed", against every order of messages and timers of three voters.

Each case is three logs, or two and a voter that was not given and comes back empty. What may be
committed is counted here by itself: a record that a majority may have had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement

import pytest

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.reports.election.assessment import QuorumSafety, assess
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.scenario import parse_scenario
from kraftool.sim.conditions import Conditions
from tests.sim.board import Committed
from tests.sim.explorer import Exploration, Explorer

pytestmark = pytest.mark.slow

LOGS: tuple[tuple[int, ...], ...] = ((1,), (1, 1), (1, 2), (1, 2, 2), (1, 1, 3))
"""The epoch of each record. Each epoch begins at one offset, as its one leader wrote it."""
DEPTH = 6
"""So many choices: an election takes five, with a pre-vote and its answers."""
MAJORITY = 2


class ProvedExplorer(Explorer):
    """Every order, if some records are committed before anything happens."""

    def __init__(self, case: ElectionCase, committed: Committed) -> None:
        super().__init__(case, Conditions(), DEPTH, crashes=0)
        self._committed = committed

    def _proved(self) -> Committed:
        return self._committed


def case_of(logs: Mapping[int, tuple[int, ...]]) -> ElectionCase:
    text = ["voters: [1, 2, 3]", "kraftVersion: 0", "nodes:"]
    for node, log in logs.items():
        starts = ", ".join(f"{epoch}: {at}" for epoch, at in epochs_of(log))
        text.append(f"  {node}: {{log: {{{starts}}}, end: {len(log)}, epoch: 3}}")
    return parse_scenario("\n".join(text).encode(), "test").case


def epochs_of(log: tuple[int, ...]) -> tuple[EpochEntry, ...]:
    return tuple(EpochEntry(epoch, log.index(epoch)) for epoch in sorted(set(log)))


def may_be_committed(logs: Mapping[int, tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The longest prefixes that a majority may have had; a voter that is not given may have had
    any."""
    unknown = 3 - len(logs)
    prefixes = {log[:end] for log in logs.values() for end in range(1, len(log) + 1)}
    held = [
        prefix
        for prefix in prefixes
        if sum(log[: len(prefix)] == prefix for log in logs.values()) + unknown >= MAJORITY
    ]
    for log in held:
        if not any(other != log and other[: len(log)] == log for other in held):
            yield log


def explored(logs: Mapping[int, tuple[int, ...]], committed: tuple[int, ...]) -> Exploration:
    """With empty logs for the voters that are not given."""
    all_logs = {node: logs.get(node, ()) for node in (1, 2, 3)}
    explorer = ProvedExplorer(case_of(all_logs), (len(committed), epochs_of(committed)))
    return explorer.go(to_the_end=False)


CASES = [
    *(dict(enumerate(logs, 1)) for logs in combinations_with_replacement(LOGS, 3)),
    *(dict(enumerate(logs, 1)) for logs in combinations_with_replacement(LOGS, 2)),
]


@pytest.fixture(scope="module")
def verdicts() -> list[tuple[QuorumSafety, bool]]:
    """For each case what is judged, and whether some order cuts what may be committed."""
    judgements = []
    for logs in CASES:
        judged = assess(case_of(logs))
        is_cut = False
        for committed in may_be_committed(logs):
            orders = explored(logs, committed)
            given = set(orders.elected) & set(logs)
            assert given <= set(judged.can_lead), (logs, orders.elected, judged)
            is_cut = is_cut or orders.violation is not None
        judgements.append((judged.state, is_cut))
    return judgements


def test_no_order_of_a_safe_quorum_cuts_what_may_be_committed(
    verdicts: list[tuple[QuorumSafety, bool]],
) -> None:
    for logs, (state, is_cut) in zip(CASES, verdicts, strict=True):
        assert not (is_cut and state is QuorumSafety.SAFE), logs


def test_the_cases_are_of_all_kinds(verdicts: list[tuple[QuorumSafety, bool]]) -> None:
    assert verdicts.count((QuorumSafety.SAFE, False)) > 10
    assert verdicts.count((QuorumSafety.AT_RISK, True)) > 5
