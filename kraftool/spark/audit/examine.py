"""One directory of a fleet, examined: what doctor, verify-log and verify-snapshot say about it.

Owns the order of work within a task, and what goes on from it to the comparison of nodes: a light
patient, without its state and its batches. It finds nothing itself. Whatever goes wrong is a
finding: a task never fails for what lies in a directory.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.local_copy import on_disk
from kraftool.arrow.reading import without_collector
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.directory.report import DirectoryReport
from kraftool.reports.doctor.model import ExaminedDirectory
from kraftool.reports.doctor.read import examine as examine_paths
from kraftool.reports.doctor.read import locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.files.file_report import FileReport
from kraftool.reports.files.locations import open_paths
from kraftool.reports.files.locations import unopened as unreadable
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import fleet as kinds
from kraftool.reports.fleet.model import AUDIT, DirectorySummary, FleetFinding
from kraftool.reports.verify.log import Checked, verify_logs
from kraftool.reports.verify.log_states import LogStates
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.reports.verify.snapshot_values import VerifiedSnapshot
from kraftool.reports.voters.history import NO_HISTORY
from kraftool.spark.audit.finding_merge import Key, Said, counted
from kraftool.spark.audit.glance import begun, with_counts, with_hash, with_patient
from kraftool.spark.audit.identities import BatchIdentities, identities_of
from kraftool.spark.audit.log_families import (
    NO_TRACES,
    Traces,
    joined,
    traces_of_log,
    traces_of_snapshots,
)
from kraftool.spark.audit.renamed import renamed

DOCTOR, VERIFY_LOG, VERIFY_SNAPSHOT = "doctor", "verify-log", "verify-snapshot"
PASSES = (DOCTOR, VERIFY_LOG, VERIFY_SNAPSHOT)
_MOST_ELECTIONS = 10_000
"""So many of the newest elections of a log are compared with other nodes'."""
_ABOUT_FILES = ("mv ", "cp ", "kraftool ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedDirectory:
    """The result of one task. It travels between workers, so it has no open file."""

    summary: DirectorySummary
    findings: tuple[FleetFinding, ...] = ()
    ignored: int = 0
    patient: ExaminedDirectory | None = None
    """Light: without state, and with elections alone of its log."""
    snapshots: tuple[VerifiedSnapshot, ...] = ()
    traces: Traces = NO_TRACES
    batches: BatchIdentities | None = None
    """None where only another look at the log can say what batches it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryPart:
    """The statements of some commands about a directory."""

    summary: DirectorySummary
    """With what doctor has read, if that is among them."""
    findings: tuple[FleetFinding, ...] = ()
    ignored: frozenset[Key] = frozenset()
    patient: ExaminedDirectory | None = None
    checked: Checked | None = None
    """What verify-log counted."""
    snapshots: tuple[VerifiedSnapshot, ...] = ()
    traces: Traces = NO_TRACES
    batches: BatchIdentities | None = None
    bytes_read: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class _BytesRead:
    """Adds up what the commands say that they have read, pass by pass."""

    total: int = 0
    _last: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str, position: int) -> None:
        last = self._last.get(name, 0)
        self.total += position - last if position >= last else position
        self._last[name] = position


def examine(files: Sequence[FleetFile], ignored_codes: Collection[str] = ()) -> AuditedDirectory:
    """Examine a directory, all of whose files these are. Nothing is raised."""
    return whole([look(files, ignored_codes)])


def look(
    files: Sequence[FleetFile],
    ignored_codes: Collection[str] = (),
    passes: Sequence[str] = PASSES,
) -> DirectoryPart:
    """Let some of the commands look at a directory. Nothing is raised."""
    directory = files[0].directory
    began = time.monotonic()
    merge = Said(directory.name, ignored_codes)
    try:
        with without_collector(), on_disk(files) as here:
            for problem in here.problems:
                unread = dir_kinds.UNREADABLE.at(problem.name, problem.reason, advice=problem.hint)
                merge.add(AUDIT, unread)
            part = _looked(files, here.path, merge, passes)
            if here.path != here.shown:
                part = _told_as(part, here.shown_text)
    except Exception as error:
        # Of an error that a store or a decoder's fault raises, the name tells most; its text may
        # hold data.
        name = error.message if isinstance(error, KraftoolError) else type(error).__name__
        merge.add(AUDIT, kinds.FAILED.at(directory.name, f"it could not be examined: {name}"))
        part = DirectoryPart(summary=begun(directory), findings=merge.findings())
    return replace(part, ignored=merge.ignored_keys, seconds=time.monotonic() - began)


def whole(parts: Sequence[DirectoryPart]) -> AuditedDirectory:
    """Put together what all commands say about a directory; doctor's part is the first one."""
    first = parts[0]
    merge = Said(first.summary.name)
    for part in parts:
        merge.take_ignored(part.ignored)
        for finding in part.findings:
            merge.take(finding)
    patient = first.patient
    checked = next((part.checked for part in parts if part.checked is not None), None)
    snapshots = tuple(snapshot for part in parts for snapshot in part.snapshots)
    summary = first.summary
    if checked is not None:
        summary = with_counts(summary, checked, patient)
    if patient is not None:
        summary = with_hash(summary, snapshots)
    findings = merge.findings()
    batches = first.batches
    return AuditedDirectory(
        summary=replace(
            summary,
            finding_counts=counted(findings),
            bytes_read=max(sum(part.bytes_read for part in parts), summary.size),
            seconds=round(sum(part.seconds for part in parts), 3),
        ),
        findings=findings,
        ignored=merge.ignored,
        patient=patient,
        snapshots=snapshots,
        traces=joined([part.traces for part in parts]),
        batches=batches if batches is not None and batches.are_all_of(summary.batches) else None,
    )


def _looked(
    files: Sequence[FleetFile], path: str, merge: Said, passes: Sequence[str]
) -> DirectoryPart:
    progress = _BytesRead()
    part = DirectoryPart(summary=begun(files[0].directory))
    if DOCTOR in passes:
        part = _with_doctor(part, path, merge, progress)
    states: dict[str, LogStates] = {}
    if VERIFY_LOG in passes:
        locations, unopened = open_paths([path])
        wanted = states if VERIFY_SNAPSHOT in passes else None
        log = verify_logs(locations, progress, unopened=unopened, states=wanted)
        merge.add_all(VERIFY_LOG, log.all_findings)
        part = replace(
            part, checked=next((verified_log.checked for verified_log in log.verified), None)
        )
    if VERIFY_SNAPSHOT in passes:
        snapshots = _snapshots(path, files, merge, progress, states)
        traces = joined([part.traces, traces_of_snapshots(snapshots)])
        part = replace(part, snapshots=snapshots, traces=traces)
    return replace(part, findings=merge.findings(), bytes_read=progress.total)


def _with_doctor(
    part: DirectoryPart, path: str, merge: Said, progress: _BytesRead
) -> DirectoryPart:
    patient = _doctor(path, merge, progress)
    if patient is None:
        return part
    return replace(
        part,
        summary=with_patient(part.summary, patient),
        patient=_light(patient),
        traces=traces_of_log(patient.statistics),
        batches=identities_of(patient.statistics),
    )


def _doctor(path: str, merge: Said, progress: _BytesRead) -> ExaminedDirectory | None:
    locations, findings = locations_of([path])
    examination = examine_paths(locations, findings, progress)
    for section in diagnose(examination).sections:
        merge.add_diagnoses(DOCTOR, section.diagnoses)
    return examination.patients[0] if examination.patients else None


def _snapshots(
    path: str,
    files: Sequence[FleetFile],
    merge: Said,
    progress: _BytesRead,
    states: Mapping[str, LogStates],
) -> tuple[VerifiedSnapshot, ...]:
    """Return what verify-snapshot says, and the snapshots in a form that other workers can open."""
    locations, unopened = open_paths([path])
    try:
        report = verify_snapshots(locations, progress=progress, unopened=unopened, states=states)
    except KraftoolError as error:
        if not any(file.is_named for file in files):  # a single file need be no snapshot
            merge.add(VERIFY_SNAPSHOT, unreadable(path, error))
        return ()
    merge.add_all(VERIFY_SNAPSHOT, report.all_findings)
    entries = {file.basename: file.entry() for file in files}
    return tuple(
        replace(snapshot, entry=entries[snapshot.entry.basename])
        for snapshot in report.snapshots
        if snapshot.is_state and snapshot.state_hash and snapshot.entry.basename in entries
    )


def _light(patient: ExaminedDirectory) -> ExaminedDirectory:
    """Without what is large: the state, the batches, and the content of files."""
    elections = deque(patient.statistics.elections, maxlen=_MOST_ELECTIONS)
    report, log = patient.report, patient.source.log
    return replace(
        patient,
        state=None,
        statistics=replace(
            patient.statistics.only_around(log.breaks if log is not None else ()),
            elections=elections,
        ),
        report=_light_report(report) if report is not None else None,
    )


def _light_report(report: DirectoryReport) -> DirectoryReport:
    return replace(report, files=tuple(map(_light_file, report.files)), history=NO_HISTORY)


def _light_file(file: FileReport) -> FileReport:
    return replace(file, content=None, findings=())


def _told_as(examined: DirectoryPart, renaming: Callable[[str], str]) -> DirectoryPart:
    """Of a copy: with the names of what was copied, and without commands for files elsewhere."""
    shown = renamed(examined, renaming)
    findings = tuple(
        replace(finding, commands=tuple(
            one for one in finding.commands if not one.startswith(_ABOUT_FILES)
        ))
        for finding in shown.findings
    )  # fmt: skip
    return replace(shown, findings=findings)
