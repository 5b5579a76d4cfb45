"""`verify-snapshot`: snapshots by themselves, against the log around them, and against each other.

Owns the order of work and what a verdict is made of. A directory's files are read once for all
that is found in them, and its log once more where states are compared. In memory is one image at a
time, and a few numbers of each snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import FileState, parse_checkpoint_name, parse_segment_name
from kraftool.directory.file_report import SNAPSHOT_KINDS, FileReport, ReadOptions, read_file
from kraftool.image.image import MetadataImage
from kraftool.image.state_hash import state_hash
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.files.file_findings import FileView, file_findings
from kraftool.reports.files.locations import unopened as unreadable
from kraftool.reports.files.state_files import cluster_in
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as kinds
from kraftool.reports.state.files import MOST_STREAMED
from kraftool.reports.state.replay import Progress
from kraftool.reports.verify import log_state
from kraftool.reports.verify.log_pass import DirectoryPass, suited
from kraftool.reports.verify.log_states import LogStates
from kraftool.reports.verify.snapshot_check import SnapshotCheck
from kraftool.reports.verify.snapshot_compare import against_log, between
from kraftool.reports.verify.snapshot_copies import (
    damaged_where_others_are_whole,
    with_whole_copies,
)
from kraftool.reports.verify.snapshot_values import (
    SnapshotVerification,
    VerifiedDirectory,
    VerifiedSnapshot,
)
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.entry import Entry, EntryPlace, EntryProblem
from kraftool.storage.paths import Location, LocationKind
from kraftool.storage.source import BytesSource

_OTHERS = frozenset(
    {
        dir_kinds.UNREADABLE.code,
        dir_kinds.NOTHING.code,
        log_kinds.MISSING.code,
    }
)
"""What concerns snapshots and is not named for them."""


def _silent(name: str, position: int) -> None:
    """Nobody watches."""


def verify_snapshots(
    locations: Sequence[Location],
    *,
    against: Location | None = None,
    replay_logs: bool = True,
    progress: Progress = _silent,
    unopened: Sequence[Finding] = (),
    states: Mapping[str, LogStates] | None = None,
) -> SnapshotVerification:
    """Verify every snapshot that the locations hold.

    Nothing is raised for what is wrong in them; KraftoolError where the one PATH has none to
    verify. `unopened` is what was found of the PATHs that lead nowhere. `states` are those that
    `verify_logs` has found by directory: a log is only replayed again if one of them differs.
    """
    findings: list[Finding] = list(unopened)
    checked_directories: list[_Found] = []
    for location in locations:
        try:
            checked_directories += _location(location, progress)
        except KraftoolError as error:
            if len(locations) + len(unopened) == 1:
                raise
            findings.append(unreadable(location.path, error))
    return _verification(
        checked_directories,
        findings,
        against=against,
        replay_logs=replay_logs,
        progress=progress,
        states=states,
    )


def verify_read_snapshots(
    location: Location,
    report: DumpReport,
    reading: SnapshotReading,
    *,
    progress: Progress,
    states: Mapping[str, LogStates],
) -> SnapshotVerification:
    """Verify the snapshots of a directory whose files the `reading` saw."""
    found = list(_found(location, report, reading))
    return _verification(found, [], replay_logs=True, progress=progress, states=states)


def _verification(
    checked_directories: Sequence[_Found],
    findings: list[Finding],
    *,
    against: Location | None = None,
    replay_logs: bool,
    progress: Progress,
    states: Mapping[str, LogStates] | None,
) -> SnapshotVerification:
    directories = [checked.verified for checked in checked_directories]
    if replay_logs:
        for number, checked in enumerate(checked_directories):
            if checked.entries and against is None:
                known = states.get(checked.verified.path) if states is not None else None
                compared = against_log(
                    checked.verified, checked.entries, (checked.verified,), progress, known=known
                )
                directories[number] = compared[0]
    if against is not None:
        other = _one_directory(against, progress)
        label = against.path
        directories = against_log(other.verified, other.entries, directories, progress, label=label)
        findings += damaged_where_others_are_whole(other.verified, directories)
        directories = with_whole_copies(directories, [other.verified])
    else:
        directories = with_whole_copies(directories)
    findings += between(directories)
    return SnapshotVerification(verified=tuple(directories), findings=in_order(findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A verified directory with the files that its log is in."""

    verified: VerifiedDirectory
    entries: tuple[Entry, ...] = ()


