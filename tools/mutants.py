"""Break the product in every way of the tables, and see that each is noticed.

    python tools/mutants.py                 all of them, on all cores
    python tools/mutants.py --only NAME     those whose name contains NAME
    python tools/mutants.py --list          their names, and who has to notice

Each mutant is an edit of the source, made while it is imported: no file is changed. One of the raft
core plays seeds until the invariant that the table names is violated, judged by the checker for it
alone. One of another room runs the file of unit tests that the table names: a test has to fail that
passes without it. A mutant that survives is a missing test, and fails the run.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import subprocess
import sys
import time
import types
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutant import TRANSCRIPTS, Mutant
from mutant_table import MUTANTS

ROOT = Path(__file__).resolve().parent.parent
_ALWAYS = ("voter-sets", "committed")
"""Checkers that keep what others go by."""
_MOST_SEEDS = 600
FEWEST_TRANSCRIPTS = 2
"""So many have to fail: with a single one, a change of that case would let the error in."""


class _Edited(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules as a mutant has them."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._sources:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def exec_module(self, module: types.ModuleType) -> None:
        code = compile(self._sources[module.__name__], f"<mutant of {module.__name__}>", "exec")
        exec(code, module.__dict__)


def edited(mutant: Mutant) -> dict[str, str]:
    """The source of the modules that a mutant changes."""
    sources: dict[str, str] = {}
    for edit in mutant.edits:
        name = f"kraftool.{edit.module}"
        path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        source = sources.get(name) or path.read_text(encoding="utf-8")
        if source.count(edit.old) != 1:
            raise SystemExit(
                f'mutant "{mutant.name}": the text that it replaces occurs'
                f" {source.count(edit.old)} times in {path.name}, not once"
            )
        sources[name] = source.replace(edit.old, edit.new)
    return sources


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--only", default="", help="part of a name")
    options.add_argument("--list", action="store_true")
    options.add_argument("--one", help=argparse.SUPPRESS)
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    given = options.parse_args()
    if given.one is not None:
        return _play(next(mutant for mutant in MUTANTS if mutant.name == given.one))
    chosen = [mutant for mutant in MUTANTS if given.only in mutant.name]
    if given.list:
        for mutant in chosen:
            sys.stdout.write(f"{mutant.name}\n    {mutant.caught_by}\n")
        return 0
    return _all(chosen, given.jobs)


def _all(chosen: Sequence[Mutant], jobs: int) -> int:
    for chosen_mutant in chosen:
        edited(chosen_mutant)
    began = time.perf_counter()
    survived = 0
    with ThreadPoolExecutor(jobs) as pool:
        for mutant, done in zip(chosen, pool.map(_in_a_process, chosen), strict=True):
            is_caught = done.returncode == 0
            survived += not is_caught
            outcome = done.stdout.strip() if is_caught else f"SURVIVES {done.stdout}{done.stderr}"
            sys.stdout.write(f"{mutant.name}\n    {mutant.caught_by}: {outcome}\n")
            sys.stdout.flush()
    wall = time.perf_counter() - began
    sys.stdout.write(f"{len(chosen)} mutants, {survived} survived, in {wall:.0f} s\n")
    return 1 if survived else 0


def _in_a_process(mutant: Mutant) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, __file__, "--one", mutant.name],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def _play(mutant: Mutant) -> int:
    """In a process of its own: import the mutant, and play until it is caught."""
    sys.path.insert(0, str(ROOT))
    sys.meta_path.insert(0, _Edited(edited(mutant)))
    if mutant.is_for_unit_tests:
        return _unit_tests(mutant.caught_by)
    if mutant.caught_by == TRANSCRIPTS:
        return _transcripts()
    from tests.simulator.checkers import CHECKERS
    from tests.simulator.options import FAULTS, Options
    from tests.simulator.runner import run

    wanted = {*_ALWAYS, mutant.caught_by}
    checkers = [checker for checker in CHECKERS if checker.name in wanted]
    faults = tuple(mutant.faults.split(",")) if mutant.faults else FAULTS
    options = Options(faults=faults, most_events=40_000)
    for seed in range(_MOST_SEEDS):
        verdict = run(seed, options, checkers)
        if verdict.invariant == mutant.caught_by:
            sys.stdout.write(f"seed {seed}: {verdict.text}\n")
            return 0
    sys.stdout.write(f"{_MOST_SEEDS} seeds\n")
    return 1


def _unit_tests(path: str) -> int:
    """0 if a test of the file fails that passes for the product as it is."""
    sound = _pytest_apart("-x", path)
    if sound.returncode != 0:
        sys.stdout.write(f"{path} fails without the mutant, too\n{sound.stdout}")
        return 1
    failed = _failing("-x", path)
    sys.stdout.write(f"{', '.join(failed) or path}\n")
    return 0 if failed else 1


def _transcripts() -> int:
    """0 if enough transcripts fail that hold for the core as it is."""
    chosen = ["-k", "test_the_core_does_what_the_transcript_says", "tests/raft/test_transcripts.py"]
    sound = _pytest_apart("-x", *chosen)
    if sound.returncode != 0:
        sys.stdout.write(f"the transcripts fail without the mutant, too\n{sound.stdout}")
        return 1
    failed = _failing(*chosen)
    titles = [failure.partition("[")[2].partition("]")[0] for failure in failed]
    sys.stdout.write(f"{len(failed)} transcripts: " + "; ".join(titles) + "\n")
    return 0 if len(failed) >= FEWEST_TRANSCRIPTS else 1


_QUIET = ("-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist")


def _pytest_apart(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run tests in a process that has no mutant."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", *_QUIET, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def _failing(*arguments: str) -> list[str]:
    """Run tests in this process, and return the names of those that fail."""
    import pytest

    with redirect_stdout(io.StringIO()) as output:
        pytest.main([*_QUIET, *arguments])
    lines = [line for line in output.getvalue().splitlines() if line.startswith("FAILED")]
    return [line.partition("::")[2].partition(" - ")[0] for line in lines]


if __name__ == "__main__":
    raise SystemExit(main())
