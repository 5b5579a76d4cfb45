"""The last state of a directory, made while another report reads its files.

Owns which files it watches. Files pass in the order of `ordered`: snapshots, the newest first, then
segments by offset. In another order of snapshots only the newest one can begin the state. It
refuses to read: whoever reads hands each item of the walk on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import parse_checkpoint_name, segment_offset
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Item
from kraftool.directory.log_reader import SpanObserver
from kraftool.directory.native_reader import Taken
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.files import StateFiles
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
from kraftool.reports.state.log import LogReplay, Wanted
from kraftool.reports.state.placed_records import kept_records
from kraftool.storage.entry import Entry

_LAST = Wanted()


def ordered(entries: Iterable[Entry]) -> list[Entry]:
    """Files in the order in which a state can be made of them as they pass."""

    def key(entry: Entry) -> tuple[int, int, int]:
        snapshot, segment = parse_checkpoint_name(entry.basename), segment_offset(entry.basename)
        if snapshot is not None:
            return 1, -snapshot.offset, -snapshot.epoch
        return (2, segment, 0) if segment is not None else (0, 0, 0)

    return sorted(entries, key=key)


@dataclass(slots=True)
class StatePass:
    """The part of one directory that has been read so far."""

    files: StateFiles
    is_newest_first: bool = True
    """False if the snapshots pass in any order."""
    _tried: list[ReplayStart] = field(default_factory=list)
    _start: ReplayStart | None = None
    _loading: SnapshotLoading | None = None
    _replay: StateReplay | None = None
    _is_unread: bool = False

    def observer(self, name: str) -> Callable[[Item], None] | None:
        """Return what wants to see the items of a file; None where it does not count."""
        for file in self._candidates():
            if file.name == name and self._start is None and is_fitting(file, _LAST):
                self._loading = SnapshotLoading(file, kept_records(file.name))
                return self._loading.take
        for file in self.files.segments:
            if file.name == name:
                return self._of_segment(file)
        return None

    def _candidates(self) -> Sequence[LogFile]:
        """The snapshots that the state may begin with."""
        return self.files.snapshots if self.is_newest_first else self.files.snapshots[-1:]

    @property
    def is_spoiled(self) -> bool:
        """True if an older snapshot may have to be tried, and has passed already. Then the files
        have to be read again for the state."""
        return not self.is_newest_first and bool(self._tried)

    def _of_segment(self, file: LogFile) -> Callable[[Item], None] | None:
        if self.is_spoiled:
            return None
        try:
            directory = self._directory()
        except KraftoolError:
            return None  # `state` raises it again
        if not directory.wants(file):
            return None
        is_last = file is self.files.segments[-1]
        return _SegmentReplay(directory.log, file, is_last)

    def passed(self, *, is_read: bool) -> None:
        """A file that was observed has passed, or could not be read to its end."""
        self._is_unread = self._is_unread or not is_read
        loading, self._loading = self._loading, None
        if loading is not None:
            start = loading.start()
            if is_sound(start):
                self._start = replace(start, findings=findings_of(self._tried))
            else:
                self._tried.append(start)

    def _directory(self) -> StateReplay:
        if self._replay is None:
            if self._start is None:
                self._start = start_without(self.files, _LAST, self._tried)
            self._replay = StateReplay(self.files, self._start, _LAST, _silent)
        return self._replay

    def state(self) -> LoadedState | None:
        """The state; None where a file of it could not be read. Raises KraftoolError as `load`."""
        return None if self._is_unread else self._directory().loaded()


@dataclass(frozen=True, slots=True)
class _SegmentReplay(SpanObserver):
    """Replays a segment as it passes."""

    log: LogReplay
    file: LogFile
    is_last: bool

    def __call__(self, item: Item) -> None:
        self.log.take(self.file, item, is_last=self.is_last)

    def plain(self, span: BatchSpan, taken: Taken) -> None:
        self.log.take_span(self.file, span, taken.at, taken.end)


def _silent(name: str, position: int) -> None:
    """The one who reads reports the progress."""
