"""The sources in a real session: what Spark reads, however often, and what it never shows."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException
from pyspark.sql.functions import lit

from kraftool.arrow.columns import sources
from kraftool.arrow.settings import read_settings
from kraftool.spark.source import PUSHDOWN, SOURCES, KraftReader, register

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

from kraftool.spark.columns import spark_schema
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark

SINGLE = str(FIXTURES / "kafka-4.3.0/static-single")
DAMAGED = str(FIXTURES / "damaged")


@pytest.fixture(scope="module", autouse=True)
def _registered(spark: "SparkSession") -> None:
    register(spark)


def _load(spark: "SparkSession", path: str, source: str = "kraft", **options: Any) -> "DataFrame":
    return spark.read.format(source).options(**options).load(path)


def _cluster_ids(root: Path) -> set[str]:
    files = root.rglob("meta.properties")
    lines = (line for file in files for line in file.read_text().splitlines())
    return {line.removeprefix("cluster.id=") for line in lines if line.startswith("cluster.id=")}


def test_the_records_of_a_fleet_are_read_in_parallel(spark: "SparkSession") -> None:
    frame = _load(spark, str(FIXTURES / "kafka-4.3.0"), splitBytes=20_000)
    assert frame.rdd.getNumPartitions() > 2
    nodes = {(row[0], row[1]) for row in frame.select("cluster_id", "node_id").distinct().collect()}
    assert {cluster for cluster, _ in nodes} == _cluster_ids(FIXTURES / "kafka-4.3.0")
    assert {node for _, node in nodes} >= {1, 2, 3, 4, 11, 12}


def test_nested_columns_are_asked_in_sql(spark: "SparkSession") -> None:
    frame = _load(spark, SINGLE, "kraft.RegisterBrokerRecord")
    row = frame.selectExpr("brokerId", "endPoints[0].name name", "size(features) n").first()
    assert row is not None
    assert (row["brokerId"], row["name"]) == (1, "BROKER")
    assert row["n"] > 3


@pytest.fixture
def pushdown(spark: "SparkSession") -> Iterator[None]:
    """Spark's filter pushdown switched on, which is the harder case."""
    spark.conf.set(PUSHDOWN, "true")
    yield
    spark.conf.unset(PUSHDOWN)


CHANGES = "type = 'PartitionChangeRecord'"


