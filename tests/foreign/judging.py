"""Runs a suite on both clusters and compares the outcomes.

Owns the second run of tests that differ: some foreign tests fail by chance, on either cluster.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tests.foreign.cluster import Side, running_cluster
from tests.foreign.comparison import EXPECTED, Difference, better, counts, differences, expected
from tests.foreign.suite import Outcomes, Suite, SuiteFailed

RUNS_AGAIN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a suite says of the two clusters."""

    suite: str
    outcomes: dict[Side, Outcomes]
    unexplained: list[Difference]
    explained: list[str]
    """Tests that differ for a known reason, each with it."""
    stale: list[str]
    """Tests of `expected.txt` that do not differ."""

    def __str__(self) -> str:
        lines = [
            f"{self.suite}, {side.value}'s controllers: {counts(outcomes)}"
            for side, outcomes in self.outcomes.items()
        ]
        lines += [f"  differs, as expected: {line}" for line in self.explained]
        lines += [f"  does not differ any more: {test}" for test in self.stale]
        lines += [f"  differs: {difference}" for difference in self.unexplained]
        return "\n".join(lines)


def judge(suite: Suite, version: str, folder: Path) -> Verdict:
    """Run a suite on a new cluster of each side, and again what differs."""
    outcomes = {side: _run(suite, version, folder, side) for side in Side}
    for number in range(RUNS_AGAIN if suite.may_run_again else 0):
        differing = [
            difference.test
            for difference in differences(outcomes[Side.KAFKA], outcomes[Side.KRAFTOOL])
        ]
        if not differing:
            break
        for side in Side:
            # Only what has not passed has to show that it can.
            failed = [test for test in differing if outcomes[side].get(test) != "pass"]
            if failed:
                again = _run(suite, version, folder / f"again-{number + 1}", side, failed)
                outcomes[side] = better(outcomes[side], again)
    reasons = expected(EXPECTED.read_text(), suite.name)
    different = differences(outcomes[Side.KAFKA], outcomes[Side.KRAFTOOL])
    explained = {
        difference.test
        for difference in different
        if difference.test in reasons and suite.may_differ(difference.kafka, difference.kraftool)
    }
    return Verdict(
        suite=suite.name,
        outcomes=outcomes,
        unexplained=[difference for difference in different if difference.test not in explained],
        explained=[f"{test}: {reasons[test]}" for test in reasons if test in explained],
        stale=[test for test in reasons if test not in {one.test for one in different}],
    )


def _run(
    suite: Suite, version: str, folder: Path, side: Side, only: Collection[str] = ()
) -> Outcomes:
    place = folder / suite.name / side.value.lower()
    place.mkdir(parents=True)
    with running_cluster(version, place / "cluster", side, suite.broker_ids) as cluster:
        outcomes = suite.run(cluster, place, only)
    failed = sum(outcome == "fail" for outcome in outcomes.values())
    if not outcomes or (not only and failed > len(outcomes) // 2):
        raise SuiteFailed(
            f"{failed} of {len(outcomes)} tests failed: that shows nothing; see {place}"
        )
    return outcomes
