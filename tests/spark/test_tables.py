"""The tables of real and damaged directories: the same rows as dump-log, once, for every reader."""

import gc
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from kraftool.arrow.columns import record_types
from kraftool.arrow.enum_names import words_of
from kraftool.arrow.fleet import with_batches
from kraftool.arrow.search import find_fleet
from kraftool.reports.logs.dump import LogDump
from kraftool.reports.logs.text import jsonl_entry
from kraftool.spark import values
from kraftool.spark.source import register
from kraftool.spark.tables import run, units
from kraftool.spark.tables.layout import TABLES
from kraftool.spark.tables.run import TablesReport, TablesRequest, write_tables
from tests.arrow.record_types import type_of_dump_log
from tests.spark import tables_support as support
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pq: Any = import_module("pyarrow.parquet")

pytestmark = pytest.mark.spark

IS_SOAK = os.environ.get("KRAFTOOL_SOAK") == "1"
SPLIT_BYTES = 20_000
SCENARIOS = sorted(
    str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("*/*") if path.is_dir()
)
WITH_SPARK = ("FeatureLevelRecord", "PartitionRecord", "RegisterBrokerRecord")
"""Types of records that every run reads with Spark. The others have the same source."""
Row = dict[str, Any]


@pytest.fixture(scope="module")
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, TablesReport]:
    """The tables of all fixtures at once, snapshots too, in small ranges; in the soak by Spark."""
    out = tmp_path_factory.mktemp("tables") / "out"
    wanted: Any = {"snapshots": True, "split_bytes": SPLIT_BYTES}
    if IS_SOAK:
        return out, _write(request.getfixturevalue("spark"), out, **wanted)
    return out, support.run(FIXTURES, out, None, **wanted)


def _write(spark: "SparkSession", out: Path, root: Path = FIXTURES, **more: Any) -> TablesReport:
    @contextmanager
    def start() -> Iterator["SparkSession"]:
        yield spark

    return write_tables(TablesRequest(roots=(str(root),), out=str(out), **more), start)


def _read(out: Path, table: str, below: Path = FIXTURES) -> list[Row]:
    """The rows of a table in the order of their files, but for the day."""
    rows = []
    if not (out / table).exists():
        return []
    for path in support.files_of(out, table):
        for row in pq.ParquetFile(path).read().to_pylist():
            row.pop("date", None)
            if f"{row['directory']}/".startswith(f"{below}/"):
                rows.append(row)
    return rows


@pytest.fixture(scope="module")
def records(written: tuple[Path, TablesReport]) -> dict[str, list[Row]]:
    return _by_file(_read(written[0], "records"))


@pytest.fixture(scope="module")
def batches(written: tuple[Path, TablesReport]) -> dict[str, list[Row]]:
    return _by_file(_read(written[0], "batches"))


def _by_file(rows: list[Row]) -> dict[str, list[Row]]:
    by_file: dict[str, list[Row]] = {}
    for row in rows:
        by_file.setdefault(row["file"], []).append(row)
    return by_file


def _dumped(scenario: str) -> Iterator[Row]:
    """What dump-log -o jsonl has of a scenario."""
    dump = LogDump(show_secrets=False)
    for file in with_batches(find_fleet([str(FIXTURES / scenario)]), snapshots=True):
        with file.open() as source:
            for entry in dump.entries(file.name, source.read_at):
                for line in jsonl_entry(entry, show_secrets=False).splitlines():
                    yield json.loads(line)


def _text(row: Row) -> str:
    return json.dumps(row, sort_keys=True)


def _as_dumped(row: Row) -> Row:
    if row["kind"] == "problem":
        damage = {"damage": row["damage"], "size": row["size"]} if row["damage"] else {}
        fields = {"kind": "error", "file": row["file"], "position": row["position"]}
        return {**fields, "reason": row["error"], **damage}
    renamed = {"base_offset": "baseOffset", "timestamp_ms": "timestamp"}
    renamed |= {"key_size": "keySize", "value_size": "valueSize"}
    same = ("file", "position", "offset", "epoch", "control", "type", "version", "kind")
    names = {**renamed, **dict(zip(same, same, strict=True))}
    data = None if row["payload"] is None else json.loads(row["payload"])
    fields = {theirs: row[ours] for ours, theirs in names.items()}
    return {**fields, "type": type_of_dump_log(row["type"]), "data": data}