@pytest.mark.usefixtures("pushdown")
def test_a_frame_that_is_used_again_has_all_its_rows(spark: "SparkSession") -> None:
    """Spark's pushdown keeps one reader for a frame, so that a filter of one use stays for all."""
    path = str(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-1")
    every = _load(spark, path).select("type", "offset").collect()
    total = len(every)
    some = sum(row["type"] == "PartitionChangeRecord" for row in every)
    assert 0 < some < total

    def fresh() -> "DataFrame":
        return _load(spark, path)

    frame = fresh()
    assert [frame.count(), frame.where(CHANGES).count(), frame.count()] == [total, some, total]
    frame = fresh()
    frame.where(CHANGES).explain()
    assert frame.count() == total
    frame = fresh()
    chosen = frame.where(CHANGES)
    assert frame.union(chosen).count() == chosen.union(frame).count() == total + some
    frame = fresh()
    chosen = frame.where(CHANGES).select("offset")
    assert frame.join(chosen, "offset").count() == some
    assert frame.join(chosen, "offset", "left_anti").count() == total - some
    frame = fresh()
    kept = frame.where(CHANGES).cache()
    assert [kept.count(), frame.count(), kept.count()] == [some, total, some]
    kept.unpersist()
    fresh().createOrReplaceTempView("log_records")
    asked = f"""
        SELECT (SELECT count(*) FROM log_records WHERE {CHANGES}) AS some,
               (SELECT count(*) FROM log_records) AS every"""
    row = spark.sql(asked).first()
    assert row is not None
    assert row.asDict() == {"some": some, "every": total}
    assert spark.table("log_records").count() == total


@pytest.mark.usefixtures("pushdown")
def test_a_stream_that_is_used_twice_has_all_its_rows(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """In one query, of which one half has a filter."""
    path = str(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-1")
    frame = _load(spark, path)
    total, some = frame.count(), frame.where(CHANGES).count()
    stream = spark.readStream.format("kraft").option("stateLocation", str(tmp_path / "state"))
    rows = stream.load(path)
    chosen = rows.where(CHANGES)
    query = (
        chosen.withColumn("half", lit("some"))
        .union(rows.withColumn("half", lit("every")))
        .select("half", "offset")
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    assert query.awaitTermination(120)
    counted = spark.read.parquet(str(tmp_path / "out")).groupBy("half").count().collect()
    assert {row["half"]: row["count"] for row in counted} == {"some": some, "every": total}


def test_options_narrow_a_stream_as_they_narrow_a_table(
    spark: "SparkSession", tmp_path: Path
) -> None:
    path = str(FIXTURES / "kafka-4.3.0/dynamic-quorum")
    options = {"type": "PartitionChange", "node": "1,2", "offsets": "10..", "kind": "record"}
    columns = ("node_id", "offset", "type")
    expected = sorted(map(tuple, _load(spark, path, **options).select(*columns).collect()))
    assert {row[0] for row in expected} == {1, 2}
    query = (
        spark.readStream.format("kraft")
        .options(**options, stateLocation=str(tmp_path / "state"))
        .load(path)
        .select(*columns)
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    assert query.awaitTermination(120)
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(map(tuple, rows)) == expected


def test_a_stream_without_a_state_location_fails_with_what_to_give(
    spark: "SparkSession", tmp_path: Path
) -> None:
    rows = spark.readStream.format("kraft").load(SINGLE)
    writer = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    with pytest.raises(PySparkException, match=r"a stream requires stateLocation.*/srv/state"):
        writer.trigger(availableNow=True).start().awaitTermination(120)


def test_pushdown_that_is_on_is_warned_of_and_stays_as_it_is(spark: "SparkSession") -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register(spark)
    spark.conf.set(PUSHDOWN, "true")
    try:
        with pytest.warns(UserWarning, match="return wrong rows") as caught:
            register(spark)
        assert spark.conf.get(PUSHDOWN) == "true"
    finally:
        spark.conf.unset(PUSHDOWN)
    assert len(caught) == 1
    assert f'spark.conf.set("{PUSHDOWN}", "false")' in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_schema_that_is_given_prunes_the_columns(spark: "SparkSession") -> None:
    frame = spark.read.format("kraft").schema("type string, offset bigint").load(SINGLE)
    assert frame.columns == ["type", "offset"]
    assert frame.count() == _load(spark, SINGLE).count()
    assert _load(spark, SINGLE, columns="offset,payload").columns == ["offset", "payload"]


def test_payloads_are_parsed_by_spark_or_come_as_variant(spark: "SparkSession") -> None:
    ask = "cast(variant_get({}, '$.partitionId', 'int') as int)"
    condition = "type = 'PartitionRecord'"
    parsed = _load(spark, SINGLE).filter(condition).selectExpr(ask.format("parse_json(payload)"))
    given = _load(spark, SINGLE, variant="true").filter(condition).selectExpr(ask.format("data"))
    expected = sorted(row[0] for row in parsed.collect())
    assert expected
    assert sorted(row[0] for row in given.collect()) == expected


def test_a_path_that_leads_nowhere_is_an_analysis_error(spark: "SparkSession") -> None:
    from pyspark.errors import AnalysisException

    for path in ("/nowhere/at/all", f"{SINGLE}/no*such"):
        with pytest.raises(AnalysisException, match="no such file or directory"):
            _load(spark, path)


def test_options_that_cannot_be_meant_are_refused(spark: "SparkSession") -> None:
    from pyspark.errors import AnalysisException

    for options, message in (
        ({"splitBytes": "many"}, "splitBytes must be an integer"),
        ({"showsecret": "true"}, "does not know: showsecret"),
        ({"columns": "ofset"}, "no column ofset"),
    ):
        with pytest.raises(AnalysisException, match=message):
            _load(spark, SINGLE, **options)
    with pytest.raises(AnalysisException, match="the column offset is bigint"):
        spark.read.format("kraft").schema("offset int").load(SINGLE).count()


def test_credentials_of_a_url_are_in_no_message(spark: "SparkSession") -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException) as caught:
        _load(spark, "nosuch://AKIAKEY:hunter22@host/logs", storageOptions='{"secret": "hunter33"}')
    assert "host/logs" in str(caught.value)
    for secret in ("AKIAKEY", "hunter22", "hunter33"):
        assert secret not in str(caught.value)


def test_credentials_of_a_url_are_in_no_column(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that asks for a key and a secret, of which memory takes the place."""
    from kraftool.arrow.search import find_fleet
    from kraftool.storage import remote

    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    root = "/fleet-with-credentials"
    data = Path(SINGLE, "node-1/data")
    for path in data.rglob("*"):
        if path.is_file() and path.parent.name in ("data", "__cluster_metadata-0"):
            store.pipe(f"{root}/{path.relative_to(data)}", path.read_bytes())
    monkeypatch.setattr("fsspec.core.url_to_fs", lambda url, **options: (store, root))
    fleet = find_fleet(["s3://AKIAKEY:hunter22@bucket/fleet"])
    assert len(fleet.files) > 5
    assert remote.is_url(fleet.files[0].root)
    shown = [repr(fleet), json.dumps([file.name for file in fleet.files])]
    for source in ("kraft", "kraft.findings", "kraft.files"):
        options = {"path": "s3://AKIAKEY:hunter22@bucket/fleet"}
        reader = KraftReader(source, read_settings(options), spark_schema(source))
        rows = []
        for task in reader.partitions():
            shown.append(repr(task))
            rows += [row for batch in reader.read(task) for row in batch.to_pylist()]
        if rows:
            shown.append(str(rows))
        if source == "kraft":
            local = KraftReader(source, read_settings({"path": str(data)}), spark_schema(source))
            expected = [
                row
                for task in local.partitions()
                for batch in local.read(task)
                for row in batch.to_pylist()
            ]
            hidden = ("file", "directory")
            assert [{**row, **dict.fromkeys(hidden)} for row in rows] == [
                {**row, **dict.fromkeys(hidden)} for row in expected
            ]
    for text in shown:
        assert "hunter22" not in text
        assert "AKIAKEY" not in text
        assert "s3://bucket/fleet/" in text


def test_every_source_is_registered() -> None:
    assert list(SOURCES) == list(sources())
