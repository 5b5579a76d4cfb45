"""Log, State and Timeline of a live leader: its log is read anew when it has grown, and let go of.

What the leader would send is a directory of real Kafka here; that a leader sends just that is
shown by the tests of `client/capture.py`.
"""

import asyncio
import shutil
from pathlib import Path

import pytest

from kraftool.client.asking import Access
from kraftool.client.endpoints import parse_endpoints
from kraftool.client.model import QuorumView
from kraftool.client.observing import UnobservableError
from kraftool.client.target import Target
from kraftool.storage.paths import open_path
from kraftool.tui.screens.log import LogScreen
from kraftool.tui.screens.state import StateScreen
from kraftool.tui.screens.timeline import TimelineScreen
from kraftool.watching import timelines, watched_sources
from kraftool.watching.picture import ObservedElection, QuorumSample, WatchHistory
from kraftool.watching.sources import Sources
from kraftool.watching.watched_sources import LeadersLog
from tests.tui.dashboards import QUORUM, ROOT, Still, dashboard, press, settled, shown, told

pytestmark = pytest.mark.tui
TARGET = Target(bootstrap=parse_endpoints("127.0.0.1:1"), access=Access(timeout_s=1.0))
LAST = 20796
"""Where the last batch of the log begins."""
ELECTED = ObservedElection(epoch=4, leader_id=2, timestamp=1_795_234_000_000, is_recorded=True)


def history(end: int) -> WatchHistory:
    sample = QuorumSample(at_ms=1, epoch=3, leader_id=2, high_watermark=end, leader_end=end)
    return WatchHistory(samples=(sample,), elections=(ELECTED,))


class Leader:
    """What stands for the leader: a copy of a real node's directory."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(ROOT / QUORUM / "node-2/data", folder)
        self.folder = folder
        self.log = folder / "__cluster_metadata-0" / f"{0:020}.log"
        self.data = self.log.read_bytes()
        self.log.write_bytes(self.data[:LAST])
        self.is_there = True
        self.lacking = ""
        self.read, self.let_go = 0, 0

    def hand_out(
        self, sources: Sources, view: QuorumView | None, progress: object = None
    ) -> LeadersLog:
        if not self.is_there:
            raise UnobservableError("nobody tells its log")
        self.read += 1

        def closing() -> None:
            self.let_go += 1

        return LeadersLog(location=open_path(str(self.folder)), close=closing, lacking=self.lacking)


@pytest.fixture
def leader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leader:
    prepared = Leader(tmp_path / "leader")
    for module in (watched_sources, timelines):
        monkeypatch.setattr(module, "leaders_log", prepared.hand_out)
    for name in ("source_choice", "screens.timeline"):
        monkeypatch.setattr(f"kraftool.tui.{name}.PATIENCE", 0)
        monkeypatch.setattr(f"kraftool.tui.{name}._AGAIN_S", 0.0)
    return prepared


def test_the_log_of_the_leader_is_followed(leader: Leader) -> None:
    async def body() -> None:
        watcher = Still(target=TARGET, history=history(223))
        async with dashboard(watcher, "log") as pilot:
            view = pilot.app.query_one(LogScreen)
            assert view.lines.rows[-1].offset == 222
            watcher.poll_now()
            await settled(pilot)
            assert leader.read == 1, "nothing was written meanwhile"
            leader.log.write_bytes(leader.data)
            watcher.history = history(224)
            watcher.poll_now()
            await settled(pilot)
            assert view.lines.rows[-1].offset == 223
            assert view.lines.is_at_end
            assert (leader.read, leader.let_go) == (2, 1)
        assert leader.let_go == leader.read

    asyncio.run(body())


def test_the_cursor_stays_on_its_record_when_the_leaders_log_is_read_anew(leader: Leader) -> None:
    async def body() -> None:
        watcher = Still(target=TARGET, history=history(223))
        async with dashboard(watcher, "log") as pilot:
            view = pilot.app.query_one(LogScreen)
            await press(pilot, "k", "k", "k")
            assert view.lines.row is not None
            assert view.lines.row.offset == 219
            leader.log.write_bytes(leader.data)
            watcher.history = history(224)
            watcher.poll_now()
            await settled(pilot)
            assert view.lines.row.offset == 219
            assert view.as_json()["endOffset"] == 224

    asyncio.run(body())


def test_a_directory_and_the_leader_are_two_places(leader: Leader) -> None:
    async def body() -> None:
        watcher = Still(ROOT / QUORUM / "node-3/data", target=TARGET, history=history(223))
        for name in ("log", "state"):
            async with dashboard(watcher, name) as pilot:
                seen = pilot.app.query_one(LogScreen if name == "log" else StateScreen)
                assert seen.as_json()["path"] == str(ROOT / QUORUM / "node-3/data")
                await press(pilot, "d")
                assert seen.as_json()["path"] == str(leader.folder)
                await press(pilot, "d")
                assert seen.as_json()["path"] == str(ROOT / QUORUM / "node-3/data")
            assert leader.let_go == leader.read

    asyncio.run(body())


def test_the_state_of_the_leader_is_followed(leader: Leader) -> None:
    async def body() -> None:
        watcher = Still(target=TARGET, history=history(223))
        async with dashboard(watcher, "state") as pilot:
            view = pilot.app.query_one(StateScreen)
            assert view.as_json()["offset"] == 223
            leader.log.write_bytes(leader.data)
            watcher.history = history(224)
            watcher.poll_now()
            await settled(pilot)
            assert view.as_json()["offset"] == 224
        assert leader.let_go == leader.read == 2

    asyncio.run(body())


def test_the_timeline_has_the_leaders_log_and_without_one_what_was_seen(leader: Leader) -> None:
    async def body() -> None:
        watcher = Still(target=TARGET, history=history(223))
        async with dashboard(watcher, "timeline", (120, 30)) as pilot:
            view = pilot.app.query_one(TimelineScreen)
            assert len(view.as_json()["nodes"]) == 1
            assert "3 elections" in shown(pilot)
            leader.is_there = False
            watcher.history = history(224)
            watcher.poll_now()
            await settled(pilot)
            assert "nobody tells its log" in shown(pilot)
            assert [event["epoch"] for event in view.as_json()["events"]] == [4]
        assert leader.let_go == leader.read

    asyncio.run(body())


def test_a_quorum_without_a_leader_is_told_and_asked_again(leader: Leader) -> None:
    async def body() -> None:
        leader.is_there = False
        watcher = Still(target=TARGET, history=history(223))
        async with dashboard(watcher, "log") as pilot:
            assert "nobody tells its log" in shown(pilot)
            leader.is_there = True
            watcher.poll_now()
            await settled(pilot)
            assert pilot.app.query_one(LogScreen).lines.rows[-1].offset == 222
            assert "nobody tells its log" not in shown(pilot)

    asyncio.run(body())


@pytest.mark.parametrize("name", ["log", "state", "timeline"])
def test_what_the_leader_did_not_send_is_reported(leader: Leader, name: str) -> None:
    async def body() -> None:
        leader.lacking = "the leader did not send the log before its newest snapshot: too large"
        watcher = Still(target=TARGET, history=history(223))
        async with dashboard(watcher, name, (200, 30)) as pilot:
            assert leader.lacking in (shown(pilot) if name == "timeline" else told(pilot))

    asyncio.run(body())
