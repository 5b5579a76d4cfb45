"""One decoding against the data sources and dump-log: for every fixture the same rows, by day."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from pyspark.sql.pandas.types import to_arrow_schema

from kraftool.arrow.columns import record_types
from kraftool.arrow.fleet import with_batches
from kraftool.arrow.reading import rows_of_batches
from kraftool.arrow.search import find_fleet
from kraftool.arrow.settings import read_settings
from kraftool.arrow.splits import Split, splits_of
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.reports.logs.dump import LogDump
from kraftool.reports.logs.text import jsonl_entry
from kraftool.spark.columns import spark_schema
from kraftool.spark.tables.extract import extract
from kraftool.spark.tables.layout import arrow_schema
from tests.spark.conftest import Collected
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark

SCENARIOS = sorted(
    str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("*/*") if path.is_dir()
)
NOON = 1_700_000_000_000 - 1_700_000_000_000 % 86_400_000 + 43_200_000
DAY = 86_400_000
Row = dict[str, Any]


def _splits(path: Path, split_bytes: int = 1 << 30) -> list[Split]:
    files = with_batches(find_fleet([str(path)]), snapshots=True)
    return [split for file in files for split in splits_of(file, split_bytes)]


def _source_rows(table: str, splits: list[Split], *, show_secrets: bool = False) -> list[Row]:
    """What the data source of a table gives, without what is in the folders' names."""
    source = {"records": "kraft", "batches": "kraft.batches"}.get(table, f"kraft.{table}")
    arrow = to_arrow_schema(spark_schema(source), timezone="UTC")
    settings = read_settings({"path": "x", "showSecrets": str(show_secrets).lower()}, source)
    names = set(arrow_schema(table).names)
    rows = []
    for split in splits:
        for batch in rows_of_batches(source, arrow, settings, [split]):
            for row in batch.to_pylist():
                row["generation"] = split.generation
                rows.append({name: value for name, value in row.items() if name in names})
    return rows


def _sorted(rows: list[Row]) -> list[str]:
    return sorted(json.dumps(row, default=repr, sort_keys=True) for row in rows)


class Extracted:
    """The whole files of a scenario, and what the tables get of them."""

    def __init__(self, scenario: str, sink: Any) -> None:
        self.path, self.splits, self.sink = FIXTURES / scenario, _splits(FIXTURES / scenario), sink
        extract(self.splits, sink, show_secrets=False)


@pytest.fixture(scope="module", params=SCENARIOS)
def extracted(request: pytest.FixtureRequest) -> Extracted:
    return Extracted(request.param, Collected())


def test_every_table_has_the_rows_of_its_source(extracted: Extracted) -> None:
    rows = extracted.sink.rows
    present = {row["type"] for row in rows("records")} & set(record_types())
    for table in ("records", "batches", *present):
        assert _sorted(rows(table)) == _sorted(_source_rows(table, extracted.splits)), table
    assert extracted.sink.tables <= {"records", "batches", *present}


def test_small_ranges_give_the_rows_of_whole_files(extracted: Extracted, collected: Any) -> None:
    extract(_splits(extracted.path, 500), collected, show_secrets=False)
    for table in extracted.sink.tables | collected.tables:
        assert _sorted(collected.rows(table)) == _sorted(extracted.sink.rows(table)), table


def _dumped(splits: list[Split]) -> Iterator[bytes]:
    dump = LogDump()
    for split in splits:
        with split.file.open() as source:
            for entry in dump.entries(split.file.name, source.read_at):
                yield from jsonl_entry(entry, show_secrets=False).splitlines()


def test_payloads_are_dump_logs_byte_for_byte(extracted: Extracted) -> None:
    expected = []
    for line in _dumped(extracted.splits):
        value = json.loads(line)
        if value["kind"] == "record" and value["data"] is not None:
            data = line[line.index(b'"data":') + 7 : line.rindex(b"}")]
            expected.append((value["file"], value["position"], value["offset"], data.decode()))
    payloads = [
        (row["file"], row["position"], row["offset"], row["payload"])
        for row in extracted.sink.rows("records")
        if row["payload"] is not None
    ]
    assert sorted(payloads) == sorted(expected)


def _log(folder: Path, *batches: bytes) -> list[Split]:
    path = folder / "data/__cluster_metadata-0/00000000000000000000.log"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(batches))
    return _splits(folder / "data")


def _batch(offset: int, timestamp: int, *records: tuple[str, Row]) -> bytes:
    values = [(None, encode_record(name, 0, value)) for name, value in records]
    return encode_batch(values, base_offset=offset, epoch=1, timestamp=timestamp)


def _days(collected: Any, table: str) -> dict[str | None, list[int]]:
    by_day: dict[str | None, list[int]] = {}
    for name, _, day, batch in collected.batches:
        if name == table:
            by_day.setdefault(day, []).extend(batch.column("timestamp_ms").to_pylist())
    return by_day


