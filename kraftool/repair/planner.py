"""From surveys to a plan: the gravest thing first, the smallest change that mends it.

Owns the order of the questions: is a majority lost, or is single directories' mending enough, or is
nothing to be done. It refuses to read and to write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.majority import majority_plan
from kraftool.repair.mending import mending_plan
from kraftool.repair.plan import Plan
from kraftool.repair.request import PlanRequest
from kraftool.repair.standing import standing_of
from kraftool.repair.survey import Survey
from kraftool.repair.surveying import survey_path

Progress = Callable[[str, int], None]


def read_surveys(
    paths: Sequence[str],
    *,
    now_ms: int,
    at: int | None = None,
    progress: Progress = lambda name, position: None,
) -> tuple[Survey, ...]:
    """The surveys of PATHs and collect files."""
    found: list[Survey] = []
    for each in paths:
        if collect_file.is_collect_file(each):
            found += collect_file.read(each)
        else:
            found += survey_path(each, now_ms=now_ms, at=at, progress=progress)
    return tuple(found)


def plan_for(request: PlanRequest) -> Plan:
    """The plan. Raises KraftoolError where none can be made, PlanRefused where none should be."""
    if not request.surveys:
        raise KraftoolError("there is nothing to plan for")
    standing = standing_of(request)
    if standing.is_lost or request.rollback is not None or request.seed is not None:
        return majority_plan(standing)
    return mending_plan(standing)
