"""One directory of a fleet, examined: what doctor, verify-log and verify-snapshot say about it.

Owns the order of work within a task, and what goes on from it to the comparison of nodes: a light
directory, without its state and its batches. It finds nothing itself. Whatever goes wrong is a
finding: a task never fails for what lies in a directory.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.local_copy import on_disk, renamed
from kraftool.arrow.reading import without_collector
from kraftool.decoders.checkpoint_files import LeaderEpochCheckpoint
from kraftool.decoders.errors import KraftoolError
from kraftool.directory.file_report import FileReport
from kraftool.reports.doctor.model import Examination, ExaminedDirectory
from kraftool.reports.doctor.read import examine as examine_paths
from kraftool.reports.doctor.read import locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.files.locations import open_paths
from kraftool.reports.files.locations import unopened as unreadable
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import fleet as kinds
from kraftool.reports.findings.mutes import NOTHING_LEFT_OUT, FindingFilter, MutedFinding
from kraftool.reports.fleet.model import AUDIT, DirectorySummary, FleetFinding
from kraftool.reports.verify.log import LogVerification, verify_logs
from kraftool.reports.verify.log_states import LogStates
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.reports.verify.snapshot_values import SnapshotVerification, VerifiedSnapshot
from kraftool.spark.audit.audit_summary import begun, with_checked, with_examined
from kraftool.spark.audit.directory_pass import read_once
from kraftool.spark.audit.finding_merge import FindingMerge, counted
from kraftool.spark.audit.identities import BatchIdentities, identities_of
from kraftool.spark.audit.log_families import NO_TRACES, Traces, traces_of

DOCTOR, VERIFY_LOG, VERIFY_SNAPSHOT = "doctor", "verify-log", "verify-snapshot"
_MOST_ELECTIONS = 10_000
"""So many of the newest elections of a log are compared with other nodes'."""
ABOUT_FILES = ("mv ", "cp ", "kraftool ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedDirectory:
    """The result of one task. It travels between workers, so it has no open file."""

    summary: DirectorySummary
    findings: tuple[FleetFinding, ...] = ()
    ignored: int = 0
    muted: tuple[MutedFinding, ...] = ()
    examined: ExaminedDirectory | None = None
    """Light: without state, and with elections alone of its log."""
    snapshots: tuple[VerifiedSnapshot, ...] = ()
    traces: Traces = NO_TRACES
    batches: BatchIdentities | None = None
    """None where only another look at the log can say what batches it has."""


@dataclass(slots=True)
class _BytesRead:
    """Adds up what the commands say that they have read, pass by pass."""

    total: int = 0
    _last: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str, position: int) -> None:
        last = self._last.get(name, 0)
        self.total += position - last if position >= last else position
        self._last[name] = position


def examine(
    files: Sequence[FleetFile], left_out: FindingFilter = NOTHING_LEFT_OUT
) -> AuditedDirectory:
    """Let all commands look at a directory, all of whose files these are. Nothing is raised."""
    directory = files[0].directory
    began = time.monotonic()
    merge = FindingMerge(directory.name, left_out)
    progress = _BytesRead()
    try:
        with without_collector(), on_disk(files) as here:
            for problem in here.problems:
                unread = dir_kinds.UNREADABLE.at(problem.name, problem.reason, advice=problem.hint)
                merge.add(AUDIT, unread)
            audited = replace(
                _looked(files, here.path, merge, progress), findings=merge.sorted().kept
            )
            if here.path != here.shown:
                audited = _told_as(audited, here.shown_text)
    except Exception as error:
        # Of an error that a store or a decoder's fault raises, the name tells most; its text may
        # hold data.
        name = error.message if isinstance(error, KraftoolError) else type(error).__name__
        merge.add(AUDIT, kinds.FAILED.at(directory.name, f"it could not be examined: {name}"))
        audited = AuditedDirectory(summary=begun(directory), findings=merge.sorted().kept)
    summary = replace(
        audited.summary,
        finding_counts=counted(audited.findings),
        bytes_read=max(progress.total, audited.summary.size),
        seconds=round(time.monotonic() - began, 3),
    )
    chosen = merge.sorted()
    return replace(audited, summary=summary, ignored=chosen.ignored, muted=chosen.muted)


