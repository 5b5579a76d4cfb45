"""The Log view as a person uses it, on logs that real Kafka wrote."""

import csv
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from kraftool.reports.browse import feed as feed_module
from kraftool.tui.app import WatchApp
from kraftool.tui.screens.log import LogScreen
from kraftool.tui.widgets.prompt import Prompt
from kraftool.watching.picture import QuorumSample, WatchHistory
from tests.support.places import LOG
from tests.tui.dashboards import (
    QUORUM,
    ROOT,
    Still,
    app_of,
    look_at,
    press,
    settled,
    told,
    write,
)
from tests.tui.screens import assert_snapshot, screen

pytestmark = [pytest.mark.tui, pytest.mark.usefixtures("at_the_root"), pytest.mark.slow]
NODE = QUORUM / "node-2/data"
OTHER = QUORUM / "node-3/data"
ABORTED = Path("fixtures/built/aborted-transaction/node-1/data")
_SENSITIVE = ("ConfigRecord", "UserScramCredentialRecord", "DelegationTokenRecord")
Body = Callable[[Pilot[None], LogScreen], Awaitable[None]]


def run(
    body: Body, *paths: str | Path, size: tuple[int, int] = (80, 24), theme: str = "", **facts: Any
) -> None:
    look_at(LogScreen, body, Still(*paths, **facts), size, theme)


def offset(view: LogScreen) -> int | None:
    """Of the record under the cursor."""
    row = view.lines.row
    return None if row is None else row.offset


# --- moving -------------------------------------------------------------------------------------


def test_it_opens_at_the_newest_record_and_moves_as_vi_does() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        assert offset(view) == 223
        await press(pilot, "k", "k", "up")
        assert offset(view) == 220
        await press(pilot, "j", "down")
        assert offset(view) == 222
        height = view.lines.size.height
        await press(pilot, "pageup")
        assert offset(view) == 222 - (height - 1)
        await press(pilot, "pagedown", "ctrl+u")
        assert offset(view) == 222 - height // 2
        await press(pilot, "ctrl+d", "G")
        assert offset(view) == 223
        await press(pilot, "g")
        assert offset(view) == 0
        await press(pilot, "home", "end")
        assert offset(view) == 223

    run(body, NODE)


def test_all_of_a_log_is_reached_though_little_of_it_is_at_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feed_module, "MOST", 150)
    monkeypatch.setattr("kraftool.tui.screens.log._PAGE", 20)
    monkeypatch.setattr("kraftool.tui.screens.log._NEAR", 30)

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        lines = view.lines
        for wanted in range(222, -1, -1):
            lines.action_move(-1)
            if wanted % 20 == 0:
                await settled(pilot)
                assert offset(view) == wanted
                assert len(lines.rows) <= 150
        for wanted in range(1, 224):
            lines.action_move(1)
            if wanted % 20 == 0:
                await settled(pilot)
                assert offset(view) == wanted

    run(body, NODE)


def test_a_long_line_is_read_by_shifting_it() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        assert "lastKnownElr" not in screen(app_of(pilot))
        await press(pilot, *"llllllll")
        assert "lastKnownElr" in screen(app_of(pilot))
        await press(pilot, *"hhhhhhhh")
        assert view.lines.left == 0

    run(body, NODE)


def test_the_mouse_moves_the_cursor_and_opens_a_record() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await pilot.click("#log-lines", offset=(20, 3))
        await settled(pilot)
        at = offset(view)
        assert at == view.lines.rows[int(view.lines.scroll_offset.y) + 3].offset
        await pilot.click("#log-lines", offset=(20, 3))
        await settled(pilot)
        assert view.query_one("#log-detail").display

    run(body, NODE)


# --- going to places ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("100", 100), ("offset 7", 7), ("epoch 2", 43), ("2026-11-21T04:11:43.320Z", 81)],
)
def test_o_goes_to_an_offset_an_epoch_or_a_time(words: str, wanted: int) -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "o")
        await write(pilot, words)
        assert offset(view) == wanted
        assert view.lines.has_focus

    run(body, NODE)


