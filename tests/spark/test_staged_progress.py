"""The progress of a pipeline by its stages and directories, below Spark."""

from __future__ import annotations

from kraftool.spark.job_progress import JobProgress, StagedProgress

Told = list[tuple[str, int, int]]


def test_a_stage_counts_directories_and_never_grows() -> None:
    """Spark's own totals grow with each job: "121 of 121" tasks stood before "369 of 369"."""
    told: Told = []
    stages = StagedProgress(lambda *one: told.append(one))
    stages(JobProgress(tasks=9, tasks_done=3))
    assert told == [], "the pipeline has not begun"
    stages(JobProgress(tasks=9, tasks_done=9))
    stages.begin("read", [1, 1, 40, 60])
    for planned, done in ((10, 9), (10, 10), (14, 10), (14, 11), (14, 13), (14, 14)):
        stages(JobProgress(tasks=planned, tasks_done=done))
    # One task hands out the others.
    expected = [0, 0, 0, 0, 1, 42, 102]
    assert told == [("read", done, 102) for done in expected]
    stages.begin("compare")
    stages(JobProgress(tasks=400, tasks_done=20))
    assert told[-2:] == [("compare", 0, 0)] * 2


def test_a_stage_begins_with_what_is_done_right_then() -> None:
    """Spark is asked from time to time: the last tasks of the stage before may not be known."""
    told: Told = []
    stages = StagedProgress(lambda *one: told.append(one))
    stages.refresh = lambda: stages(JobProgress(tasks=30, tasks_done=30))
    stages(JobProgress(tasks=20, tasks_done=15))
    stages.begin("read", [5] * 10)
    stages(JobProgress(tasks=40, tasks_done=32))
    assert told == [("read", 0, 50), ("read", 10, 50)]


def test_an_empty_fleet_has_no_directories() -> None:
    told: Told = []
    stages = StagedProgress(lambda *one: told.append(one))
    stages.begin("read", [])
    stages(JobProgress(tasks=1, tasks_done=0))
    assert told[-1] == ("read", 0, 0)
