"""Which finding an operator has to look at first.

Owns the order for reports of many findings: the severity decides, then what is at stake, as listed
here. It refuses to know counts: a rare disaster is more urgent than a common nuisance.
"""

from __future__ import annotations

from kraftool.reports.findings import SEVERITY_RANK, Finding, Severity

TWO_HISTORIES = (
    "KT-SIG-SPLIT-BRAIN",
    "KT-SIG-OLD-MAJORITY",
    "KT-SIG-SAME-PLACE",
    "KT-SIG-DOUBLE-VOTE",
    "KT-SIG-COMMITTED-MINORITY",
    "KT-SIG-FORGOTTEN-VOTE",
    "KT-SIG-WIPED-VOTER",
    "KT-SIG-TWO-FORMATS",
    "KT-DIR-VOTERS-DIFFER",
    "KT-SNAP-DIVERGED",
    "KT-LOG-DIVERGED",
    "KT-SIG-AUTO-JOIN",
)
"""Two leaders are possible, or committed records can be lost."""
NO_QUORUM = (
    "KT-SIG-NO-MAJORITY",
    "KT-SIG-NO-LEADER",
    "KT-SIG-MIGRATION-ORDER",
    "KT-DIR-STATIC-DIFFER",
    "KT-DIR-NO-QUORUM",
)
"""There is no leader, or there will be none after a restart."""
MIXED_UP = (
    "KT-FLEET-OTHER-LOG",
    "KT-FLEET-SAME-CLUSTER-ID",
    "KT-DIR-CLUSTER-ID",
    "KT-DIR-SAME-DIRECTORY-ID",
)
"""Nodes of different clusters can reach each other's quorum."""
_STAKES = (TWO_HISTORIES, NO_QUORUM, MIXED_UP)
_STAKE = {code: place for place, codes in enumerate(_STAKES) for code in codes}
_WHOLE_COPY = "KT-SIG-WHOLE-COPY"
"""Says which of the copies to keep, so that it belongs to the damage and before it."""
_LOST_DATA = len(_STAKES)


def urgency(code: str, severity: Severity, *, undecoded: bool = False) -> int:
    """Return the place of a finding in the order: 0 comes first."""
    is_lost = undecoded or code == _WHOLE_COPY
    stake = _STAKE.get(code, _LOST_DATA if is_lost else _LOST_DATA + 1)
    return SEVERITY_RANK[severity] * 10 + stake


def urgency_of(finding: Finding) -> int:
    """The same for a finding."""
    return urgency(finding.code, finding.severity, undecoded=finding.undecoded)
