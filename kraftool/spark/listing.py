"""The listing of very many folders of other machines as a Spark job.

Owns how looks are dealt out to tasks. The driver has threads in one process; a cluster has as many
threads in each process of its workers. It refuses to know what a look recognizes, and how many
looks are worth a job: see `kraftool/arrow/search.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kraftool.arrow.search import THREADS, explored
from kraftool.arrow.search_steps import Look, SearchResult
from kraftool.spark.values import parallelism, results_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS_A_CORE = 4
"""Folders are not alike: with a few tasks for each core, no core waits long for the last one."""


class ListingJob:
    """Does looks on the workers of a session, which is asked for only then."""

    def __init__(self, session: Callable[[], SparkSession]) -> None:
        self._session = session

    def __call__(self, looks: Sequence[Look]) -> list[SearchResult]:
        spark = self._session()
        tasks = min(_TASKS_A_CORE * parallelism(spark), -(-len(looks) // THREADS))
        # Folders next to each other are alike, so that they go to different tasks.
        dealt = [(first, looks[first::tasks]) for first in range(tasks)]
        results: list[SearchResult | None] = [None] * len(looks)
        for first, some in results_of(spark, dealt, _explored):
            results[first::tasks] = some
        assert None not in results, "each task answers for all of its looks"
        return [found for found in results if found is not None]


def _explored(task: tuple[int, Sequence[Look]]) -> list[tuple[int, list[SearchResult]]]:
    first, looks = task
    return [(first, explored(looks))]
