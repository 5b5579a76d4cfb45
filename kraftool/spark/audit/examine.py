"""One directory of a fleet, examined: what doctor, verify-log and verify-snapshot say about it.

Owns the order of work within a task, and what goes on from it to the comparison of nodes: a light
directory, without its state and its batches. It finds nothing itself. Whatever goes wrong is a
finding: a task never fails for what lies in a directory.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.local_copy import on_disk
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
from kraftool.reports.fleet.model import AUDIT, DirectorySummary, FleetFinding
from kraftool.reports.verify.log import Checked, LogVerification, verify_logs
from kraftool.reports.verify.log_parts import ReplayedPart, ReplayRange, joined, replay_part
from kraftool.reports.verify.log_states import LogStates
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.reports.verify.snapshot_compare import equal_to
from kraftool.reports.verify.snapshot_values import (
    SnapshotVerification,
    VerifiedDirectory,
    VerifiedSnapshot,
)
from kraftool.spark.audit.audit_summary import begun, with_counts, with_examined, with_hash
from kraftool.spark.audit.directory_pass import read_once
from kraftool.spark.audit.finding_merge import Key, Said, counted
from kraftool.spark.audit.identities import BatchIdentities, identities_of
from kraftool.spark.audit.log_families import (
    NO_TRACES,
    Traces,
    traces_of_log,
    traces_of_snapshots,
)
from kraftool.spark.audit.log_families import joined as joined_traces
from kraftool.spark.audit.renamed import renamed
from kraftool.storage.entry import Entry

DOCTOR, VERIFY_LOG, VERIFY_SNAPSHOT = "doctor", "verify-log", "verify-snapshot"
_MOST_ELECTIONS = 10_000
"""So many of the newest elections of a log are compared with other nodes'."""
_ABOUT_FILES = ("mv ", "cp ", "kraftool ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedDirectory:
    """The result of one task. It travels between workers, so it has no open file."""

    summary: DirectorySummary
    findings: tuple[FleetFinding, ...] = ()
    ignored: int = 0
    examined: ExaminedDirectory | None = None
    """Light: without state, and with elections alone of its log."""
    snapshots: tuple[VerifiedSnapshot, ...] = ()
    traces: Traces = NO_TRACES


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryPart:
    """The statements of some commands about a directory."""

    summary: DirectorySummary
    """With what doctor has read, if that is among them."""
    findings: tuple[FleetFinding, ...] = ()
    ignored: frozenset[Key] = frozenset()
    examined: ExaminedDirectory | None = None
    checked: Checked | None = None
    """What verify-log counted."""
    snapshots: tuple[VerifiedSnapshot, ...] = ()
    traces: Traces = NO_TRACES
    batches: BatchIdentities | None = None
    """None where only another look at the log can say what batches it has."""
    replayed: ReplayedPart | None = None
    """The replay of a part of the log. A part with it has no other results."""
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
    *,
    part: ReplayRange | None = None,
    is_divided: bool = False,
) -> DirectoryPart:
    """Let all commands look at a directory. Nothing is raised.

    With `part`, no command looks: only that part of the log is replayed. With `is_divided`,
    verify-log and verify-snapshot do not replay the log, since other tasks do.
    """
    directory = files[0].directory
    began = time.monotonic()
    merge = Said(directory.name, ignored_codes)
    try:
        with without_collector(), on_disk(files) as here:
            for problem in here.problems:
                unread = dir_kinds.UNREADABLE.at(problem.name, problem.reason, advice=problem.hint)
                merge.add(AUDIT, unread)
            look_at = _Look(files, here.path, merge, is_divided=is_divided)
            looked = look_at.replayed(part) if part is not None else look_at.looked()
            if here.path != here.shown:
                looked = _told_as(looked, here.shown_text)
    except Exception as error:
        # Of an error that a store or a decoder's fault raises, the name tells most; its text may
        # hold data.
        name = error.message if isinstance(error, KraftoolError) else type(error).__name__
        merge.add(AUDIT, kinds.FAILED.at(directory.name, f"it could not be examined: {name}"))
        looked = DirectoryPart(summary=begun(directory), findings=merge.findings())
    return replace(looked, ignored=merge.ignored_keys, seconds=time.monotonic() - began)


def whole(parts: Sequence[DirectoryPart], ignored_codes: Collection[str] = ()) -> AuditedDirectory:
    """Put together what all commands say about a directory; doctor's part is the first one."""
    if any(part.replayed is not None for part in parts):
        compared = _compared(parts, ignored_codes)
        assert compared is not None, "a log that is not sound is not replayed in parts"
        parts = compared
    first = parts[0]
    merge = Said(first.summary.name)
    for part in parts:
        merge.take_ignored(part.ignored)
        for finding in part.findings:
            merge.take(finding)
    examined = first.examined
    checked = next((part.checked for part in parts if part.checked is not None), None)
    snapshots = tuple(snapshot for part in parts for snapshot in part.snapshots)
    summary = first.summary
    if checked is not None:
        summary = with_counts(summary, checked, examined)
    if examined is not None:
        summary = with_hash(summary, snapshots)
    findings = merge.findings()
    return AuditedDirectory(
        summary=replace(
            summary,
            finding_counts=counted(findings),
            bytes_read=max(sum(part.bytes_read for part in parts), summary.size),
            seconds=round(sum(part.seconds for part in parts), 3),
        ),
        findings=findings,
        ignored=len(merge.ignored_keys),
        examined=examined,
        snapshots=snapshots,
        traces=joined_traces([part.traces for part in parts]),
    )