def test_rows_are_cut_by_the_day_of_their_time(tmp_path: Path, collected: Any) -> None:
    midnight = NOON + DAY // 2
    times = [NOON, midnight - 1, midnight, NOON - 40 * DAY, -1, 1 << 62, -(1 << 62)]
    noop: tuple[str, Row] = ("NoOpRecord", {})
    batches = [_batch(number, time, noop) for number, time in enumerate(times)]
    extract(_log(tmp_path, *batches), collected, show_secrets=False)
    expected: dict[str | None, list[int]] = {}
    for time in times:
        reached = abs(time) < 1 << 50
        day = datetime.fromtimestamp(time / 1000, UTC).date().isoformat() if reached else None
        expected.setdefault(day, []).append(time)
    for table in ("records", "batches", "NoOpRecord"):
        assert _days(collected, table) == expected, table


def test_a_problem_has_no_day(tmp_path: Path, collected: Any) -> None:
    whole = _batch(0, NOON, ("NoOpRecord", {}))
    extract(_log(tmp_path, whole, whole[:-5]), collected, show_secrets=False)
    days = {
        (name, day, kind)
        for name, _, day, batch in collected.batches
        if name in ("records", "batches")
        for kind in batch.column("kind").to_pylist()
    }
    today = datetime.fromtimestamp(NOON / 1000, UTC).date().isoformat()
    assert days == {
        ("records", today, "record"),
        ("batches", today, "batch"),
        ("records", None, "problem"),
        ("batches", None, "problem"),
    }


def test_secrets_are_masked_unless_asked_for(tmp_path: Path, collected: Any) -> None:
    config = {"resourceType": 4, "resourceName": "1", "name": "ssl.key.password", "value": "canary"}
    scram = {
        "name": "alice", "mechanism": 1, "salt": b"canary", "storedKey": b"canary",
        "serverKey": b"canary", "iterations": 4096,
    }  # fmt: skip
    splits = _log(
        tmp_path, _batch(0, NOON, ("ConfigRecord", config), ("UserScramCredentialRecord", scram))
    )
    extract(splits, collected, show_secrets=False)
    shown = repr([batch.to_pylist() for _, _, _, batch in collected.batches])
    assert "canary" not in shown
    assert "Y2FuYXJ5" not in shown
    whole = type(collected)()
    extract(splits, whole, show_secrets=True)
    assert whole.rows("ConfigRecord")[0]["value"] == "canary"
    assert "Y2FuYXJ5" in whole.rows("records")[1]["payload"]


def test_control_characters_are_written_as_kafka_writes_them(
    tmp_path: Path, collected: Any
) -> None:
    topic = {"name": "a\x1fb\\u001f", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ"}
    extract(_log(tmp_path, _batch(0, NOON, ("TopicRecord", topic))), collected, show_secrets=False)
    assert '"a\\u001Fb\\\\u001f"' in collected.rows("records")[0]["payload"]
    assert collected.rows("TopicRecord")[0]["name"] == topic["name"]


def test_a_record_that_cannot_be_decoded_has_a_row_and_a_problem(
    tmp_path: Path, collected: Any
) -> None:
    good = encode_record("NoOpRecord", 0, {})
    torn = encode_record("TopicRecord", 0, {"name": "t", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ"})[:-3]
    data = encode_batch(
        [(None, good), (None, torn), (None, good)], base_offset=0, epoch=1, timestamp=NOON
    )
    splits = _log(tmp_path, data)
    extract(splits, collected, show_secrets=False)
    kinds = sorted((row["kind"], row["type"]) for row in collected.rows("records")
                   if row["kind"] == "record")  # fmt: skip
    assert kinds == [
        ("record", "NoOpRecord"), ("record", "NoOpRecord"), ("record", "TopicRecord"),
    ]  # fmt: skip
    assert len([row for row in collected.rows("records") if row["kind"] == "problem"]) == 1
    assert [row["name"] for row in collected.rows("TopicRecord")] == [None]
    assert len(collected.rows("batches")) == 1


def test_a_file_that_is_gone_is_a_problem_of_both_tables(tmp_path: Path, collected: Any) -> None:
    splits = _log(tmp_path, _batch(0, NOON, ("NoOpRecord", {})))
    Path(splits[0].file.name).unlink()
    extract(splits, collected, show_secrets=False)
    for table in ("records", "batches"):
        assert [row["kind"] for row in collected.rows(table)] == ["problem"]


def test_the_records_of_a_topic_are_no_metadata(tmp_path: Path, collected: Any) -> None:
    path = tmp_path / "orders-0/00000000000000000000.log"
    path.parent.mkdir()
    path.write_bytes(_batch(0, NOON, ("NoOpRecord", {})))
    extract(_splits(path), collected, show_secrets=False)
    assert collected.tables == {"batches"}


def test_clusters_and_generations_are_kept_apart(tmp_path: Path, collected: Any) -> None:
    splits = []
    for number, cluster in enumerate(("aaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbb")):
        data = tmp_path / str(number)
        (split,) = _log(data, _batch(0, NOON, ("NoOpRecord", {})))
        meta = f"version=1\ncluster.id={cluster}\nnode.id={number}\n"
        (data / "data/meta.properties").write_text(meta)
        (split,) = _splits(data / "data")
        splits.append(Split(file=split.file, generation=number))
    extract(splits, collected, show_secrets=False)
    rows = [
        (cluster, row["node_id"], row["generation"])
        for name, cluster, _, batch in collected.batches
        if name == "records"
        for row in batch.to_pylist()
    ]
    assert rows == [("aaaaaaaaaaaaaaaaaaaaaa", 0, 0), ("bbbbbbbbbbbbbbbbbbbbbb", 1, 1)]
