"""The listing of very many folders of other machines as a Spark job.

Owns how steps are dealt out to tasks. The driver has threads in one process; a cluster has as many
threads in each process of its workers. It refuses to know what a step recognizes, and how many
steps are worth a job: see `kraftool/arrow/search.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kraftool.arrow.search import THREADS, explored
from kraftool.arrow.search_steps import SearchResult, SearchStep
from kraftool.spark.values import parallelism, results_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS_A_CORE = 4
"""Folders are not alike: with a few tasks for each core, no core waits long for the last one."""


class ListingJob:
    """Takes steps on the workers of a session, which is asked for only then."""

    def __init__(self, session: Callable[[], SparkSession]) -> None:
        self._session = session

    def __call__(self, steps: Sequence[SearchStep]) -> list[SearchResult]:
        spark = self._session()
        tasks = min(_TASKS_A_CORE * parallelism(spark), -(-len(steps) // THREADS))
        # Folders next to each other are alike, so that they go to different tasks.
        dealt = [(first, steps[first::tasks]) for first in range(tasks)]
        results: list[SearchResult | None] = [None] * len(steps)
        for first, some in results_of(spark, dealt, _explored):
            results[first::tasks] = some
        assert None not in results, "each task answers for all of its steps"
        return [found for found in results if found is not None]


def _explored(task: tuple[int, Sequence[SearchStep]]) -> list[tuple[int, list[SearchResult]]]:
    first, steps = task
    return [(first, explored(steps))]