def test_a_place_that_is_none_is_told_and_changes_nothing() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "o")
        await write(pilot, "yesterday")
        assert "'yesterday' is not a time" in told(pilot)
        assert offset(view) == 223
        await press(pilot, "o", "9", "escape")
        assert offset(view) == 223
        assert not view.query_one(Prompt).display

    run(body, NODE)


# --- filter and search ----------------------------------------------------------------------------


def test_f_filters_by_what_records_are_and_say() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "f")
        await write(pilot, "type:TopicRecord")
        assert [row.offset for row in view.lines.rows] == [
            21,
            25,
            29,
            81,
            115,
            167,
            186,
            190,
            194,
        ]
        await press(pilot, "f")
        assert view.query_one(Prompt).value == "type:TopicRecord"
        view.query_one(Prompt).value = ""
        await write(pilot, "topic:orders-b broker:11")
        assert view.lines.rows
        assert all("orders-b" in row.text for row in view.lines.rows)

    run(body, NODE)


def test_a_filter_that_is_none_is_told_with_what_is_wrong() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        for words, wrong in (
            ("type:Tpoic", "is not a record type"),
            ("([", "is not a regular expr"),
        ):
            await press(pilot, "f")
            await write(pilot, words)
            assert wrong in told(pilot)
            assert len(view.lines.rows) == 200

    run(body, NODE)


def test_a_filter_looks_through_the_log_in_pieces_and_x_stops_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kraftool.reports.browse.session.AT_ONCE", 600)
    pieces, stop_at = 0, 0
    app = WatchApp(Still(), environment={})
    whole = feed_module.LogFeed.up

    def up(feed: feed_module.LogFeed, count: int) -> feed_module.RowRange:
        nonlocal pieces
        pieces += 1
        if pieces == stop_at:
            app.call_from_thread(app.query_one(LogScreen).action_stop)
        return whole(feed, count)

    monkeypatch.setattr(feed_module.LogFeed, "up", up)

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        nonlocal pieces, stop_at, app
        app = app_of(pilot)
        await press(pilot, "f")
        await write(pilot, "type:LeaderChange")
        assert [row.offset for row in view.lines.rows] == [0, 43, 69]
        assert pieces > 20
        pieces, stop_at = 0, 3
        await press(pilot, "G", "f")
        view.query_one(Prompt).value = ""
        await write(pilot, "type:Begin")
        assert pieces == 3
        assert view.lines.rows == ()
        assert "of the log looked through" in screen(app)

    run(body, NODE)


def test_slash_finds_words_and_n_goes_on_also_where_nothing_was_read_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kraftool.tui.screens.log._PAGE", 12)
    monkeypatch.setattr("kraftool.tui.screens.log._NEAR", 1)

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "g", "slash")
        await write(pilot, "doomed-b")
        assert offset(view) == 194
        await press(pilot, "n")
        assert offset(view) == 195
        await press(pilot, "N")
        assert offset(view) == 194
        await press(pilot, "N")
        assert "doomed-b" in told(pilot)
        assert offset(view) == 194

    run(body, NODE)


# --- one record -----------------------------------------------------------------------------------


def test_enter_shows_a_record_with_its_bytes_and_escape_closes_it() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "enter")
        shown = "\n".join(row.plain for row in view._detail.rows)
        assert '"brokerId": 11' in shown
        assert "position 20796" in shown
        assert "brokerEpoch" in shown
        await press(pilot, "k")
        shown = "\n".join(row.plain for row in view._detail.rows)
        assert '"topicId": "q3w-c3-RR_ydE9Y1ux_ILA"' in shown
        await press(pilot, "tab", "y")
        assert '"topicId": "q3w-c3-RR_ydE9Y1ux_ILA"' in pilot.app.clipboard
        await press(pilot, "escape")
        assert not view._detail.display
        assert view.lines.has_focus
        await press(pilot, "y")
        assert pilot.app.clipboard.startswith(
            "222 PartitionChangeRecord v2  moving-a-1".replace("  ", " ")
        )

    run(body, NODE)


