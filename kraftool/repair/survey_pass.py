"""The part of a survey on a directory's logs and snapshots, made while the report reads them.

Owns that each file is read once: its hash, whether its form is right, and the state come from the
items of the report's own walk. Files pass in the order of `ordered`: snapshots, the newest first,
then segments by offset. The state is that of the batches up to the break of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import CheckpointName, FileState, parse_checkpoint_name, segment_offset
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Item
from kraftool.directory.file_report import FileReport, ReadOptions, read_file
from kraftool.directory.log_reader import Observe, SpanObserver
from kraftool.directory.native_reader import Taken
from kraftool.repair.fingerprints import PassingHash
from kraftool.repair.log_survey import LogPass, SegmentFile
from kraftool.repair.plan import Fingerprint
from kraftool.repair.snapshot_survey import CheckpointForm, error_of
from kraftool.repair.survey import SurveyedSnapshot
from kraftool.reports.logs.source import LogFile, kind_of
from kraftool.reports.state.files import StateFiles, files_of
from kraftool.reports.state.load import (
    LoadedState,
    ReplayStart,
    SnapshotLoading,
    StateReplay,
    findings_of,
    is_fitting,
    is_sound,
    start_without,
)
from kraftool.reports.state.log import Wanted
from kraftool.reports.state.placed_records import kept_records
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.paths import Location

_LAST = Wanted()
_MOST_REPLAYED = 4
"""So many of the newest snapshots are replayed; of the others the form alone is looked at."""


class SurveyPass:
    """The part of one directory that has been read so far."""

    def __init__(self, path: str, entries: Sequence[Entry], location: Location) -> None:
        self._path = path
        self.log = LogPass(accept=self._accept)
        self.fingerprints: dict[str, Fingerprint] = {}
        """Of the logs and snapshots that passed, by their names."""
        self.snapshots: list[SurveyedSnapshot] = []
        self._names = _checkpoints(entries)
        newest = sorted(self._names.items(), key=lambda pair: _id(pair[1]))[-_MOST_REPLAYED:]
        self._replayed = {name for name, id in newest if id.offset > 0}
        self._files = {
            entry.name: LogFile(entry, kind, location)
            for entry in entries
            if (kind := kind_of(entry, location)) is not None
        }
        """What a state can be made of; a snapshot that has a complaint goes."""
        self._tried: list[ReplayStart] = []
        self._start: ReplayStart | None = None
        self._replay: StateReplay | None = None
        self._segment: tuple[int, LogFile | None] | None = None

    def read(self, entry: Entry, options: ReadOptions) -> FileReport:
        """Read a file as a dump does. Raises KraftoolError for a segment that cannot be read."""
        if is_segment(entry):
            return self._read_segment(entry, options)
        name = self._names.get(entry.name)
        return read_file(entry, options) if name is None else self._checkpoint(entry, name, options)

    # Snapshots

    def _checkpoint(self, entry: Entry, name: CheckpointName, options: ReadOptions) -> FileReport:
        form, hashed = CheckpointForm(name.epoch), PassingHash(entry.open)
        observers: list[Observe] = [*options.observers, form.take, hashed.take]
        file = self._files.get(entry.name)
        is_start = file is not None and self._start is None and is_fitting(file, _LAST)
        loading = None
        if file is not None and (is_start or entry.name in self._replayed):
            loading = SnapshotLoading(file, kept_records(file.name))
            observers.append(loading.take)
        report = read_file(entry, replace(options, observers=tuple(observers)))
        if report.log is None:
            complaint = report.unread.reason if report.unread is not None else "it was not read"
        else:
            self.fingerprints[entry.name] = hashed.whole()
            complaint = form.complaint()
        start = loading.start() if loading is not None and not complaint else None
        if start is not None and entry.name in self._replayed:
            complaint = error_of(start.replay)
        if complaint:
            self._files.pop(entry.name, None)
        elif start is not None and is_start:
            self._begin_at(start)
        self.snapshots.append(
            SurveyedSnapshot(
                name=entry.basename,
                offset=name.offset,
                epoch=name.epoch,
                deleted=name.state is FileState.DELETED,
                intact=not complaint,
                complaint=complaint,
            )
        )
        return report

    def _begin_at(self, start: ReplayStart) -> None:
        if is_sound(start):
            self._start = replace(start, findings=findings_of(self._tried))
        else:
            self._tried.append(start)

    # The log

    def _read_segment(self, entry: Entry, options: ReadOptions) -> FileReport:
        base = segment_offset(entry.basename)
        assert base is not None, "a segment is named by an offset"
        self.log.begin(SegmentFile(base_offset=base, open=entry.open))
        observers: tuple[Observe, ...] = (*options.observers, _LogObserver(self.log))
        report = read_file(entry, replace(options, observers=observers))
        if report.log is None:
            assert report.unread is not None, "only what cannot be read has no summary"
            raise KraftoolError(report.unread.reason, hint=report.unread.hint)
        self.log.end()
        self.fingerprints[entry.name] = self.log.fingerprints[base]
        return report

    def _accept(self, base: int, span: BatchSpan, at: int, end: int) -> None:
        """Replay batches up to the break of the log."""
        if self._segment is None or self._segment[0] != base:
            self._segment = base, self._wanted(base)
        file = self._segment[1]
        if file is not None:
            self._replaying().log.take_span(file, span, at, end)

    def _wanted(self, base: int) -> LogFile | None:
        """The segment, if the state needs it."""
        try:
            replay = self._replaying()
        except KraftoolError:
            return None  # `state` comes upon it again
        for file in self.state_files().segments:
            if segment_offset(file.entry.basename) == base and replay.wants(file):
                return file
        return None

    def state_files(self) -> StateFiles:
        """Return what a state can be made of: all but snapshots that have a complaint."""
        return files_of(self._path, list(self._files.values()))

    def _replaying(self) -> StateReplay:
        if self._replay is None:
            files = self.state_files()
            start = self._start or start_without(files, _LAST, self._tried)
            self._replay = StateReplay(files, start, _LAST, lambda name, position: None)
        return self._replay

    def state(self, end: int) -> LoadedState | None:
        """The state at an offset, if it is that of all that passed.

        It is another one where a directory is trusted up to a snapshot of a higher epoch than the
        log behind it has, and where there is no state at all.
        """
        try:
            replay = self._replaying()
            replay.log.is_over = True  # what follows the break is no part of the log
            loaded = replay.loaded()
        except KraftoolError:
            return None
        return loaded if loaded.end_offset == end else None


class _LogObserver(SpanObserver):
    """Hands the items of another report's walk to a log."""

    def __init__(self, log: LogPass) -> None:
        self._log = log

    def __call__(self, item: Item) -> None:
        self._log.take(item)

    def plain(self, span: BatchSpan, taken: Taken) -> None:
        self._log.take_span(span, taken.at, taken.end)


def segments_of(entries: Sequence[Entry]) -> list[SegmentFile]:
    """The live segments of the metadata partition."""
    return [
        SegmentFile(base_offset=base, open=entry.open)
        for entry in entries
        if is_segment(entry) and (base := segment_offset(entry.basename)) is not None
    ]


def is_segment(entry: Entry) -> bool:
    """True for a live segment of the metadata partition."""
    return entry.place is EntryPlace.PARTITION and segment_offset(entry.basename) is not None


def _checkpoints(entries: Sequence[Entry]) -> dict[str, CheckpointName]:
    """The snapshots that Kafka could use, by the names of their files."""
    checkpoints = {}
    for entry in entries:
        name = parse_checkpoint_name(entry.basename)
        if name is None or entry.place is not EntryPlace.PARTITION or not name.canonical:
            continue
        if name.state in (FileState.LIVE, FileState.DELETED):
            checkpoints[entry.name] = name
    return checkpoints


def _id(name: CheckpointName) -> tuple[int, int]:
    return name.offset, name.epoch
