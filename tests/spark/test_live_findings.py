"""The stream of findings: what changed is judged again, and only what is new for a file comes."""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql.streaming.datasource import ReadAllAvailable

from kraftool.arrow.settings import read_settings
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.columns import spark_schema
from kraftool.spark.live import judged
from kraftool.spark.stream import stream_reader
from tests.spark.live_fleet import BATCHES, DATA, Live, next_offset
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark
Row = dict[str, Any]
BROKEN = FIXTURES / "damaged/broken-quorum-state/quorum-state"


@pytest.fixture
def live(tmp_path: Path) -> Live:
    made = Live(tmp_path / "node-1")
    made.append(*BATCHES[:5])
    return made


class Follow:
    """A stream reader asked as Spark asks it: every offset goes through JSON."""

    def __init__(self, path: Path, **options: str) -> None:
        state = tempfile.mkdtemp(prefix="state-", dir=path.parent)
        settings = read_settings({"path": str(path), "stateLocation": state, **options})
        source = "kraft.findings"
        self.reader = stream_reader(source, settings, spark_schema(source))
        self.offset = self.reader.initialOffset()

    def step(self) -> list[Row]:
        before = self.offset
        self.offset = json.loads(json.dumps(self.reader.latestOffset(before, ReadAllAvailable())))
        return self.rows(before, self.offset)

    def rows(self, start: Row, end: Row) -> list[Row]:
        return [
            row
            for task in self.reader.partitions(start, end)
            for batch in self.reader.read(task)
            for row in batch.to_pylist()
        ]


def _codes(rows: list[Row]) -> list[str]:
    return sorted(row["code"] for row in rows)


def test_a_whole_directory_has_no_news_and_a_file_that_breaks_has(live: Live) -> None:
    shutil.copy(DATA / "__cluster_metadata-0/quorum-state", live.folder)
    follow = Follow(live.path)
    assert follow.step() == []
    shutil.copy(BROKEN, live.folder / "quorum-state")
    rows = follow.step()
    assert set(_codes(rows)) == {"KT-DIR-QUORUM-STATE"}
    assert {(row["node_id"], row["file"]) for row in rows} == {
        (1, str(live.folder / "quorum-state"))
    }
    before = follow.offset
    assert follow.step() == []
    assert follow.offset == before


def test_only_what_is_new_for_a_file_comes_when_it_changes(live: Live) -> None:
    meta = live.path / "meta.properties"
    follow = Follow(live.path)
    assert follow.step() == []
    text = meta.read_text().replace("version=1", "version=7")
    meta.write_text(text)
    first = follow.step()
    assert first
    meta.write_text(text + "node.id=1\nnode.id=2\n")
    again = follow.step()
    keys = {(row["code"], row["text"], row["found"]) for row in first}
    assert not keys & {(row["code"], row["text"], row["found"]) for row in again}


def test_a_finding_that_went_away_and_comes_back_is_told_again(live: Live) -> None:
    whole = (DATA / "__cluster_metadata-0/quorum-state").read_bytes()
    state = live.folder / "quorum-state"
    follow = Follow(live.path)
    state.write_bytes(BROKEN.read_bytes())
    first = _codes(follow.step())
    state.write_bytes(whole)
    assert follow.step() == []
    state.write_bytes(BROKEN.read_bytes())
    assert _codes(follow.step()) == first != []


def test_a_batch_that_is_planned_again_has_the_same_rows_whatever_the_files_are_now(
    live: Live,
) -> None:
    shutil.copy(BROKEN, live.folder / "quorum-state")
    follow = Follow(live.path)
    start = follow.offset
    rows = follow.step()
    shutil.rmtree(live.folder)
    assert follow.rows(start, follow.offset) == rows != []


def test_a_growing_log_is_left_to_the_stream_of_records(live: Live) -> None:
    follow = Follow(live.path)
    follow.step()
    live.append(b"\xff" * 50)
    index = live.log.with_suffix(".index")
    index.write_bytes(b"\x01" * 11)
    assert follow.step() == []
    live.roll(next_offset(BATCHES[4]))
    rows = follow.step()
    assert {row["file"] for row in rows} == {str(index)}


def test_a_stream_may_begin_with_what_is_odd_from_now_on(live: Live) -> None:
    state = live.folder / "quorum-state"
    shutil.copy(BROKEN, state)
    follow = Follow(live.path, startingOffsets="latest")
    assert follow.step() == []
    os.utime(state, ns=(1, 1))
    assert follow.step() == []
    shutil.copy(BROKEN, live.folder / "partition.metadata")
    assert {row["file"] for row in follow.step()} == {str(live.folder / "partition.metadata")}


def test_large_files_are_judged_by_tasks_and_many_wait_for_the_next_look(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(BROKEN, live.folder / "quorum-state")
    expected = _codes(Follow(live.path).step())
    monkeypatch.setattr(judged, "LARGE", 1)
    assert _codes(Follow(live.path).step()) == expected
    monkeypatch.undo()
    monkeypatch.setattr("kraftool.spark.live.finding_stream.AT_ONCE", 1)
    follow, seen, steps = Follow(live.path), list[Row](), 0
    before = None
    while before != follow.offset:
        before = follow.offset
        seen += follow.step()
        steps += 1
    assert _codes(seen) == expected
    assert steps > 2


@pytest.mark.parametrize(("most", "text"), [(1, "8 places"), (0, "1 more findings")])
def test_many_findings_of_one_file_are_counted(
    live: Live, monkeypatch: pytest.MonkeyPatch, most: int, text: str
) -> None:
    monkeypatch.setattr(judged, "MOST", most)
    shutil.copy(FIXTURES / f"damaged/garbage-index/{0:020}.index", live.folder)
    live.roll(next_offset(BATCHES[4]))
    rows = Follow(live.path).step()
    assert len(rows) == 1
    assert text in rows[0]["text"]


def test_what_cannot_be_listed_is_told_once_and_remembered_as_it_was(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(BROKEN, live.folder / "quorum-state")
    follow = Follow(live.path)
    assert follow.step()

    def refused(paths: Any, **_: Any) -> Any:
        return [KraftoolError(f"{path}: Input/output error") for path in paths]

    with monkeypatch.context() as patch:
        patch.setattr("kraftool.spark.live.logs.find_fleets", refused)
        assert _codes(follow.step()) == ["KT-DIR-READ"]
        assert follow.step() == []
    assert follow.step() == []
