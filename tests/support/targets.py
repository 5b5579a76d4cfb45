"""The targets of the tests: by its markers each test is in exactly one of them."""

from __future__ import annotations

from collections.abc import Collection

TARGETS = ("test-unit", "test-cases", "test-kafka", "test-spark")


def target_of(markers: Collection[str]) -> str:
    """Return the target of a test with these markers: what it needs most decides."""
    if "spark" in markers:
        return "test-spark"
    if "interop" in markers:
        return "test-kafka"
    return "test-cases" if "slow" in markers else "test-unit"
