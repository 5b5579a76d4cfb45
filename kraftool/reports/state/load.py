"""The image of a PATH at an offset or a time: the best snapshot below it, then the log.

Owns which snapshot that is, and what the image may lack: it stops where Kafka would cut the log,
and at a gap in the offsets, and says so. Records of an open transaction are not visible. Whether
the last records were committed cannot be known from one node's files.

Offsets are exclusive, like a snapshot's name: the image at 100 has seen the records 0 to 99.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.walk import Faulty, Item, Walk
from kraftool.directory.log_summary import FIRST_OFFSET
from kraftool.image.image import EMPTY, MetadataImage, Provenance
from kraftool.image.loader import ImageLoader, OpenTransaction
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT
from kraftool.reports.files.snapshot_form import SnapshotForm
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snapshot_kinds
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.files import StateFiles, base_offset, open_state, snapshot_id
from kraftool.reports.state.log import LogReplay, Wanted
from kraftool.reports.state.placed_records import PlacedRecords, placed_records
from kraftool.reports.state.replay import Control, Progress, Replay, ReplayWatcher
from kraftool.reports.text.times import iso
from kraftool.storage.paths import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedState:
    """An image and where it comes from."""

    image: MetadataImage
    path: str
    files: tuple[str, ...] = ()
    """The files that were read, in order."""
    snapshot: str = ""
    """The name of the checkpoint that it begins with; empty where the log is whole from 0."""
    start_offset: int = 0
    """The first offset that was replayed from the log."""
    end_offset: int = 0
    """One beyond the last record replayed, an open transaction's included."""
    records: int = 0
    inside: Provenance = field(default_factory=Provenance)
    """Of a checkpoint by itself: the last record's offset in the file, as Kafka's shell says it."""
    open_transaction: OpenTransaction | None = None
    divided_batch: tuple[int, int] | None = None
    """The first and the last offset of the batch that the offset asked for is inside of: a
    controller applies all of it or nothing."""
    controls: dict[ControlRecordType, Control] = field(default_factory=dict)
    """The last control record of each type: LeaderChange, KRaftVersion, KRaftVoters."""
    findings: tuple[Finding, ...] = ()

    @property
    def is_whole(self) -> bool:
        """True if nothing that bears on the image was found."""
        return all(finding.severity is Severity.INFO for finding in self.findings)

    @property
    def has_its_beginning(self) -> bool:
        """True if all is there that came before the log: from 0 on, or in a snapshot that was read
        without an error."""
        if not self.snapshot:
            return self.start_offset <= FIRST_OFFSET
        return not any(
            finding.file == self.snapshot and spoils(finding) for finding in self.findings
        )


def _silent(name: str, position: int) -> None:
    """Nobody watches."""


def load_state(
    path: str | Location,
    *,
    at: int | None = None,
    at_time: int | None = None,
    progress: Progress = _silent,
) -> LoadedState:
    """Load the image of a PATH. Raises KraftoolError where there is nothing to make one of."""
    return load_from(open_state(path), at=at, at_time=at_time, progress=progress)


def load_from(
    files: StateFiles,
    *,
    at: int | None = None,
    at_time: int | None = None,
    progress: Progress = _silent,
    watcher: ReplayWatcher | None = None,
) -> LoadedState:
    """Load the image that the files have at an offset or a time; the last one if neither.

    `watcher` sees the records of the log, unless the replay begins with a damaged snapshot.
    """
    assert at is None or at_time is None, "an offset or a time, not both"
    wanted = Wanted(at, at_time)
    single = files.single
    if single is None:
        return _of_directory(files, wanted, progress, watcher)
    if files.is_snapshot:
        return _of_snapshot(files, single, wanted, progress)
    return _of_segment(files, single, wanted, progress, watcher)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStart:
    """The base of a replay: a checkpoint's image, or nothing."""

    offset: int
    replay: Replay = field(default_factory=Replay)
    image: MetadataImage = EMPTY
    file: LogFile | None = None
    inside: Provenance = field(default_factory=Provenance)
    findings: tuple[Finding, ...] = ()
    """Of what was tried before it."""
    is_partial: bool = False
    """True if there was a state before it that nobody has any more."""


# --- one file -------------------------------------------------------------------------------------


