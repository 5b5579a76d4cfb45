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

from tests.spark.pipeline_processes import LITTLE_MEMORY, SMALL, Pipeline, To, ended
from tests.spark.tables_support import read_tables
from tests.support.places import LOG

pytestmark = pytest.mark.spark
SIZE = 4_000_000
"""Enough that the work on one log takes a second or more."""

BUSY = """
import sys, time
from pathlib import Path
from kraftool.commands.output import Output
from kraftool.commands.pipeline_options import EngineOptions, spark_run

begun, *conf = sys.argv[1:]

def rest(_):
    Path(begun).touch()
    time.sleep(600)

with spark_run(Output(), EngineOptions(master="local[1]", conf=conf), "busy") as spark:
    spark.sparkContext.parallelize([1], 1).map(rest).count()
"""
"""What the commands do, with a job of which no part is over soon."""


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
                links = [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
            except OSError:
                continue
            if any(link.endswith(LOG) for link in links):
                return True
    return False


def _has_a_jvm(run: Pipeline) -> bool:
    return any("java" in process for process in run.processes().values())


@pytest.mark.parametrize(
    ("command", "number", "to", "strikes"),
    [
        ("tables", signal.SIGTERM, To.ALL, _reads_the_log),
        ("audit", signal.SIGHUP, To.GROUP, _has_a_jvm),
    ],
    ids=["tables-at-work", "audit-at-start"],
)
def test_a_signal_ends_a_run_which_leaves_nothing(
    command: str,
    number: signal.Signals,
    to: To,
    strikes: Callable[[Pipeline], bool],
    fleet: Path,
    tmp_path: Path,
) -> None:
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
    assert sorted(path.name for path in (out / "_kraftool").iterdir()) == ["lock", "state"]


def test_a_signal_does_not_wait_for_the_job_that_runs(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    conf = [option.removeprefix("--conf=") for option in LITTLE_MEMORY]
    run = Pipeline(tmp_path / "run", begun, *conf, program=("-c", BUSY))
    with ended(run):
        run.wait_for("the job", begun.exists)
        assert run.end(signal.SIGTERM) == 143
        assert run.leftovers() == []
    assert run.stderr.read_text() == run.stdout.read_text() == ""
