"""The document of `recover plan -o json`.

What a plan says, which kraftool reads again, is `repair/document.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.document import to_document
from kraftool.repair.plan import Plan
from kraftool.repair.refusal import PlanRefused
from kraftool.reports.election.assessment import Assessment
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalObject:
    """Why something is refused."""

    reason: str
    advice: str
    """May be empty."""
    commands: tuple[str, ...] = ()
    """Commands that follow the advice. Run each on its host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocument:
    """The judgement of the quorum, and the plan or why there is no plan."""

    command: Literal["plan"] = "plan"
    plan_id: str | None
    """The SHA-256 that the plan begins with; null if there is no plan."""
    assessment: AssessmentObject
    refusal: RefusalObject | None
    """Why there is no plan; null if there is one."""
    plan: Mapping[str, Any] | None
    """The same members as the YAML plan; apply takes the YAML."""


def plan_document(
    assessment: Assessment, plan: Plan | None = None, *, refused: KraftoolError | None = None
) -> PlanDocument:
    return PlanDocument(
        plan_id=None if plan is None else plan.id,
        assessment=assessment_json(assessment),
        refusal=None
        if refused is None
        else RefusalObject(
            reason=refused.message, advice=refused.hint, commands=_archive_commands(refused)
        ),
        plan=None if plan is None else to_document(plan),
    )


def _archive_commands(refused: KraftoolError) -> tuple[str, ...]:
    if not isinstance(refused, PlanRefused):
        return ()
    return tuple(command for _, command in refused.archives)
