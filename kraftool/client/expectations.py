"""The expectations of a monitor, and the findings that it ignores, in the health of a quorum.

Owns that comparison.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kraftool.client.health import Health
from kraftool.client.model import QuorumView
from kraftool.reports.findings.finding import in_order
from kraftool.reports.findings.kinds import live as kinds
from kraftool.reports.findings.mutes import NOTHING_LEFT_OUT, FindingFilter


def expecting(
    report: Health, voters: Collection[int] = (), left_out: FindingFilter = NOTHING_LEFT_OUT
) -> Health:
    """Return the health with a finding if the voters are others than the expected ones, and
    without the findings that are left out."""
    findings = list(report.findings)
    if has_unexpected_voters(report.view, voters):
        known = {voter.replica.id for voter in report.view.voters}
        findings.append(
            kinds.UNEXPECTED_VOTERS.at(
                "", f"the voters are {_listed(known)}; expected were {_listed(voters)}"
            )
        )
    chosen = left_out.of(in_order(findings))
    return replace(report, findings=chosen.kept, muted=(*report.muted, *chosen.muted))


def has_unexpected_voters(view: QuorumView, expected: Collection[int]) -> bool | None:
    """True if the voters are others than the expected ones. Return None if nothing is expected, or
    the voters are not known."""
    known = {voter.replica.id for voter in view.voters}
    return known != {*expected} if expected and known else None


def _listed(ids: Collection[int]) -> str:
    return ", ".join(map(str, sorted(ids)))
