"""What tests proved, counted by the tests themselves while they run.

A run with `-p tools.test_minutes` adds it up for each target. Only what really happened is counted:
a test that is skipped has counted nothing.
"""

from __future__ import annotations

from collections import Counter

_counts: Counter[str] = Counter()
_names: dict[str, set[str]] = {}

DIRECTORIES = "directories of real Kafka"
RELEASES = "Kafka"
"""The releases whose classes ran."""

Proof = dict[str, int | list[str]]


def count(what: str, number: int = 1) -> None:
    """Count things of a kind, such as incidents; each is a new one."""
    _counts[what] += number


def saw(what: str, name: str) -> None:
    """Note a thing of a kind by its name, such as a release of Kafka; each counts once in a run."""
    _names.setdefault(what, set()).add(name)


def taken() -> Proof:
    """Return what was counted since the last call: numbers, or names to be counted once."""
    proof: Proof = {**_counts, **{what: sorted(names) for what, names in _names.items()}}
    _counts.clear()
    _names.clear()
    return proof
