"""A filter on any column of a table finds its rows, in every reader that docs/pipelines.md names.

A reader skips files by the statistics of a table's log, which have six columns. delta-rs takes a
column without statistics for one whose values are all null, unless a property of the table names
those that have some. All readers are asked about tables that were extended, and one about tables
of a single run.
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("deltalake")
pytest.importorskip("pyarrow")

from kraftool.arrow.untyped import pa
from kraftool.spark.tables import file_stats
from tests.spark import tables_support as support
from tests.spark.table_filters import Filter, filters
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pq: Any = import_module("pyarrow.parquet")
deltalake: Any = import_module("deltalake")

pytestmark = pytest.mark.spark

KAFKA = FIXTURES / "kafka-4.3.0"
SINGLE, ABORTED = KAFKA / "static-single", KAFKA / "aborted-transaction"
DUCKDB = ("duckdb==1.4.4", "duckdb-ext-delta==1.4.4.20260205")
"""The newest DuckDB for which its extension `delta` is a package."""

SOME = ("records", "topics", "changes")
"""Tables of all kinds: of records, of states, and of what a later run has noticed."""

Count = Callable[[Filter], int]


def _growing(folder: Path) -> tuple[Path, ...]:
    """Directories of several clusters: with records of all types, and one with damage."""
    log = folder / "grows"
    support.directory(log, support.batches(0, 6), cluster="grows")
    damaged = bytearray(support.batches(0, 6))
    damaged[-7] ^= 1
    support.directory(folder / "damaged", bytes(damaged), cluster="damaged")
    return SINGLE, ABORTED, KAFKA / "dynamic-quorum" / "node-1", folder


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables that this kraftool made."""
    out = tmp_path_factory.mktemp("fresh") / "tables"
    support.run(_growing(tmp_path_factory.mktemp("fleet")), out)
    return out


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables that a second run has extended: a log has got another end."""
    folder, out = tmp_path_factory.mktemp("fleet"), tmp_path_factory.mktemp("extended") / "tables"
    roots = _growing(folder)
    support.run(roots[1:], out)
    (folder / "grows" / support.LOG).write_bytes(
        support.batches(0, 3) + support.batches(15, 4, epoch=2, day=1)
    )
    support.run(roots, out)
    return out


@pytest.fixture(scope="module")
def asked(extended: Path) -> list[Filter]:
    """Filters on every column of all tables that the directories have rows for."""
    return list(filters(extended))


def _wrong(asked: list[Filter], count: Count) -> list[str]:
    """The filters that do not find their rows."""
    wrong = []
    for filter in asked:
        found = count(filter)
        if found != filter.rows:
            wrong.append(f"{filter.table}: {filter.sql}: {found} in place of {filter.rows}")
    return wrong


def test_every_table_and_column_is_asked_for(asked: list[Filter], extended: Path) -> None:
    by_table = defaultdict(set)
    for filter in asked:
        by_table[filter.table].add(filter.column)
    assert {"records", "batches", "files", "findings", "changes", "topics"} <= by_table.keys()
    assert len(by_table) >= 38
    for table, columns in by_table.items():
        assert columns == set(pq.read_schema(support.files_of(extended, table)[0]).names)


@pytest.mark.parametrize("properties", [{}, {"delta.dataSkippingStatsColumns": "a"}])
def test_delta_rs_finds_rows_by_a_column_without_statistics_if_the_property_is_there(
    properties: dict[str, str], tmp_path: Path
) -> None:
    """If this fails without the property, delta-rs needs it no longer."""
    rows = pa.table({"a": ["x"], "b": ["y"]})
    pq.write_table(rows, tmp_path / "file.parquet")
    stats = {"numRecords": 1, "minValues": {"a": "x"}, "maxValues": {"a": "x"}}
    transaction = import_module("deltalake.transaction")
    added = transaction.AddAction(
        path="file.parquet",
        size=(tmp_path / "file.parquet").stat().st_size,
        partition_values={},
        modification_time=0,
        data_change=True,
        stats=json.dumps({**stats, "nullCount": {"a": 0}}),
    )
    transaction.create_table_with_add_actions(
        str(tmp_path), deltalake.Schema.from_arrow(rows.schema), [added], configuration=properties
    )
    found = deltalake.DeltaTable(str(tmp_path)).to_pyarrow_table(filters=[("b", "=", "y")])
    assert found.num_rows == len(properties)


def _open(out: Path) -> dict[str, Any]:
    return {name: deltalake.DeltaTable(str(out / name)) for name in support.tables_of(out)}


@pytest.fixture(scope="module")
def opened(extended: Path) -> dict[str, Any]:
    return _open(extended)


def _tuples(filter: Filter) -> list[tuple[str, str, Any]]:
    value = list(filter.values) if filter.operator == "in" else filter.values[0]
    return [(filter.column, filter.operator, value)]


def test_tables_of_delta_rs_find_them(asked: list[Filter], opened: dict[str, Any]) -> None:
    def count(filter: Filter) -> int:
        wanted: Any = pa.compute.field(filter.column).is_null()
        if filter.operator != "is null":
            wanted = _tuples(filter)
        table = opened[filter.table].to_pyarrow_table(columns=[filter.column], filters=wanted)
        return int(table.num_rows)

    assert not _wrong(asked, count)


def test_pandas_by_delta_rs_finds_them(asked: list[Filter], opened: dict[str, Any]) -> None:
    """delta-rs reads a frame as the table of the test before, so that some tables show it."""

    def count(filter: Filter) -> int:
        frame = opened[filter.table].to_pandas(columns=[filter.column], filters=_tuples(filter))
        return len(frame)

    own = [filter for filter in asked if filter.table in SOME and filter.values]
    assert not _wrong(own, count)


@pytest.mark.parametrize("of", ["fresh", "extended"])
def test_datasets_of_delta_rs_find_them(of: str, request: pytest.FixtureRequest) -> None:
    out = request.getfixturevalue(of)
    datasets = {name: table.to_pyarrow_dataset() for name, table in _open(out).items()}

    def count(filter: Filter) -> int:
        field = pa.compute.field(filter.column)
        match filter.operator:
            case "is null":
                wanted = field.is_null()
            case "in":
                wanted = field.isin(list(filter.values))
            case "<":
                wanted = field < filter.values[0]
            case _:
                wanted = field == filter.values[0]
        return int(datasets[filter.table].count_rows(filter=wanted))

    assert not _wrong(list(filters(out)), count)


def test_duckdb_over_datasets_finds_them(asked: list[Filter], opened: dict[str, Any]) -> None:
    connection = import_module("duckdb").connect()
    for name, table in opened.items():
        connection.register(name, table.to_pyarrow_dataset())

    def count(filter: Filter) -> int:
        query = f'select count(*) from "{filter.table}" where {filter.sql}'
        return int(connection.execute(query).fetchone()[0])

    assert not _wrong(asked, count)


_DELTA_SCAN = """
import duckdb, glob, json, sys
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
(extension,) = glob.glob(sys.argv[1] + "/**/delta.duckdb_extension", recursive=True)
connection.execute(f"load '{extension}'")
queries = json.load(sys.stdin)
print(json.dumps([connection.execute(query).fetchone()[0] for query in queries]))
"""


@pytest.fixture(scope="module")
def duckdb_with_delta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with DuckDB and its extension."""
    folder = tmp_path_factory.mktemp("duckdb")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps"]
    done = subprocess.run(
        [*pip, "--target", str(folder), *DUCKDB], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"DuckDB's extension comes from the package index: {done.stderr[-200:]}")
    return folder


