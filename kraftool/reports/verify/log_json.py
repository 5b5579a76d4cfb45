"""The document of `verify-log -o json`."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.reports.findings.finding import Finding
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.verify.log import LogVerification, Verified


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyLogDocument:
    """The files that were verified, and the findings. Offsets are places in the log, positions are
    bytes in a file."""

    verified: tuple[Verified, ...]
    """One for each directory, and one for the files by themselves of a PATH."""
    findings: tuple[Finding, ...]
    """Those between directories, and of a PATH as a whole."""
    finding_counts: FindingCounts

    @property
    def rows(self) -> tuple[Finding, ...]:
        """All findings."""
        return (*self.findings, *(finding for one in self.verified for finding in one.findings))


def verify_log_document(report: LogVerification) -> VerifyLogDocument:
    return VerifyLogDocument(
        verified=report.verified,
        findings=report.findings,
        finding_counts=finding_counts(report.all_findings),
    )
