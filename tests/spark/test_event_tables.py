"""The story of a cluster against `timeline -o json`: the same events in the same words."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.search import find_fleet
from kraftool.commands import main
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.decoders.framing import encode_record
from kraftool.reports.files.locations import open_paths
from kraftool.reports.timeline.report import build
from kraftool.reports.timeline.sources import open_nodes
from kraftool.spark.tables.event_tables import write_events
from tests.spark.history_logs import write_log
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark

CLUSTERS = sorted(
    str(path.relative_to(FIXTURES))
    for path in FIXTURES.glob("*/*")
    if any(path.glob("data")) or any(path.glob("*/data"))
)
DAMAGED = sorted(path.name for path in FIXTURES.glob("damaged/*") if path.is_dir())
DYNAMIC = FIXTURES / "kafka-4.3.0/dynamic-quorum"
CATEGORIES = {
    "elections": "elections",
    "voters": "voters",
    "features": "features",
    "brokers": "brokers",
    "controllers": "brokers",
}
Row = dict[str, Any]


def _directories(*paths: Path) -> list[list[FleetFile]]:
    by_directory: dict[str, list[FleetFile]] = {}
    for file in find_fleet([str(path) for path in paths]).files:
        by_directory.setdefault(file.directory.name, []).append(file)
    return list(by_directory.values())


NAMES = {
    "offset": "offset", "epoch": "epoch", "type": "type", "severity": "severity",
    "visibility": "visibility", "disputed": "isDisputed", "nodes": "labels", "text": "what",
    "timestamp_ms": "timestampMs",
}  # fmt: skip
"""What the timeline's JSON calls a column."""