def test_no_secret_is_in_rows_details_or_exports(tmp_path: Path) -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "g", "pagedown", "enter")
        sensitive = [at for at, row in enumerate(view.lines.rows) if row.label in _SENSITIVE]
        assert len(sensitive) > 5
        for at in sensitive:
            view.lines.move_to(at)
            await settled(pilot)
            assert "CANARY" not in "\n".join(text.plain for text in view._detail.rows)
        assert "CANARY" not in json.dumps(view.as_json())
        assert "CANARY" not in str([*view.as_rows()])
        assert len(view.as_json()["shown"]) == 224

    run(body, NODE)


# --- what happens to the log ----------------------------------------------------------------------


def batches() -> list[RecordBatch]:
    data = (ROOT / NODE / "__cluster_metadata-0" / LOG).read_bytes()
    parts = scan(lambda at, size: data[at : at + size])
    return [part for part in parts if isinstance(part, RecordBatch)]


def test_new_records_are_followed_unless_the_cursor_is_elsewhere_or_it_is_paused(
    tmp_path: Path,
) -> None:
    whole, log = batches(), tmp_path / "__cluster_metadata-0" / LOG
    log.parent.mkdir()
    log.write_bytes(b"".join(record_batch.data for record_batch in whole[:20]))
    following = iter(whole[20:])

    async def grow(pilot: Pilot[None]) -> RecordBatch:
        batch = next(following)
        with log.open("ab") as out:
            out.write(batch.data)
        app_of(pilot).watcher.poll_now()
        await settled(pilot)
        return batch

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        newest = await grow(pilot)
        assert offset(view) == newest.last_offset
        await press(pilot, "k")
        at = offset(view)
        newest = await grow(pilot)
        assert offset(view) == at
        assert view.lines.rows[-1].offset == newest.last_offset
        await press(pilot, "G", "p")
        paused = await grow(pilot)
        assert offset(view) == newest.last_offset
        await press(pilot, "p")
        assert offset(view) == paused.last_offset

    run(body, log.parent)


def test_runs_of_no_ops_are_one_line_and_z_shows_each_of_them() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        assert_snapshot(app_of(pilot), "log-no-ops-80x24")
        await press(pilot, "g")
        assert "⋯ 78 no-ops, 3.1 s" in screen(app_of(pilot))
        folded = len(view.lines.rows)
        await press(pilot, *"jjjjjjjjjjjj")
        at = offset(view)
        await press(pilot, "z")
        assert offset(view) == at, "the cursor stays on its record"
        assert "no-ops" not in screen(app_of(pilot))
        assert len(view.lines.rows) > folded
        await press(pilot, "z")
        assert offset(view) == at
        assert len(view.lines.rows) == folded

    run(body, "fixtures/kafka-4.3.0/slow-follower/node-1/data")


def test_a_truncation_is_told_and_marked_where_it_happened(tmp_path: Path) -> None:
    whole, log = batches(), tmp_path / "__cluster_metadata-0" / LOG
    log.parent.mkdir()
    log.write_bytes(b"".join(batch.data for batch in whole[:30]))

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        first = whole[25].base_offset
        others = b"".join(
            batch.data[:12] + (9).to_bytes(4, "big") + batch.data[16:] for batch in whole[25:28]
        )
        log.write_bytes(b"".join(batch.data for batch in whole[:25]) + others)
        app_of(pilot).watcher.poll_now()
        await settled(pilot)
        words = f"truncated: the records from offset {first} on are no longer in the log"
        assert words in told(pilot)
        assert words in screen(app_of(pilot))
        assert view.lines.rows[-1].epoch == 9
        assert offset(view) == whole[27].last_offset

    run(body, log.parent)


