"""The progress of the jobs of a Spark session, and of a pipeline in units of its own.

Owns the sums over jobs, stages and tasks, asked for from time to time, and the directories that
they stand for. It refuses to draw: whoever watches is told through a function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import StatusTracker
    from pyspark.sql import SparkSession

INTERVAL_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """The tasks of all jobs since the watching began. Totals grow as Spark plans more."""

    tasks: int = 0
    tasks_done: int = 0

    @classmethod
    def of(cls, several: Iterable[JobProgress]) -> JobProgress:
        """Several together."""
        known = list(several)
        return cls(
            tasks=sum(one.tasks for one in known), tasks_done=sum(one.tasks_done for one in known)
        )


BeginStage = Callable[[str, Sequence[int]], None]
"""Called at each stage of a pipeline, with the directories of each task, if they are known."""


def no_stages(name: str, units: Sequence[int] = ()) -> None:
    """Take no notice."""


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
        self._tell()

    def __call__(self, now: JobProgress) -> None:
        self._now = now
        self._tell()

    def _tell(self) -> None:
        if not self._stage:
            return
        is_planned = self._now.tasks - self._before >= len(self._units)
        left = self._now.tasks - self._now.tasks_done
        # What is planned besides, to hand out the tasks, is done before the first of them.
        done = max(len(self._units) - left, 0) if is_planned else 0
        self.report(self._stage, sum(self._units[:done]), sum(self._units))


@contextmanager
def watched(
    spark: SparkSession,
    report: Callable[[JobProgress], None],
    *,
    interval_s: float = INTERVAL_S,
    steady: bool = False,
) -> Iterator[Callable[[], None]]:
    """Report the progress of the jobs that start inside, from another thread, and once at the end.

    `report` is called only when something has changed, unless it is to be `steady`. What is yielded
    reports at once.
    """
    from pyspark import InheritableThread

    sums = _Sums(spark.sparkContext.statusTracker())
    ended = threading.Event()
    one_at_a_time = threading.RLock()
    last = JobProgress()

    def tell() -> None:
        nonlocal last
        with one_at_a_time:
            now = sums.now()
            if now != last or steady:
                last = now
                report(now)

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


@contextmanager
def connect_watched(spark: SparkSession, report: Callable[[JobProgress], None]) -> Iterator[None]:
    """Report the progress of the operations of a session of Spark Connect, whose server tells a
    client of its own ones only."""
    operations: dict[str, JobProgress] = {}

    def tell(stages: Iterable[Any], inflight_tasks: int, operation_id: str, done: bool) -> None:
        known = list(stages or ())
        operations[operation_id] = JobProgress(
            tasks=sum(stage.num_tasks for stage in known),
            tasks_done=sum(stage.num_completed_tasks for stage in known),
        )
        report(JobProgress.of(operations.values()))

    handled: Any = spark
    handled.registerProgressHandler(tell)
    try:
        yield
    finally:
        handled.removeProgressHandler(tell)


@dataclass(slots=True)
class _Sums:
    """Keeps what is over, since Spark forgets old jobs and stages."""

    tracker: StatusTracker
    before: frozenset[int] = frozenset()
    running: set[int] = field(default_factory=set)
    over: set[int] = field(default_factory=set)
    stages: dict[int, JobProgress] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)

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
        return JobProgress.of(self.stages.values())

    def _look_at(self, job: int) -> None:
        info = self.tracker.getJobInfo(job)
        is_over = info is None or info.status != "RUNNING"
        for stage in info.stageIds if info is not None else ():
            if stage not in self.settled:
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
        if is_over or info.numCompletedTasks == tasks:
            self.settled.add(stage)
