"""Compares a suite's outcomes on the two clusters, test by test.

Owns `expected.txt`, the list of what may differ.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.foreign.suite import Outcomes

EXPECTED = Path(__file__).with_name("expected.txt")
_NOT_RUN = "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A test with another outcome."""

    test: str
    kafka: str
    kraftool: str

    def __str__(self) -> str:
        return f"{self.test}\n    Kafka:    {self.kafka}\n    kraftool: {self.kraftool}"


def differences(kafka: Outcomes, kraftool: Outcomes) -> list[Difference]:
    """Return the tests with different outcomes, in the order in which they ran."""
    return [
        Difference(
            test=test, kafka=kafka.get(test, _NOT_RUN), kraftool=kraftool.get(test, _NOT_RUN)
        )
        for test in dict.fromkeys([*kafka, *kraftool])
        if kafka.get(test) != kraftool.get(test)
    ]


def better(before: Outcomes, again: Outcomes) -> Outcomes:
    """Return the outcomes of two runs: a test that passed in one of them can pass."""
    return {
        test: outcome if outcome == "pass" else again.get(test, outcome)
        for test, outcome in before.items()
    }


def expected(text: str, suite: str) -> dict[str, str]:
    """Return the reason for each test of a suite that may differ."""
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {test: reason for name, test, reason in lines if name == suite}


def counts(outcomes: Outcomes) -> str:
    """Return how many tests had each outcome; those of texts are counted together."""
    kinds = ("pass", "fail", "skip")
    tally = Counter(outcome if outcome in kinds else "outcomes" for outcome in outcomes.values())
    return ", ".join(f"{count} {kind}" for kind, count in sorted(tally.items()))