def is_shown_sound(parts: Sequence[DirectoryPart]) -> bool:
    """True if the parts of a divided directory show that its log is sound. If not, the commands
    have to look at it undivided."""
    return _compared(parts, ()) is not None


def _compared(
    parts: Sequence[DirectoryPart], ignored_codes: Collection[str]
) -> Sequence[DirectoryPart] | None:
    replays = [part for part in parts if part.replayed is not None]
    commands = [part for part in parts if part.replayed is None]
    if len(commands) != 1 or not replays:
        return None
    (looked,) = commands
    if looked.checked is None:
        return None
    replayed = [part.replayed for part in replays if part.replayed is not None]
    hashes = {verified.file: verified.state_hash for verified in looked.snapshots}
    known = joined(replayed, hashes, looked.checked.end_offset)
    if known is None:
        return None
    directory = VerifiedDirectory(path="", snapshots=looked.snapshots)
    compared = equal_to(directory, replayed[0].log_start, known)
    if compared is None:
        return None
    merge = Said(looked.summary.name, ignored_codes)
    merge.take_ignored(looked.ignored)
    for finding in looked.findings:
        merge.take(finding)
    for before, after in zip(looked.snapshots, compared.snapshots, strict=True):
        new = (finding for finding in after.findings if finding not in before.findings)
        merge.add_all(VERIFY_SNAPSHOT, new)
    looked = replace(
        looked,
        findings=merge.findings(),
        ignored=merge.ignored_keys,
        snapshots=compared.snapshots,
    )
    return [looked, *replays]


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at the files of one directory."""

    files: Sequence[FleetFile]
    path: str
    merge: Said
    progress: _BytesRead = field(default_factory=_BytesRead)
    _: KW_ONLY
    is_divided: bool

    def looked(self) -> DirectoryPart:
        """The results of all commands, in their order."""
        part = DirectoryPart(summary=begun(self.files[0].directory))
        once = read_once(self.path, self.progress, replays=not self.is_divided)
        examination, log, snapshots = self._one_by_one() if once is None else once
        part = _with_doctor(part, examination, self.merge)
        self.merge.add_all(VERIFY_LOG, log.rows)
        checked = next((verified_log.checked for verified_log in log.verified), None)
        part = self._with_snapshots(replace(part, checked=checked), snapshots)
        return replace(part, findings=self.merge.findings(), bytes_read=self.progress.total)

    def _one_by_one(
        self,
    ) -> tuple[Examination, LogVerification, SnapshotVerification | Finding | None]:
        """The same, where each command reads by itself."""
        examination = examine_paths(*locations_of([self.path]), self.progress)
        states: dict[str, LogStates] = {}
        locations, unopened = open_paths([self.path])
        log = verify_logs(
            locations,
            self.progress,
            unopened=unopened,
            states=states,
            replays=not self.is_divided,
        )
        return examination, log, self._verified_snapshots(states)

    def _with_snapshots(
        self, part: DirectoryPart, report: SnapshotVerification | Finding | None
    ) -> DirectoryPart:
        """Take the findings of verify-snapshot, and the snapshots in a form that other workers can
        open."""
        snapshots: tuple[VerifiedSnapshot, ...] = ()
        if isinstance(report, Finding):
            self.merge.add(VERIFY_SNAPSHOT, report)
        elif report is not None:
            self.merge.add_all(VERIFY_SNAPSHOT, report.all_findings)
            entries = {file.basename: file.entry() for file in self.files}
            snapshots = tuple(
                replace(snapshot, entry=entries[snapshot.entry.basename])
                for snapshot in report.rows
                if snapshot.is_state and snapshot.state_hash and snapshot.entry.basename in entries
            )
        traces = joined_traces([part.traces, traces_of_snapshots(snapshots)])
        return replace(part, snapshots=snapshots, traces=traces)

    def replayed(self, part: ReplayRange) -> DirectoryPart:
        """A part of the log, replayed."""
        locations, _ = open_paths([self.path])
        entries = [
            entry
            for location in locations
            for entry in location.entries()
            if isinstance(entry, Entry)
        ]
        return DirectoryPart(
            summary=begun(self.files[0].directory),
            replayed=replay_part(entries, part, self.progress),
            bytes_read=self.progress.total,
        )

    def _verified_snapshots(
        self, states: Mapping[str, LogStates]
    ) -> SnapshotVerification | Finding | None:
        """The result of verify-snapshot, or why it has none; None if the path has no snapshot."""
        locations, unopened = open_paths([self.path])
        try:
            return verify_snapshots(
                locations,
                progress=self.progress,
                unopened=unopened,
                states=states,
                replay_logs=not self.is_divided,
            )
        except KraftoolError as error:
            is_single = any(file.is_named for file in self.files)  # which need be no snapshot
            return None if is_single else unreadable(self.path, error)


def _with_doctor(part: DirectoryPart, examination: Examination, merge: Said) -> DirectoryPart:
    for section in diagnose(examination).sections:
        merge.add_diagnoses(DOCTOR, section.diagnoses)
    if not examination.directories:
        return part
    examined = examination.directories[0]
    log, batches = examined.summary.log, identities_of(examined.statistics)
    are_all = batches is not None and batches.are_all_of(log.batches if log is not None else 0)
    return replace(
        part,
        summary=with_examined(part.summary, examined),
        examined=_light(examined),
        traces=traces_of_log(examined.statistics),
        batches=batches if are_all else None,
    )


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
