"""Runs of no-ops as one row of a log that is walked about in, whichever way it is read."""

from __future__ import annotations

import shutil
from itertools import groupby
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from kraftool.reports.browse.blocks import RowPlace
from kraftool.reports.browse.feed import LogFeed, RowRange
from kraftool.reports.browse.rows import LogRow, RowKind
from kraftool.reports.browse.session import LogSession
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.logs.query import GoTo, read_query
from tests.support.places import FIXTURES

_FIXTURES = FIXTURES / "kafka-4.3.0"
_IDLE = _FIXTURES / "slow-follower/node-1/data"
_LOG = "__cluster_metadata-0/00000000000000000000.log"
Told = list[tuple[int | None, int | None, int]]


def _told(rows: tuple[LogRow, ...] | list[LogRow]) -> Told:
    """First offset, last offset, records."""
    return [(row.offset, row.end_offset, row.count) for row in rows]


def _expected(rows: tuple[LogRow, ...]) -> Told:
    """The same by every row that is not folded."""
    runs: Told = []
    for is_idle, group in groupby(rows, key=lambda row: row.folds):
        run = [*group]
        if is_idle and len(run) > 1:
            runs.append((run[0].offset, run[-1].offset, len(run)))
        else:
            runs += [(row.offset, row.offset, 1) for row in run]
    return runs


def _all_rows(path: Path) -> tuple[LogRow, ...]:
    window = LogWindow(str(path))
    try:
        return window.forward(window.start, 10_000).rows
    finally:
        window.close()


@pytest.mark.parametrize("count", [1, 3, 1000])
@pytest.mark.parametrize("name", ["slow-follower", "log-cleaning"])
def test_a_feed_that_reads_back_and_one_that_reads_on_have_the_same_runs(
    name: str, count: int
) -> None:
    path = _FIXTURES / name / "node-1/data"
    expected = _expected(_all_rows(path))
    assert max(records for _, _, records in expected) >= 11
    for step in ("up", "down"):
        feed = LogFeed(LogSession.open(str(path)))
        stretch = feed.last(count) if step == "up" else feed.first(count)
        while not (stretch.is_at_start and stretch.is_at_end):
            stretch = feed.up(count) if step == "up" else feed.down(count)
        records = [row for row in stretch.rows if row.kind is RowKind.RECORD]
        assert _told(records) == expected, step
        feed.session.close()


def test_a_place_within_a_run_is_the_row_under_the_cursor() -> None:
    feed = LogFeed(LogSession.open(str(_IDLE)))
    stretch = feed.go(GoTo("offset", 40), 20)
    assert stretch.cursor is not None
    row = stretch.rows[stretch.cursor]
    assert (row.offset, row.count > 1) == (40, True)
    before = stretch.rows[stretch.cursor - 1]
    assert (before.offset, before.end_offset) == (16, 39)
    assert row.has(row.place)
    assert row.has(RowPlace(row.place.segment, row.place.position + 1))
    assert not before.has(row.place)
    feed.session.close()


def test_folding_is_switched_off_by_a_key_and_by_asking_for_no_ops() -> None:
    feed = LogFeed(LogSession.open(str(_IDLE)))
    everything = [row for row in _all_rows(_IDLE) if row.offset is not None]
    assert len(feed.fold(False, None, 10_000).rows) == len(everything)
    feed.fold(True, None, 10_000)
    only = feed.filter(read_query("type:NoOpRecord"), None, 10_000)
    assert {row.count for row in only.rows} == {1}
    feed.session.close()


def test_a_run_grows_at_the_end_and_is_cut_within(tmp_path: Path) -> None:
    data = (_IDLE / _LOG).read_bytes()
    batches = [item for item in scan(lambda at, size: data[at : at + size])
               if isinstance(item, RecordBatch)]  # fmt: skip
    first = next(number for number, batch in enumerate(batches) if batch.base_offset == 20)
    log = tmp_path / _LOG
    shutil.copytree(_IDLE, tmp_path, dirs_exist_ok=True)

    def write(end: int, *more: bytes) -> None:
        log.write_bytes(b"".join([batch.data for batch in batches[:end]] + [*more]))

    write(first + 10)
    feed = LogFeed(LogSession.open(str(tmp_path)))
    assert _told(feed.last(50).rows)[-1] == (16, 29, 14)
    write(first + 12)
    stretch = feed.news(50)
    assert stretch is not None
    assert _told(stretch.rows)[-1] == (16, 31, 16)
    # Another leader wrote other records from offset 24 on.
    other = b"".join(
        batch.data[:12] + (9).to_bytes(4, "big") + batch.data[16:]
        for batch in batches[first + 4 : first + 5]
    )
    write(first + 4, other)
    cut: RowRange | None = feed.news(50)
    assert cut is not None
    assert "truncated: the records from offset 24 on" in cut.news
    records = [row for row in cut.rows if row.kind is RowKind.RECORD]
    assert _told(records)[-2:] == [(16, 23, 8), (24, 24, 1)]
    assert records[-2].text == "⋯ 8 no-ops"
    feed.session.close()
