"""Streams: a log that grows, rolls, is cleaned and truncated is told once, over restarts too."""

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes

from kraftool.arrow.settings import read_settings
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.columns import spark_schema
from kraftool.spark.live.following import FleetStreamReader
from kraftool.spark.stream import stream_reader
from kraftool.storage.tail import BatchMark, thinned
from tests.spark.live_fleet import BATCHES, END, Live, next_offset
from tests.support.places import LOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Row = dict[str, Any]


@pytest.fixture
def live(tmp_path: Path) -> Live:
    return Live(tmp_path / "fleet/node-1")


class Follow:
    """A stream reader asked as Spark asks it: every offset goes through JSON."""

    def __init__(self, live: Live, **options: str) -> None:
        state = str(live.path.parents[1] / "state")
        self._options = {"path": str(live.path), "stateLocation": state, **options}
        self.reader = self._opened()
        self.offset: dict[str, Any] = self.reader.initialOffset()
        self.before = self.offset

    def _opened(self) -> FleetStreamReader:
        return stream_reader("kraft", read_settings(self._options), spark_schema("kraft"))

    def restart(self) -> None:
        self.reader.stop()
        self.reader = self._opened()

    def step(self, limit: int | None = None) -> list[Row]:
        asked = ReadAllAvailable() if limit is None else ReadMaxBytes(limit)
        end = json.loads(json.dumps(self.reader.latestOffset(self.offset, asked)))
        self.before, self.offset = self.offset, end
        return self.rows(self.before, end)

    def rows(self, start: dict[str, Any], end: dict[str, Any]) -> list[Row]:
        return [
            row
            for task in self.reader.partitions(start, end)
            for batch in self.reader.read(task)
            for row in batch.to_pylist()
        ]


def _offsets(rows: list[Row]) -> list[int]:
    return [row["offset"] for row in rows if row["kind"] == "record"]


def test_every_record_comes_once_however_the_file_grows(live: Live) -> None:
    follow, seen = Follow(live), []
    for number, batch in enumerate(BATCHES):
        live.append(batch[:40])
        seen += follow.step()
        live.append(batch[40:])
        if number % 3 == 0:
            seen += follow.step()
        if number == 50:
            follow.restart()
    seen += follow.step()
    assert _offsets(seen) == list(range(END))
    assert {row["kind"] for row in seen} == {"record"}


def test_nothing_new_is_the_same_offset_and_a_half_written_batch_is_waited_for(
    live: Live,
) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:5])
    follow.step()
    before = follow.offset
    live.append(BATCHES[5][:-1])
    assert follow.step() == []
    assert follow.offset == before
    live.append(BATCHES[5][-1:])
    assert _offsets(follow.step())[0] == RecordBatch.read(BATCHES[5]).base_offset


def test_a_batch_is_planned_again_to_the_same_rows(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:20])
    first = follow.step()
    start, end = follow.before, follow.offset
    live.append(*BATCHES[20:40])
    live.roll(next_offset(BATCHES[39]))
    live.append(*BATCHES[40:50])
    follow.restart()
    assert follow.rows(start, end) == first


def test_a_rolled_segment_is_read_to_its_end_and_then_the_next(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:30])
    seen = follow.step()
    live.append(*BATCHES[30:40])
    live.roll(next_offset(BATCHES[39]))
    live.append(*BATCHES[40:60])
    seen += follow.step()
    live.append(*BATCHES[60:])
    seen += follow.step()
    assert _offsets(seen) == list(range(END))


def test_segments_that_are_cleaned_after_they_were_read_are_no_news(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:40])
    live.roll(next_offset(BATCHES[39]))
    seen = follow.step()
    (live.folder / LOG).unlink()
    assert follow.step() == []
    live.append(*BATCHES[40:])
    seen += follow.step()
    assert _offsets(seen) == list(range(END))


def test_what_is_cleaned_before_it_was_read_is_told(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:10])
    follow.step()
    (live.folder / LOG).unlink()
    begins = next_offset(BATCHES[39])
    live.roll(begins)
    live.append(*BATCHES[40:])
    rows = follow.step()
    (change,) = [row for row in rows if row["kind"] == "change"]
    assert change["type"] == "CLEANED"
    assert json.loads(change["payload"])["was_offset"] == next_offset(BATCHES[9])
    assert change["offset"] == begins
    assert _offsets(rows) == list(range(begins, END))


