"""Each query of docs/pipelines.md, docs/spark.md and docs/arrow.md, run as it is written there.

Each finds the number of rows that `kraftool dump-log`, `state` and `dump` show of the same
directories. The SQL of docs/arrow.md is in tests/arrow/test_questions.py.
"""

import ast
import json
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("deltalake")

import deltalake
import duckdb
import polars as pl

from kraftool.spark.source import register
from tests.commands.conftest import here
from tests.spark import tables_support as support
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DOCS = Path(__file__).resolve().parents[2] / "docs"
QUORUM = FIXTURES / "kafka-4.3.0" / "dynamic-quorum"
OTHER_CLUSTER = "Some-ClusterIdOfKafka1"
_BLOCK = re.compile(r"^```(?:python|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
Names = dict[str, Any]
Row = dict[str, Any]


def _blocks(document: str) -> list[str]:
    """The blocks of Python and SQL of a document, but for SQL that begins with its question."""
    blocks = _BLOCK.findall((DOCS / document).read_text())
    return [body for body in blocks if not body.startswith("--")]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four nodes of one cluster, and one of another: 2,200 records, and a file with a finding."""
    root = tmp_path_factory.mktemp("archive")
    for number in range(1, 5):
        shutil.copytree(QUORUM / f"node-{number}", root / f"node-{number}")
    data = support.batches(0, 440)
    other = support.directory(root / "node-20" / "data", data, cluster=OTHER_CLUSTER, node=2)
    (other / "__cluster_metadata-0" / "quorum-state").write_text("{")
    return root


@pytest.fixture(scope="module")
def tables(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of five runs, each with one more directory."""
    out = tmp_path_factory.mktemp("tables") / "out"
    directories = [archive / f"node-{number}" / "data" for number in (20, 1, 2, 3, 4)]
    for count in range(1, len(directories) + 1):
        support.run(tuple(directories[:count]), out)
    return out


class Truth:
    """What the commands show of each directory."""

    def __init__(self, archive: Path) -> None:
        self.entries: list[Row] = []
        self.topics = self.partitions = 0
        damaged = archive / "node-20/data/__cluster_metadata-0/quorum-state"
        dump = json.loads("".join(_shown("dump", str(damaged), "-o", "json")))
        self.findings = len(dump["findings"])
        self.newest_topics = (-1, 0)
        for directory in sorted(archive.glob("*/data")):
            logs = sorted(map(str, directory.glob("__cluster_metadata-0/*.log")))
            lines = _shown("dump-log", *logs, "-o", "jsonl")
            cluster = "" if "node-20" in str(directory) else "quorum"
            self.entries += [{**json.loads(line), "cluster": cluster} for line in lines]
            if cluster:
                state = json.loads("".join(_shown("state", str(directory), "-o", "json")))
                topics = state["topics"]
                self.topics += len(topics)
                self.partitions += sum(len(topic["partitions"]) for topic in topics)
                end = (state["provenance"]["offset"], len(topics))
                self.newest_topics = max(self.newest_topics, end)

    def records(self, is_wanted: Callable[[Row], bool] = lambda _: True) -> list[Row]:
        return [row for row in self.entries if row["kind"] == "record" and is_wanted(row)]

    def of_type(self, name: str) -> int:
        return len(self.records(lambda row: row["type"] == name))

    def between(self, since: str, until: str = "9999-12-31T00:00:00Z") -> int:
        first, last = (datetime.fromisoformat(time).timestamp() * 1000 for time in (since, until))
        return len(self.records(lambda row: first <= row["timestamp"] <= last))


def _shown(*words: str) -> list[str]:
    """The lines that a command prints."""
    with pytest.MonkeyPatch.context() as patch:
        return here(patch, *words).text.splitlines()


@pytest.fixture(scope="module")
def truth(archive: Path) -> Truth:
    return Truth(archive)


@pytest.fixture
def as_written(archive: Path, tables: Path, tmp_path: Path) -> Callable[[str], str]:
    """A block with the folders of this test."""
    here = {
        "/archive": archive,
        "/mnt/controllers": archive,
        "s3://bucket/controllers": archive,
        "/data/tables": tables,
        "/srv": tmp_path,
        "2026-01-31T00:00:00Z": datetime.now(UTC).isoformat(),
    }
    words = re.compile("|".join(re.escape(word) + r"\b" for word in here))
    return lambda block: words.sub(lambda match: str(here[match[0]]), block)


def _values(block: str, names: Names) -> Iterator[Any]:
    """Run a block, and yield the value of each statement that has one. `with session(…)` is left
    out, and its content runs in the session of the tests."""
    for statement in ast.parse(block).body:
        body = statement.body if isinstance(statement, ast.With) else [statement]
        for node in body:
            value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
            is_shown = isinstance(value, ast.Call) and ast.unparse(value.func).endswith(".show")
            if isinstance(value, ast.Call) and is_shown and isinstance(value.func, ast.Attribute):
                node = ast.Expr(value.func.value)
            if isinstance(node, ast.Expr):
                yield eval(ast.unparse(node), names)
                continue
            exec(ast.unparse(node), names)
            if isinstance(node, ast.Assign):
                yield names[ast.unparse(node.targets[0])]


def _rows(value: Any) -> int | None:
    """The number of rows of a result; None if it is not one."""
    if getattr(value, "isStreaming", False):
        return None
    match value:
        case list():
            return len(value)
        case pl.DataFrame():
            return int(value.height)
        case duckdb.DuckDBPyRelation():
            return len(value.fetchall())
        case deltalake.DeltaTable():
            return int(value.to_pyarrow_table().num_rows)
    kind = type(value).__name__
    if kind == "RecordBatchReader":
        return int(value.read_all().num_rows)
    if kind == "Table":
        return int(value.num_rows)
    if kind == "DataFrame":
        return len(value) if "pandas" in type(value).__module__ else int(value.count())
    return None


def _counts(block: str, **names: Any) -> list[int]:
    return [rows for value in _values(block, names) if (rows := _rows(value)) is not None]


def test_no_block_was_added_or_removed_unseen() -> None:
    assert {document: len(_blocks(document)) for document in ("pipelines.md", "spark.md")} == {
        "pipelines.md": 5,
        "spark.md": 7,
    }
    assert len(_blocks("arrow.md")) == 2, "the second one is in tests/arrow/test_questions.py"


def test_readers_of_the_tables(as_written: Callable[[str], str], truth: Truth) -> None:
    block = as_written(_blocks("pipelines.md")[0])
    assert _counts(block, deltalake=deltalake, polars=pl, duckdb=duckdb) == [
        truth.of_type("CONFIG_RECORD"),
        truth.newest_topics[1],
        sum(row["kind"] == "batch" for row in truth.entries),
    ]
    assert truth.of_type("CONFIG_RECORD") > 700


def test_spark_reads_the_files_of_a_version(
    spark: "SparkSession", as_written: Callable[[str], str], truth: Truth
) -> None:
    block = as_written(_blocks("pipelines.md")[1])
    assert _counts(block, spark=spark, deltalake=deltalake) == [len(truth.records())]


def test_earlier_versions_of_the_tables(
    as_written: Callable[[str], str], tables: Path, truth: Truth
) -> None:
    """Of the four runs that wrote topics, the last one wrote version 3."""
    block = as_written(_blocks("pipelines.md")[2])
    table = deltalake.DeltaTable(str(tables / "topics"), version=0)
    assert _counts(block, deltalake=deltalake, table=table) == [truth.topics, 4]
    assert _rows(table) == truth.topics
    assert [(made["version"], made["kraftool.run"]) for made in table.history()] == [
        (3, "5"), (2, "4"), (1, "3"), (0, "2"),
    ]  # fmt: skip


def test_the_tables_as_one_run_left_them(
    as_written: Callable[[str], str], tables: Path, truth: Truth
) -> None:
    names = {"json": json, "deltalake": deltalake}
    *_, opened = _values(as_written(_blocks("pipelines.md")[3]), names)
    assert opened["records"].to_pyarrow_table().num_rows == len(truth.records())
    assert opened["topics"].version() == deltalake.DeltaTable(str(tables / "topics")).version()


def _streamed(spark: "SparkSession", rows: Any, folder: Path) -> Any:
    """What a stream has once it has read everything."""
    writer = rows.writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint")
    writer.trigger(availableNow=True).start(f"{folder}/table").awaitTermination()
    return spark.read.parquet(f"{folder}/table")


def test_the_stream_of_findings(
    spark: "SparkSession", as_written: Callable[[str], str], tmp_path: Path, truth: Truth
) -> None:
    register(spark)
    (rows,) = _values(as_written(_blocks("pipelines.md")[4]), {"spark": spark})
    assert _streamed(spark, rows, tmp_path).count() == truth.findings > 0


def test_frames_views_and_states(
    spark: "SparkSession", as_written: Callable[[str], str], truth: Truth
) -> None:
    def is_config(row: Row) -> bool:
        return row["type"] == "CONFIG_RECORD" and row["offset"] in range(1000, 2000)

    leaderless = {
        (row["cluster"], row["data"]["topicId"])
        for row in truth.records(lambda row: row["type"] == "PARTITION_CHANGE_RECORD")
        if row["data"].get("leader") == -1
    }
    configs = len(truth.records(is_config))
    assert _counts(as_written(_blocks("spark.md")[0]), spark=spark) == [
        configs,
        configs,
        truth.of_type("PARTITION_CHANGE_RECORD"),
        len(leaderless),
        truth.partitions,
    ]
    assert leaderless


def test_choices_by_options(
    spark: "SparkSession", as_written: Callable[[str], str], truth: Truth
) -> None:
    """Each record from 04:00 to 05:00 is of the quorum, which is younger than the other log."""
    assert _counts(as_written(_blocks("spark.md")[1]), spark=spark) == [
        truth.of_type("LeaderChange"),
        truth.between("2026-11-21T04:00:00Z", "2026-11-21T05:00:00Z"),
        1001,
    ]
    assert truth.between("2026-11-21T04:00:00Z", "2026-11-21T05:00:00Z") > 0


def test_tables_and_views_of_the_catalog(
    spark: "SparkSession", as_written: Callable[[str], str], truth: Truth
) -> None:
    names = ("metadata", "elections", "isr", "recent")
    try:
        for statement in as_written(_blocks("spark.md")[2]).split(";")[:-1]:
            spark.sql(statement)
        assert [spark.table(name).count() for name in names] == [
            len(truth.records()),
            truth.of_type("LeaderChange"),
            truth.partitions,
            truth.between("2026-11-21T00:00:00Z"),
        ]
    finally:
        for name in names[:3]:
            spark.sql(f"DROP TABLE IF EXISTS {name}")
        spark.catalog.dropTempView("recent")


def test_the_stream_of_everything(
    spark: "SparkSession", as_written: Callable[[str], str], tmp_path: Path, truth: Truth
) -> None:
    """As docs/spark.md has it for Spark Connect; tests/spark/test_connect.py has a server."""
    list(_values(as_written(_blocks("spark.md")[6]), {"spark": spark}))
    written = spark.read.parquet(f"{tmp_path}/table").groupBy("kind").count()
    counts = {row["kind"]: row["count"] for row in written.collect()}
    assert counts == {"record": len(truth.records()), "finding": truth.findings}


def test_blocks_without_a_query_are_settings() -> None:
    for block in _blocks("spark.md")[3:6]:
        assert not re.search(r"\.(load|sql|table|show|format)\(|\bread\(", block), block


def test_readers_of_arrow(as_written: Callable[[str], str], truth: Truth) -> None:
    records = len(truth.records())
    types = {row["type"] for row in truth.records()}
    counts = _counts(as_written(_blocks("arrow.md")[0]))
    assert counts == [len(types), records, records, records]
