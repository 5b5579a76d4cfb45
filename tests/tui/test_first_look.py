"""The views show the damage of a directory first, with a sign and its place.

The pictures are real looks at copies of real directories, at the smallest size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from kraftool.tui.views import VIEWS
from kraftool.watching.directory import DirectoryWatch
from kraftool.watching.picture import Picture
from kraftool.watching.sources import Sources
from tests.tui.copied_directories import LOG, copied
from tests.tui.dashboards import AT_MS, dashboard, press, shown
from tests.tui.recording import Replayed

pytestmark = [pytest.mark.tui, pytest.mark.usefixtures("folder"), pytest.mark.slow]
Steps = Callable[[Pilot[None]], Awaitable[None]]
_CHECKPOINT = "__cluster_metadata-0/00000000000000000203-0000000003.checkpoint"


def _seen(view: str, *paths: str, size: tuple[int, int] = (80, 24)) -> list[str]:
    """The lines of a view of these directories, the title first."""
    looks = tuple(DirectoryWatch(path).read(60) for path in paths)
    picture = Picture(at_ms=AT_MS, directories=looks)
    watcher = Replayed([picture], Sources(directories=paths))
    lines: list[str] = []

    async def run() -> None:
        async with dashboard(watcher, view, size) as pilot:
            if view == "quorum":
                await press(pilot, "g")
            lines.extend(shown(pilot).splitlines())

    asyncio.run(run())
    return lines


def _flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 4
    path.write_bytes(data)


def test_a_damaged_log_is_in_the_title_of_the_log_and_of_the_timeline(folder: Path) -> None:
    (name,) = copied(folder, 2)
    _flip(folder / name / LOG, 9000)
    assert "▲ …0000.log is damaged from position 8938 on" in _seen("log", name)[2]
    assert "✖ 1 damaged place" in _seen("timeline", name)[2]


def test_a_directory_that_cannot_be_read_is_an_error_in_every_title(folder: Path) -> None:
    (folder / "empty").mkdir()
    lines = _seen("quorum", "empty")
    assert lines[0].startswith(" kraftool  ✖ 1 directory · 1 error")
    assert " ✖ empty: it is not a Kafka data directory." in lines
    assert "no events: empty: it is not a Kafka data directory" in _seen("timeline", "empty")[2]
    lines = _seen("state", "empty")
    words = " ".join(line.strip() for line in lines[2:4])
    assert words.endswith(
        "(name the directory that holds meta.properties and __cluster_metadata-0)"
    )


def test_missing_small_files_are_problems(folder: Path) -> None:
    (name,) = copied(folder, 2)
    (folder / name / "meta.properties").unlink()
    (folder / name / "__cluster_metadata-0/quorum-state").write_text("{")
    lines = _seen("quorum", name)
    assert lines[0].startswith(" kraftool  ▲ 1 directory")
    assert " Leader     ? unknown: no quorum-state names a leader" in [
        line.partition("  epoch")[0] for line in lines
    ]
    assert any("there is no meta.properties; its quorum-state: not JSON" in line for line in lines)


def test_a_damaged_snapshot_is_an_error_of_the_state(folder: Path) -> None:
    (name,) = copied(folder, 2)
    _flip(folder / name / _CHECKPOINT, 1500)
    lines = _seen("state", name, size=(120, 30))
    assert lines[0].startswith(" kraftool  ✖ 1 directory · 1 error")
    assert "3✖State 1" in lines[1]
    assert "✖ 1 finding: …0203-…0003.checkpoint: the batch's CRC" in lines[2]
    assert "snapshot 203-3; 7012 bytes; damaged" in next(
        line for line in _seen("timeline", name) if "✗ snapshot" in line
    )


def test_a_stale_directory_is_marked_and_no_phrase_is_torn(folder: Path) -> None:
    names = copied(folder, 1, 2)
    sources = _seen("voters", *names)
    assert any(
        line.startswith(" A  node-1  ▲ stale; data directory, node 1, offsets 0 to 80")
        for line in sources
    )
    assert not any("newest" in line for line in sources), "all have the same voters"
    lines = _seen("log", "node-1")
    assert [line.strip() for line in lines if "high watermark" in line] == [
        "high watermark not known here; 99% of the log"
    ]
    assert "▲ stale: node 1 was removed as a voter at offset 80" in _seen("state", "node-1")[2]


def test_a_narrow_table_of_files_has_the_rest_of_its_row_below(folder: Path) -> None:
    (name,) = copied(folder, 1)
    words = " node-1  not verified: press v  ▲ stale: node 1 was removed as a voter"
    assert any(line.startswith(words) for line in _seen("files", name))


def test_the_names_of_all_views_are_seen_with_their_findings(folder: Path) -> None:
    """The tabs have room for a sign and a number each."""
    (name,) = copied(folder, 2)
    _flip(folder / name / LOG, 9000)
    tabs = _seen("voters", name)[1]
    assert all(view.title in tabs for view in VIEWS)