@dataclass(slots=True)
class SnapshotReading:
    """Reads the files of a location, with an eye on its snapshots."""

    entries: Sequence[Entry]
    shared: Mapping[str, DirectoryPass] | None = None
    """The passes of `verify_logs` by directory, if they see each file before this."""
    passes: dict[str, DirectoryPass] = field(default_factory=dict)
    snapshots: dict[str, VerifiedSnapshot] = field(default_factory=dict)
    """By the name of the file."""

    def view(self, entry: Entry) -> FileView:
        """Return the observers that this report adds to the reading of the next file."""
        passing = self._pass(entry).view(entry) if self.shared is None else FileView()
        name = parse_checkpoint_name(entry.basename)
        is_bootstrap = entry.basename == "bootstrap.checkpoint"
        if name is None and not is_bootstrap:
            return passing
        if name is not None and name.state is not FileState.LIVE:
            self.snapshots[entry.name] = leftover(entry)
            return passing
        check = new_check(entry)

        def end(file: FileReport) -> Sequence[Finding]:
            return (*passing.end(file), *self._judged(entry, file, check))

        return FileView((check, *passing.observers), end)

    def checked(
        self, entry: Entry, options: ReadOptions, *, is_alone: bool = False
    ) -> tuple[FileReport, tuple[Finding, ...]]:
        """Read a snapshot by itself, and judge it."""
        check = new_check(entry)
        file = read_file(entry, replace(options, observers=(check,)))
        more = self._judged(entry, file, check)
        return file, (*file_findings(file, is_alone=is_alone), *more)

    def _judged(self, entry: Entry, file: FileReport, check: SnapshotCheck) -> Sequence[Finding]:
        if file.kind not in SNAPSHOT_KINDS or file.log is None:
            return ()
        image, findings = check.end()
        is_sound = image is not None and file.log.has_header and file.log.has_footer
        if any(finding.code == kinds.REPLAY.code for finding in findings):
            is_sound = False
        self.snapshots[entry.name] = verified(entry, file, check, image if is_sound else None)
        return findings

    def pass_of(self, directory: str) -> DirectoryPass:
        """Return the pass that saw the files of a directory."""
        passes = self.passes if self.shared is None else self.shared
        return passes.get(directory, DirectoryPass())

    def _pass(self, entry: Entry) -> DirectoryPass:
        if entry.directory not in self.passes:
            # Its own replay is not wanted here: it would compare nothing.
            seen = self.passes[entry.directory] = DirectoryPass.without_replay()
            seen.expect(sibling for sibling in self.entries if sibling.directory == entry.directory)
        return self.passes[entry.directory]


def new_check(entry: Entry) -> SnapshotCheck:
    """Return what is to see the batches of a snapshot, as its name demands it."""
    name = parse_checkpoint_name(entry.basename)
    offset = name.offset if name is not None else None
    # The 0-0 checkpoint of Kafka up to 4.3 holds voters alone.
    return SnapshotCheck(entry.name, offset, needs_level=offset != 0)


def leftover(entry: Entry) -> VerifiedSnapshot:
    """A snapshot that Kafka removes at its start: listed, and not judged."""
    name = parse_checkpoint_name(entry.basename)
    assert name is not None, "only a snapshot's name shows that it is a leftover"
    return VerifiedSnapshot(
        file=entry.name,
        offset=name.offset,
        epoch=name.epoch,
        state=name.state,
        size=entry.size,
        entry=entry,
    )


