"""Topics and partitions against `state -o json`, and their histories against the states between."""

import json
import shutil
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.arrow.fleet import FleetFile, find_fleet
from kraftool.commands import main
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.segment import scan
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.image.image import MetadataImage
from kraftool.image.writer import snapshot_records
from kraftool.reports.state.entities import partition_object
from kraftool.reports.state.load import load_state
from kraftool.spark.tables.sink import SinkError
from kraftool.spark.tables.states import HistoryPart, write_states
from kraftool.spark.tables.units import borders
from kraftool.storage.source import BytesSource

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
DIRECTORIES = sorted(str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("**/data"))
DAMAGED = sorted(path.name for path in FIXTURES.glob("damaged/*") if path.is_dir())
DYNAMIC = FIXTURES / "kafka-4.3.0/dynamic-quorum"
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
Row = dict[str, Any]

_NAMES = {
    "partition": "partition",
    "leader": "leaderId",
    "leader_epoch": "leaderEpoch",
    "partition_epoch": "partitionEpoch",
    "replicas": "replicaIds",
    "isr": "isr",
    "elr": "elr",
    "last_known_elr": "lastKnownElr",
    "adding_replicas": "addingReplicaIds",
    "removing_replicas": "removingReplicaIds",
    "directories": "directoryIds",
    "leader_recovery_state": "leaderRecoveryState",
}


def _write(path: Path, sink: Any, **more: Any) -> list[FleetFile]:
    files = list(find_fleet([str(path)]).files)
    write_states(files, sink, **{"newest": True, "show_secrets": False, **more})
    return files