class _Told:
    """What `timeline -o json` says, by the table that has it."""

    def __init__(self, paths: list[str], capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.argv", ["kraftool", "timeline", *paths, "-o", "json", "-q"])
        with pytest.raises(SystemExit):
            main()
        document = json.loads(capsys.readouterr().out)
        self.tables: dict[str, list[Row]] = {name: [] for name in CATEGORIES.values()}
        for event in document["events"]:
            if event["category"] in CATEGORIES:
                self.tables[CATEGORIES[event["category"]]].append(event)
        self.paths = {node["label"]: node["path"] for node in document["nodes"]}


def _as_told(row: Row, paths: dict[str, str]) -> Row:
    assert row["data_directories"] == [paths[node] for node in row["nodes"]]
    return {name: row[column] for column, name in NAMES.items()}


def _check(paths: list[str], sink: Any, timeline: _Told) -> None:
    write_events(_directories(*map(Path, paths)), sink)
    for table, events in timeline.tables.items():
        rows = sink.rows(table)
        assert [_as_told(row, timeline.paths) for row in rows] == [
            {name: event[name] for name in NAMES.values()} for event in events
        ]
        for row, event in zip(rows, events, strict=True):
            _DATA[table](row, event)


def _election(row: Row, event: Row) -> None:
    data = event["data"]
    assert row["leader"] == data.get("leader")
    assert row["voter_ids"] == data.get("voters")
    assert row["granted_by"] == data.get("grantedBy")
    assert row["previous_leader"] == data.get("previousLeader")
    assert row["previous_epoch"] == data["previousEpoch"]
    assert row["epochs_skipped"] == data.get("epochsSkipped")
    assert (row["gap_ms"], row["previous_led_ms"]) == (
        data.get("gapMs"),
        data.get("previousLedMs"),
    )


def _voters(row: Row, event: Row) -> None:
    data = event["data"]
    assert row["voter_ids"] == data["voters"] == [member["id"] for member in row["voters"]]
    assert [row[name] for name in ("added", "removed", "updated")] == [
        data[name] for name in ("added", "removed", "updated")
    ]
    for voter, described in zip(row["voters"], data["set"], strict=True):
        assert voter["directory_id"] == described["directoryId"]
        assert voter["endpoints"] == described["endpoints"]


def _feature(row: Row, event: Row) -> None:
    data = event["data"]
    assert (row["name"], row["from_level"], row["to_level"]) == (
        data.get("name"),
        data.get("from"),
        data.get("to"),
    )
    assert (row["from_release"], row["to_release"]) == (
        data.get("fromRelease"),
        data.get("toRelease"),
    )


def _broker(row: Row, event: Row) -> None:
    data = event["data"]
    assert row["role"] == event["category"].removesuffix("s")
    assert row["id"] == data[row["role"]]
    assert row["broker_epoch"] == data.get("brokerEpoch")
    assert row["incarnation_id"] == data.get("incarnationId")
    assert row["endpoints"] == data.get("endpoints")
    assert row["log_dirs"] == data.get("logDirs")
    assert row["cordoned_log_dirs"] == data.get("cordonedLogDirs")
    if event["type"] in ("broker-fenced", "broker-unfenced"):
        assert row["fenced"] is (event["type"] == "broker-fenced")


_DATA = {"elections": _election, "voters": _voters, "features": _feature, "brokers": _broker}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_tables_of_a_cluster_are_its_timeline(
    cluster: str, collected: Any, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = sorted(
        {str(directory[0].directory.name) for directory in _directories(FIXTURES / cluster)}
    )
    timeline = _Told(paths, capsysbinary, monkeypatch)
    _check(paths, collected, timeline)
    assert collected.tables, "something happened in every one of them"


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_directories_tell_what_the_timeline_tells(
    name: str, tmp_path: Path, collected: Any, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The damaged files in the place of healthy ones, in one of two directories."""
    for node in ("node-2", "node-3"):
        shutil.copytree(DYNAMIC / node / "data", tmp_path / node)
    for damaged in (FIXTURES / "damaged" / name).iterdir():
        if damaged.name != "SOURCE":
            where = "" if damaged.name == "meta.properties" else "__cluster_metadata-0"
            if damaged.is_file():
                shutil.copy(damaged, tmp_path / "node-2" / where / damaged.name)
    groups: dict[str, list[str]] = {}
    for directory in _directories(tmp_path):
        owner = directory[0].directory
        groups.setdefault(owner.cluster_id or owner.name, []).append(owner.name)
    for group in groups.values():
        timeline = _Told(group, capsysbinary, monkeypatch)
        _check(group, type(collected)(), timeline)


def test_the_set_of_voters_stands_after_each_change(collected: Any) -> None:
    write_events(_directories(DYNAMIC), collected)
    sets = [[voter["id"] for voter in row["voters"]] for row in collected.rows("voters")]
    assert sets == [[1, 2, 3], [1, 2, 3, 4], [2, 3, 4]]
    one = collected.rows("voters")[0]["voters"][0]
    assert one["directory_id"]
    assert one["endpoints"][0].startswith("CONTROLLER://")


def test_where_logs_part_both_sides_are_told_and_marked(tmp_path: Path, collected: Any) -> None:
    def batch(offset: int, epoch: int, level: int) -> bytes:
        value = {"name": "metadata.version", "featureLevel": level}
        record = encode_record("FeatureLevelRecord", 0, value)
        return encode_batch([(None, record)], base_offset=offset, epoch=epoch, timestamp=offset)

    for node, level in ((1, 25), (2, 26)):
        folder = tmp_path / f"{node}/__cluster_metadata-0"
        folder.mkdir(parents=True)
        log = batch(0, 1, 20) + batch(1, node, level)
        (folder / "00000000000000000000.log").write_bytes(log)
        meta = f"version=1\ncluster.id=aaaaaaaaaaaaaaaaaaaaaa\nnode.id={node}\n"
        (folder.parent / "meta.properties").write_text(meta)
    write_events(_directories(tmp_path), collected)
    rows = [(row["offset"], row["to_level"], row["nodes"], row["disputed"])
            for row in collected.rows("features")]  # fmt: skip
    assert rows == [(0, 20, ["1", "2"], False), (1, 25, ["1"], True), (1, 26, ["2"], True)]


def test_times_that_lie_too_far_apart_are_no_failure(tmp_path: Path, collected: Any) -> None:
    log = b""
    for offset, time in enumerate((-(1 << 62) - 5, 1 << 62)):
        message = {"version": 1, "leaderId": 1, "voters": [], "grantingVoters": []}
        log += _leader_change(offset, message, time)
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / "00000000000000000000.log").write_bytes(log)
    write_events(_directories(tmp_path), collected)
    assert [row["gap_ms"] for row in collected.rows("elections")] == [None, None]


def _leader_change(offset: int, message: Row, time: int) -> bytes:
    kind = ControlRecordType.LEADER_CHANGE
    record = (encode_key(kind), encode_value(kind, message))
    return encode_batch(
        [record], base_offset=offset, epoch=offset + 1, timestamp=time, control=True
    )


def test_events_that_no_table_has_are_not_kept(
    tmp_path: Path, collected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"resourceType": 4, "resourceName": "1", "name": "a", "value": "b"}
    path = write_log(tmp_path, [("ConfigRecord", 0, config)])
    kept: list[Any] = []

    def united(events: Any) -> Any:
        kept.extend(events)
        return [*kept]

    monkeypatch.setattr("kraftool.reports.timeline.report.united", united)
    write_events(_directories(path), collected)
    assert {event.category.value for event in kept} <= {*CATEGORIES, "damage"}
    build(*open_nodes(open_paths([str(path)])[0], lambda name, position: None))
    assert "configs" in {event.category.value for event in kept}