def verified(
    entry: Entry, report: FileReport, check: SnapshotCheck, image: MetadataImage | None
) -> VerifiedSnapshot:
    """Return what a pass over a snapshot showed; its findings come later."""
    name = parse_checkpoint_name(entry.basename)
    log = report.log
    kept = VerifiedSnapshot(
        file=entry.name,
        offset=name.offset if name is not None else 0,
        epoch=name.epoch if name is not None else 0,
        state=name.state if name is not None else FileState.LIVE,
        is_bootstrap=name is None,
        size=report.size,
        batches=log.batches if log is not None else 0,
        records=check.records,
        controls=check.controls,
        entry=entry,
    )
    if image is None:
        return kept
    return replace(
        kept,
        state_hash=state_hash(image),
        metadata_version=image.features.metadata_version,
        broker_epochs={id: broker.epoch for id, broker in image.cluster.brokers.items()},
        next_producer_id=image.producer_ids.next_producer_id,
    )


def _location(location: Location, progress: Progress) -> Iterator[_Found]:
    if location.kind is LocationKind.FILE:
        yield _one_file(location, progress)
        return
    entries, problems = _entries(location)
    reader = SnapshotReading(entries)
    ordered: list[Entry | EntryProblem] = [*problems, *suited(entries)]
    report = read_location(location, progress=progress, entries=ordered, view=reader.view)
    yield from _found(location, report, reader)


def _found(location: Location, report: DumpReport, reader: SnapshotReading) -> Iterator[_Found]:
    if report.findings:
        own = tuple(finding for finding in report.findings if _is_ours(finding))
        if own:
            whole = VerifiedDirectory(path=location.path, findings=own)
            yield _Found(verified=whole)
    for directory in report.directories:
        path = directory.directory.path
        seen = reader.pass_of(path)
        files = tuple(file for file in reader.entries if file.directory == path)
        yield _Found(verified=_directory(directory, seen, reader), entries=files)


def _entries(location: Location) -> tuple[list[Entry], list[EntryProblem]]:
    """The files that matter. An archive's are kept, since they are read in another order."""
    entries: list[Entry] = []
    problems: list[EntryProblem] = []
    kept = 0
    for entry in location.entries():
        if isinstance(entry, EntryProblem):
            problems.append(entry)
        elif not location.is_stream:
            entries.append(entry)
        elif _matters(entry):
            kept += entry.size
            if kept > MOST_STREAMED:
                raise KraftoolError(
                    f"{location.path}: more than {MOST_STREAMED >> 30} GiB of logs and snapshots",
                    hint="unpack the archive and name the directory",
                )
            entries.append(_kept(entry))
    return entries, problems


def _matters(entry: Entry) -> bool:
    segment = parse_segment_name(entry.basename)
    return entry.place is not EntryPlace.LOOSE and (segment is None or segment.suffix == ".log")


def _kept(entry: Entry) -> Entry:
    with entry.open() as source:
        data = source.read_at(0, entry.size)
    return replace(entry, opener=lambda: BytesSource(entry.name, data), size=len(data))


def _one_file(location: Location, progress: Progress) -> _Found:
    entries, _ = _entries(location)
    reader = SnapshotReading(entries)
    (entry,) = entries
    options = ReadOptions(leftovers=True, progress=_of(progress, entry.name))
    file, findings = reader.checked(entry, options, is_alone=True)
    if file.kind not in SNAPSHOT_KINDS:
        if findings and file.kind is FileKind.UNKNOWN:
            return _Found(verified=VerifiedDirectory(path=location.path, findings=findings))
        raise KraftoolError(
            f"{location.path} is not a snapshot: {file.kind.value}",
            hint="name a .checkpoint, a bootstrap.checkpoint, or the directory with them",
        )
    snapshot = reader.snapshots.get(entry.name)
    if snapshot is None:
        return _Found(verified=VerifiedDirectory(path=location.path, findings=findings))
    snapshot = replace(snapshot, findings=in_order(findings))
    return _Found(verified=VerifiedDirectory(path=location.path, snapshots=(snapshot,)))