def _state(path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Row | None:
    """What `state -o json` says, if there is a state."""
    monkeypatch.setattr("sys.argv", ["kraftool", "state", str(path), "-o", "json", "-q"])
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    found: Row | None = json.loads(out) if out else None
    return found


def _check_end(sink: Any, state: Row | None) -> None:
    if state is None:
        assert not sink.rows("topics")
        assert not sink.rows("partitions")
        return
    configs: dict[str, list[tuple[str, str]]] = {}
    for each in state["configs"]:
        if each["resourceType"] == "TOPIC":
            configs.setdefault(each["resourceName"], []).append((each["name"], each["value"]))
    topics, partitions = sink.rows("topics"), sink.rows("partitions")
    assert [
        (row["topic"], row["topic_id"], row["partition_count"], row["configs"]) for row in topics
    ] == [
        (each["name"], each["topicId"], each["partitionCount"], configs.get(each["name"], []))
        for each in state["topics"]
    ]
    assert [
        (row["topic"], row["topic_id"], {name: row[column] for column, name in _NAMES.items()})
        for row in partitions
    ] == [
        (topic["name"], topic["topicId"], each)
        for topic in state["topics"]
        for each in topic["partitions"]
    ]
    ends = {(row["end_offset"], row["end_epoch"]) for row in (*topics, *partitions)}
    assert ends <= {(state["provenance"]["offset"], state["provenance"]["lastEpoch"])}


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_topics_and_partitions_are_those_of_state(
    directory: str, collected: Any, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = FIXTURES / directory
    (owner, *_) = {file.directory for file in _write(path, collected)}
    _check_end(collected, _state(path, capsysbinary, monkeypatch))
    for table, cluster, day, batch in collected.batches:
        assert (cluster, day) == (owner.cluster_id, None), table
        assert set(batch.column("node_id").to_pylist()) == {owner.node_id}
        assert set(batch.column("directory").to_pylist()) == {str(path)}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_directories_give_what_state_gives(
    name: str, tmp_path: Path, collected: Any, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    shutil.copytree(DYNAMIC / "node-2/data", data)
    for damaged in (FIXTURES / "damaged" / name).iterdir():
        if damaged.name != "SOURCE" and damaged.is_file():
            where = "" if damaged.name == "meta.properties" else "__cluster_metadata-0"
            shutil.copy(damaged, data / where / damaged.name)
    _write(data, collected)
    _check_end(collected, _state(data, capsysbinary, monkeypatch))
    _check_history(collected, data)


def _entities(image: MetadataImage) -> Iterator[tuple[tuple[str, int], Row]]:
    for topic in image.topics.by_id.values():
        for number, partition in topic.partitions.items():
            told = json.loads(json.dumps(partition_object(number, partition)))
            yield (topic.id, number), told


def _check_history(sink: Any, path: Path) -> None:
    """After each offset the partitions that have rows are as the state there has them."""
    rows = sorted(sink.rows("partition_history"), key=lambda row: row["offset"])
    last = {(row["topic_id"], row["partition"], row["offset"]): row for row in rows}
    offsets = sorted({row["offset"] for row in rows if row["visibility"] == "visible"})
    for offset in offsets[:: max(len(offsets) // 12, 1)]:
        try:
            at = dict(_entities(load_state(str(path), at=offset + 1).image))
        except KraftoolError:
            continue  # a snapshot that is damaged there is passed over at the end
        for (topic, number, where), row in last.items():
            if where != offset:
                continue
            if row["change"] == "removed":
                assert (topic, number) not in at
                assert row["leader"] is None
            else:
                found = {name: row[column] for column, name in _NAMES.items()}
                assert found == at[topic, number]


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_histories_say_what_was_after_each_record(directory: str, collected: Any) -> None:
    path = FIXTURES / directory
    _write(path, collected)
    _check_history(collected, path)


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_histories_go_back_as_far_as_the_log_tells(
    directory: str, collected: Any, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row for each record of the log that is about a topic or partition."""
    path = FIXTURES / directory
    _write(path, collected)
    monkeypatch.setattr("sys.argv", ["kraftool", "dump-log", str(path), "-o", "jsonl", "-q"])
    with pytest.raises(SystemExit):
        main()
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    records = [each for each in lines if each["kind"] == "record"]
    if not records or records[0]["offset"] > 0:
        return  # what came before is not known, and not all of it can be told
    topics = ("TOPIC_RECORD", "REMOVE_TOPIC_RECORD")
    partitions = ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")

    def told(table: str, types: tuple[str, ...]) -> list[tuple[int, str]]:
        words = {"".join(each.title().split("_")): each for each in types}
        return sorted(
            (row["offset"], words[row["type"]])
            for row in collected.rows(table)
            if row["type"] in words
        )

    def logged(types: tuple[str, ...]) -> list[tuple[int, str]]:
        return [(record["offset"], record["type"]) for record in records if record["type"] in types]

    assert told("topic_history", topics) == logged(topics)
    assert told("partition_history", partitions) == logged(partitions)
    configs = [
        (record["offset"], record["data"]["name"])
        for record in records
        if record["type"] == "CONFIG_RECORD" and record["data"]["resourceType"] == 2
    ]
    found = [
        (row["offset"], row["config"]) for row in collected.rows("topic_history") if row["config"]
    ]
    assert sorted(found) == configs


# --- logs made for the purpose --------------------------------------------------------------------


def _log(folder: Path, *batches: list[tuple[str, int, Row]], start: int = 0) -> Path:
    """A log of batches of records, in a data directory."""
    log, offset = b"", start
    for records in batches:
        values = [(None, encode_record(*record)) for record in records]
        log += encode_batch(values, base_offset=offset, epoch=1, timestamp=1_000 + offset)
        offset += len(values)
    below = folder / "data/__cluster_metadata-0"
    below.mkdir(parents=True, exist_ok=True)
    (below / f"{start:020}.log").write_bytes(log)
    return folder / "data"


def _topic(name: str = "orders", topic_id: str = TOPIC_ID) -> tuple[str, int, Row]:
    return "TopicRecord", 0, {"name": name, "topicId": topic_id}


def _partition(number: int = 0, elr: list[int] | None = None) -> tuple[str, int, Row]:
    value: Row = {
        "partitionId": number, "topicId": TOPIC_ID, "replicas": [1, 2], "isr": [1],
        "removingReplicas": [], "addingReplicas": [], "leader": 1, "leaderEpoch": 0,
        "partitionEpoch": 0, "directories": [TOPIC_ID, TOPIC_ID], "eligibleLeaderReplicas": elr,
        "lastKnownElr": None,
    }  # fmt: skip
    return "PartitionRecord", 2, value


def _change(leader: int) -> tuple[str, int, Row]:
    return "PartitionChangeRecord", 2, {"topicId": TOPIC_ID, "partitionId": 0, "leader": leader}


def _config(name: str, value: str | None) -> tuple[str, int, Row]:
    told = {"resourceType": 2, "resourceName": "orders", "name": name, "value": value}
    return "ConfigRecord", 0, told


def _begin(name: str = "t") -> tuple[str, int, Row]:
    return "BeginTransactionRecord", 0, {"name": name}


_END: tuple[str, int, Row] = ("EndTransactionRecord", 0, {})
_ABORT: tuple[str, int, Row] = ("AbortTransactionRecord", 0, {"reason": None})
_REMOVE: tuple[str, int, Row] = ("RemoveTopicRecord", 0, {"topicId": TOPIC_ID})


def _told(sink: Any, table: str, *columns: str) -> list[tuple[Any, ...]]:
    rows = sorted(sink.rows(table), key=lambda row: row["offset"])
    return [tuple(row[column] for column in columns) for row in rows]


def test_each_change_of_a_partition_has_a_row(tmp_path: Path, collected: Any) -> None:
    clear: tuple[str, int, Row] = ("ClearElrRecord", 0, {"topicName": "orders"})
    path = _log(
        tmp_path, [_topic(), _partition(0, [2]), _partition(1)], [_change(2)], [clear], [_REMOVE]
    )
    _write(path, collected)
    columns = ("offset", "change", "topic", "partition", "leader", "elr", "partition_epoch")
    assert _told(collected, "partition_history", *columns) == [
        (1, "created", "orders", 0, 1, [2], 0),
        (2, "created", "orders", 1, 1, [], 0),
        (3, "changed", "orders", 0, 2, [2], 1),
        (4, "ELR cleared", "orders", 0, 2, [], 2),
        (5, "removed", "orders", 0, None, None, None),
        (5, "removed", "orders", 1, None, None, None),
    ]
    assert {row["timestamp_ms"] for row in collected.rows("partition_history")} == {
        1_000, 1_003, 1_004, 1_005,
    }  # fmt: skip
    assert _told(collected, "topic_history", "offset", "change") == [(0, "created"), (5, "removed")]
    assert collected.rows("topics") == []


def test_a_topics_configs_are_told_after_each_change_and_masked(
    tmp_path: Path, collected: Any
) -> None:
    path = _log(
        tmp_path,
        [_topic(), _config("retention.ms", "5"), _config("made.up.password", "canary")],
        [_config("retention.ms", None)],
    )
    _write(path, collected)
    masked = ("made.up.password", "[redacted]")
    columns = ("offset", "change", "config", "configs")
    assert _told(collected, "topic_history", *columns) == [
        (0, "created", None, []),
        (1, "config set", "retention.ms", [("retention.ms", "5")]),
        (2, "config set", "made.up.password", [masked, ("retention.ms", "5")]),
        (3, "config removed", "retention.ms", [masked]),
    ]
    assert [row["configs"] for row in collected.rows("topics")] == [[masked]]
    shown = type(collected)()
    _write(path, shown, show_secrets=True)
    assert [row["configs"] for row in shown.rows("topics")] == [[("made.up.password", "canary")]]


@pytest.mark.parametrize(
    ("end", "visibility", "partitions"),
    [([_END], "visible", 2), ([_ABORT], "aborted", 1), ([], "open", 1)],
)
def test_rows_of_a_transaction_say_who_sees_them(
    end: list[tuple[str, int, Row]],
    visibility: str,
    partitions: int,
    tmp_path: Path,
    collected: Any,
) -> None:
    path = _log(tmp_path, [_topic(), _partition(0)], [_begin(), _partition(1), _change(2), *end])
    _write(path, collected)
    assert _told(collected, "partition_history", "offset", "visibility") == [
        (1, "visible"), (3, visibility), (4, visibility),
    ]  # fmt: skip
    assert len(collected.rows("partitions")) == partitions


def test_records_that_do_not_fit_have_no_row(tmp_path: Path, collected: Any) -> None:
    path = _log(tmp_path, [_topic(), _topic("other"), _change(2)], [_END], [_partition()], [_ABORT])
    _write(path, collected)
    assert _told(collected, "topic_history", "offset") == [(0,)]
    assert _told(collected, "partition_history", "offset", "visibility") == [(4, "visible")]


def _snapshot(path: Path, offset: int, *, whole: bool = True) -> None:
    """The snapshot that Kafka would have written at an offset of this log."""
    image = load_state(str(path), at=offset).image
    frame = SnapshotFrame(epoch=1, last_contained_log_timestamp=999 + offset, timestamp=5_000)
    records = (encode_record(*snapshot_record) for snapshot_record in snapshot_records(image, 30))
    data = b"".join(encode_snapshot(records, frame))
    name = write_checkpoint_name(offset, 1)
    (path / "__cluster_metadata-0" / name).write_bytes(data if whole else data[:-40])


def test_the_history_reaches_back_before_the_newest_snapshot(
    tmp_path: Path, collected: Any
) -> None:
    path = _log(tmp_path, [_topic(), _partition()], [_change(2)], [_change(1)], [_change(2)])
    _snapshot(path, 4)
    assert load_state(str(path)).start_offset == 4
    _write(path, collected)
    columns = ("offset", "leader", "leader_epoch")
    assert _told(collected, "partition_history", *columns) == [
        (1, 1, 0), (2, 2, 1), (3, 1, 2), (4, 2, 3),
    ]  # fmt: skip


def _cleaned(tmp_path: Path, start: int) -> Path:
    """A log of which the records before an offset are gone, with three snapshots."""
    whole = [[_topic(), _partition()], *([_change(1 + number % 2)] for number in range(8))]
    path = _log(tmp_path, *whole)
    for offset in (3, 5, 8):
        _snapshot(path, offset, whole=offset != 3)
    segment = path / "__cluster_metadata-0/00000000000000000000.log"
    segment.unlink()
    return _log(
        tmp_path, *([_change(1 + number % 2)] for number in range(start - 2, 8)), start=start
    )


def test_the_history_of_a_cleaned_log_begins_with_the_oldest_whole_snapshot(
    tmp_path: Path, collected: Any
) -> None:
    path = _cleaned(tmp_path, 3)
    _write(path, collected)
    assert _told(collected, "partition_history", "offset", "partition_epoch") == [
        (5, 4), (6, 5), (7, 6), (8, 7), (9, 8),
    ]  # fmt: skip


def _damage(path: Path, offset: int) -> None:
    """Make the CRC of the batch at an offset wrong."""
    (log,) = (path / "__cluster_metadata-0").glob("*.log")
    data = bytearray(log.read_bytes())
    batch = next(
        each
        for each in scan(BytesSource("", bytes(data)).read_at)
        if isinstance(each, RecordBatch) and each.base_offset == offset
    )
    data[batch.position + 70] ^= 1
    log.write_bytes(bytes(data))


def test_a_damaged_log_has_its_history_from_the_whole_snapshot_up_to_the_damage(
    tmp_path: Path, collected: Any
) -> None:
    path = _cleaned(tmp_path, 3)
    _damage(path, 7)
    _write(path, collected)
    assert _told(collected, "partition_history", "offset") == [(5,), (6,)]


def test_a_log_that_is_damaged_early_keeps_the_end_that_the_snapshot_gives(
    tmp_path: Path, collected: Any
) -> None:
    path = _log(tmp_path, [_topic(), _partition()], [_change(2)], [_change(1)], [_change(2)])
    _snapshot(path, 4)
    _damage(path, 3)
    _write(path, collected)
    assert [row["end_offset"] for row in collected.rows("topics")] == [4]
    assert (3,) not in _told(collected, "partition_history", "offset")
    assert (2,) in _told(collected, "partition_history", "offset")


def test_a_sink_that_fails_is_not_taken_for_a_damaged_log(tmp_path: Path) -> None:
    class Full:
        def write(self, *rows: Any) -> None:
            raise SinkError("no room")

    _log(tmp_path, [_topic(), *(_partition(number) for number in range(12_000))])
    with pytest.raises(SinkError):
        _write(tmp_path / "data", Full())


def test_where_a_log_cannot_be_copied_nothing_is_said_of_the_state(
    tmp_path: Path, collected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec")
    path = _log(tmp_path, [_topic(), _partition()])
    store = fsspec.filesystem("memory")
    store.put(str(path), "/states/data", recursive=True)
    files = list(find_fleet(["memory://states/data"]).files)
    write_states(files, collected, newest=True, show_secrets=False)
    assert len(collected.rows("partitions")) == 1
    assert {row["file"] for row in collected.rows("partition_history")} == {
        "memory://states/data/__cluster_metadata-0/00000000000000000000.log"
    }

    def refusing(self: FleetFile) -> Any:
        raise KraftoolError("access denied")

    monkeypatch.setattr(FleetFile, "open", refusing)
    nothing = type(collected)()
    write_states(files, nothing, newest=True, show_secrets=False)
    assert nothing.batches == []
    store.rm("/states", recursive=True)


def test_a_directory_without_a_state_has_no_rows(tmp_path: Path, collected: Any) -> None:
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=x\nnode.id=1\n")
    _write(tmp_path, collected)
    assert collected.batches == []


# --- histories in parts ---------------------------------------------------------------------------


def _in_parts(path: Path, sink: Any, split_bytes: int) -> int:
    """Write the history as tasks do that each have a part of it; return how many those are."""
    files = list(find_fleet([str(path)]).files)
    try:
        end = load_state(str(path)).end_offset
    except KraftoolError:
        end = 0
    starts = [0, *borders(files, end, split_bytes)]
    for start, stop in zip_longest(starts, starts[1:]):
        part = HistoryPart(start, stop)
        write_states(files, sink, newest=True, show_secrets=False, part=part)
    return len(starts)


def _every_row(sink: Any) -> dict[str, list[str]]:
    return {
        table: sorted(json.dumps(row, default=str, sort_keys=True) for row in sink.rows(table))
        for table in ("topics", "partitions", "topic_history", "partition_history")
    }


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_parts_of_a_history_are_together_the_whole(directory: str, collected: Any) -> None:
    whole, path = type(collected)(), FIXTURES / directory
    _write(path, whole)
    _in_parts(path, collected, 1)
    assert _every_row(collected) == _every_row(whole)


def test_a_history_is_divided_at_snapshots_that_are_as_far_apart_as_asked(tmp_path: Path) -> None:
    path = _log(tmp_path, [_topic(), _partition()], *([_change(1 + n % 2)] for n in range(98)))
    for offset in (2, 30, 50, 60, 99):
        _snapshot(path, offset)
    files = list(find_fleet([str(path)]).files)
    size = (path / "__cluster_metadata-0/00000000000000000000.log").stat().st_size
    assert borders(files, 100, size) == []
    assert borders(files, 100, size // 4) == [30, 60]
    assert borders(files, 100, 1) == [2, 30, 50, 60, 99]


@pytest.mark.parametrize("damaged", [2, 5, 8])
def test_a_part_whose_snapshot_is_damaged_begins_with_an_older_one(
    damaged: int, tmp_path: Path, collected: Any
) -> None:
    path = _log(tmp_path, [_topic(), _partition()], *([_change(1 + n % 2)] for n in range(8)))
    for offset in (2, 5, 8):
        _snapshot(path, offset, whole=offset != damaged)
    assert _in_parts(path, collected, 1) == 4
    whole = type(collected)()
    _write(path, whole)
    assert len(whole.rows("partition_history")) == 9
    assert _every_row(collected) == _every_row(whole)


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_part_without_a_whole_snapshot_before_it_begins_with_the_next_whole_one(
    is_missing: bool, tmp_path: Path, collected: Any
) -> None:
    path = _cleaned(tmp_path, 3)
    if is_missing:
        (path / "__cluster_metadata-0" / write_checkpoint_name(3, 1)).unlink()
    files = list(find_fleet([str(path)]).files)
    for start, end in ((0, 3), (3, 8), (8, None)):
        part = HistoryPart(start, end)
        write_states(files, collected, newest=True, show_secrets=False, part=part)
    whole = type(collected)()
    _write(path, whole)
    assert len(whole.rows("partition_history")) == 5
    assert _every_row(collected) == _every_row(whole)
