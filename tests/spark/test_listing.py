"""The listing of very many far folders as a Spark job: the same fleet and tables.

tests/spark/test_object_store.py has an audit of a bucket that a job lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

from kraftool.arrow import search
from kraftool.arrow.search import find_fleet
from kraftool.arrow.search_steps import FolderStep, SearchResult, SearchStep
from kraftool.spark.listing import ListingJob
from tests.spark.tables_support import InProcess, run
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

QUORUM = FIXTURES / "kafka-4.3.0/dynamic-quorum"


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Take every folder for one of another machine, and note the steps of each job."""
    taken: list[int] = []
    listed = ListingJob.__call__

    def counted(job: ListingJob, steps: Sequence[SearchStep]) -> list[SearchResult]:
        taken.append(len(steps))
        return listed(job, steps)

    monkeypatch.setattr(search, "is_far", lambda step: True)
    monkeypatch.setattr(search, "JOB_FROM", 2)
    monkeypatch.setattr(ListingJob, "__call__", counted)
    return taken


def test_a_job_finds_the_fleet_that_the_driver_finds(spark: SparkSession, jobs: list[int]) -> None:
    expected = find_fleet([str(QUORUM)])
    assert find_fleet([str(QUORUM)], job=ListingJob(lambda: spark)) == expected
    assert jobs == [len([path for path in QUORUM.iterdir() if path.is_dir()])]


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 100])
def test_results_are_in_the_order_of_the_steps_whichever_task_has_them(
    tmp_path: Path, count: int
) -> None:
    for number in range(count):
        (tmp_path / f"{number}").mkdir()
    steps = [
        FolderStep(root=str(tmp_path), path=f"{number}", depth=1, options="")
        for number in range(count)
    ]
    session: Any = InProcess()
    results = ListingJob(lambda: session)(steps)
    names = [found.empty.name for found in results if found.empty is not None]
    assert names == [str(tmp_path / f"{number}") for number in range(count)]


def test_tables_start_spark_for_a_listing_and_then_have_nothing_to_do(
    tmp_path: Path, jobs: list[int]
) -> None:
    first = run(QUORUM, tmp_path / "tables")
    assert first.directories == 7
    again = run(QUORUM, tmp_path / "tables")
    assert (again.is_new, again.directories) == (False, 7)
    assert jobs == [6, 6]
