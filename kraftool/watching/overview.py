"""Everything that is wrong at a moment, view by view, and the worst of it for the title.

Owns which findings count: warnings and errors of a view for its tab, and of every view for the
title. A note keeps the title from being green. It refuses to read anything: others hand over
pictures and findings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kraftool.client.health import Health
from kraftool.reports.findings.finding import SEVERITY_RANK, Finding, Severity
from kraftool.reports.findings.status import Status, overall_status
from kraftool.watching.checkup import LIVE, Complaint, DoctorCheckup, complaints
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import QuorumReport, quorum_report
from kraftool.watching.safety import MetadataHealth

QUORUM, HEALTH = "quorum", "health"


@dataclass(frozen=True, slots=True)
class TabStatus:
    """The worst of a view, and how many warnings and errors it has."""

    status: Status
    count: int


@dataclass(frozen=True, slots=True)
class _Problem:
    """A problem that a view has found. Views that have found the same one have the same key."""

    severity: Severity
    key: tuple[object, ...]


def _problem_of(finding: Finding) -> _Problem:
    return _Problem(
        finding.severity, (finding.code, finding.file, finding.position, finding.offset)
    )


@dataclass(slots=True, kw_only=True)
class Overview:
    """The newest judgements; the dashboard has one."""

    report: QuorumReport | None = None
    metadata: MetadataHealth | None = None
    """Set by whoever reads the metadata of a live quorum."""
    examined: DoctorCheckup | None = None
    """Set by whoever examines the directories."""
    _has_directories: bool = False
    _found: dict[str, tuple[_Problem, ...]] = field(default_factory=dict)

    @property
    def live(self) -> Health | None:
        """Return the health of the live quorum, as `quorum health` has it."""
        return None if self.report is None else self.report.live

    def take(self, picture: Picture) -> None:
        """Judge a picture."""
        self.report = quorum_report(picture, self.metadata)
        self._has_directories = bool(picture.directories)
        self.tell(QUORUM, (statement.finding for statement in self.report.statements))
        all_complaints = complaints(self.live, self.examined)
        self.tell(HEALTH, (complaint.finding for complaint in all_complaints))

    def tell(self, view: str, findings: Iterable[Finding]) -> None:
        """Note what a view has found."""
        self._found[view] = tuple(map(_problem_of, findings))

    def tab(self, view: str) -> TabStatus | None:
        """Return the status of a view, or None where it has no warning and no error."""
        loud = _loud(problem.severity for problem in self._found.get(view, ()))
        return TabStatus(overall_status(loud, is_complete=True), len(loud)) if loud else None

    @property
    def further(self) -> tuple[Complaint, ...]:
        """Return what Health has found and the statements of the quorum report do not say."""
        said = () if self.live is None else self.live.quorum_findings
        return tuple(
            complaint
            for complaint in complaints(self.live, self.examined)
            if complaint.subject != LIVE or complaint.finding not in said
        )

    @property
    def loud(self) -> tuple[Severity, ...]:
        """Return every warning and error; one that several views have found counts once."""
        worst: dict[tuple[object, ...], Severity] = {}
        for problems in self._found.values():
            for problem in problems:
                known = worst.setdefault(problem.key, problem.severity)
                worst[problem.key] = min(known, problem.severity, key=SEVERITY_RANK.__getitem__)
        return _loud(worst.values())

    @property
    def status(self) -> Status:
        """Return the worst of all; GOOD only without a note, and if all of it was looked at."""
        report = self.report
        is_complete = report is not None and (
            not report.is_live or report.tolerance.failures is not None
        )
        if self._has_directories and self.examined is None:
            is_complete = False
        every = (problem.severity for problems in self._found.values() for problem in problems)
        return overall_status(every, is_complete=is_complete)


def _loud(severities: Iterable[Severity]) -> tuple[Severity, ...]:
    return tuple(severity for severity in severities if severity is not Severity.INFO)
