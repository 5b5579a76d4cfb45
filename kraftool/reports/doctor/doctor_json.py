"""The documents of `doctor -o json`, with and without --explain."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kraftool.decoders.json_marks import Count
from kraftool.reports.doctor.explain import Explanation
from kraftool.reports.doctor.model import Diagnosis, Evidence
from kraftool.reports.doctor.report import DirectoryDiagnoses, DoctorReport
from kraftool.reports.doctor.unexamined import Unexamined
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json
from kraftool.reports.text.json_form import form
from kraftool.reports.text.json_forms import (
    FindingCounts,
    FindingObject,
    finding_counts,
    finding_object,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisObject(FindingObject):
    """A finding with its evidence, and the commands to run next."""

    evidence: tuple[Evidence, ...]
    commands: tuple[str, ...]
    """The commands to run next, one per line. A person does lines that begin with #."""


@form
def diagnosis_object(diagnosis: Diagnosis) -> DiagnosisObject:
    finding = finding_object(diagnosis.finding)
    members = {field.name: getattr(finding, field.name) for field in fields(finding)}
    return DiagnosisObject(**members, evidence=diagnosis.evidence, commands=diagnosis.commands)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorDirectory:
    """A directory, or settings without the directory that they name."""

    path: str
    """The name of the node where it is a running one."""
    settings_file: str
    """The server.properties that names the directory; empty without one."""
    node_id: int | None
    is_live: bool
    """True if another process holds the directory's lock."""
    is_asked: bool
    """True if this is a running node that reported its log, and not a directory."""
    is_witness: bool | None
    """True for a voter that runs no controller: its ApiVersions lacks CreateTopics. null where that
    is unknown."""
    diagnoses: tuple[Diagnosis, ...]
    """The worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorDocument:
    """The known problems of directories. Offsets are places in the log, positions are bytes in a
    file."""

    directories: tuple[DoctorDirectory, ...]
    """One for each directory, in the order of the PATHs."""
    diagnoses: tuple[Diagnosis, ...]
    """Those between directories, and of the PATHs as a whole."""
    is_live: bool
    """True if a live quorum was asked."""
    assessment: AssessmentObject | None
    """null if no directory was given."""
    rules: tuple[str, ...]
    """The names of the rules that looked."""
    ignored: Count
    """The number of findings that --ignore left out."""
    unexamined: tuple[Unexamined, ...]
    """The places that the rules could not examine. A report without findings is complete only if
    this is empty."""
    deeper_commands: tuple[str, ...]
    """Commands that look deeper."""
    finding_counts: FindingCounts

    @property
    def rows(self) -> tuple[Diagnosis, ...]:
        """All diagnoses."""
        return (
            *(one for directory in self.directories for one in directory.diagnoses),
            *self.diagnoses,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationsDocument:
    """The meanings of the codes of findings."""

    codes: tuple[Explanation, ...]

    @property
    def rows(self) -> tuple[Explanation, ...]:
        """All codes."""
        return self.codes


def doctor_document(report: DoctorReport) -> DoctorDocument:
    assessment = report.assessment
    return DoctorDocument(
        directories=tuple(_directory(section) for section in report.sections if section.path),
        diagnoses=tuple(
            one for section in report.sections if not section.path for one in section.diagnoses
        ),
        is_live=report.is_live,
        assessment=None if assessment is None else assessment_json(assessment),
        rules=report.rules,
        ignored=report.ignored,
        unexamined=report.unexamined,
        deeper_commands=report.deeper,
        finding_counts=finding_counts(report.findings),
    )


def _directory(section: DirectoryDiagnoses) -> DoctorDirectory:
    examined = section.examined
    return DoctorDirectory(
        path=section.path,
        settings_file="" if examined is None else examined.settings_file,
        node_id=None if examined is None else examined.node_id,
        is_live=examined is not None and examined.is_live,
        is_asked=examined is not None and examined.source.is_live,
        is_witness=None if examined is None else examined.source.is_witness,
        diagnoses=section.diagnoses,
    )