def test_workers_of_spark_write_the_same(spark: "SparkSession", tmp_path: Path) -> None:
    root = FIXTURES / "damaged"
    wanted: Any = {"snapshots": True, "split_bytes": SPLIT_BYTES}
    _write(spark, tmp_path / "spark", root, **wanted)
    support.run(root, tmp_path / "here", None, **wanted)
    tables = support.read_tables(tmp_path / "spark")
    assert tables == support.read_tables(tmp_path / "here")
    assert len(tables["records"]) > 500


@pytest.fixture(scope="module", params=SCENARIOS)
def dumped(request: pytest.FixtureRequest) -> tuple[str, list[Row]]:
    """A scenario, and what dump-log has of it."""
    return request.param, list(_dumped(request.param))


def test_records_are_those_of_dump_log(
    records: dict[str, list[Row]], dumped: tuple[str, list[Row]]
) -> None:
    scenario, entries = dumped
    expected = []
    for entry in map(dict, entries):
        entry.pop("raw", None)
        if entry["kind"] == "record":
            entry.pop("reason", None)
        if entry["kind"] != "batch":
            expected.append(_text(entry))
    below = str(FIXTURES / scenario) + "/"
    rows = [
        row for file, file_rows in records.items() if file.startswith(below) for row in file_rows
    ]
    assert sorted(_text(_as_dumped(row)) for row in rows) == sorted(expected)


def test_batches_are_those_of_dump_log(
    batches: dict[str, list[Row]], dumped: tuple[str, list[Row]]
) -> None:
    scenario, entries = dumped
    expected = sorted(
        (entry["file"], entry["position"], entry["baseOffset"], entry["lastOffset"], entry["crc"])
        for entry in entries
        if entry["kind"] == "batch"
    )
    below = str(FIXTURES / scenario) + "/"
    names = ("file", "position", "base_offset", "last_offset", "crc")
    rows = [
        row for file, file_rows in batches.items() if file.startswith(below) for row in file_rows
    ]
    listed = [tuple(row[name] for name in names) for row in rows if row["kind"] == "batch"]
    assert sorted(listed) == expected


def test_typed_tables_are_those_of_the_typed_sources(
    spark: "SparkSession", written: tuple[Path, TablesReport]
) -> None:
    """test_extract.py compares each table with its source, before a table is written."""
    register(spark)
    out, _ = written
    root = FIXTURES if IS_SOAK else FIXTURES / "kafka-4.3.0"
    seen = 0
    for name in record_types() if IS_SOAK else WITH_SPARK:
        frame = spark.read.format(f"kraft.{name}").option("snapshots", "true")
        expected = [row.asDict(recursive=True) for row in frame.load(str(root)).collect()]
        # Spark hands times on without their zone, pyarrow with it; the milliseconds tell them.
        rows = _read(out, name, root)
        for row in (*expected, *rows):
            row.pop("timestamp")
        for row in expected:
            for column in words_of(name):  # of the sources alone
                row.pop(column)
        for row in rows:
            assert row.pop("generation") == 0
        texts = sorted(json.dumps(row, sort_keys=True) for row in expected)
        assert sorted(json.dumps(row, sort_keys=True) for row in rows) == texts, name
        seen += len(rows)
    assert seen > 500


def test_files_and_findings_are_those_of_their_sources(
    spark: "SparkSession", written: tuple[Path, TablesReport]
) -> None:
    register(spark)
    root = FIXTURES / "damaged"
    for name, key in (("files", "path"), ("findings", "code")):
        frame = spark.read.format(f"kraft.{name}").load(str(root))
        columns = ["cluster_id", "node_id", "directory", "file", key]
        rows = [tuple(row) for row in frame.select(columns).collect()]
        # No cluster id and an empty one are the same to a partition's folder.
        expected = sorted(str((row[0] or None, *row[1:])) for row in rows)
        listed = [tuple(row[column] for column in columns) for row in _read(written[0], name, root)]
        assert sorted(map(str, listed)) == expected
        assert expected


