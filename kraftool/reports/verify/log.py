"""`verify-log`: a directory as a whole, all its files against each other.

Owns the order of work and what a verdict is made of. It finds what a dump finds, which reads the
same files once, and adds the deep checks. Of the snapshots only the newest is compared with the
state that the log makes; what lies in the others is verify-snapshot's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Count, in_json
from kraftool.decoders.kinds import FileKind
from kraftool.directory.directory_summary import base_offset
from kraftool.directory.file_report import FileReport
from kraftool.directory.node_directory import NodeDirectory
from kraftool.image.metadata_version import METADATA_VERSION
from kraftool.reports.directory.findings import between_directories, is_topic
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.files.file_findings import FileView
from kraftool.reports.files.locations import unopened as unreadable
from kraftool.reports.files.severity_in_context import left_by_truncation, weighed
from kraftool.reports.files.snapshot_advice import DAMAGES, is_sound, snapshot_advice
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.timeline.diverged import diverged
from kraftool.reports.verify import log_state
from kraftool.reports.verify.log_history import kraft_versions
from kraftool.reports.verify.log_pass import DirectoryPass, suited
from kraftool.reports.verify.log_states import LogStates
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.entry import Entry, EntryProblem
from kraftool.storage.paths import Location, LocationKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The amount that was checked."""

    files: Count = 0
    size: int = 0
    """The bytes of these files."""
    segments: Count = 0
    snapshots: Count = 0
    batches: Count = 0
    """Of the log and of snapshots."""
    records: Count = 0
    start_offset: int | None = None
    end_offset: int | None = None
    """One beyond the last offset."""
    replayed_from: int | None = None
    """The first offset that was replayed into an image; null if none was."""
    replayed_to: int | None = None
    """One beyond the last offset that was replayed, like a snapshot's name."""
    compared_snapshot: int | None = None
    """The offset of the snapshot whose state was compared with what the log makes of it; null
    without a comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """One directory, or the single files of a PATH."""

    path: str
    is_live: bool = False
    """True if another process holds the directory's lock."""
    checked: Checked
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogVerification:
    """The files that were verified, and the findings. Offsets are places in the log, positions are
    bytes in a file."""

    verified: tuple[Verified, ...]
    """One for each directory, and one for the files by themselves of a PATH."""
    findings: tuple[Finding, ...] = ()
    """Those between directories, and of a PATH as a whole."""

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.rows)

    @property
    def rows(self) -> tuple[Finding, ...]:
        return (*self.findings, *(finding for one in self.verified for finding in one.findings))


Progress = Callable[[str, int], None]


def verify_logs(
    locations: Sequence[Location],
    progress: Progress = lambda name, position: None,
    *,
    unopened: Sequence[Finding] = (),
    states: dict[str, LogStates] | None = None,
) -> LogVerification:
    """Verify everything that the locations hold. Nothing is raised for what is wrong in it.

    `unopened` is what was found of the PATHs that lead nowhere. `states` gets the states that the
    log of each directory makes at its snapshots, for `verify_snapshots`.
    """
    verified: list[Verified] = []
    findings: list[Finding] = list(unopened)
    directories: list[NodeDirectory] = []
    with_logs: list[Location] = []
    for location in locations:
        try:
            report, seen = _read(location, progress, states)
        except KraftoolError as error:
            findings.append(unreadable(location.path, error))
            continue
        findings += report.findings if report.path_kind is not LocationKind.FILE else ()
        if report.directories:
            with_logs.append(location)
        directories += (judged.directory for judged in report.directories)
        verified += _verified(report, seen)
    findings += between_directories(directories)
    findings += _between_logs(with_logs, several=len(directories) > 1)
    return LogVerification(verified=tuple(verified), findings=in_order(findings))


def verify_read(report: DumpReport, passes: LogPasses) -> LogVerification:
    """Verify a directory whose files the `passes` saw."""
    return LogVerification(verified=tuple(_verified(report, passes.seen)), findings=report.findings)


def _verified(report: DumpReport, seen: Mapping[str, DirectoryPass]) -> Iterator[Verified]:
    for directory in report.directories:
        yield _directory(directory, seen.get(directory.directory.path, DirectoryPass()))
    if report.path_kind is LocationKind.FILE or report.files:
        yield _files(report, seen)


@dataclass(slots=True)
class LogPasses:
    """The passes over the directories of one location."""

    location: Location
    files: Sequence[Entry]
    """All files; empty in a stream, whose files are not known before they come."""
    states: dict[str, LogStates] | None = None
    seen: dict[str, DirectoryPass] = field(default_factory=dict)
    """By directory."""
    _is_deep: bool = field(init=False)

    def __post_init__(self) -> None:
        # A data directory may be called disk-1.
        names = (file.basename for file in self.files)
        is_partition = self.location.kind is LocationKind.PARTITION
        self._is_deep = not is_partition or not is_topic(self.location.path, names)

    def view(self, entry: Entry) -> FileView:
        """Return the observers that a pass adds to the reading of the next file."""
        if not self._is_deep:
            return FileView()
        directory = entry.directory
        if directory not in self.seen:
            passing = self.seen[directory] = DirectoryPass(is_stream=self.location.is_stream)
            if self.states is not None:
                self.states[directory] = passing.replay.states = LogStates()
            passing.expect(file for file in self.files if file.directory == directory)
        return self.seen[directory].view(entry)


def _between_logs(locations: Sequence[Location], *, several: bool) -> Iterator[Finding]:
    """Yield where the logs of several PATHs part. They are read again for it, side by side."""
    on_disk = [location for location in locations if not location.is_stream]
    for location in locations:
        if location.is_stream and several:
            text = (
                "its logs were not compared with those of other nodes; kraftool timeline compares"
                " them"
            )
            yield log_kinds.NOT_CHECKED.at(location.path, text)
    if len(on_disk) > 1:
        yield from diverged(on_disk)


