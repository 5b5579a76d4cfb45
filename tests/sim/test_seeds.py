"""A hundred seeds hold every invariant; `make soak` plays three hundred, `make sim` thousands."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from tests.simulator.options import FAULTS, Options
from tests.simulator.runner import SeedResult, run

pytestmark = pytest.mark.slow

_PART = 25
_QUICK = 100
_PARTS = [
    pytest.param(first, marks=() if first < _QUICK else pytest.mark.soak)
    for first in range(0, 300, _PART)
]


@cache
def played(seed: int) -> SeedResult:
    """The history of a seed with all faults, which is the same each time."""
    return run(seed)


@pytest.mark.parametrize("first", _PARTS)
def test_no_invariant_is_violated_with_all_faults(first: int) -> None:
    for seed in range(first, first + _PART):
        verdict = played(seed)
        assert verdict.is_fine, f"seed {seed}\n{verdict.text}"


@pytest.mark.parametrize("fault", FAULTS)
def test_no_invariant_is_violated_with_one_kind_of_fault(fault: str) -> None:
    for seed in range(4):
        verdict = run(seed, Options(faults=(fault,), run_ms=6_000))
        assert verdict.is_fine, f"seed {seed}\n{verdict.text}"


def test_every_kind_of_fault_really_happens() -> None:
    counts = sum((played(seed).counts for seed in range(40)), Counter[str]())
    for what in (
        "crashes",
        "kills",
        "partitions",
        "lost",
        "doubled",
        "delayed",
        "corrupted",
        "wipes",
        "voter sets",
        "resignations",
        "shutdowns",
        "stopped in order",
        "snapshots written",
        "snapshots loaded",
        "operator told NONE",
    ):
        assert counts[what], f"never: {what}"


def test_static_quorums_are_upgraded() -> None:
    options = Options(voters=3, dynamic=False, faults=("upgrade", "loss", "duplication"))
    verdicts = [run(seed, options) for seed in range(12)]
    assert all(verdict.is_fine for verdict in verdicts), [verdict.text for verdict in verdicts]
    assert sum(verdict.counts["upgrades to kraft.version 1"] for verdict in verdicts) >= 3
