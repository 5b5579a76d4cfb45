"""`kraftool simulate-election` with many runs: on a terminal, in several processes, interrupted.

And what it refuses before it begins.
"""

from __future__ import annotations

import itertools
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.reports.election.read import read_case
from kraftool.reports.findings.status import Status
from kraftool.sim import parallel
from kraftool.sim.conditions import Conditions
from kraftool.sim.document import simulate_election_document
from kraftool.sim.parallel import Runs
from kraftool.sim.report import simulate, with_runs, without_runs
from kraftool.sim.run import ElectionRun
from kraftool.sim.verdict import verdict

_PATIENCE_S = 60


@pytest.fixture
def voters(fixtures_dir: Path) -> list[str]:
    quorum = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    return [str(quorum / f"node-{id_}/data") for id_ in (2, 3, 4)]


def test_the_report_is_the_same_whatever_the_number_of_processes(
    voters: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case, here = read_case(voters), os.getpid()
    monkeypatch.setattr(parallel, "_LEAST_RUNS", 1)
    one = simulate(case, Conditions(), seed=3, runs=45, jobs=1)

    def elsewhere(self: ElectionRun) -> Any:
        assert self.outcome.seed == 3 or os.getpid() != here, "the parent only watches the first"
        return go(self)

    go = ElectionRun.go
    monkeypatch.setattr(ElectionRun, "go", elsewhere)
    assert simulate_election_document(
        simulate(case, Conditions(), seed=3, runs=45, jobs=3)
    ) == simulate_election_document(one)


def test_no_process_is_left_when_no_more_outcomes_are_needed(
    voters: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from multiprocessing import active_children

    monkeypatch.setattr(parallel, "_LEAST_RUNS", 1)
    before = set(active_children())
    outcomes = Runs(read_case(voters), Conditions(), 60_000).outcomes(range(1_000_000), 2)
    assert next(outcomes).seed == 0
    assert set(active_children()) - before
    outcomes.close()
    assert not set(active_children()) - before


def test_on_a_terminal_the_verdict_comes_before_the_runs_and_ctrl_c_ends_them(
    voters: list[str],
) -> None:
    """What was seen until then is shown, with the number of runs that it is of."""
    controller, terminal = pty.openpty()
    command = (sys.executable, "-m", "kraftool", "simulate-election", "--runs", "100000")
    with subprocess.Popen(
        (*command, "--jobs", "2", "--color", "never", "-v", *voters),
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        os.close(terminal)
        text = _read_until(controller, "A leader can be elected: 2, 3 or 4.")
        assert text.splitlines()[0].startswith("? "), "nothing is green before the runs"
        assert "of 100000 runs" not in text
        _wait(lambda: len(_children(process.pid)) == 2)
        workers = _children(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        report = " ".join(_read_until(controller, "Assumed").split())
        while True:  # or it waits for somebody to read the rest
            try:
                os.read(controller, 4096)
            except OSError:
                break
        _, errors = process.communicate(timeout=_PATIENCE_S)
    os.close(controller)
    assert process.returncode == 130, errors.decode()
    stopped = re.search(r"Stopped after (\d+) of 100000 runs: ", report)
    if stopped is None:
        assert "Stopped before the first run ended" in report
    else:
        assert f"By {stopped[1]} run" in report
    assert b"Traceback" not in errors
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


@pytest.mark.parametrize("made", [0, 1, 7])
def test_a_report_that_was_stopped_is_of_the_runs_that_were_made(
    voters: list[str], made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = read_case(voters)
    early = without_runs(case, Conditions(), seed=5)
    go, count = ElectionRun.go, itertools.count()

    def interrupted(self: ElectionRun) -> Any:
        if next(count) == made:
            raise KeyboardInterrupt
        return go(self)

    monkeypatch.setattr(ElectionRun, "go", interrupted)
    report = with_runs(early, 30, is_stoppable=True)
    assert (report.runs, report.stopped_before) == (made, 30)
    assert sum(report.wins.values()) == made
    outcome = verdict(report)
    assert outcome.status is Status.UNKNOWN, "not all was looked at"
    detail = next(detail for detail in outcome.details if detail.startswith("Stopped "))
    assert (f"after {made} of 30 runs" in detail) == (made > 0)
    count = itertools.count()
    with pytest.raises(KeyboardInterrupt):
        with_runs(early, 30)


def _read_until(descriptor: int, wanted: str) -> str:
    text = ""
    while wanted not in text:
        text += os.read(descriptor, 4096).decode()
    return text


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _wait(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + _PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--scenario", "x.yaml", "data"),
        ("--down", "99", "NODE"),
        ("--wipe", "99", "NODE"),
        ("--remove-voter", "99", "NODE"),
        ("--add-voter", "-1", "NODE"),
        ("--partition", "2|99", "NODE"),
        ("--partition", "two", "NODE"),
        ("--assume-up", "2", "NODE"),
        ("--assume-up", "3=full", "NODE"),
        ("--delay", "-1", "NODE"),
        ("--runs", "0", "NODE"),
    ],
)
def test_what_makes_no_sense_ends_with_2(
    arguments: tuple[str, ...], voters: list[str], kraftool: Callable[..., Any]
) -> None:
    ran = kraftool("simulate-election", *(voters[0] if x == "NODE" else x for x in arguments))
    assert ran.code == 2
    assert ran.err
