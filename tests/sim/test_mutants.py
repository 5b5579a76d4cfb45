"""Every checker catches an error that was put into the core; `make mutants` tries all of them."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

table = importlib.import_module("mutant_table")
TRANSCRIPTS = importlib.import_module("mutant").TRANSCRIPTS
mutants = importlib.import_module("mutants")
BY_INVARIANT = {mutant.caught_by: mutant for mutant in reversed(table.MUTANTS)}


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


@pytest.mark.parametrize("invariant", sorted(set(BY_INVARIANT) - {TRANSCRIPTS}))
def test_the_checker_of_an_invariant_catches_its_first_mutant(invariant: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "mutants.py", "--one", BY_INVARIANT[invariant].name],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f": {invariant}: " in done.stdout
