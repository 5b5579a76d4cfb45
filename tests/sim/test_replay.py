"""A seed is a whole history: the same bytes in every process, whatever is watched."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.simulator.checkers.base import Checker
from tests.simulator.checkers.logs import Committed
from tests.simulator.checkers.voters import VoterSets
from tests.simulator.options import Options
from tests.simulator.runner import run
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

TRACED = Options(trace=True)


def _by_a_process(seed: int, hash_seed: str) -> bytes:
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "simulate.py", "--seeds", str(seed), "--trace"],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("seed", [1, 7, 4711])
def test_a_seed_has_the_same_trace_in_every_process(seed: int) -> None:
    first, again = _by_a_process(seed, "0"), _by_a_process(seed, "12345")
    assert first.startswith(f"seed {seed}\n".encode())
    assert len(first) > 50_000
    assert first == again


def test_two_runs_in_one_process_have_the_same_trace() -> None:
    assert run(3, TRACED) == run(3, TRACED)
    assert run(3, TRACED).trace != run(4, TRACED).trace


def test_nothing_happens_otherwise_because_it_is_traced_or_checked() -> None:
    traced = run(5, TRACED)
    untraced = run(5, replace(TRACED, trace=False))
    less_checked = run(5, TRACED, checkers=[VoterSets, Committed])
    assert (traced.events, traced.counts) == (untraced.events, untraced.counts)
    assert untraced.trace == ()
    assert traced.trace == less_checked.trace


class _Never(Checker):
    name = "never"

    def wrote(self, node: object, snapshot: object) -> None:
        self.violated("a snapshot was written")


def test_a_violated_invariant_names_itself_and_ends_the_history() -> None:
    seed = next(seed for seed in range(50) if run(seed).counts["snapshots written"])
    verdict = run(seed, TRACED, checkers=[VoterSets, Committed, _Never])
    assert not verdict.is_fine
    assert verdict.invariant == "never"
    assert verdict.trace[-1].endswith(f"violated: {verdict.text}")


def test_the_tool_prints_the_seed_of_a_violation_first(tmp_path: Path) -> None:
    """By a core that keeps its votes to itself."""
    program = tmp_path / "broken.py"
    program.write_text(
        "import sys; sys.argv = ['simulate.py', '--seeds', '0..3', '--jobs', '1']\n"
        f"sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
        "from kraftool.raft import transitions\n"
        "transitions.persist = lambda raft, role: None\n"
        "import simulate\n"
        "sys.exit(simulate.main())\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, program],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("seed 0\n")
    assert "violated: " in done.stdout
