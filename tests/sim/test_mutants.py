"""The errors that `make mutants` puts into the product can be put there, and some are noticed."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.support.places import ROOT

pytestmark = pytest.mark.slow

sys.path.insert(0, str(ROOT / "tools"))

table = importlib.import_module("mutant_table")
TRANSCRIPTS = importlib.import_module("mutant").TRANSCRIPTS
mutants = importlib.import_module("mutants")
FOR_UNIT_TESTS = importlib.import_module("mutant_rooms").UNIT_MUTANTS
BY_INVARIANT = {
    mutant.caught_by: mutant for mutant in reversed(table.MUTANTS) if not mutant.is_for_unit_tests
}


def test_there_are_twenty_mutants_at_least_and_their_names_differ() -> None:
    names = [mutant.name for mutant in table.MUTANTS]
    assert len(names) >= 20
    assert len(set(names)) == len(names)


def test_every_invariant_has_a_mutant_that_violates_it() -> None:
    from tests.simulator.checkers import CHECKERS

    told_by_others = {"core", "liveness", "snapshots", TRANSCRIPTS}
    assert {checker.name for checker in CHECKERS} == set(BY_INVARIANT) - told_by_others
    assert told_by_others <= set(BY_INVARIANT)


@pytest.mark.parametrize("mutant", table.MUTANTS, ids=lambda entry: entry.name)
def test_a_mutant_replaces_text_that_is_there_once(mutant: object) -> None:
    for source in mutants.edited(mutant).values():
        compile(source, "mutant", "exec")


@pytest.mark.parametrize("mutant", FOR_UNIT_TESTS, ids=lambda entry: entry.name)
def test_unit_tests_of_its_own_room_notice_a_mutant(mutant: Any) -> None:
    tests = ROOT / mutant.caught_by
    assert tests.is_file()
    (edit,) = mutant.edits
    assert tests.relative_to(ROOT / "tests").parts[0] == edit.module.partition(".")[0]


def test_every_room_whose_judgement_is_trusted_has_mutants() -> None:
    rooms = {edit.module.partition(".")[0] for mutant in FOR_UNIT_TESTS for edit in mutant.edits}
    assert rooms == {
        "backup",
        "bundle",
        "client",
        "commands",
        "controller",
        "decoders",
        "exporter",
        "image",
        "raft",
        "repair",
        "reports",
        "storage",
    }


def played(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "mutants.py", "--one", name],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("invariant", sorted(set(BY_INVARIANT) - {TRANSCRIPTS}))
def test_the_checker_of_an_invariant_catches_its_first_mutant(invariant: str) -> None:
    done = played(BY_INVARIANT[invariant].name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f": {invariant}: " in done.stdout


def test_a_unit_test_catches_a_mutant_that_it_is_named_for() -> None:
    done = played("a feature of level 0 stays finalized")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "test_a_feature_at_level_0_is_gone\n"
