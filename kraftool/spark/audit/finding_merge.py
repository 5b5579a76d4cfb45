"""The findings of several commands on one directory, merged: each finding once, with its sources.

Owns when two findings are the same: same code, words and place. It refuses to find anything, and
to change what a command says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kraftool.reports.doctor.model import Evidence
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.mutes import NOTHING_LEFT_OUT, FindingFilter, SortedFindings
from kraftool.reports.findings.urgency import urgency_of
from kraftool.reports.fleet.model import FleetFinding
from kraftool.reports.text.json_forms import FindingCounts, finding_counts

Key = tuple[object, ...]


def key_of(finding: Finding) -> Key:
    """The same for the same finding, whichever command says it; advice is no part of it."""
    return finding.code, finding.severity, finding.fault


@dataclass(slots=True)
class FindingMerge:
    """Collects the findings of one directory."""

    directory: str
    left_out: FindingFilter = NOTHING_LEFT_OUT
    _found: dict[Key, FleetFinding] = field(default_factory=dict)

    def add(
        self,
        by: str,
        finding: Finding,
        evidence: tuple[Evidence, ...] = (),
        commands: tuple[str, ...] = (),
    ) -> None:
        """Take a finding of a command."""
        key = key_of(finding)
        known = self._found.get(key)
        if known is None:
            self._found[key] = FleetFinding(
                finding=finding,
                directory=self.directory,
                paths=(self.directory,),
                by=(by,),
                evidence=evidence,
                commands=commands,
            )
        elif by not in known.by:
            self._found[key] = replace(
                known,
                by=(*known.by, by),
                evidence=known.evidence or evidence,
                commands=known.commands or commands,
            )

    def add_all(self, by: str, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.add(by, finding)

    def sorted(self) -> SortedFindings[FleetFinding]:
        """All of them, the most urgent first, without those that are left out."""
        found = sorted(self._found.values(), key=lambda finding: urgency_of(finding.finding))
        return self.left_out.sorted(found, lambda finding: finding.finding)


def counted(findings: Iterable[FleetFinding]) -> FindingCounts:
    """Return how many there are of each severity."""
    return finding_counts(fleet_finding.finding for fleet_finding in findings)