def test_the_day_of_a_row_is_that_of_the_record(written: tuple[Path, TablesReport]) -> None:
    dated = 0
    for path in support.files_of(written[0], "records"):
        days = set()
        for row in pq.ParquetFile(path).read().to_pylist():
            time = row["timestamp"]
            assert row["date"] == (None if time is None else time.date())
            days.add(row["date"])
            dated += time is not None
        assert len(days) == 1, "by which readers skip files"
    assert dated > 5_000


def test_a_second_run_reads_nothing_and_changes_nothing(
    written: tuple[Path, TablesReport],
) -> None:
    out, first = written
    before = support.listing(out)

    def start() -> Any:
        raise AssertionError("no Spark is needed")

    wanted = TablesRequest(
        roots=(str(FIXTURES),), out=str(out), snapshots=True, split_bytes=SPLIT_BYTES
    )
    report = write_tables(wanted, start)
    assert support.listing(out) == before
    assert (first.is_new, report.is_new, report.bytes_read) == (True, False, 0)
    assert [table.after for table in report.tables] == [table.after for table in first.tables]


def test_what_is_told_is_what_is_there(written: tuple[Path, TablesReport]) -> None:
    out, report = written
    for table in report.tables:
        files = support.files_of(out, table.name)
        assert files == sorted((out / table.name).rglob("*.parquet")), "nothing else is left"
        rows = sum(pq.read_metadata(path).num_rows for path in files)
        size = sum(path.stat().st_size for path in files)
        assert (table.after.rows, table.after.files, table.after.size) == (rows, len(files), size)
    assert {table.name for table in report.tables} <= TABLES.keys()


def test_only_the_owner_can_read_them(written: tuple[Path, TablesReport]) -> None:
    out, _ = written
    for path in (out, *out.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_spark_reads_their_files(spark: "SparkSession", written: tuple[Path, TablesReport]) -> None:
    """As long as Delta's own package has no release for this Spark."""
    out, report = written
    rows = {table.name: table.after.rows for table in report.tables}
    for name in ("records", "RegisterBrokerRecord", "partition_history", "findings"):
        frame = spark.read.parquet(*map(str, support.files_of(out, name)))
        assert frame.count() == rows[name]
    frame = spark.read.parquet(*map(str, support.files_of(out, "records")))
    by_day = frame.where("date is not null and date <> to_date(timestamp)")
    assert by_day.count() == 0
    assert {"cluster_id", "date", "payload"} <= set(frame.columns)


def test_every_type_of_record_is_in_the_table_of_its_name(
    written: tuple[Path, TablesReport], records: dict[str, list[Row]]
) -> None:
    counts: dict[str, int] = {}
    for rows in records.values():
        for row in rows:
            counts[row["type"]] = counts.get(row["type"], 0) + 1
    for table in written[1].tables:
        if table.name in record_types():
            assert table.after.rows == counts.get(table.name, 0)


def test_secrets_are_masked_unless_asked_for(tmp_path: Path) -> None:
    root = FIXTURES / "kafka-4.3.0/static-single"
    texts = {}
    for shown in (False, True):
        out = tmp_path / str(shown)
        support.run(root, out, None, show_secrets=shown)
        texts[shown] = str(support.read_tables(out))
    assert "CANARY" not in texts[False]
    assert "CANARY" in texts[True]


def test_nothing_is_left_of_the_staging(written: tuple[Path, TablesReport]) -> None:
    assert sorted(os.listdir(written[0] / "_kraftool")) == ["lock", "state"]


def test_no_run_of_the_jvm_keeps_the_items_of_the_one_before(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20,010 directories took more than the JVM's gigabyte: py4j's frames had all items so far."""
    root, alive = tmp_path / "fleet", list[int]()
    for number in range(6):
        folder = root / f"c{number}/node-1"
        support.directory(folder, support.batches(0, 2), cluster=f"c{number}", node=1)
    monkeypatch.setattr(units, "_MOST_LISTED", 1)

    def counted(session: Any, items: Any, task: Any) -> Any:
        if items:
            alive.append(sum(type(one).__name__ == "JavaObject" for one in gc.get_objects()))
        return values.results_of(session, items, task)

    monkeypatch.setattr(run, "results_of", counted)
    _write(spark, tmp_path / "out", root)
    assert len(alive) >= 6
    per_run = len(alive) // 6
    assert alive[-per_run] <= alive[per_run]