def test_the_high_watermark_of_a_live_quorum_is_marked() -> None:
    sample = QuorumSample(at_ms=1, epoch=3, leader_id=2, high_watermark=222, leader_end=224)

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        shown = screen(app_of(pilot)).split("\n")
        marked = [line for line in shown if "~" in line]
        assert [line.split()[0] for line in marked] == ["222", "223"]
        assert "high watermark 222" in "\n".join(shown)

    run(body, NODE, history=WatchHistory(samples=(sample,)))


def test_d_goes_to_the_log_of_the_next_directory() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        assert "1 of 2" in screen(app_of(pilot))
        await press(pilot, "d")
        shown = screen(app_of(pilot))
        assert "2 of 2" in shown
        assert view.as_json()["path"] == str(OTHER)
        assert offset(view) == 223
        await press(pilot, "d")
        assert view.as_json()["path"] == str(NODE)

    run(body, NODE, OTHER)


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (ROOT / "fixtures/damaged").iterdir())
)
def test_whatever_is_damaged_is_shown_or_told(name: str) -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "g", "G", "k", "enter", "j", "escape", "f")
        await write(pilot, "type:Topic")
        shown = screen(app_of(pilot))
        assert "opening" not in shown
        assert view._problem or "offsets" in shown or "empty" in shown

    run(body, Path("fixtures/damaged") / name)


def test_without_anything_it_says_so() -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        assert "no directory or live quorum is watched" in screen(app_of(pilot))
        await press(pilot, "g", "G", "f", "escape", "enter", "d", "x", "y")
        assert len([*view.as_rows()]) == 1, "only the headings"

    run(body)


def test_a_directory_without_a_log_is_told(tmp_path: Path) -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        assert "is not a Kafka data" in " ".join(screen(app_of(pilot)).split())

    run(body, tmp_path)


# --- ways out -------------------------------------------------------------------------------------


def test_what_is_exported_is_what_is_shown(tmp_path: Path) -> None:
    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "f")
        await write(pilot, "type:TopicRecord")
        for ending in ("json", "csv"):
            await press(pilot, "e")
            pilot.app.screen.query_one("#path", Input).value = str(tmp_path / f"log.{ending}")
            await press(pilot, "enter")
        document = json.loads((tmp_path / "log.json").read_text())
        assert document["schemaVersion"] == 3
        assert [row["offset"] for row in document["shown"]][:3] == [21, 25, 29]
        rows = [*csv.DictReader((tmp_path / "log.csv").read_text().splitlines())]
        assert [row["offset"] for row in rows][:3] == ["21", "25", "29"]

    run(body, NODE)


def test_the_screen_looks_as_it_did(tmp_path: Path) -> None:
    async def open_(pilot: Pilot[None], view: LogScreen) -> None:
        await press(pilot, "k", "k", "enter")

    def looks(name: str) -> Body:
        async def body(pilot: Pilot[None], view: LogScreen) -> None:
            await open_(pilot, view)
            assert_snapshot(app_of(pilot), name)

        return body

    run(looks("log-dark"), NODE, size=(120, 36))
    run(looks("log-light"), NODE, size=(120, 36), theme="kraftool-light")
    run(looks("log-narrow"), NODE)
    run(looks("log-wide"), NODE, size=(170, 40))


def test_damage_and_transactions_look_as_they_did() -> None:
    async def damaged(pilot: Pilot[None], view: LogScreen) -> None:
        assert_snapshot(app_of(pilot), "log-damaged")

    async def aborted(pilot: Pilot[None], view: LogScreen) -> None:
        assert_snapshot(app_of(pilot), "log-transactions")

    run(damaged, Path("fixtures/damaged/zero-filled-middle"))
    run(aborted, ABORTED, theme="kraftool-no-colour")


def test_a_copy_of_the_log_of_two_thousand_segments_opens(tmp_path: Path) -> None:
    source = ROOT / NODE / "__cluster_metadata-0" / LOG
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    shutil.copy(source, folder / LOG)
    for number in range(2000):
        (folder / f"{224 + number:020}.log").touch()

    async def body(pilot: Pilot[None], view: LogScreen) -> None:
        assert offset(view) == 223

    run(body, folder)
