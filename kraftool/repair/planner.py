"""From surveys to a plan: the gravest thing first, the smallest change that mends it.

Owns the order of the questions: is a majority lost, or is single directories' mending enough, or is
nothing to be done. It refuses to read and to write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.judging import doubted
from kraftool.repair.leadership import refuse_second_leader
from kraftool.repair.majority import majority_plan
from kraftool.repair.mending import mending_plan
from kraftool.repair.on_disk import on_disk
from kraftool.repair.plan import Plan
from kraftool.repair.quorum_assessment import standing_of
from kraftool.repair.ranking import host_names
from kraftool.repair.request import PlanRequest
from kraftool.repair.run_survey import ReadDirectory, with_runs_restored
from kraftool.repair.survey import Survey
from kraftool.repair.surveying import read_directories
from kraftool.repair.whole_rest import with_whole_rests

Progress = Callable[[str, int], None]


def read_surveys(
    paths: Sequence[str],
    *,
    now_ms: int,
    at: int | None = None,
    progress: Progress = lambda name, position: None,
) -> tuple[Survey, ...]:
    """The surveys of PATHs and collect files."""
    surveys: list[Survey] = []
    read: dict[int, ReadDirectory] = {}
    for path in paths:
        if collect_file.is_collect_file(path):
            surveys += collect_file.read(path)
            continue
        for directory in read_directories(path, now_ms=now_ms, at=at, progress=progress):
            read[len(surveys)] = directory
            surveys.append(directory.survey)
    names = host_names(surveys)
    restored = with_runs_restored(
        {names[number]: read_directory for number, read_directory in read.items()}
    )
    return tuple(restored.get(name, survey) for name, survey in zip(names, surveys, strict=True))


def plan_for(request: PlanRequest) -> Plan:
    """The plan. Raises KraftoolError where none can be made, PlanRefused where none should be."""
    if not request.surveys:
        raise KraftoolError("there is nothing to plan for")
    standing = standing_of(request)
    is_lost = standing.is_lost or request.rollback is not None or request.seed is not None
    if is_lost:
        standing = with_whole_rests(standing)
    plan = majority_plan(standing) if is_lost else mending_plan(standing)
    refuse_second_leader(plan, standing)
    return on_disk(doubted(plan, request.surveys), standing.hosts)
