"""Topics and partitions against `state -o json`, and their histories against the states between."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.search import find_fleet
from kraftool.commands import main
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.segment import scan
from kraftool.image.image import MetadataImage
from kraftool.reports.state.entities import partition_object
from kraftool.reports.state.load import load_state
from kraftool.spark.tables.sink import SinkError
from kraftool.spark.tables.states import write_states
from kraftool.storage.source import BytesSource
from tests.spark.conftest import Collected
from tests.spark.history_logs import (
    TOPIC_ID,
    Row,
    cleaned_log,
    leader_change,
    partition_record,
    topic_record,
    write_history,
    write_log,
    write_snapshot,
)
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark

DIRECTORIES = sorted(str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("**/data"))
DAMAGED = sorted(path.name for path in FIXTURES.glob("damaged/*") if path.is_dir())
DYNAMIC = FIXTURES / "kafka-4.3.0/dynamic-quorum"

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


def _state(path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Row | None:
    """What `state -o json` says, if there is a state."""
    monkeypatch.setattr("sys.argv", ["kraftool", "state", str(path), "-o", "json", "-q"])
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    state: Row | None = json.loads(out) if out else None
    return state


def _check_end(sink: Any, state: Row | None) -> None:
    if state is None:
        assert not sink.rows("topics")
        assert not sink.rows("partitions")
        return
    configs: dict[str, list[tuple[str, str]]] = {}
    for config in state["configs"]:
        if config["resourceType"] == "TOPIC":
            configs.setdefault(config["resourceName"], []).append((config["name"], config["value"]))
    topics, partitions = sink.rows("topics"), sink.rows("partitions")
    assert [
        (row["topic"], row["topic_id"], row["partition_count"], row["configs"]) for row in topics
    ] == [
        (topic["name"], topic["topicId"], topic["partitionCount"], configs.get(topic["name"], []))
        for topic in state["topics"]
    ]
    assert [
        (row["topic"], row["topic_id"], {name: row[column] for column, name in _NAMES.items()})
        for row in partitions
    ] == [
        (topic["name"], topic["topicId"], partition)
        for topic in state["topics"]
        for partition in topic["partitions"]
    ]
    ends = {(row["end_offset"], row["end_epoch"]) for row in (*topics, *partitions)}
    assert ends <= {(state["provenance"]["offset"], state["provenance"]["lastEpoch"])}


class Written:
    """A directory, and what the tables get of its states and histories."""

    def __init__(self, path: Path, sink: Any) -> None:
        self.path, self.sink = path, sink
        (self.owner, *_) = {file.directory for file in write_history(path, sink)}


@pytest.fixture(scope="module", params=DIRECTORIES)
def written(request: pytest.FixtureRequest) -> Written:
    return Written(FIXTURES / request.param, Collected())


def test_topics_and_partitions_are_those_of_state(
    written: Written, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = written.owner
    _check_end(written.sink, _state(written.path, capsysbinary, monkeypatch))
    for table, cluster, day, batch in written.sink.batches:
        assert (cluster, day) == (owner.cluster_id, None), table
        assert set(batch.column("node_id").to_pylist()) == {owner.node_id}
        assert set(batch.column("directory").to_pylist()) == {str(written.path)}


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
    write_history(data, collected)
    _check_end(collected, _state(data, capsysbinary, monkeypatch))
    _check_history(collected, data)


def _entities(image: MetadataImage) -> Iterator[tuple[tuple[str, int], Row]]:
    for topic in image.topics.by_id.values():
        for number, partition in topic.partitions.items():
            document = json.loads(json.dumps(partition_object(number, partition)))
            yield (topic.id, number), document


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
                values = {name: row[column] for column, name in _NAMES.items()}
                assert values == at[topic, number]


def test_histories_say_what_was_after_each_record(written: Written) -> None:
    _check_history(written.sink, written.path)


def test_histories_go_back_as_far_as_the_log_tells(
    written: Written, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row for each record of the log that is about a topic or partition."""
    path, collected = written.path, written.sink
    monkeypatch.setattr("sys.argv", ["kraftool", "dump-log", str(path), "-o", "jsonl", "-q"])
    with pytest.raises(SystemExit):
        main()
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    records = [line for line in lines if line["kind"] == "record"]
    if not records or records[0]["offset"] > 0:
        return  # what came before is not known, and not all of it can be told
    topics = ("TOPIC_RECORD", "REMOVE_TOPIC_RECORD")
    partitions = ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")

    def told(table: str, types: tuple[str, ...]) -> list[tuple[int, str]]:
        words = {"".join(type_name.title().split("_")): type_name for type_name in types}
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
    rows = [
        (row["offset"], row["config"]) for row in collected.rows("topic_history") if row["config"]
    ]
    assert sorted(rows) == configs


# --- logs made for the purpose --------------------------------------------------------------------


def _config(name: str, value: str | None) -> tuple[str, int, Row]:
    config = {"resourceType": 2, "resourceName": "orders", "name": name, "value": value}
    return "ConfigRecord", 0, config


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
    path = write_log(
        tmp_path,
        [topic_record(), partition_record(0, [2]), partition_record(1)],
        [leader_change(2)],
        [clear],
        [_REMOVE],
    )
    write_history(path, collected)
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
    path = write_log(
        tmp_path,
        [topic_record(), _config("retention.ms", "5"), _config("made.up.password", "canary")],
        [_config("retention.ms", None)],
    )
    write_history(path, collected)
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
    write_history(path, shown, show_secrets=True)
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
    path = write_log(
        tmp_path,
        [topic_record(), partition_record(0)],
        [_begin(), partition_record(1), leader_change(2), *end],
    )
    write_history(path, collected)
    assert _told(collected, "partition_history", "offset", "visibility") == [
        (1, "visible"), (3, visibility), (4, visibility),
    ]  # fmt: skip
    assert len(collected.rows("partitions")) == partitions


