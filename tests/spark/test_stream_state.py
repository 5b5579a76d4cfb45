"""The memory of a stream: small offsets, a log that survives a kill, and one listing a trigger."""

import json
import os
import pickle
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql.streaming.datasource import ReadAllAvailable

from kraftool.arrow.search import find_fleets
from kraftool.arrow.settings import read_settings
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.columns import spark_schema
from kraftool.spark.errors import OccupiedError
from kraftool.spark.live import logs, state_log
from kraftool.spark.live.following import FleetStreamReader
from kraftool.spark.live.state_log import StateLog
from kraftool.spark.stream import live_schema, stream_reader
from tests.spark.live_fleet import BATCHES, Live, next_offset
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark

Row = dict[str, Any]
BROKEN = FIXTURES / "damaged/broken-quorum-state/quorum-state"


def _reader(path: Path, state: Path, **options: str) -> FleetStreamReader:
    given = {"path": str(path), "stateLocation": str(state), **options}
    return stream_reader("kraft", read_settings(given), spark_schema("kraft"))


def _live_reader(path: Path, state: Path, **options: str) -> FleetStreamReader:
    given = {"path": str(path), "stateLocation": str(state), **options}
    return stream_reader("kraft.live", read_settings(given), live_schema())


def _step(reader: FleetStreamReader, start: Row) -> Row:
    end: Row = json.loads(json.dumps(reader.latestOffset(start, ReadAllAvailable())))
    return end


def _rows(reader: FleetStreamReader, start: Row, end: Row) -> list[Row]:
    """The rows as Spark reads them: by another reader, to which the tasks travel."""
    tasks = [pickle.loads(pickle.dumps(task)) for task in reader.partitions(start, end)]
    return [row for task in tasks for batch in reader.read(task) for row in batch.to_pylist()]


def _offsets(rows: list[Row]) -> list[int]:
    return [row["offset"] for row in rows if row["kind"] == "record"]


@pytest.fixture
def live(tmp_path: Path) -> Live:
    live = Live(tmp_path / "fleet/node-1")
    live.append(*BATCHES[:10])
    return live


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    find = find_fleets

    def counted(paths: list[str], **options: Any) -> Any:
        seen.extend(paths)
        return find(paths, **options)

    monkeypatch.setattr(logs, "find_fleets", counted)
    return seen


def test_a_trigger_lists_the_fleet_once_and_findings_list_it_no_second_time(
    live: Live, listings: list[str], tmp_path: Path
) -> None:
    reader = _live_reader(live.path.parent, tmp_path / "state")
    start = reader.initialOffset()
    end = _step(reader, start)
    assert _rows(reader, start, end)
    assert listings == [str(live.path.parent)]
    shutil.copy(BROKEN, live.folder / "quorum-state")
    live.append(BATCHES[10])
    last = _step(reader, end)
    assert {row["kind"] for row in _rows(reader, end, last)} == {"record", "finding"}
    assert len(listings) == 2


def test_the_stream_of_everything_has_all_columns_of_both(live: Live, tmp_path: Path) -> None:
    shutil.copy(BROKEN, live.folder / "quorum-state")
    reader = _live_reader(live.path.parent, tmp_path / "state")
    start = reader.initialOffset()
    rows = _rows(reader, start, _step(reader, start))
    assert _offsets(rows) == list(range(next_offset(BATCHES[9])))
    assert {row["code"] for row in rows if row["kind"] == "finding"} == {"KT-DIR-QUORUM-STATE"}
    assert all(list(row) == live_schema().names for row in rows)
    without = _live_reader(live.path.parent, tmp_path / "other", findings="false")
    rows = _rows(without, start, _step(without, start))
    assert {row["kind"] for row in rows} == {"record"}


def test_an_offset_is_as_small_however_many_logs_there_are(live: Live, tmp_path: Path) -> None:
    sizes = []
    for count in (1, 30):
        for number in range(2, count + 1):
            shutil.copytree(live.path, live.path.with_name(f"node-{number}"))
        reader = _reader(live.path.parent, tmp_path / f"state-{count}")
        sizes.append(len(json.dumps(_step(reader, reader.initialOffset()))))
    assert sizes[0] == sizes[1] < 120


def test_an_entry_has_only_the_logs_that_changed(live: Live, tmp_path: Path) -> None:
    for number in range(2, 41):
        shutil.copytree(live.path, live.path.with_name(f"node-{number}"))
    state = tmp_path / "state"
    reader = _reader(live.path.parent, state)
    first = _step(reader, reader.initialOffset())
    live.append(BATCHES[10])
    second = _step(reader, first)
    whole, change = (
        json.loads(zlib.decompress((state / f"{offset['entry']}.state").read_bytes()))["changed"]
        for offset in (first, second)
    )
    assert (len(whole), list(change)) == (40, [f"logs:{live.folder}"])