def _looked(
    files: Sequence[FleetFile], path: str, merge: FindingMerge, progress: _BytesRead
) -> AuditedDirectory:
    """The results of all commands, in their order."""
    examination, log, report = read_once(path, progress) or _one_by_one(files, path, progress)
    for section in diagnose(examination).sections:
        for diagnosis in section.diagnoses:
            merge.add(DOCTOR, diagnosis.finding, diagnosis.evidence, diagnosis.commands)
    merge.add_all(VERIFY_LOG, log.rows)
    snapshots: tuple[VerifiedSnapshot, ...] = ()
    if isinstance(report, Finding):
        merge.add(VERIFY_SNAPSHOT, report)
    elif report is not None:
        merge.add_all(VERIFY_SNAPSHOT, report.all_findings)
        # In a form that other workers can open.
        entries = {file.basename: file.entry() for file in files}
        snapshots = tuple(
            replace(snapshot, entry=entries[snapshot.entry.basename])
            for snapshot in report.rows
            if snapshot.is_state and snapshot.state_hash and snapshot.entry.basename in entries
        )
    summary = begun(files[0].directory)
    for verified_log in log.verified[:1]:
        summary = with_checked(summary, verified_log.checked)
    if not examination.directories:
        return AuditedDirectory(
            summary=summary, snapshots=snapshots, traces=traces_of(None, snapshots)
        )
    examined = examination.directories[0]
    known, statistics = examined.summary.log, examined.statistics
    return AuditedDirectory(
        summary=with_examined(summary, examined, snapshots),
        examined=_light(examined),
        snapshots=snapshots,
        traces=traces_of(statistics, snapshots),
        batches=identities_of(statistics, known.batches if known is not None else 0),
    )


def _one_by_one(
    files: Sequence[FleetFile], path: str, progress: _BytesRead
) -> tuple[Examination, LogVerification, SnapshotVerification | Finding | None]:
    """The same, where each command reads by itself. Of verify-snapshot it may be why it has no
    result; None if the path has no snapshot."""
    examination = examine_paths(*locations_of([path]), progress)
    states: dict[str, LogStates] = {}
    locations, unopened = open_paths([path])
    log = verify_logs(locations, progress, unopened=unopened, states=states)
    try:
        snapshots: SnapshotVerification | Finding | None = verify_snapshots(
            locations, progress=progress, unopened=unopened, states=states
        )
    except KraftoolError as error:
        is_single = any(file.is_named for file in files)  # which need be no snapshot
        snapshots = None if is_single else unreadable(path, error)
    return examination, log, snapshots


def _light(examined: ExaminedDirectory) -> ExaminedDirectory:
    """Without what is large: the state, the batches, and the content of files."""
    elections = deque(examined.statistics.elections, maxlen=_MOST_ELECTIONS)
    source = examined.source
    files = tuple(map(_light_file, source.files))
    return replace(
        examined.with_source(replace(source, files=files)),
        state=None,
        statistics=replace(
            examined.statistics.only_around(source.log.breaks if source.log is not None else ()),
            elections=elections,
        ),
    )


def _light_file(file: FileReport) -> FileReport:
    """Of the contents, a comparison of nodes needs only the epochs."""
    is_needed = isinstance(file.content, LeaderEpochCheckpoint)
    return replace(file, content=file.content if is_needed else None, errors=())


def _told_as(examined: AuditedDirectory, renaming: Callable[[str], str]) -> AuditedDirectory:
    """Of a copy: with the names of what was copied, and without commands for files elsewhere."""
    shown = renamed(examined, renaming)
    findings = tuple(
        replace(finding, commands=tuple(
            one for one in finding.commands if not one.startswith(ABOUT_FILES)
        ))
        for finding in shown.findings
    )  # fmt: skip
    return replace(shown, findings=findings)
