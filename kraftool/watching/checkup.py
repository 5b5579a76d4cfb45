"""Everything that is wrong, by a live quorum's answers and by all that doctor finds in directories.

Owns one list of complaints from both, each with its cause and the command to run next; and how
often directories are examined, as that takes the longer the larger their logs are. The rules are
those of `client/health.py` and of `reports/doctor/`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftool.client.cluster_health import cluster_health
from kraftool.client.health import Health
from kraftool.client.model import QuorumView
from kraftool.client.observer import SilentObserver
from kraftool.client.observing import UnobservableError
from kraftool.client.target import Target
from kraftool.client.thresholds import LAG_MS, LAG_RECORDS, SILENT_MS
from kraftool.decoders.json_marks import Hidden, Inline, Moment
from kraftool.reports.doctor.explain import explain
from kraftool.reports.doctor.model import Evidence, Examination
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import DoctorReport, diagnose
from kraftool.reports.findings.finding import SEVERITY_RANK, Finding, Severity, tally
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.text.json_forms import (
    FindingCounts,
    finding_counts,
)
from kraftool.reports.text.words import many
from kraftool.watching.backoff import is_due
from kraftool.watching.safety import MetadataHealth
from kraftool.watching.task import Task

LIVE = "live quorum"
BETWEEN = "between nodes"
_LIMIT_S = 60.0
"""For reading the metadata of a live quorum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """A finding, of whom, and what to do about it."""

    finding: Inline[Finding]
    subject: str
    """A directory, or LIVE, or BETWEEN."""
    who: Hidden[str]
    """The same for people: the node, where the directory tells whose it is."""
    evidence: tuple[Evidence, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The same for the same complaint at the next poll."""
        fault = self.finding.fault
        where = fault.file, fault.position, fault.offset, fault.field
        return "\0".join(map(str, (self.subject, self.finding.code, *where)))

    def meaning(self) -> str:
        """Return what a finding of this code means for Kafka."""
        return next((explanation.meaning for explanation in explain(self.finding.code)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctored:
    """The report of doctor on directories, without the states that it read for that."""

    complaints: tuple[Complaint, ...]
    rules: int
    """How many rules were asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheckup:
    """The findings of doctor in the directories, and their time."""

    doctored: Doctored
    at_ms: int
    took_ms: int

    def is_due(self, now_ms: int) -> bool:
        """True if directories that changed are worth another examination by now."""
        return is_due(self.at_ms, self.took_ms, now_ms)


def examine_directories(paths: Sequence[str], task: Task) -> Doctored:
    """Return all that doctor has to say; partial results are what it says of single directories.

    Raises StoppedError if the task was stopped.
    """
    locations, unopened = locations_of(paths)
    task.begin("examining directories")
    known: list[Complaint] = []

    def partly(examination: Examination) -> None:
        report = diagnose(examination)
        known.extend(
            of_directory
            for of_directory in _of_directories(report)
            if of_directory.subject != BETWEEN
        )
        task.partial(Doctored(complaints=tuple(known), rules=len(report.rules)))

    report = diagnose(examine(locations, unopened, task.passed, partly=partly))
    return Doctored(complaints=tuple(_of_directories(report)), rules=len(report.rules))


class MetadataWatch:
    """Reads the committed metadata as no replica; after the first time, only what came since."""

    def __init__(self, target: Target) -> None:
        self._observer = SilentObserver(target.access)

    def read(self, view: QuorumView, task: Task) -> MetadataHealth:
        """Read on and judge. Raises StoppedError where the task was stopped."""
        began = time.monotonic()
        at_ms = _asked(view)
        try:
            observing = self._observer.advance(view, progress=task.counted, limit_s=_LIMIT_S)
            observation = asyncio.run(observing)
        except UnobservableError as error:
            return MetadataHealth(unobserved=error.message, at_ms=at_ms, took_ms=_ms_since(began))
        cluster = cluster_health(observation, view, view)
        return MetadataHealth(cluster=cluster, at_ms=at_ms, took_ms=_ms_since(began))


def _ms_since(began_s: float) -> int:
    return int((time.monotonic() - began_s) * 1000)


def limits() -> str:
    """From where on a replica of a live quorum is complained of."""
    return (
        f"a replica that has not fetched for {SILENT_MS // 1000} s, is {LAG_RECORDS} records"
        f" behind, or was caught up last {LAG_MS // 1000} s ago"
    )


def _asked(view: QuorumView) -> int:
    return max((node.asked_ms for node in view.nodes), default=0)


def complaints(live: Health | None, examined: DoctorCheckup | None) -> tuple[Complaint, ...]:
    """Everything that is wrong, the worst first."""
    findings = () if live is None else live.findings
    all_complaints = [
        Complaint(subject=LIVE, who=finding.file or LIVE, finding=finding) for finding in findings
    ]
    all_complaints += () if examined is None else examined.doctored.complaints
    return tuple(
        sorted(all_complaints, key=lambda complaint: SEVERITY_RANK[complaint.finding.severity])
    )


def _of_directories(report: DoctorReport) -> Iterator[Complaint]:
    for section in report.sections:
        node_id = None if section.examined is None else section.examined.node_id
        for diagnosis in section.diagnoses:
            finding = diagnosis.finding
            unread = finding.file if finding.code == dir_kinds.UNREADABLE.code else ""
            path = section.path or unread or BETWEEN
            yield Complaint(
                subject=path,
                who=path if node_id is None else f"node {node_id}",
                finding=finding,
                evidence=diagnosis.evidence,
                commands=diagnosis.commands,
            )


def counted(all_complaints: Sequence[Complaint]) -> str:
    """Return the number of each severity, in words; empty if there are no findings."""
    counts = tally(complaint.finding for complaint in all_complaints)
    return ", ".join(
        many(counts[severity], severity.value)
        if severity is not Severity.INFO
        else f"{counts[severity]} info"
        for severity in SEVERITY_RANK
        if counts[severity]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckupView:
    """The health of the quorum, live and of the directories."""

    live: Health | None
    """As quorum health has it."""
    examined_at: Moment | None
    complaints: tuple[Complaint, ...]
    finding_counts: FindingCounts

    @property
    def rows(self) -> tuple[Complaint, ...]:
        return self.complaints


def checkup_view(
    live: Health | None, examined: DoctorCheckup | None, all_complaints: Sequence[Complaint]
) -> CheckupView:
    """The view as a document."""
    return CheckupView(
        live=live,
        examined_at=None if examined is None else examined.at_ms,
        complaints=tuple(all_complaints),
        finding_counts=finding_counts([complaint.finding for complaint in all_complaints]),
    )
