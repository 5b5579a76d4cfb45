"""The progress of the jobs of a Spark session, and of a pipeline in units of its own.

Owns the sums over jobs, stages and tasks, asked for from time to time, and the directories that
they stand for. It refuses to draw: whoever watches is told through a function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import StatusTracker
    from pyspark.sql import SparkSession

INTERVAL_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """The tasks of all jobs since the watching began. Totals grow as Spark plans more."""

    tasks: int = 0
    tasks_done: int = 0


BeginStage = Callable[[str, Sequence[int]], None]
"""Called at each stage of a pipeline, with the directories of each task, if they are known."""


@dataclass(slots=True)
class StagedProgress:
    """Turns the progress of tasks into that of a pipeline: its stage, and directories done of all.

    Tasks say little: each job adds its own. A stage knows what it has to do before its first one.
    """

    report: Callable[[str, int, int], None] = lambda stage, done, total: None
    refresh: Callable[[], None] = lambda: None
    """Asks for the progress right now."""
    _stage: str = ""
    _units: tuple[int, ...] = ()
    _before: int = 0
    """The tasks that Spark had planned when the stage began."""
    _now: JobProgress = JobProgress()

    def begin(self, name: str, units: Sequence[int] = ()) -> None:
        """Begin a stage. Spark begins tasks in their order, the first ones first."""
        self.refresh()
        self._stage, self._units, self._before = name, tuple(units), self._now.tasks
        self(self._now)

    def __call__(self, now: JobProgress) -> None:
        self._now = now
        if self._stage:
            is_planned = now.tasks - self._before >= len(self._units)
            left = now.tasks - now.tasks_done
            # What is planned besides, to hand out the tasks, is done before the first of them.
            done = max(len(self._units) - left, 0) if is_planned else 0
            self.report(self._stage, sum(self._units[:done]), sum(self._units))


@contextmanager
def watched(
    spark: SparkSession, report: Callable[[JobProgress], None], *, interval_s: float = INTERVAL_S
) -> Iterator[Callable[[], None]]:
    """Report the progress of the jobs that start inside, from another thread, and once at the
    end. What is yielded reports at once."""
    from pyspark import InheritableThread

    sums = _Sums(spark.sparkContext.statusTracker())
    ended, one_at_a_time = threading.Event(), threading.RLock()

    def tell() -> None:
        with one_at_a_time:
            report(sums.now())

    def watch() -> None:
        while not ended.wait(interval_s):
            try:
                tell()
            except Exception:  # the session is gone, and whoever uses it learns that
                return

    thread = InheritableThread(target=watch, name="spark-progress", daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        ended.set()
        thread.join()
    tell()


@dataclass(slots=True)
class _Sums:
    """Keeps what is over, since Spark forgets old jobs and stages."""

    tracker: StatusTracker
    before: frozenset[int] = frozenset()
    running: set[int] = field(default_factory=set)
    over: set[int] = field(default_factory=set)
    stages: dict[int, JobProgress] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.before = frozenset(self._known())

    def _known(self) -> set[int]:
        # A job that is over is listed by its group only; jobs of another group while they run.
        listed = self.tracker.getJobIdsForGroup(None)
        return {int(job) for job in (*listed, *self.tracker.getActiveJobsIds())}

    def now(self) -> JobProgress:
        self.running |= self._known() - self.before - self.over
        for job in sorted(self.running):
            self._look_at(job)
        known = self.stages.values()
        return JobProgress(
            tasks=sum(one.tasks for one in known), tasks_done=sum(one.tasks_done for one in known)
        )

    def _look_at(self, job: int) -> None:
        info = self.tracker.getJobInfo(job)
        is_over = info is None or info.status != "RUNNING"
        for stage in info.stageIds if info is not None else ():
            self._look_at_stage(int(stage), is_over=is_over)
        if is_over:
            self.running.discard(job)
            self.over.add(job)

    def _look_at_stage(self, stage: int, *, is_over: bool) -> None:
        info = self.tracker.getStageInfo(stage)
        if info is None:
            return
        # What an earlier job had computed already is skipped, and never runs.
        tasks = info.numCompletedTasks if is_over else info.numTasks
        self.stages[stage] = JobProgress(tasks=tasks, tasks_done=info.numCompletedTasks)
