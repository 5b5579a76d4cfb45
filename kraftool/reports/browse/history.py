"""The states of one directory at all offsets, as somebody goes back and forth between them.

Owns which states are kept, and reading on from the nearest of them: an image shares what did not
change with the one before it, so that many cost little more than one. It refuses what `load.py`
refuses, in its words.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from kraftool.decoders.errors import KraftoolError
from kraftool.image.loader import ImageLoader
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.logs.query import GoTo
from kraftool.reports.state.files import StateFiles, base_offset, snapshot_id
from kraftool.reports.state.load import LoadedState, load_from, spoils
from kraftool.reports.state.log import LogReplay, Wanted
from kraftool.reports.state.replay import Progress, Replay
from kraftool.storage.paths import Location

STRIDE = 50_000
"""Offsets between two states that are kept on the way."""
_KEPT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class StateBounds:
    """Between which offsets there are states, and of which there are snapshots."""

    first: int
    last: int
    snapshots: tuple[int, ...] = ()


def _silent(name: str, position: int) -> None:
    """Nobody watches."""


def _passed_over(state: LoadedState) -> None:
    """Only the last state is wanted."""


def _nothing() -> None:
    """Files stay where they are."""


@dataclass(slots=True, eq=False)
class StateHistory:
    """The states of a PATH. Calls may come from any thread; they wait for each other."""

    where: str | Location
    window: LogWindow
    bounds: StateBounds
    closing: Callable[[], None] = _nothing
    _kept: OrderedDict[int, LoadedState] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, where: str | Location, *, closing: Callable[[], None] = _nothing) -> StateHistory:
        """Raises KraftoolError where there is nothing to make a state of."""
        window = LogWindow(where)
        return cls(where, window, _bounds(window), closing)

    def close(self) -> None:
        with self._lock:
            self.window.close()
            self.closing()

    def refresh(self) -> StateBounds:
        """Look at the files again. What was read of records that are still there is kept."""
        with self._lock:
            old = self.window
            self.window = LogWindow(self.where)
            old.close()
            self.bounds = _bounds(self.window)
            # Where a log was cut, and other records took the place, no state beyond can be trusted;
            # going by the epoch of its last record, one tells which are of this log.
            for offset in [offset for offset in self._kept if not self._still_holds(offset)]:
                del self._kept[offset]
            return self.bounds

    def at(
        self,
        offset: int | None,
        progress: Progress = _silent,
        partly: Callable[[LoadedState], None] = _passed_over,
    ) -> LoadedState:
        """The state before an offset; the last one if there is none. Whatever `progress` raises
        ends it. `partly` takes the states on the way there."""
        with self._lock:
            files = self.window.files
            if offset is None or offset >= self.bounds.last:
                offset = self.bounds.last
                if files.is_snapshot or not files.segments:
                    return self._keep(load_from(files, progress=progress))
            kept = self._kept.get(offset)
            if kept is not None:
                self._kept.move_to_end(offset)
                return kept
            return self._keep(self._reach(files, offset, progress, partly))

    def offset_of(self, goto: GoTo) -> int:
        """The offset of the state then: before an epoch began, or a time came."""
        if goto.kind == "offset":
            return goto.value
        with self._lock:
            seek = self.window.seek_epoch if goto.kind == "epoch" else self.window.seek_time
            rows = self.window.forward(seek(goto.value), 1).rows
        row_offset = rows[0].offset if rows else None
        return self.bounds.last if row_offset is None else row_offset

    def _reach(
        self,
        files: StateFiles,
        offset: int,
        progress: Progress,
        partly: Callable[[LoadedState], None],
    ) -> LoadedState:
        state = self._nearest(files, offset, progress)
        while state is not None and state.end_offset < offset:
            partly(state)
            step = min(offset, state.end_offset + STRIDE)
            state = self._on(files, state, step, progress)
            if state is not None:
                self._keep(state)
        if state is not None and state.end_offset == offset:
            return state
        # Where the short way does not lead: damage, a gap, half a log. This says why, or where.
        at = None if offset >= self.bounds.last else offset
        return load_from(files, at=at, progress=progress)

    def _nearest(self, files: StateFiles, offset: int, progress: Progress) -> LoadedState | None:
        """A sound state at the offset or below it, from which reading on is shortest."""
        begins = [0] if files.segments and base_offset(files.segments[0]) == 0 else []
        begins += [snapshot for snapshot in self.bounds.snapshots if snapshot <= offset]
        if files.single is not None or not begins:
            return None
        start = max(begins)
        below = [end for end in self._kept if end <= offset and self._goes_on(end)]
        if below and max(below) >= start:
            return self._kept[max(below)]
        try:
            state = load_from(files, at=start, progress=progress)
        except KraftoolError:
            return None
        if not _is_sound(state) or state.end_offset != start:
            return None
        return self._keep(state)

    def _goes_on(self, offset: int) -> bool:
        """True if the log can be read on from a state: it is sound, and in no transaction."""
        state = self._kept[offset]
        return _is_sound(state) and state.end_offset == offset

    def _on(
        self, files: StateFiles, state: LoadedState, offset: int, progress: Progress
    ) -> LoadedState | None:
        """The state at an offset, from an earlier one; None where reading on does not lead there.

        In the middle of a transaction it leads there, and the state is none to go on from.
        """
        if state.open_transaction is not None:
            return None
        replay = Replay(loader=ImageLoader(state.image), controls=dict(state.controls))
        log = LogReplay(replay, Wanted(below=offset), progress, end=state.end_offset)
        place = self.window.seek_offset(state.end_offset)
        read = []
        for file in files.segments:
            base = base_offset(file)
            if base < place.segment or log.is_over:
                continue
            last = file is files.segments[-1]
            at = place.position if base == place.segment else 0
            log.segment(file, is_last=last, position=at)
            read.append(file.name)
        if log.end != offset:
            return None
        return replace(
            state,
            image=replay.loader.image(),
            files=tuple(dict.fromkeys((*state.files, *read))),
            end_offset=offset,
            records=state.records + replay.records,
            open_transaction=replay.loader.open_transaction,
            controls=replay.controls,
            findings=(*state.findings, *replay.findings),
        )

    def _keep(self, state: LoadedState) -> LoadedState:
        self._kept[state.end_offset] = state
        self._kept.move_to_end(state.end_offset)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return state

    def _still_holds(self, offset: int) -> bool:
        """True if the log still has the record that a state ends with, of that epoch."""
        if offset > self.bounds.last:
            return False
        last = self._kept[offset].image.provenance
        if last.last_offset < 0 or not self.window.blocks.bases:
            return True
        place = self.window.seek_offset(last.last_offset)
        rows = self.window.forward(place, 1).rows
        if not rows or rows[0].offset != last.last_offset:
            return last.last_offset < self.window.blocks.bases[0]
        return rows[0].epoch == last.last_epoch


def _is_sound(state: LoadedState) -> bool:
    """True if it may be read on from: without an open transaction and without an error."""
    return state.open_transaction is None and not any(map(spoils, state.findings))


def _bounds(window: LogWindow) -> StateBounds:
    files = window.files
    snapshots = tuple(
        sorted({offset for offset, _ in map(snapshot_id, files.snapshots) if offset > 0})
    )
    last = max(snapshots, default=0)
    begins = list(snapshots)
    if files.segments:
        last = max(last, window.end_offset())
        begins.append(base_offset(files.segments[0]))
    if files.is_snapshot:
        begins = [last]
    elif files.single is not None:
        begins = [window.blocks.bases[0]]
    return StateBounds(first=min(begins, default=0), last=last, snapshots=snapshots)
