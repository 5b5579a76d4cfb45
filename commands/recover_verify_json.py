"""The document of `recover verify -o json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kraftool.client.quorum_json import HealthDocument, health_document
from kraftool.repair.verify import DirectoryCheck, PlanVerification, QuorumCheck
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import FindingCounts, finding_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuorum(HealthDocument):
    """The running quorum, as quorum health has it."""

    findings: tuple[Finding, ...]
    """With what is not as planned."""


@form
def checked_quorum(checked: QuorumCheck) -> CheckedQuorum:
    of = health_document(checked.health)
    return CheckedQuorum(
        **{name: getattr(of, name) for name in HealthDocument.__dataclass_fields__},
        findings=in_order((*checked.findings, *checked.unwell)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyDocument:
    """The state of a plan in directories and in the running quorum."""

    command: Literal["verify"] = "verify"
    plan_id: str
    is_fine: bool
    """True if nothing is worse than info."""
    directories: tuple[DirectoryCheck, ...]
    quorum: QuorumCheck | None
    """null where no controller was named."""
    finding_counts: FindingCounts


def verify_document(verification: PlanVerification) -> VerifyDocument:
    return VerifyDocument(
        plan_id=verification.plan.id,
        is_fine=verification.is_fine,
        directories=verification.directories,
        quorum=verification.quorum,
        finding_counts=finding_counts(verification.findings),
    )
