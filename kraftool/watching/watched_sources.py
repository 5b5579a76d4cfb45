"""The sources of logs and states: the directories that are watched, and a live leader.

Owns reading a leader's log, as no replica of the quorum, into files without a name, and that they
are gone when nobody reads them any more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kraftool.client.capture import Capturing
from kraftool.client.model import QuorumView
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.browse.feed import LogFeed
from kraftool.reports.browse.history import StateHistory
from kraftool.reports.browse.session import LogSession
from kraftool.storage.paths import Location
from kraftool.watching.sources import Sources

LIVE = "the leader"
_LIMIT_S = 120.0

T = TypeVar("T")
Progress = Callable[[str, int, int], None]


def _silent(what: str, done: int, total: int) -> None:
    """Nobody watches."""


def place_names(sources: Sources) -> tuple[str, ...]:
    """Return the places to look at: directories as they were given, then the live leader."""
    live = (LIVE,) if sources.target is not None else ()
    return (*sources.directories, *live)


def is_live(sources: Sources, number: int) -> bool:
    """True if a place is the live leader."""
    return number >= len(sources.directories)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadersLog:
    """A leader's log as files."""

    location: Location
    close: Callable[[], None]
    """Closes the files."""
    lacking: str = ""
    """The part that is missing, in words; empty if it has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedLog:
    """A log that can be read, and how long it took to get it."""

    feed: LogFeed
    took_s: float = 0.0
    lacking: str = ""

    def close(self) -> None:
        self.feed.session.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedHistory:
    """The states of a place."""

    history: StateHistory
    took_s: float = 0.0
    lacking: str = ""

    def close(self) -> None:
        self.history.close()


def open_log(sources: Sources, number: int, view: QuorumView | None) -> OpenedLog:
    """Open the log of a place. Raises KraftoolError."""
    began = time.monotonic()
    session, lacking = _opened(LogSession.open, sources, number, view)
    return OpenedLog(feed=LogFeed(session), took_s=time.monotonic() - began, lacking=lacking)


def open_history(sources: Sources, number: int, view: QuorumView | None) -> OpenedHistory:
    """Open the states of a place. Raises KraftoolError."""
    began = time.monotonic()
    history, lacking = _opened(StateHistory.open, sources, number, view)
    return OpenedHistory(history=history, took_s=time.monotonic() - began, lacking=lacking)


def _opened(
    opening: Callable[..., T], sources: Sources, number: int, view: QuorumView | None
) -> tuple[T, str]:
    """Open a place, and return what it lacks. Closing it also closes a leader's captured log."""
    if not is_live(sources, number):
        return opening(sources.directories[number]), ""
    log = leaders_log(sources, view)
    try:
        return opening(log.location, closing=log.close), log.lacking
    except BaseException:
        log.close()
        raise


def leaders_log(
    sources: Sources, view: QuorumView | None, progress: Progress = _silent
) -> LeadersLog:
    """Read all of the leader's log that it still has. Raises KraftoolError."""
    if sources.target is None or view is None:
        raise KraftoolError("no node has answered yet")
    access = sources.target.access
    capturing = Capturing()
    try:
        capture = capturing.capture(
            view, access, with_history=True, progress=progress, limit_s=_LIMIT_S
        )
        captured = asyncio.run(capture)
    except BaseException:
        capturing.__exit__()
        raise
    return LeadersLog(
        location=captured.location, close=capturing.__exit__, lacking=captured.lacking
    )