def test_a_truncation_is_told_and_what_takes_the_place_is_read(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:60])
    follow.step()
    follow.restart()
    kept = sum(map(len, BATCHES[:56]))
    os.truncate(live.log, kept)
    # Another leader's records take the place: the same offsets, another epoch.
    other = bytearray(BATCHES[56])
    other[12:16] = (9).to_bytes(4, "big")
    live.append(bytes(other))
    rows = follow.step()
    (change,) = [row for row in rows if row["kind"] == "change"]
    begins = next_offset(BATCHES[55])
    assert (change["type"], change["offset"], change["generation"]) == ("TRUNCATED", begins, 1)
    assert change["cluster_id"]
    records = [row for row in rows if row["kind"] == "record"]
    assert {(row["epoch"], row["generation"]) for row in records} == {(9, 1)}
    assert records[0]["offset"] == begins
    assert follow.step() == []


def test_a_deep_truncation_is_told_from_an_older_batch_on(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES)
    follow.step()
    os.truncate(live.log, sum(map(len, BATCHES[:70])))
    rows = follow.step()
    (change,) = [row for row in rows if row["kind"] == "change"]
    void = change["offset"]
    assert 0 < void <= next_offset(BATCHES[69])
    assert _offsets(rows) == list(range(void, next_offset(BATCHES[69])))


def test_a_truncation_over_a_segments_beginning_goes_back_to_the_one_before(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:40])
    first = live.log
    live.roll(next_offset(BATCHES[39]))
    live.append(*BATCHES[40:43])
    follow.step()
    live.log.unlink()
    os.truncate(first, sum(map(len, BATCHES[:39])))
    rows = follow.step()
    assert [(row["type"], row["offset"]) for row in rows] == [
        ("TRUNCATED", next_offset(BATCHES[38]))
    ]


def test_a_log_that_has_gone_is_told_once_and_taken_up_again(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:10])
    follow.step()
    aside = live.path.with_name("aside")
    live.folder.rename(aside)
    assert [row["type"] for row in follow.step()] == ["GONE"]
    assert follow.step() == []
    aside.rename(live.folder)
    assert [row["type"] for row in follow.step()] == ["APPEARED"]
    live.append(*BATCHES[10:12])
    assert _offsets(follow.step())[0] == next_offset(BATCHES[9])


def test_a_root_that_has_gone_is_told_with_whose_it_was_and_others_go_on(live: Live) -> None:
    other = Live(live.path.with_name("node-2"))
    paths = json.dumps([str(live.path), str(other.path)])
    live.append(*BATCHES[:3])
    follow = Follow(live, path="", paths=paths)
    follow.step()
    shutil.rmtree(live.path)
    other.append(*BATCHES[:3])
    rows = follow.step()
    (change,) = [row for row in rows if row["kind"] == "change"]
    assert (change["type"], change["directory"], change["node_id"]) == ("GONE", str(live.path), 1)
    assert change["cluster_id"]
    assert change["timestamp_ms"] > 0
    assert _offsets(rows) == list(range(next_offset(BATCHES[2])))


def test_a_directory_that_appears_is_told_but_not_those_that_a_stream_begins_with(
    live: Live,
) -> None:
    live.append(*BATCHES[:3])
    follow = Follow(live, path=str(live.path.parent))
    assert {row["kind"] for row in follow.step()} == {"record"}
    Live(live.path.with_name("node-2")).append(*BATCHES[:2])
    rows = follow.step()
    (change,) = [row for row in rows if row["kind"] == "change"]
    assert (change["type"], change["directory"]) == ("APPEARED", str(live.path.parent / "node-2"))
    assert _offsets(rows) == list(range(next_offset(BATCHES[1])))


def test_a_log_that_cannot_be_listed_for_a_while_is_not_gone(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.append(*BATCHES[:3])
    follow = Follow(live)
    follow.step()

    def refused(paths: Any, **_: Any) -> Any:
        return [KraftoolError(f"{path}: Input/output error") for path in paths]

    with monkeypatch.context() as patch:
        patch.setattr("kraftool.spark.live.logs.find_fleets", refused)
        assert follow.step() == []
    live.append(BATCHES[3])
    rows = follow.step()
    assert {row["kind"] for row in rows} == {"record"}
    assert _offsets(rows)[0] == next_offset(BATCHES[2])


def test_damage_with_batches_behind_it_is_a_problem_and_not_waited_for(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:5], b"\xff" * 50, *BATCHES[5:8])
    rows = follow.step()
    assert _offsets(rows) == list(range(next_offset(BATCHES[7])))
    assert [row["size"] for row in rows if row["kind"] == "problem"] == [50]