def _of_snapshot(
    files: StateFiles, file: LogFile, wanted: Wanted, progress: Progress
) -> LoadedState:
    start = _start_at(file, progress)
    time = start.image.provenance.last_timestamp
    hint = "name the directory, so that the log can be replayed"
    if wanted.below is not None and wanted.below != start.offset:
        raise KraftoolError(
            f"{file.name} is the state at {start.offset}; there is no other in it", hint=hint
        )
    if wanted.until_ms is not None and wanted.until_ms < time:
        raise KraftoolError(
            f"{file.name} is the state at {iso(time)}; there is no other in it", hint=hint
        )
    return _loaded(files, start, [file], start.offset)


def _of_segment(
    files: StateFiles,
    file: LogFile,
    wanted: Wanted,
    progress: Progress,
    watcher: ReplayWatcher | None,
) -> LoadedState:
    """A segment by itself, whatever its name says: it may begin anywhere."""
    log = LogReplay(Replay(watcher=watcher), wanted, progress)
    log.segment(file)
    first = log.start if log.start is not None else base_offset(file)
    end = log.end if log.end is not None else first
    if wanted.below is not None and wanted.below < first:
        raise KraftoolError(
            f"{file.name} begins at {first}; there is no state at {wanted.below} in it",
            hint="name the directory, so that its snapshots can be used",
        )
    _refuse_unreached(files, log, end)
    findings: tuple[Finding, ...] = ()
    if first > 0:
        finding = snapshot_kinds.MISSING.at(
            file.name,
            f"a segment by itself that begins at {first}: it has no earlier records",
            severity=Severity.WARNING,
            advice="name the directory, so that its snapshots are used",
        )
        findings = (finding,)
    start = ReplayStart(offset=first, replay=log.replay, findings=findings, is_partial=first > 0)
    return replace(_loaded(files, start, [file], end), divided_batch=log.divided)


# --- a directory ----------------------------------------------------------------------------------


def _of_directory(
    files: StateFiles, wanted: Wanted, progress: Progress, watcher: ReplayWatcher | None
) -> LoadedState:
    replay = StateReplay(files, _best_start(files, wanted, progress), wanted, progress, watcher)
    for file in files.segments:
        if replay.wants(file):
            replay.log.segment(file, is_last=file is files.segments[-1])
    return replay.loaded()


class StateReplay:
    """A directory's log on its way onto the state that it starts with, segment by segment."""

    def __init__(
        self,
        files: StateFiles,
        start: ReplayStart,
        wanted: Wanted,
        progress: Progress,
        watcher: ReplayWatcher | None = None,
    ) -> None:
        self._files, self._start = files, start
        if is_sound(start):
            start.replay.watcher = watcher
        self.log = LogReplay(start.replay, wanted, progress, end=start.offset)
        self._read = [start.file] if start.file is not None else []
        segments = files.segments
        self._joins = not segments or base_offset(segments[0]) <= start.offset
        if not self._joins and wanted.below is None and wanted.until_ms is None:
            # A hole: nothing that the log says can be put onto what is known.
            text = f"the log begins at {base_offset(segments[0])}, the newest snapshot ends"
            start.replay.add_finding(
                snapshot_kinds.MISSING.at(files.path, f"{text} at {start.offset}")
            )

    def wants(self, file: LogFile) -> bool:
        """True if a segment is to be replayed next; it then is among the files that were read."""
        later = [
            segment for segment in self._files.segments if base_offset(segment) > base_offset(file)
        ]
        below = bool(later) and base_offset(later[0]) <= self._start.offset
        if not self._joins or self.log.is_over or below:
            return False
        self._read.append(file)
        return True

    def loaded(self) -> LoadedState:
        """The state behind the last segment. Raises KraftoolError if that is not the one wanted."""
        start, log, files = self._start, self.log, self._files
        _tell_ahead(start, log)
        end = log.end if log.end is not None else start.offset
        _refuse_unreached(files, log, end)
        return replace(_loaded(files, start, self._read, end), divided_batch=log.divided)


def _tell_ahead(start: ReplayStart, log: LogReplay) -> None:
    """A snapshot beyond the log, as Kafka finds it when it starts."""
    if start.file is None or log.last is None or log.is_over:
        return
    own, end = snapshot_id(start.file), log.last
    if own.rank > end.rank:
        start.replay.add_finding(
            snapshot_kinds.AHEAD.at(
                start.file.name,
                f"it ends at offset {own.offset} in epoch {own.epoch}, the log at {end.offset} in"
                f" epoch {end.epoch}",
                offset=own.offset,
            )
        )


