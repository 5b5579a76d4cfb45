"""The order in which an operator has to look at findings.

Owns the order for reports of many findings: the severity decides, then what is at stake. It refuses
to know counts: a rare disaster is more urgent than a common nuisance.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import SEVERITY_RANK, Finding, Stake


def urgency_of(finding: Finding) -> int:
    """Return the place of a finding in the order: 0 comes first."""
    stake = finding.kind.stake
    if finding.undecoded:
        stake = min(stake, Stake.LOST_DATA)
    return SEVERITY_RANK[finding.severity] * 10 + stake
