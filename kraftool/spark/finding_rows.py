"""A finding as the members of a row, and back: how workers hand findings on.

Owns that mapping.
"""

from __future__ import annotations

from typing import Any

from kraftool.decoders.errors import Fault
from kraftool.reports.findings.finding import Finding, FindingKind, Severity
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.text.json_forms import place_members


def finding_row(finding: Finding) -> dict[str, Any]:
    """The members of a finding with their values as they are."""
    fault = finding.fault
    return {
        "code": finding.code,
        "severity": finding.severity,
        "text": fault.reason,
        "file": fault.file,
        **place_members(fault),
        "advice": finding.advice,
        "undecoded": finding.undecoded,
        "count": finding.count,
        "places": [{"text": place.reason, **place_members(place)} for place in finding.places],
    }


def finding_of(members: dict[str, Any]) -> Finding:
    """The finding that has these members. A code of another version of kraftool has no meaning."""
    rest = dict(members)
    code, severity = rest.pop("code"), Severity(rest.pop("severity"))
    advice, undecoded, count = (rest.pop(name) for name in ("advice", "undecoded", "count"))
    places = tuple(_fault({"file": rest["file"], **place}) for place in rest.pop("places"))
    return Finding(
        kind=KINDS.get(code) or FindingKind(code=code, severity=severity, meaning=""),
        fault=_fault(rest),
        severity=severity,
        advice=advice,
        undecoded=undecoded,
        count=count,
        places=places,
    )


def _fault(members: dict[str, Any]) -> Fault:
    return Fault(reason=members.pop("text"), **members)