def test_a_log_that_was_read_up_is_not_opened_until_it_changes(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(live.log, ns=(1, 1))
    reader = _reader(live.path, tmp_path / "state")
    end = _step(reader, reader.initialOffset())
    assert _step(reader, end) == end  # a poll that sees nothing new
    opened: list[str] = []
    of = logs.Logs.segments

    def counted(self: logs.Logs, folder: str, *rest: Any) -> Any:
        opened.append(folder)
        return of(self, folder, *rest)

    monkeypatch.setattr(logs.Logs, "segments", counted)
    assert _step(reader, end) == end
    assert opened == []
    # The same size, another content.
    os.truncate(live.log, sum(map(len, BATCHES[:9])))
    other = bytearray(BATCHES[9])
    other[12:16] = (9).to_bytes(4, "big")
    live.append(bytes(other))
    rows = _rows(reader, end, _step(reader, end))
    assert opened == [str(live.folder)]
    assert [row["type"] for row in rows if row["kind"] == "change"] == ["TRUNCATED"]


def test_a_run_that_was_killed_before_spark_knew_its_entry_goes_on_from_the_one_before(
    live: Live, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    reader = _reader(live.path, state)
    start = _step(reader, reader.initialOffset())
    live.append(BATCHES[10])
    lost = _step(reader, start)
    reader.stop()  # as the end of a process that was killed: Spark never wrote `lost` down
    (state / ".new-000000000002-d-000000000000").write_bytes(b"half")
    live.append(BATCHES[11])
    again = _reader(live.path, state)
    end = _step(again, start)
    begins, ends = next_offset(BATCHES[9]), next_offset(BATCHES[11])
    assert _offsets(_rows(again, start, end)) == list(range(begins, ends))
    assert not (state / f"{lost['entry']}.state").exists()
    assert sorted(path.suffix for path in state.iterdir()) == ["", ".state", ".state"]


def test_a_new_stream_that_was_killed_before_its_first_batch_begins_again(
    live: Live, tmp_path: Path
) -> None:
    for _ in range(2):
        reader = _reader(live.path, tmp_path / "state", startingOffsets="latest")
        start = reader.initialOffset()
        end = _step(reader, start)
        assert _rows(reader, start, end) == []
        reader.stop()


def test_a_batch_is_planned_again_from_its_entry_whatever_came_after(
    live: Live, tmp_path: Path
) -> None:
    reader = _reader(live.path, tmp_path / "state")
    start = reader.initialOffset()
    end = _step(reader, start)
    first = _rows(reader, start, end)
    reader.stop()
    live.append(*BATCHES[10:20])
    assert _rows(_reader(live.path, tmp_path / "state"), start, end) == first


def test_a_folder_of_another_stream_or_with_other_things_is_refused(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_log, "_PATIENCE_S", 0.0)
    state = tmp_path / "state"
    reader = _reader(live.path, state)
    end = _step(reader, reader.initialOffset())
    with pytest.raises(OccupiedError, match="another stream is using"):
        _step(_reader(live.path, state), end)
    live.append(BATCHES[10])
    _step(reader, end)
    reader.stop()
    other = _reader(live.path, state)
    with pytest.raises(OccupiedError, match="is the stateLocation of another stream"):
        _step(other, other.initialOffset())
    (tmp_path / "full").mkdir()
    (tmp_path / "full/letter").touch()
    for place, message in ((tmp_path / "full", "letter"), (live.path / "x", "is in the data")):
        reader = _reader(live.path, place)
        with pytest.raises(OccupiedError, match=message):
            _step(reader, reader.initialOffset())


@pytest.mark.parametrize(
    ("data", "message"), [(None, "is missing"), (b"", "is damaged"), (b"x" * 40, "is damaged")]
)
def test_an_entry_that_is_missing_or_damaged_is_named_and_nothing_is_read_twice(
    live: Live, tmp_path: Path, data: bytes | None, message: str
) -> None:
    reader = _reader(live.path, tmp_path / "state")
    end = _step(reader, reader.initialOffset())
    reader.stop()
    entry = tmp_path / f"state/{end['entry']}.state"
    entry.unlink()
    if data is not None:
        entry.write_bytes(data)
    with pytest.raises(KraftoolError, match=message) as raised:
        _step(_reader(live.path, tmp_path / "state"), end)
    assert entry.name in raised.value.message
    assert raised.value.hint


def test_an_offset_that_names_no_entry_and_a_url_say_what_is_wrong(
    live: Live, tmp_path: Path
) -> None:
    with pytest.raises(KraftoolError, match="which is not an entry of a state log"):
        _step(_reader(live.path, tmp_path / "state"), {"entry": "x"})
    with pytest.raises(KraftoolError, match="not a URL"):
        read_settings({"path": str(live.path), "stateLocation": "s3://bucket/state"})


def test_a_stream_without_a_state_location_says_what_to_give(live: Live) -> None:
    reader = stream_reader("kraft", read_settings({"path": str(live.path)}), spark_schema("kraft"))
    for start in (reader.initialOffset(), {"entry": f"{0:012}-w-{0:012}"}):
        with pytest.raises(KraftoolError, match=r"requires stateLocation.*/srv/state") as raised:
            _step(reader, start)
        assert "[KRAFT_INVALID_OPTION]" in raised.value.message


def test_the_log_forgets_old_entries_and_never_one_that_is_still_needed(tmp_path: Path) -> None:
    log = StateLog(str(tmp_path / "state"))
    memory: Row = {f"key-{number}": os.urandom(20).hex() for number in range(50)}
    names: list[str] = []
    memories: list[Row] = []
    for number in range(400):
        changed = {f"key-{number % 50}": os.urandom(20).hex(), "number": number}
        memory = {**memory, **changed}
        names.append(log.append(names[-1] if names else "", changed, {"at": number}))
        memories.append(memory)
        log.forget_before(names[-1])
    log.close()
    left = list((tmp_path / "state").glob("*.state"))
    assert state_log.KEPT <= len(left) <= state_log.KEPT + 60
    again = StateLog(str(tmp_path / "state"))
    for number in (-1, -2, -50, -state_log.KEPT):
        assert again.memory(names[number]) == memories[number]
        assert again.news(names[number]) == {"at": 400 + number}
    with pytest.raises(KraftoolError, match="is missing"):
        again.memory(names[0])
