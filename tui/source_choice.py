"""A view of one place at a time: a watched directory, or the log of a live leader.

Owns which place it is, and when a live log is read again: so rarely that a large log of a busy
quorum is no load on its leader.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from kraftool.client.model import QuorumView
from kraftool.tui.tasks import TaskView
from kraftool.watching.backoff import PATIENCE
from kraftool.watching.picture import Picture
from kraftool.watching.result import Failed, attempt
from kraftool.watching.staleness import CURRENT, Currency, currency, newest_directory
from kraftool.watching.task import Task
from kraftool.watching.watched_sources import is_live, place_names

_AGAIN_S = 3.0
"""After so long, what could not be opened is tried again."""


class OpenedPlace(Protocol):
    """The result of opening a place."""

    @property
    def took_s(self) -> float: ...

    @property
    def lacking(self) -> str: ...

    def close(self) -> None:
        """Let go of what is open."""


T = TypeVar("T", bound=OpenedPlace)


class PlaceView(TaskView):
    """A view that has something open."""

    _number = 0
    _is_opening = False
    _not_before = 0.0
    _is_by_hand = False
    """True once somebody has chosen a place."""
    _lacking = ""
    """What the place lacks, as it was reported last."""
    _known = -1
    """Of how many logs the place was chosen."""

    @property
    def place(self) -> str:
        """Return the place's name; empty if nothing is watched that could be opened."""
        names = place_names(self.sources)
        return names[self._number] if names else ""

    @property
    def is_live(self) -> bool:
        return is_live(self.sources, self._number)

    def choose_place(self, picture: Picture) -> bool:
        """Turn to the newest log when more of them are known; True if that is another place."""
        view = picture.view
        known = sum(directory.log_end_offset is not None for directory in picture.directories)
        leads = self.sources.target is not None and view is not None and view.quorum is not None
        known += leads * (len(self.sources.directories) + 1)
        if self._is_by_hand or known <= self._known:
            return False
        self._known, before = known, self._number
        self._number = len(self.sources.directories) if leads else newest_directory(picture)
        if self._number != before:
            self._not_before = 0.0
        return self._number != before

    def currency_of(self, picture: Picture | None) -> Currency:
        """Return how current the place is."""
        if picture is None:
            return CURRENT
        if self.is_live:
            leads = picture.view is not None and picture.view.quorum is not None
            return CURRENT if leads else Currency(idle="no node leads")
        if self._number >= len(picture.directories):
            return CURRENT
        return currency(picture, picture.directories[self._number])

    def damage_of(self, picture: Picture | None) -> str:
        """Return the first damage of the place's log, as far as it is known."""
        if picture is None or self.is_live or self._number >= len(picture.directories):
            return ""
        return picture.directories[self._number].damage

    def newer_end(self, picture: Picture | None, end_offset: int) -> int | None:
        """Return the end of the place's log if it is known to be beyond an offset."""
        if picture is None:
            return None
        if self.is_live:
            samples = picture.history.samples
            end = samples[-1].leader_end if samples else None
        elif self._number < len(picture.directories):
            end = picture.directories[self._number].log_end_offset
        else:
            end = None
        return end if end is not None and end > end_offset else None

    def has_grown(self, picture: Picture, end_offset: int) -> bool:
        """True if the leader's log has grown since it was read."""
        samples = picture.history.samples
        end = samples[-1].leader_end if samples else None
        return end is not None and end != end_offset

    def open_place(
        self,
        picture: Picture | None,
        read: Callable[[int, QuorumView | None], T],
        then: Callable[[T | Failed], None],
    ) -> None:
        """Open the place, or open it again, if it is time for it."""
        if not self.place or self._is_opening or time.monotonic() < self._not_before:
            return
        self._is_opening = True
        task = Task()
        task.begin("fetching the leader's log" if self.is_live else "opening the log")
        self.opening(task)
        number = self._number
        view = picture.view if picture is not None else None

        def done(result: tuple[T | Failed]) -> None:
            opened = result[0]
            self._is_opening = False
            self.opening(None)
            if isinstance(opened, Failed):
                self._not_before = time.monotonic() + _AGAIN_S
            elif number != self._number or not self.is_attached:
                opened.close()
                self.open_place(self.picture, read, then)
                return
            else:
                self._not_before = time.monotonic() + opened.took_s * PATIENCE
                if opened.lacking and opened.lacking != self._lacking:
                    self.watch_app.tell(opened.lacking, is_bad=True)
                self._lacking = opened.lacking
            if number == self._number:
                then(opened)

        # In a tuple, as the view would tell of a failure by itself, and never try again.
        self.work("open", lambda: (attempt(lambda: read(number, view)),), done)

    def next_place(self) -> bool:
        """Turn to the next place; False if there is no other."""
        names = place_names(self.sources)
        if len(names) < 2:
            self.watch_app.tell("nothing else is watched")
            return False
        self._number = (self._number + 1) % len(names)
        self._is_by_hand = True
        words = self.currency_of(self.picture).words
        self.watch_app.tell(f"{self.place}: {words}" if words else self.place)
        self._not_before = 0.0
        return True