def _refuse_unreached(files: StateFiles, log: LogReplay, end: int) -> None:
    below = log.wanted.below
    if below is None or end >= below:
        return
    where = "is damaged" if log.is_over and not log.is_enough else "ends"
    if not files.single and files.segments and end < base_offset(files.segments[0]):
        where = "has nothing that joins the snapshot"
    damage = log.replay.findings[-1:] if where == "is damaged" else []
    why = "".join(f": {finding.where()}: {finding.sentence()}" for finding in damage)
    raise KraftoolError(
        f"{files.path}: the log {where} at {end}; there is no state at {below}{why}",
        hint=_offered(files, end),
    )


def _best_start(files: StateFiles, wanted: Wanted, progress: Progress) -> ReplayStart:
    """The newest whole checkpoint that is old enough; failing that, the log from 0. A damaged
    checkpoint is the last resort."""
    tried: list[ReplayStart] = []
    for file in reversed(files.snapshots):
        if not is_fitting(file, wanted):
            continue
        start = _start_at(file, progress)
        if is_sound(start):
            return replace(start, findings=findings_of(tried))
        tried.append(start)
    return start_without(files, wanted, tried)


def start_without(files: StateFiles, wanted: Wanted, tried: list[ReplayStart]) -> ReplayStart:
    """Return what to begin with where no snapshot that was tried is sound."""
    log_start = base_offset(files.segments[0]) if files.segments else None
    if log_start is not None and log_start <= FIRST_OFFSET:
        start = _as_formatted(files)
        return replace(start, offset=log_start, findings=findings_of(tried))
    if tried:
        return replace(tried[0], findings=findings_of(tried[1:]))
    later = [snapshot for snapshot in files.snapshots if snapshot_id(snapshot).offset > 0]
    if not later and log_start is None and not wanted.below:
        return _as_formatted(files)
    if log_start and not later and (wanted.below or log_start) >= log_start:
        text = f"the log begins at {log_start}, and what came before is in no snapshot"
        missing = snapshot_kinds.MISSING.at(files.path, text)
        return ReplayStart(offset=log_start, findings=(missing,), is_partial=True)
    asked = f"at {wanted.below}" if wanted.until_ms is None else f"at {iso(wanted.until_ms)}"
    raise KraftoolError(
        f"{files.path}: there is no state {asked}: no snapshot is that old,"
        f" and {'there is no log' if log_start is None else f'the log begins at {log_start}'}",
        hint=_oldest(later) if wanted.until_ms is not None else _offered(files, None),
    )


def _as_formatted(files: StateFiles) -> ReplayStart:
    """Return what format wrote into the 0-0 checkpoint, until the log has a record: the voters, and
    with Kafka 4.4 the levels of features. The first leader writes all of it to the log again."""
    formatted = (file for file in files.snapshots if snapshot_id(file) == BOOTSTRAP_SNAPSHOT)
    if not any(segment.size for segment in files.segments):
        for file in formatted:
            start = _start_at(file, _silent)
            if is_sound(start):
                return start
    return ReplayStart(offset=0)


def is_sound(start: ReplayStart) -> bool:
    """True if Kafka can load what the log is replayed onto. It believes a snapshot's name."""
    return not any(map(spoils, start.replay.findings))


def spoils(finding: Finding) -> bool:
    """True if a finding means that a state lacks something, or has something wrong."""
    is_name = finding.code == snapshot_kinds.FILE_NAME.code
    return finding.severity is Severity.ERROR and not is_name


def findings_of(tried: list[ReplayStart]) -> tuple[Finding, ...]:
    return tuple(finding for replay_start in tried for finding in replay_start.replay.findings)


def _offered(files: StateFiles, end: int | None) -> str:
    """Return which offsets there are states at."""
    log_start = base_offset(files.segments[0]) if files.segments else None
    offsets = [
        snapshot_id(snapshot).offset
        for snapshot in files.snapshots
        if snapshot_id(snapshot).offset > 0
    ]
    joined = [offset for offset in offsets if log_start is not None and offset >= log_start]
    alone = sorted({offset for offset in offsets if offset not in joined})
    first = 0 if log_start == 0 else min(joined, default=None)
    if files.single is not None or (first is None and not alone):
        first = log_start
    offers = [f"at {', '.join(map(str, alone[-10:]))}"] if alone else []
    if first is not None:
        offers.append(f"from {first} {'on' if end is None or end < first else f'to {end}'}")
    return f"there are states {' and '.join(offers)}" if offers else ""


