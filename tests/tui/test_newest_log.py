"""Log and State over two directories of a real quorum, the first one a removed voter's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from kraftool.storage.lock import LockState
from kraftool.tui.screens.log import LogScreen
from kraftool.tui.screens.state import StateScreen
from kraftool.tui.source_choice import PlaceView
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture
from kraftool.watching.sources import Sources
from tests.tui.dashboards import QUORUM, look_at, press, settled, shown
from tests.tui.recording import Replayed

pytestmark = [pytest.mark.tui, pytest.mark.usefixtures("at_the_root")]
OLD, NEW = (str(QUORUM / f"node-{node}/data") for node in (1, 2))
"""Node 1 was removed at offset 80 and stopped; node 2 went on to offset 223."""
SIZE = (120, 30)


def _readings(*paths: str, lock: LockState) -> tuple[DirectoryReading, ...]:
    return tuple(replace(DirectoryWatch(path).read(60), lock=lock) for path in paths)


def _watcher(*paths: str, lock: LockState = LockState.FREE) -> Replayed:
    looks = _readings(*paths, lock=lock)
    picture = Picture(at_ms=looks[0].at_ms, directories=looks)
    return Replayed([picture], Sources(directories=paths))


@pytest.mark.parametrize("paths", [(OLD, NEW), (NEW, OLD)])
@pytest.mark.parametrize(
    ("screen", "words"),
    [(LogScreen, "offsets 0 to 223"), (StateScreen, "at offset 224, the newest")],
)
def test_the_newest_log_opens_wherever_it_is_named(
    screen: type[PlaceView], words: str, paths: tuple[str, str]
) -> None:
    async def body(pilot: Pilot[None], view: PlaceView) -> None:
        assert view.place == NEW
        assert words in shown(pilot)
        assert "stale" not in shown(pilot)

    look_at(screen, body, _watcher(*paths), SIZE)


@pytest.mark.parametrize("screen", [LogScreen, StateScreen])
def test_a_removed_voter_is_marked_and_not_followed(screen: type[PlaceView]) -> None:
    async def body(pilot: Pilot[None], view: PlaceView) -> None:
        await press(pilot, "d")
        assert view.place == OLD
        text = shown(pilot)
        assert "▲ stale" in text
        assert "ends at 81, 143 behind" in text
        assert "following" not in text
        assert "the newest" not in text

    look_at(screen, body, _watcher(OLD, NEW, lock=LockState.HELD), SIZE)


def test_a_place_that_somebody_chose_stays() -> None:
    """A newer log of another directory does not take the view away."""
    watcher = _watcher(OLD, NEW)
    later = watcher.given[0]
    grown = replace(later.directories[1], log_end_offset=225, stamp=("later",))
    watcher.given.append(replace(later, directories=(later.directories[0], grown)))

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "d")
        watcher.next()
        await settled(pilot)
        assert view.place == OLD

    look_at(LogScreen, body, watcher, SIZE)