def _read(
    location: Location, progress: Progress, states: dict[str, LogStates] | None
) -> tuple[DumpReport, dict[str, DirectoryPass]]:
    listed = None if location.is_stream else list(location.entries())
    files = [entry for entry in listed or () if isinstance(entry, Entry)]
    passes = LogPasses(location, files, states)

    ordered: list[Entry | EntryProblem] | None = None
    if listed is not None:
        ordered = [
            *(problem for problem in listed if isinstance(problem, EntryProblem)),
            *suited(files),
        ]
    report = read_location(location, progress=progress, entries=ordered, view=passes.view)
    return report, passes.seen


def _directory(judged: JudgedDirectory, seen: DirectoryPass) -> Verified:
    report = judged.directory
    is_live = report.is_running
    log = report.summary.log
    newest = report.summary.newest_snapshot
    findings = [*judged.findings]
    if seen.is_metadata:
        findings = list(_without_short(judged.findings, seen))
        findings += seen.late
        if not is_live and _has_kafka_4(report):
            findings += seen.short_indexes
        if seen.replay.compared is not None:
            findings += seen.replay.compared.findings
        findings += kraft_versions(report.history)
        findings += log_state.quorum_state(report, seen)
        findings += log_state.snapshots(report, seen)
        findings += seen.replay.findings(
            report.path,
            log.end if log is not None else None,
            newest.offset if newest is not None else 0,
        )
    checked = _checked(report.files, seen)
    if log is not None:
        checked = replace(checked, start_offset=log.start, end_offset=log.end)
    return Verified(
        path=report.path,
        checked=checked,
        findings=in_order(_settled(report, findings, seen, is_live=is_live)),
        is_live=is_live,
    )


def _settled(
    report: NodeDirectory, findings: Sequence[Finding], seen: DirectoryPass, *, is_live: bool
) -> Iterator[Finding]:
    """Yield the findings of single files, weighed by those of the deep checks."""
    sound = is_sound(findings)
    segments = [file for file in report.files if file.kind is FileKind.LOG and file.is_live]
    active = max(segments, key=base_offset, default=None)
    for finding in findings:
        if finding.code in DAMAGES and not sound:
            yield replace(finding, advice=snapshot_advice(report.summary, finding, sound=False))
            continue
        roomy = seen.left_indexes.get(finding.file)
        if active is not None and roomy is not None and _are_beside(finding.file, active.file):
            finding = left_by_truncation(finding, active.log, roomy=roomy)
        yield weighed(finding, is_live=is_live)


_OF_KAFKA_4 = 22
"""The level of metadata.version 4.0-IV0."""


def _without_short(findings: Sequence[Finding], seen: DirectoryPass) -> Iterator[Finding]:
    """Leave out that entries are missing in an index of which others are known to be wrong."""
    code = log_kinds.INDEX_DIFFERS.code
    wrong = {finding.file for finding in seen.late if finding.code == code}
    for finding in findings:
        if finding.code != code or finding.offset is not None or finding.file not in wrong:
            yield finding


def _has_kafka_4(report: NodeDirectory) -> bool:
    """True if no node of the cluster can be older than 4.0. Before it, a follower's append of many
    batches made one entry."""
    feature = report.summary.feature(METADATA_VERSION)
    return feature is not None and feature.level >= _OF_KAFKA_4


def _are_beside(index: str, segment: str) -> bool:
    return index.rpartition(".")[0] == segment.rpartition(".")[0]


def _files(report: DumpReport, seen: Mapping[str, DirectoryPass]) -> Verified:
    """Files by themselves: there is nothing to compare them with."""
    findings = [*(report.findings if report.path_kind is LocationKind.FILE else ())]
    checked = Checked()
    for directory, passed in seen.items():
        if any(file.directory == directory for file in report.files):
            findings += _of_one_file(report, passed)
            checked = _checked(report.files, passed)
    if not seen:
        checked = _checked(report.files, DirectoryPass())
    logs = [file.log for file in report.files if file.log is not None]
    starts = [log.start_offset for log in logs if log.start_offset is not None]
    ends = [log.end_offset for log in logs if log.end_offset is not None]
    checked = replace(
        checked, start_offset=min(starts, default=None), end_offset=max(ends, default=None)
    )
    return Verified(path=report.path, checked=checked, findings=in_order(findings))


def _of_one_file(report: DumpReport, seen: DirectoryPass) -> Iterator[Finding]:
    if not seen.is_metadata:
        return
    yield from seen.late
    for file in report.files:
        log = file.log
        if file.kind is FileKind.LOG and log is not None and log.is_metadata:
            yield from seen.replay.findings(file.file, log.end_offset, 0)


def _checked(files: Sequence[FileReport], seen: DirectoryPass) -> Checked:
    logs = [file for file in files if file.log is not None and file.is_live]
    replayed = seen.replay.replayed if seen.is_metadata else None
    newest = seen.replay.compared if seen.is_metadata else None
    if newest is not None and not newest.is_compared:
        newest = None
    return Checked(
        files=len(files),
        size=sum(file.size for file in files),
        segments=sum(log.kind is FileKind.LOG for log in logs),
        snapshots=sum(log.kind is FileKind.CHECKPOINT for log in logs),
        batches=sum(log.log.batches for log in logs if log.log is not None),
        records=sum(log.log.records for log in logs if log.log is not None),
        replayed_from=replayed[0] if replayed is not None else None,
        replayed_to=replayed[1] if replayed is not None else None,
        compared_snapshot=newest.snapshot.offset if newest is not None else None,
    )
