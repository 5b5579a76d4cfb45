"""One log that somebody looks at: its window, its tail, one caller at a time.

Owns the lock, and the order in which a log is opened: its newest rows first, the names of topics
after that. Each call is bounded, so that whoever waits for the lock waits for a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock

from kraftool.reports.browse.blocks import RowPlace
from kraftool.reports.browse.detail import Detail, detail
from kraftool.reports.browse.prefilter import topic_ids
from kraftool.reports.browse.rows import LogRow
from kraftool.reports.browse.tail import TailChange, WindowTail
from kraftool.reports.browse.window import AT_ONCE, LogWindow, Page
from kraftool.reports.logs.dump import Selection
from kraftool.reports.logs.query import GoTo
from kraftool.storage.paths import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowExtent:
    """The extent of a log."""

    start_offset: int
    end_offset: int
    size: int
    segments: int


def _nothing() -> None:
    """Files stay where they are."""


@dataclass(slots=True, eq=False)
class LogSession:
    """A log, opened."""

    window: LogWindow
    tail: WindowTail
    extent: WindowExtent
    closing: Callable[[], None] = _nothing
    """Called when nobody reads the files any more."""
    _lock: Lock = field(default_factory=Lock)
    _looking: dict[str, Iterator[int]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, where: str | Location, *, closing: Callable[[], None] = _nothing) -> LogSession:
        """Open the log of a PATH. Raises KraftoolError where there is none."""
        window = LogWindow(where)
        tail = WindowTail(window)
        return cls(window, tail, _extent(window, tail), closing)

    def close(self) -> None:
        with self._lock:
            self.window.close()
            self.closing()

    @property
    def path(self) -> str:
        return self.window.path

    def before(
        self,
        place: RowPlace | None,
        count: int,
        selection: Selection | None = None,
        *,
        folds: bool = False,
    ) -> Page:
        """Rows before a place; the last ones if there is none."""
        with self._lock:
            at = self.window.end if place is None else place
            at_most = _at_most(selection, folds=folds)
            return self.window.backward(at, count, selection, at_most, folds=folds)

    def behind(
        self,
        place: RowPlace | None,
        count: int,
        selection: Selection | None = None,
        *,
        folds: bool = False,
    ) -> Page:
        """Rows from a place on; the first ones if there is none."""
        with self._lock:
            at = self.window.start if place is None else place
            at_most = _at_most(selection, folds=folds)
            return self.window.forward(at, count, selection, at_most, folds=folds)

    def place_of(self, goto: GoTo) -> RowPlace:
        """Return where an offset, an epoch or a time is."""
        with self._lock:
            if goto.kind == "offset":
                return self.window.seek_offset(goto.value)
            if goto.kind == "epoch":
                return self.window.seek_epoch(goto.value)
            return self.window.seek_time(goto.value)

    @property
    def end(self) -> RowPlace:
        with self._lock:
            return self.window.end

    def has(self, place: RowPlace) -> bool:
        """True if the segment of a place is still there."""
        with self._lock:
            return place.segment in self.window.blocks.bases

    def fraction(self, place: RowPlace) -> float:
        with self._lock:
            return self.window.fraction(place)

    def opened(self, row: LogRow) -> Detail:
        """A row in full."""
        with self._lock:
            return detail(self.window, row)

    def poll(self) -> TailChange:
        """Return what happened since the last look."""
        with self._lock:
            change = self.tail.poll()
            self.extent = _extent(self.window, self.tail)
            return change

    def learn_names(self) -> None:
        """Take the names of topics from the newest snapshot, which is read whole."""
        names = self.window.names_in_snapshot()
        with self._lock:
            self.window.maker.topics.by_id.update(names)

    def look_for_topic(self, name: str) -> float | None:
        """Look a little further for the ids of a topic; how far, or None once all was seen."""
        with self._lock:
            if name in self._known:
                return None
            blocks, topics = self.window.blocks, self.window.maker.topics
            looking = self._looking.setdefault(name, topic_ids(blocks, topics, name))
            done = 0
            for size in looking:
                done += size
                if done >= _TOPIC_AT_ONCE:
                    return done / max(self.extent.size, 1)
            self._known.add(name)
            return None


_TOPIC_AT_ONCE = 64 << 20
_FOLDED_AT_ONCE = 1 << 17
"""Less than without folding: a page of runs has many more records than rows."""


def _at_most(selection: Selection | None, *, folds: bool) -> int:
    """Return how many bytes one call looks through."""
    is_rare = selection is not None and bool(selection.types or selection.broker is not None)
    return AT_ONCE if is_rare or not folds else _FOLDED_AT_ONCE


def _extent(window: LogWindow, tail: WindowTail) -> WindowExtent:
    bases = window.blocks.bases
    return WindowExtent(
        start_offset=bases[0] if bases else 0,
        end_offset=tail.end_offset,
        size=window.size(),
        segments=len(bases),
    )
