"""`pipeline tables` and `pipeline audit`, told to end: nothing stays behind, and no half table.

Where timeout(1), systemd or a terminal sends the signal other processes get it too; the JVM has to
outlive it until the work is put away.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from fleets.build import FleetPlan, build
from processes import SMALL, Pipeline, To, ended
from tables_support import read_tables

pytestmark = pytest.mark.spark
SIZE = 4_000_000
"""Enough that the work on one log takes a second or more."""
LOG = f"{0:020}.log"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    build(folder, FleetPlan(clusters=2, nodes=1, seed=6, huge=SIZE))
    return folder


def _reads_the_log(run: Pipeline) -> bool:
    """Whether a Python worker is in the middle of its work."""
    for pid, command in run.processes().items():
        if "pyspark" in command:
            try:
                links = [os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir()]
            except OSError:
                continue
            if any(each.endswith(LOG) for each in links):
                return True
    return False


def _has_a_jvm(run: Pipeline) -> bool:
    return any("java" in each for each in run.processes().values())


@pytest.mark.parametrize(
    ("number", "to", "strikes"),
    [
        (signal.SIGTERM, To.ALL, _reads_the_log),
        (signal.SIGHUP, To.GROUP, _has_a_jvm),
        (signal.SIGTERM, To.ITSELF, _reads_the_log),
    ],
    ids=["all-at-work", "group-at-start", "itself-at-work"],
)
@pytest.mark.parametrize("command", ["tables", "audit"])
def test_a_signal_ends_a_run_which_leaves_nothing(
    command: str,
    number: signal.Signals,
    to: To,
    strikes: Callable[[Pipeline], bool],
    fleet: Path,
    tmp_path: Path,
) -> None:
    if command == "audit" and to is To.ITSELF:
        pytest.skip("the same code, which the tables have tried")
    out = tmp_path / "out"
    run = Pipeline(tmp_path / "run", command, fleet, "--out", out, *SMALL)
    with ended(run):
        run.wait_for("the moment", lambda: strikes(run))
        assert run.end(number, to) == 128 + number
        assert run.leftovers() == []
    assert run.stderr.read_text() == run.stdout.read_text() == ""
    if command == "audit":
        assert not out.exists()
        return
    assert read_tables(out) == {}
    assert sorted(each.name for each in (out / "_kraftool").iterdir()) == ["lock", "tables.json"]
