"""Rows against dump-log: for every fixture the same records, problems, batches and typed values."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from kraftool.arrow import read
from kraftool.arrow.columns import arrow_schema, column_of, record_types
from kraftool.arrow.fleet import with_batches
from kraftool.arrow.reading import parts_of, rows_of_batches
from kraftool.arrow.search import find_fleet
from kraftool.arrow.settings import read_settings
from kraftool.arrow.splits import Split, splits_of
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.codec import Value
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.directory.file_report import read_file
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.logs.dump import LogDump
from kraftool.reports.logs.text import jsonl_entry
from kraftool.storage.directory import list_partition
from tests.arrow.record_types import type_of_dump_log
from tests.support.places import FIXTURES

pytestmark = pytest.mark.slow

SCENARIOS = sorted(
    str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("*/*") if path.is_dir()
)
Row = dict[str, Any]


def _splits(path: Path, split_bytes: int = 1 << 30) -> list[Split]:
    files = with_batches(find_fleet([str(path)]), snapshots=True)
    return [split for file in files for split in splits_of(file, split_bytes)]


def _rows(source: str, splits: list[Split], **more: Any) -> list[Row]:
    settings = read_settings({"path": "x", **more}, source)
    batches = rows_of_batches(source, arrow_schema(source), settings, splits)
    return [row for batch in batches for row in batch.to_pylist()]


def _dumped(splits: list[Split], *, show_secrets: bool = False) -> Iterator[Row]:
    """What dump-log -o jsonl has of the same files."""
    dump = LogDump(show_secrets=show_secrets)
    for split in splits:
        with split.file.open() as source:
            for entry in dump.entries(split.file.name, source.read_at):
                for line in jsonl_entry(entry, show_secrets=show_secrets).splitlines():
                    yield json.loads(line)


def _as_dumped(row: Row) -> Row:
    """A row of kraft in the form of dump-log."""
    if row["kind"] == "problem":
        damage = {"damage": row["damage"], "size": row["size"]} if row["damage"] else {}
        return {
            "kind": "error",
            "file": row["file"],
            "position": row["position"],
            "reason": row["error"],
            **damage,
        }
    return {
        "kind": "record",
        "file": row["file"],
        "position": row["position"],
        "baseOffset": row["base_offset"],
        "offset": row["offset"],
        "epoch": row["epoch"],
        "timestamp": row["timestamp_ms"],
        "control": row["control"],
        "keySize": row["key_size"],
        "valueSize": row["value_size"],
        "type": type_of_dump_log(row["type"]),
        "version": row["version"],
        "data": None if row["payload"] is None else json.loads(row["payload"]),
    }


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_records_and_problems_are_those_of_dump_log(scenario: str) -> None:
    splits = _splits(FIXTURES / scenario)
    expected = [entry for entry in _dumped(splits) if entry["kind"] != "batch"]
    for entry in expected:
        entry.pop("raw", None)
        if entry["kind"] == "record":
            entry.pop("reason", None)
    assert [_as_dumped(row) for row in _rows("kraft", splits)] == expected


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_small_ranges_give_the_same_rows_as_whole_files(scenario: str) -> None:
    whole = _rows("kraft", _splits(FIXTURES / scenario))
    assert _rows("kraft", _splits(FIXTURES / scenario, 500)) == whole


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_batches_are_those_of_dump_log(scenario: str) -> None:
    splits = _splits(FIXTURES / scenario)
    expected = [entry for entry in _dumped(splits) if entry["kind"] == "batch"]
    rows = [
        {
            "kind": "batch",
            "file": row["file"],
            "position": row["position"],
            "baseOffset": row["base_offset"],
            "lastOffset": row["last_offset"],
            "count": row["count"],
            "epoch": row["epoch"],
            "timestamp": row["timestamp_ms"],
            "size": row["size"],
            "magic": row["magic"],
            "compression": row["compression"],
            "control": row["control"],
            "crc": row["crc"],
            "valid": row["valid"],
        }
        for row in _rows("kraft.batches", splits)
        if row["kind"] == "batch"
    ]
    assert rows == expected


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def test_typed_rows_have_the_values_of_the_json_form() -> None:
    """All record types of all fixtures: what is null in a row is null or left out in the JSON."""
    splits = _splits(FIXTURES)
    dumped = [entry for entry in _dumped(splits) if entry["kind"] == "record"]
    types = 0
    for record in record_types():
        rows = _rows(f"kraft.{record}", splits)
        wanted = {type_of_dump_log(record)}
        expected = [entry for entry in dumped if entry["type"] in wanted]
        assert len(rows) == len(expected), record
        types += bool(rows)
        for row, entry in zip(rows, expected, strict=True):
            assert (row["file"], row["offset"]) == (entry["file"], entry["offset"])
            data = entry["data"] or {}
            named = {column_of(name): value for name, value in data.items()}
            if entry["control"]:
                named.pop("record_version", None)
            assert {
                name: _without_nulls(row[name]) for name in named if row[name] is not None
            } == _without_nulls(named), record
    assert types > 20


def test_secrets_are_masked_unless_they_are_asked_for() -> None:
    splits = _splits(FIXTURES / "kafka-4.3.0/static-single")
    masked = _rows("kraft.UserScramCredentialRecord", splits)
    shown = _rows("kraft.UserScramCredentialRecord", splits, showSecrets="true")
    secrets = {row[name] for row in shown for name in ("salt", "storedKey", "serverKey")} - {None}
    assert secrets
    assert "[redacted]" not in secrets
    assert {row["salt"] for row in masked} <= {"[redacted]", None}
    everything = json.dumps(_rows("kraft", splits), default=str)
    assert not [secret for secret in secrets if secret in everything]


def test_undecoded_bytes_that_may_be_secret_are_withheld() -> None:
    splits = _splits(FIXTURES / "damaged/newer-secret-version")
    undecoded = [row for row in _rows("kraft", splits) if row["kind"] == "record" and row["error"]]
    assert undecoded
    assert all(row["raw"] is None and row["payload"] is None for row in undecoded)
    shown = _rows("kraft", splits, showSecrets="true")
    assert any(row["raw"] for row in shown)


_AT = 1795234265000

Case = tuple[dict[str, str], Callable[[Row], bool]]
CASES: list[Case] = [
    ({"offsets": "20"}, lambda row: row["offset"] == 20),
    ({"offsets": "21..30"}, lambda row: 20 < row["offset"] <= 30),
    ({"offsets": "..5"}, lambda row: row["offset"] <= 5),
    ({"type": "PartitionRecord"}, lambda row: row["type"] == "PartitionRecord"),
    (
        {"type": "leaderchange, TopicRecord"},
        lambda row: row["type"] in ("LeaderChange", "TopicRecord"),
    ),
    ({"epoch": "1"}, lambda row: row["epoch"] == 1),
    ({"epoch": "2.."}, lambda row: row["epoch"] >= 2),
    ({"since": str(_AT + 1)}, lambda row: row["timestamp_ms"] > _AT),
    ({"until": "2026-11-21T04:11:05Z"}, lambda row: row["timestamp_ms"] <= _AT),
    (
        {"type": "Partition", "offsets": "30..", "epoch": "2"},
        lambda row: row["type"] == "PartitionRecord" and row["offset"] >= 30 and row["epoch"] == 2,
    ),
]


@pytest.mark.parametrize(("options", "wanted"), CASES)
def test_options_select_the_records_that_a_filter_selects(
    options: dict[str, str], wanted: Callable[[Row], bool]
) -> None:
    """Over healthy and damaged files: all problems stay, unless `kind` leaves them out."""
    splits = [
        *_splits(FIXTURES / "kafka-4.3.0/static-single"),
        *_splits(FIXTURES / "damaged"),
    ]
    every = _rows("kraft", splits)
    records = [row for row in every if row["kind"] == "record" and wanted(row)]
    assert 0 < len(records) < len(every)
    narrowed = _rows("kraft", splits, **options)
    assert narrowed == [row for row in every if row["kind"] == "problem" or wanted(row)]
    assert _rows("kraft", splits, kind="record", **options) == records


def test_options_select_the_batches_that_hold_such_offsets() -> None:
    splits = [
        *_splits(FIXTURES / "kafka-4.3.0/static-single"),
        *_splits(FIXTURES / "damaged"),
    ]
    every = _rows("kraft.batches", splits)
    narrowed = _rows("kraft.batches", splits, offsets="21..30", epoch="1", kind="batch")
    assert [row for row in narrowed if row["valid"]] == [
        row
        for row in every
        if row["kind"] == "batch"
        and row["valid"]
        and row["epoch"] == 1
        and row["base_offset"] <= 30
        and row["last_offset"] >= 21
    ]


def test_a_kind_leaves_the_others_out() -> None:
    splits = _splits(FIXTURES / "damaged")
    every = _rows("kraft", splits)
    for kind in ("record", "problem"):
        expected = [row for row in every if row["kind"] == kind]
        assert expected
        assert _rows("kraft", splits, kind=kind) == expected


def test_files_are_passed_over_by_their_owner() -> None:
    path = str(FIXTURES / "kafka-4.3.0/dynamic-quorum")

    def directories(**options: str) -> dict[str, tuple[str | None, int | None]]:
        parts = parts_of("kraft", read_settings({"path": path, **options}))
        owners = [split.file.directory for part in parts for split in part.splits]
        return {owner.name: (owner.cluster_id, owner.node_id) for owner in owners}

    every = directories()
    names = sorted(name for name, (_, node) in every.items() if node == 2)
    cluster = every[names[0]][0]
    assert cluster is not None
    assert sorted(directories(node="2")) == names
    assert directories(directory=names[0]).keys() == {names[0]}
    assert directories(directory=json.dumps([*names, "/no/such"])).keys() == set(names)
    assert directories(cluster=f"x, {cluster}") == every
    assert directories(cluster="x") == {}


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("kraft", {"type": "TopicRecrd"}, "type 'TopicRecrd' is not a record type"),
        ("kraft", {"offsets": "9..3"}, "offsets 9..3 ends before it begins"),
        ("kraft", {"offsets": "-1"}, "offsets '-1' is not a range"),
        ("kraft", {"epoch": "x"}, "epoch 'x' is not a range"),
        ("kraft", {"since": "yesterday"}, "since 'yesterday' is not a time"),
        ("kraft", {"since": "2h"}, "since '2h' changes while a DataFrame is used again"),
        ("kraft", {"since": "2027-01-01", "until": "2026-01-01"}, "until is before since"),
        ("kraft", {"node": "one"}, "node 'one' is not a node id"),
        ("kraft", {"kind": "records"}, "kind 'records' is not a kind of kraft"),
        ("kraft", {"cluster": " "}, "the option cluster has no value"),
        ("kraft", {"directory": '["a", 1]'}, "directory is not a JSON list of names"),
        ("kraft.files", {"type": "TopicRecord"}, "kraft.files has no option type"),
        ("kraft.batches", {"since": "2026-01-01"}, "kraft.batches has no option since"),
        ("kraft.TopicRecord", {"type": "TopicRecord"}, "kraft.TopicRecord has no option type"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(
    source: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(KraftoolError) as caught:
        read_settings({"path": "x", **options}, source)
    assert message in caught.value.message


def test_a_time_that_no_calendar_has_is_null_and_its_number_stays(tmp_path: Path) -> None:
    record = (None, encode_record("NoOpRecord", 0, Value()))
    times = (-1, 2**62, -(2**62), 1795234265000)
    log = tmp_path / f"{0:020}.log"
    log.write_bytes(
        b"".join(
            encode_batch([record], base_offset=number, epoch=1, timestamp=time)
            for number, time in enumerate(times)
        )
    )
    rows = _rows("kraft", _splits(tmp_path))
    assert [row["timestamp_ms"] for row in rows] == list(times)
    assert [row["timestamp"] is None for row in rows] == [False, True, True, False]


def test_a_file_that_has_gone_is_a_problem_and_not_a_failure(tmp_path: Path) -> None:
    (tmp_path / f"{0:020}.log").write_bytes(b"")
    splits = _splits(tmp_path)
    (tmp_path / f"{0:020}.log").unlink()
    (row,) = _rows("kraft", splits)
    assert row["kind"] == "problem"
    assert "no such file" in row["error"]


def test_a_topics_log_has_batches_and_no_records() -> None:
    splits = _splits(FIXTURES / "kafka-4.3.0/static-single/node-1/data/orders-a-0")
    assert _rows("kraft.batches", splits)
    assert _rows("kraft", splits) == []


def test_a_url_is_read_like_the_path_it_stands_for() -> None:
    pytest.importorskip("fsspec")
    path = FIXTURES / "kafka-4.3.0/static-single"
    columns = ["node_id", "offset", "position", "payload"]
    local = read(path, columns=columns).read()
    assert read(f"file://{path}", columns=columns).read() == local
    pattern = f"file://{FIXTURES}/kafka-4.3.0/static-*/*/data"
    assert read(pattern, columns=columns).read().num_rows == local.num_rows > 0


def test_storage_options_may_be_nested() -> None:
    pytest.importorskip("fsspec")
    url = f"file://{FIXTURES / 'kafka-4.3.0/static-single'}"
    assert find_fleet([url], options={"client": {"url": "http://127.0.0.1"}}).files


def test_files_are_listed_with_kind_and_findings() -> None:
    rows = read(FIXTURES / "damaged/torn-tail", "files").read().to_pylist()
    log = next(row for row in rows if row["kind"] == "log")
    assert (log["findings"], log["worst"]) == (1, "warning")
    assert log["size"] == Path(log["file"]).stat().st_size
    assert len(log["identity"]) == 32
    unread = read(FIXTURES / "damaged/torn-tail", "files", findings=False).read().to_pylist()
    assert {row["findings"] for row in unread} == {None}
    assert {row["identity"] for row in unread} == {row["identity"] for row in rows}


def test_findings_are_those_of_dump_on_each_file() -> None:
    rows = read(
        str(FIXTURES / "damaged/*"), "findings", columns=["file", "code", "position"]
    ).read()
    expected = {
        (finding.file, finding.code, finding.position)
        for folder in (FIXTURES / "damaged").iterdir()
        for entry in list_partition(str(folder)).entries
        for finding in file_findings(read_file(entry))
    }
    reported = {tuple(row.values()) for row in rows.to_pylist()}
    assert expected
    assert {row for row in expected if "wrong-cluster-id" not in row[0]} <= reported


def test_a_directory_without_logs_has_no_rows_and_fails_nothing(tmp_path: Path) -> None:
    for rows in ("records", "batches", "files", "TopicRecord"):
        assert read(tmp_path, rows).read().num_rows == 0
