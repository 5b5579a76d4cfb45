"""The document of `recover rehearse` with -o json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kraftool.commands.recover_plan_json import RefusalObject
from kraftool.decoders.json_marks import Count
from kraftool.repair.rehearsal import AppliedCopy, Rehearsal
from kraftool.repair.rehearsal_election import ElectionRehearsal
from kraftool.repair.rehearsal_nodes import NodesRehearsal
from kraftool.repair.verify import DirectoryCheck
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json
from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedCopyObject:
    """A copy of a directory, and what apply made of it."""

    host: str
    """In the plan; of one that the plan only keeps off, old-node-ID."""
    path: str
    """The original's."""
    node_id: int | None
    is_quarantined: bool
    is_copied_while_running: bool
    """True if a process held its lock when it was copied."""
    edits: Count
    """Files that the plan changes there."""
    is_applied_already: bool
    """True if the plan was already applied to the original."""
    refusal: RefusalObject | None
    """Why apply refuses it; null where it does not."""
    checked: DirectoryCheck | None
    """As verify sees the copy; null where the plan has nothing for it, or apply refuses."""


@form
def applied_copy_object(copy: AppliedCopy) -> AppliedCopyObject:
    return AppliedCopyObject(
        host=copy.of.name,
        path=copy.of.path,
        node_id=copy.of.node_id,
        is_quarantined=copy.of.is_quarantined,
        is_copied_while_running=copy.of.is_running,
        edits=copy.edits,
        is_applied_already=copy.was_applied,
        refusal=RefusalObject(reason=copy.refused, advice=copy.hint) if copy.refused else None,
        checked=copy.check,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearseDocument:
    """All that a rehearsal came to."""

    command: Literal["rehearse"] = "rehearse"
    plan_id: str
    is_well: bool
    """True if apply refuses nothing, and nothing is worse than info."""
    kept: str | None
    """The folder of --keep."""
    copies: tuple[AppliedCopy, ...]
    hosts_not_given: tuple[str, ...]
    """Hosts of the plan without a directory."""
    assessment: AssessmentObject
    """The quorum before the plan."""
    simulated: ElectionRehearsal | None
    """null where apply refuses a copy."""
    started_nodes: NodesRehearsal | None
    """null with --no-nodes, or where apply refuses a copy."""
    findings: tuple[Finding, ...]
    finding_counts: FindingCounts


def rehearse_document(rehearsal: Rehearsal, kept: str) -> RehearseDocument:
    return RehearseDocument(
        plan_id=rehearsal.plan.id,
        is_well=rehearsal.is_well,
        kept=kept or None,
        copies=rehearsal.copies,
        hosts_not_given=tuple(rehearsal.not_given),
        assessment=assessment_json(rehearsal.assessment),
        simulated=rehearsal.elections,
        started_nodes=rehearsal.nodes,
        findings=rehearsal.findings,
        finding_counts=finding_counts(rehearsal.findings),
    )