def test_delta_scan_of_duckdb_finds_them(
    asked: list[Filter], extended: Path, duckdb_with_delta: Path
) -> None:
    queries = [
        f"select count(*) from delta_scan('{extended / filter.table}') where {filter.sql}"
        for filter in asked
    ]
    done = subprocess.run(
        [sys.executable, "-c", _DELTA_SCAN, str(duckdb_with_delta)],
        input=json.dumps(queries),
        env={"PYTHONPATH": str(duckdb_with_delta)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts = iter(json.loads(done.stdout))
    assert not _wrong(asked, lambda _: next(counts))


def test_polars_finds_them(asked: list[Filter], extended: Path) -> None:
    polars: Any = import_module("polars")
    frames = {table: polars.scan_delta(str(extended / table)) for table, *_ in asked}

    def wanted(filter: Filter) -> Any:
        column = polars.col(filter.column)
        match filter.operator:
            case "is null":
                return column.is_null()
            case "in":
                return column.is_in(filter.values)
            case "<":
                return column < filter.values[0]
        return column == filter.values[0]

    def count(filter: Filter) -> int:
        query = frames[filter.table].filter(wanted(filter)).select(polars.len())
        return int(query.collect().item())

    assert not _wrong(asked, count)


def test_spark_finds_them(spark: "SparkSession", asked: list[Filter], extended: Path) -> None:
    """By the files of a version, as documented. Spark sees only Parquet's own statistics there, so
    some tables show it."""
    wrong = []
    for table in SOME:
        files = deltalake.DeltaTable(str(extended / table)).file_uris()
        spark.read.parquet(*files).createOrReplaceTempView("filtered")
        own = [filter for filter in asked if filter.table == table and filter.operator != "in"]
        counts = (
            f"select {number}, count(*) from filtered where {_spark_sql(filter)}"
            for number, filter in enumerate(own)
        )
        found: dict[int, int] = dict(spark.sql(" union all ".join(counts)).collect())
        by_filter = {filter: found[number] for number, filter in enumerate(own)}
        wrong += _wrong(own, by_filter.__getitem__)
    assert not wrong


def _spark_sql(filter: Filter) -> str:
    sql = filter.sql.replace("\\", "\\\\").replace("TIMESTAMPTZ", "TIMESTAMP")
    return sql.replace(f'"{filter.column}"', f"`{filter.column}`", 1)


def _files(out: Path) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Each file of each table: the table, its statistics in the log, and its rows."""
    for name in support.tables_of(out):
        table = deltalake.DeltaTable(str(out / name))
        for added in pa.table(table.get_add_actions(flatten=False)).to_pylist():
            yield name, added, pq.ParquetFile(out / name / added["path"]).read()


@pytest.mark.parametrize("of", ["fresh", "extended"])
def test_the_statistics_are_those_of_the_rows(of: str, request: pytest.FixtureRequest) -> None:
    seen = set()
    for name, added, rows in _files(request.getfixturevalue(of)):
        assert added["num_records"] == rows.num_rows
        assert set(added["null_count"]) == set(file_stats.COLUMNS) & set(rows.column_names)
        for column, nulls in added["null_count"].items():
            values = [value for value in rows[column].to_pylist() if value is not None]
            assert nulls == rows.num_rows - len(values), (name, column)
            least, greatest = added["min"][column], added["max"][column]
            assert (least, greatest) == ((min(values), max(values)) if values else (None, None))
            seen.add((column, bool(values)))
    assert {column for column, _ in seen} == set(file_stats.COLUMNS)
    assert any(not with_values for _, with_values in seen), "no column of nulls was looked at"


def test_a_greatest_time_is_never_before_the_row() -> None:
    time = datetime(2026, 11, 28, 23, 59, 59, 999_500, tzinfo=UTC)
    assert file_stats._json(time, up=False) == "2026-11-28T23:59:59.999Z"
    assert file_stats._json(time, up=True) == "2026-11-29T00:00:00.000Z"
    assert file_stats._json(date(2026, 11, 28), up=True) == "2026-11-28"