def test_a_torn_tail_counts_once_the_log_has_rolled(live: Live) -> None:
    follow = Follow(live)
    live.append(*BATCHES[:5], BATCHES[5][:30])
    assert {row["kind"] for row in follow.step()} == {"record"}
    live.roll(next_offset(BATCHES[4]))
    live.append(BATCHES[5])
    rows = follow.step()
    assert [row["damage"] for row in rows if row["kind"] == "problem"] == ["torn tail"]
    assert _offsets(rows)[0] == next_offset(BATCHES[4])


def test_a_limit_cuts_at_batches_and_loses_nothing(live: Live) -> None:
    live.append(*BATCHES)
    follow, seen, steps = Follow(live), [], 0
    while rows := follow.step(limit=2_000):
        seen += rows
        steps += 1
    assert steps > 5
    assert _offsets(seen) == list(range(END))


def test_a_stream_may_begin_at_the_end(live: Live) -> None:
    live.append(*BATCHES[:10])
    follow = Follow(live, startingOffsets="latest")
    assert follow.step() == []
    live.append(BATCHES[10])
    assert _offsets(follow.step())[0] == next_offset(BATCHES[9])


def test_looking_keeps_no_file_open(live: Live) -> None:
    live.append(*BATCHES[:40])
    follow = Follow(live)
    follow.step()
    before = len(os.listdir("/proc/self/fd"))
    for batch in BATCHES[40:50]:
        live.append(batch)
        follow.step()
    assert len(os.listdir("/proc/self/fd")) == before


def test_long_ranges_are_cut_for_several_tasks(live: Live) -> None:
    live.append(*BATCHES)
    follow = Follow(live, splitBytes="2000")
    assert _offsets(follow.step()) == list(range(END))
    assert len(follow.reader.partitions(follow.before, follow.offset)) > 4


def test_marks_stay_few_and_reach_back_at_most_twice_as_far() -> None:
    marks: list[BatchMark] = []
    for number in range(20_000):
        marks = thinned([*marks, BatchMark("s", number, "", number)])
    ages = sorted(19_999 - mark.number for mark in marks)
    assert len(ages) < 60
    assert ages[:8] == list(range(8))
    for age in (10, 100, 1000, 8000):
        assert min(mark for mark in ages if mark >= age) <= 2 * age + 8


def _run(spark: "SparkSession", live: Live, out: Path) -> None:
    query = (
        spark.readStream.format("kraft")
        .option("maxBytesPerTrigger", 6000)
        .option("stateLocation", str(out / "state"))
        .load(str(live.path))
        .writeStream.format("parquet")
        .option("checkpointLocation", str(out / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(out / "table"))
    )
    assert query.awaitTermination(120)
    assert query.exception() is None


def test_parquet_has_everything_exactly_once_over_restarts_and_a_truncation(
    spark: "SparkSession", live: Live, tmp_path: Path
) -> None:
    from kraftool.spark.source import register

    register(spark)
    out = tmp_path / "out"

    def table() -> list[tuple[Any, ...]]:
        rows = spark.read.parquet(str(out / "table"))
        return sorted(
            tuple(row) for row in rows.select("generation", "kind", "offset", "epoch").collect()
        )

    live.append(*BATCHES[:60])
    _run(spark, live, out)
    live.append(*BATCHES[60:90], BATCHES[90][:33])
    _run(spark, live, out)
    before = table()
    assert [row[2] for row in before] == list(range(next_offset(BATCHES[89])))
    # A crash after a batch was written to the log of offsets and before it was committed.
    commits = out / "checkpoint/commits"
    last = max(
        (path for path in commits.iterdir() if path.name.isdigit()), key=lambda p: int(p.name)
    )
    _forget(last)
    os.truncate(live.log, sum(map(len, BATCHES[:88])))
    _run(spark, live, out)
    begins, epoch = next_offset(BATCHES[87]), RecordBatch.read(BATCHES[89]).epoch
    assert table() == [*before, (1, "change", begins, epoch)]


def _forget(commit: Path) -> None:
    for path in (commit, commit.with_name(f".{commit.name}.crc")):
        path.unlink(missing_ok=True)