def _oldest(snapshots: list[LogFile]) -> str:
    if not snapshots:
        return ""
    offset = snapshot_id(snapshots[0]).offset
    return f"the oldest state is that at {offset}, of {iso(_written(snapshots[0]))}"


def is_fitting(file: LogFile, wanted: Wanted) -> bool:
    offset = snapshot_id(file).offset
    if offset == 0 or (wanted.below is not None and offset > wanted.below):
        return False
    return wanted.until_ms is None or _written(file) <= wanted.until_ms


def _written(file: LogFile) -> int:
    """When the last record that a checkpoint covers was appended, as its header says."""
    replay = Replay()
    with file.open() as source:
        first = next(iter(Walk(source.read_at)), None)
        if isinstance(first, RecordBatch):
            replay.batch(file.name, first, snapshot=True)
    return _named_provenance(file, replay).last_timestamp


# --- a checkpoint ---------------------------------------------------------------------------------


def _start_at(file: LogFile, progress: Progress) -> ReplayStart:
    source = file.open()
    placed = placed_records(source)
    try:
        loading = SnapshotLoading(file, placed)
        for walk_item in Walk(source.read_at):
            loading.take(walk_item)
            progress(file.name, walk_item.position + walk_item.size)
        return loading.start()
    finally:
        if placed is None:
            source.close()


class SnapshotLoading:
    """A checkpoint on its way into a state."""

    def __init__(self, file: LogFile, placed: PlacedRecords | None = None) -> None:
        """`placed` reads its partitions later."""
        self._file, self._replay, self._form = file, Replay(placed=placed), SnapshotForm()
        self._inside = Provenance()
        """Of the last record as the file itself has it."""

    def take(self, item: Item) -> None:
        self._form.take(item)
        if isinstance(item, Faulty):
            return
        self._replay.batch(self._file.name, item, snapshot=True)
        if not item.is_control:
            self._inside = Provenance(
                last_offset=item.last_offset,
                last_epoch=item.epoch,
                last_timestamp=item.header.max_timestamp,
            )

    def start(self) -> ReplayStart:
        """Return what it is to a log, once all of it was taken."""
        file, replay = self._file, self._replay
        replay.findings[:0] = self._form.findings(file.name)
        image = replace(replay.loader.image(), provenance=_named_provenance(file, replay))
        replay.placed = None
        # What follows is replayed onto the image under its own name, with the log's offsets.
        replay.loader = ImageLoader(image)
        offset = snapshot_id(file).offset
        return ReplayStart(
            offset=offset, replay=replay, image=image, file=file, inside=self._inside
        )


def _named_provenance(file: LogFile, replay: Replay) -> Provenance:
    """Return what a checkpoint's name and header say; what lies in it has offsets of its own."""
    offset, epoch = snapshot_id(file)
    header = replay.controls.get(ControlRecordType.SNAPSHOT_HEADER)
    timestamp = header.value["lastContainedLogTimestamp"] if header is not None else -1
    return Provenance(last_offset=offset - 1, last_epoch=epoch, last_timestamp=timestamp)


# --- the result -----------------------------------------------------------------------------------


def _loaded(files: StateFiles, start: ReplayStart, read: list[LogFile], end: int) -> LoadedState:
    replay = start.replay
    findings = [*files.findings, *start.findings, *_told(replay, files.path, start)]
    return LoadedState(
        image=replay.loader.image(),
        path=files.path,
        files=tuple(file.name for file in read),
        snapshot=start.file.name if start.file is not None else "",
        start_offset=start.offset,
        end_offset=end,
        records=replay.records,
        inside=start.inside,
        open_transaction=replay.loader.open_transaction,
        controls=replay.controls,
        findings=tuple(findings),
    )


def _told(replay: Replay, path: str, start: ReplayStart) -> list[Finding]:
    """Return what replaying found. Onto half a state much does not fit, which says nothing by
    itself.
    """
    more = replay.more_findings
    if start.is_partial:
        findings = [finding for finding in replay.findings if finding.code != log_kinds.REPLAY.code]
        misfits = len(replay.findings) - len(findings)
        if misfits or more:
            text = (
                f"{misfits + more} records are about things that it does not have, and were ignored"
            )
            findings.append(
                snapshot_kinds.MISSING.at(path, text, severity=Severity.INFO, advice="")
            )
        return findings
    findings = list(replay.findings)
    if more:
        findings.append(
            log_kinds.REPLAY.at(path, f"{more} more findings are not listed", count=more)
        )
    return findings
