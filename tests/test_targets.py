"""Each test is in exactly one of the targets, whatever its markers are."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection
from itertools import chain, combinations
from typing import Literal

import pytest
from _pytest.mark.expression import Expression

from tests.support import proof
from tests.support.places import ROOT
from tests.support.targets import TARGETS, target_of
from tools import test_minutes

When = Literal["setup", "call", "teardown"]
Outcome = Literal["passed", "failed", "skipped"]
RECIPE = r"^{}:[^\n]*\n\t@\$\(TESTS\) -m (?:'([^'\n]+)'|(\w+))$"


def expressions() -> dict[str, Expression]:
    """Return what each target of the Makefile selects."""
    makefile = (ROOT / "Makefile").read_text()
    found = {name: re.search(RECIPE.format(name), makefile, re.MULTILINE) for name in TARGETS}
    return {
        name: Expression.compile(recipe[1] or recipe[2])
        for name, recipe in found.items()
        if recipe is not None
    }


def selects(expression: Expression, markers: Collection[str]) -> bool:
    def has(name: str, /, **_: object) -> bool:
        return name in markers

    return expression.evaluate(has)


def declared() -> list[str]:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    return [marker.partition(":")[0] for marker in options["markers"]]


def test_no_test_is_in_no_target_or_in_two() -> None:
    """Strict markers are on, so that no test has a marker besides the declared ones."""
    selected = expressions()
    assert set(selected) == set(TARGETS)
    names = declared()
    assert {"interop", "spark"} <= set(names)
    for markers in chain.from_iterable(combinations(names, n) for n in range(len(names) + 1)):
        chosen = [target for target, expression in selected.items() if selects(expression, markers)]
        assert chosen == [target_of(markers)], markers


def test_make_test_runs_all_of_them_in_one_run() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^test:.*\n\t@\$\(TESTS\)$", makefile, re.MULTILINE)


def reported(target: str, when: When, outcome: Outcome, **proved: object) -> pytest.TestReport:
    properties = [("target", target), ("cpu_s", 30.0), ("proof", json.dumps(proved))]
    where = ("a", 0, "b")
    return pytest.TestReport("a::b", where, {}, outcome, None, when, user_properties=properties)


def test_a_target_has_its_minutes_and_what_its_tests_counted() -> None:
    """Numbers add up, a name counts once, and a failure is in the line."""
    target = test_minutes._Target()
    phases: tuple[When, ...] = ("setup", "call", "teardown")
    for when in phases:
        target.add(reported("test-kafka", when, "passed", requests=1200, Kafka=["4.3.0"]))
    target.add(reported("test-kafka", "call", "failed"))
    target.add(reported("test-kafka", "teardown", "passed", requests=34, Kafka=["4.3.0", "4.4.0"]))
    assert target.line("test-kafka") == (
        "test-kafka    1.0 min of CPU  1 passed, 1 FAILED; 1,234 requests; Kafka 4.3.0, 4.4.0"
    )


def test_what_a_test_counts_is_taken_once() -> None:
    before = proof.taken()
    try:
        proof.count("seeds", 3)
        proof.count("seeds")
        proof.saw("Kafka", "4.3.0")
        proof.saw("Kafka", "4.3.0")
        assert proof.taken() == {"seeds": 4, "Kafka": ["4.3.0"]}
        assert proof.taken() == {}
    finally:
        for what, value in before.items():
            if isinstance(value, int):
                proof.count(what, value)
            else:
                for name in value:
                    proof.saw(what, name)