@pytest.mark.parametrize("size", [1, 4, 100])
def test_native_histories_have_the_rows_of_python_in_their_order(
    size: int, tmp_path: Path, collected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear: tuple[str, int, Row] = ("ClearElrRecord", 0, {"topicName": "orders"})
    other = "AAAAAAAAAAAAAAAAAAAAAg"
    moved = {"topicId": TOPIC_ID, "partitionId": 1, "replicas": [2, 3, 4], "isr": [], "leader": -1}
    plain = {**partition_record(1)[2], "directories": []}
    records: list[tuple[str, int, Row]] = [
        topic_record(), partition_record(0, [2]), ("PartitionRecord", 1, plain), leader_change(2),
        clear, leader_change(1), partition_record(0, [2]), ("PartitionChangeRecord", 1, moved),
        _config("a", "b"), clear, leader_change(3), _begin(), leader_change(1),
        topic_record("inside", other), ("PartitionRecord", 2, {**plain, "topicId": other}),
        _ABORT, leader_change(2), _REMOVE, topic_record("again"), partition_record(), _begin(),
        leader_change(3),
    ]  # fmt: skip
    batches = [records[at : at + size] for at in range(0, len(records), size)]
    path = write_log(tmp_path, *batches)
    write_history(path, collected)
    python = type(collected)()
    monkeypatch.setattr("kraftool.decoders.fast_path.is_native", lambda: False)
    write_history(path, python)
    for table in ("partitions", "partition_history", "topic_history"):
        assert collected.rows(table) == python.rows(table)
    assert collected.rows("partition_history")[-1]["visibility"] == "open"


def test_records_that_do_not_fit_have_no_row(tmp_path: Path, collected: Any) -> None:
    path = write_log(
        tmp_path,
        [topic_record(), topic_record("other"), leader_change(2)],
        [_END],
        [partition_record()],
        [_ABORT],
    )
    write_history(path, collected)
    assert _told(collected, "topic_history", "offset") == [(0,)]
    assert _told(collected, "partition_history", "offset", "visibility") == [(4, "visible")]


def test_the_history_reaches_back_before_the_newest_snapshot(
    tmp_path: Path, collected: Any
) -> None:
    path = write_log(
        tmp_path,
        [topic_record(), partition_record()],
        [leader_change(2)],
        [leader_change(1)],
        [leader_change(2)],
    )
    write_snapshot(path, 4)
    assert load_state(str(path)).start_offset == 4
    write_history(path, collected)
    columns = ("offset", "leader", "leader_epoch")
    assert _told(collected, "partition_history", *columns) == [
        (1, 1, 0), (2, 2, 1), (3, 1, 2), (4, 2, 3),
    ]  # fmt: skip


def test_the_history_of_a_cleaned_log_begins_with_the_oldest_whole_snapshot(
    tmp_path: Path, collected: Any
) -> None:
    path = cleaned_log(tmp_path, 3)
    write_history(path, collected)
    assert _told(collected, "partition_history", "offset", "partition_epoch") == [
        (5, 4), (6, 5), (7, 6), (8, 7), (9, 8),
    ]  # fmt: skip


def _damage(path: Path, offset: int) -> None:
    """Make the CRC of the batch at an offset wrong."""
    (log,) = (path / "__cluster_metadata-0").glob("*.log")
    data = bytearray(log.read_bytes())
    batch = next(
        item
        for item in scan(BytesSource("", bytes(data)).read_at)
        if isinstance(item, RecordBatch) and item.base_offset == offset
    )
    data[batch.position + 70] ^= 1
    log.write_bytes(bytes(data))


def test_a_damaged_log_has_its_history_from_the_whole_snapshot_up_to_the_damage(
    tmp_path: Path, collected: Any
) -> None:
    path = cleaned_log(tmp_path, 3)
    _damage(path, 7)
    write_history(path, collected)
    assert _told(collected, "partition_history", "offset") == [(5,), (6,)]


def test_a_log_that_is_damaged_early_keeps_the_end_that_the_snapshot_gives(
    tmp_path: Path, collected: Any
) -> None:
    path = write_log(
        tmp_path,
        [topic_record(), partition_record()],
        [leader_change(2)],
        [leader_change(1)],
        [leader_change(2)],
    )
    write_snapshot(path, 4)
    _damage(path, 3)
    write_history(path, collected)
    assert [row["end_offset"] for row in collected.rows("topics")] == [4]
    assert (3,) not in _told(collected, "partition_history", "offset")
    assert (2,) in _told(collected, "partition_history", "offset")


def test_a_sink_that_fails_is_not_taken_for_a_damaged_log(tmp_path: Path) -> None:
    class Full:
        def write(self, *rows: Any) -> None:
            raise SinkError("no room")

    write_log(tmp_path, [topic_record(), *(partition_record(number) for number in range(12_000))])
    with pytest.raises(SinkError):
        write_history(tmp_path / "data", Full())


def test_where_a_log_cannot_be_copied_nothing_is_said_of_the_state(
    tmp_path: Path, collected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec")
    path = write_log(tmp_path, [topic_record(), partition_record()])
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
    write_history(tmp_path, collected)
    assert collected.batches == []
