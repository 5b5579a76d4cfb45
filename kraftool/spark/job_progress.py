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
    """The progress of all jobs since the watching began. Totals grow as Spark plans more."""

    jobs: int = 0
    jobs_done: int = 0
    stages: int = 0
    stages_done: int = 0
    tasks: int = 0
    tasks_done: int = 0
    tasks_running: int = 0
    tasks_failed: int = 0
    """Tries that failed; Spark tries most of them again."""


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
            tasks_running=inflight_tasks,
            jobs_done=int(done),
        )
        every = operations.values()
        report(
            JobProgress(
                jobs=len(operations),
                jobs_done=sum(operation.jobs_done for operation in every),
                tasks=sum(operation.tasks for operation in every),
                tasks_done=sum(operation.tasks_done for operation in every),
                tasks_running=sum(operation.tasks_running for operation in every),
            )
        )

    handled: Any = spark
    handled.registerProgressHandler(tell)
    try:
        yield
    finally:
        handled.removeProgressHandler(tell)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    tasks: int
    done: int
    running: int
    failed: int


@dataclass(slots=True)
class _Sums:
    """Keeps what is over, since Spark forgets old jobs and stages."""

    tracker: StatusTracker
    before: frozenset[int] = frozenset()
    running: set[int] = field(default_factory=set)
    over: set[int] = field(default_factory=set)
    stages: dict[int, _Stage] = field(default_factory=dict)
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
        stages = self.stages.values()
        return JobProgress(
            jobs=len(self.running) + len(self.over),
            jobs_done=len(self.over),
            stages=len(self.stages),
            stages_done=len(self.settled & self.stages.keys()),
            tasks=sum(stage.tasks for stage in stages),
            tasks_done=sum(stage.done for stage in stages),
            tasks_running=sum(stage.running for stage in stages),
            tasks_failed=sum(stage.failed for stage in stages),
        )

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
        seen = _Stage(
            tasks=info.numTasks,
            done=info.numCompletedTasks,
            running=info.numActiveTasks,
            failed=info.numFailedTasks,
        )
        if is_over and seen.done < seen.tasks:
            # What an earlier job had computed already is skipped, and never runs.
            seen = _Stage(tasks=seen.done, done=seen.done, running=0, failed=seen.failed)
        if seen.tasks or seen.failed or not is_over:
            self.stages[stage] = seen
        else:
            self.stages.pop(stage, None)
        if is_over or seen.done == seen.tasks:
            self.settled.add(stage)