def _directory(
    judged: JudgedDirectory, seen: DirectoryPass, reader: SnapshotReading
) -> VerifiedDirectory:
    report = judged.directory
    findings = [finding for finding in judged.findings if _is_ours(finding)]
    if seen.is_metadata:
        findings += [
            snapshot for snapshot in log_state.snapshots(report, seen) if _is_ours(snapshot)
        ]
    snapshots = [
        reader.snapshots[file.file] for file in report.files if file.file in reader.snapshots
    ]
    own = {
        snapshot.file: tuple(one for one in findings if one.file == snapshot.file)
        for snapshot in snapshots
    }
    rest = [finding for finding in findings if finding.file not in own]
    if not any(snapshot.is_state for snapshot in snapshots):
        rest.append(kinds.NONE.at(report.path, "there is no snapshot of a state"))
    with_own = [
        replace(snapshot, findings=in_order(own[snapshot.file]))
        if snapshot.file in own
        else snapshot
        for snapshot in snapshots
    ]
    return VerifiedDirectory(
        path=report.path,
        cluster_id=report.summary.node.cluster_id,
        is_live=report.is_running,
        snapshots=_with_epochs_back(with_own),
        findings=in_order(rest),
    )


def _is_ours(finding: Finding) -> bool:
    return finding.code.startswith("KT-SNAP-") or finding.code in _OTHERS


def _with_epochs_back(snapshots: Sequence[VerifiedSnapshot]) -> tuple[VerifiedSnapshot, ...]:
    """Return what only goes up, from each snapshot to the next."""
    before: VerifiedSnapshot | None = None
    judged = []
    for snapshot in snapshots:
        if snapshot.is_state and snapshot.state_hash:
            if before is not None:
                snapshot = snapshot.with_findings(*_back(before, snapshot))
            before = snapshot
        judged.append(snapshot)
    return tuple(judged)


def _back(before: VerifiedSnapshot, after: VerifiedSnapshot) -> Iterator[Finding]:
    def finding(text: str, field: str, low: int, number: int) -> Finding:
        return kinds.EPOCH_BACK.at(
            after.file,
            f"{text} than in the snapshot at {before.offset}",
            offset=after.offset,
            field=field,
            expected=f"{low} or more",
            found=str(number),
        )

    if after.epoch < before.epoch:
        yield finding("a lower epoch", "epoch", before.epoch, after.epoch)
    for id, epoch in sorted(after.broker_epochs.items()):
        known = before.broker_epochs.get(id, epoch)
        if epoch < known:
            yield finding(f"broker {id} has a lower epoch", "brokerEpoch", known, epoch)
    if after.next_producer_id < before.next_producer_id:
        yield finding(
            "a lower producer id comes next",
            "nextProducerId",
            before.next_producer_id,
            after.next_producer_id,
        )


def _one_directory(location: Location, progress: Progress) -> _Found:
    """The directory that others are compared with."""
    entries, _ = _entries(location)
    if location.kind is LocationKind.FILE or not entries:
        raise KraftoolError(
            f"{location.path} is not a directory with a log",
            hint="--against takes a data directory, a __cluster_metadata-0 or a tar of one",
        )
    directories = {entry.directory for entry in entries}
    if len(directories) > 1:
        names = ", ".join(sorted(directories)[:5])
        raise KraftoolError(
            f"{location.path} holds several directories: {names}", hint="name one of them"
        )
    reader = SnapshotReading(entries)
    snapshots = []
    for entry in entries:
        name = parse_checkpoint_name(entry.basename)
        if name is not None and name.state is FileState.LIVE:
            _, found = reader.checked(entry, ReadOptions(progress=_of(progress, entry.name)))
            if entry.name in reader.snapshots:
                findings = in_order(found)
                snapshots.append(replace(reader.snapshots[entry.name], findings=findings))
    whole = VerifiedDirectory(
        path=location.path, cluster_id=cluster_in(entries), snapshots=tuple(snapshots)
    )
    return _Found(verified=whole, entries=tuple(entries))


def _of(progress: Progress, name: str) -> Callable[[int], None]:
    return lambda position: progress(name, position)
