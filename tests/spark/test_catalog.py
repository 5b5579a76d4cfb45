"""`USING kraft`: tables and views of Spark's catalog, found without registration."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from pyspark.errors import AnalysisException
from pyspark.sql.types import StructType

from kraftool.arrow import read as read_arrow
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.catalog import options_of, with_options
from kraftool.spark.columns import spark_schema
from kraftool.spark.frames import create_view, read
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SINGLE = FIXTURES / "kafka-4.3.0/static-single"


@pytest.fixture
def created(spark: SparkSession) -> Iterator[list[str]]:
    """The names of tables that are dropped in the end."""
    names: list[str] = []
    yield names
    for name in names:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def _count(spark: SparkSession, table: str) -> int:
    return int(spark.sql(f"SELECT count(*) FROM {table}").collect()[0][0])


def _rows(**choices: Any) -> int:
    return int(read_arrow(SINGLE, **choices).read().num_rows)


@pytest.mark.parametrize(
    ("clauses", "choices"),
    [
        ("USING kraft OPTIONS (path '{path}')", {}),
        ("USING kraft LOCATION '{path}'", {}),
        (
            (
                "USING kraft OPTIONS (type 'TopicRecord', kind 'record') LOCATION '{path}'"
                " TBLPROPERTIES ('anything' = 'else')"
            ),
            {"type": "TopicRecord", "kind": "record"},
        ),
        (
            (
                "USING kraft OPTIONS (startingOffsets '10', endingOffsets '20', kind 'record')"
                " LOCATION '{path}'"
            ),
            {"offsets": "10..19", "kind": "record"},
        ),
        ("USING kraft OPTIONS (rows 'partitions') LOCATION '{path}'", {"rows": "partitions"}),
    ],
)
def test_a_table_of_the_catalog_has_the_rows_of_its_options(
    spark: SparkSession, created: list[str], clauses: str, choices: dict[str, Any]
) -> None:
    created.append("kraft_table")
    spark.sql(f"CREATE TABLE kraft_table {clauses.format(path=SINGLE)}")
    expected = _rows(**choices)
    assert expected > 0
    assert _count(spark, "kraft_table") == expected
    # A second reader of the same table has its options too.
    assert _count(spark, "kraft_table") == expected


def test_a_table_by_the_catalogs_own_call_and_its_comments(
    spark: SparkSession, created: list[str]
) -> None:
    created.append("kraft_table")
    spark.catalog.createTable("kraft_table", path=str(SINGLE), source="kraft", offsets="5..9")
    assert _count(spark, "kraft_table WHERE kind = 'record'") == 5
    comments = {row[0]: row[2] for row in spark.sql("DESCRIBE TABLE kraft_table").collect()}
    assert comments["cluster_id"] == "cluster.id of the directory's meta.properties"
    assert all(comments.values())


def test_what_a_table_was_made_of_outlives_it(
    spark: SparkSession, created: list[str], tmp_path: Path
) -> None:
    """Spark calls such a table managed: dropping it must not delete a controller's directory."""
    created.append("kraft_table")
    for clause in ("LOCATION '{}'", "OPTIONS (path '{}')"):
        copy = tmp_path / "copy"
        shutil.copytree(SINGLE, copy)
        before = sorted(copy.rglob("*"))
        spark.sql(f"CREATE TABLE kraft_table USING kraft {clause.format(copy)}")
        with pytest.raises(AnalysisException):
            spark.sql("TRUNCATE TABLE kraft_table")
        with pytest.raises(AnalysisException, match="kraft can be read only"):
            spark.sql("INSERT INTO kraft_table SELECT * FROM kraft_table")
        spark.sql("DROP TABLE kraft_table PURGE")
        assert sorted(copy.rglob("*")) == before
        shutil.rmtree(copy)


def test_a_view_is_made_with_options(spark: SparkSession) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW kraft_view USING kraft "
        f"OPTIONS (path '{SINGLE}', type 'TopicRecord', kind 'record')"
    )
    expected = _rows(type="TopicRecord", kind="record")
    assert _count(spark, "kraft_view") == expected
    create_view(spark, "kraft_view", SINGLE, type=["TopicRecord"], kind="record")
    assert _count(spark, "kraft_view") == expected
    frame = read(spark, [SINGLE], "ConfigRecord", columns=["resourceTypeName", "name"])
    assert frame.columns == ["resourceTypeName", "name"]
    assert {row[0] for row in frame.collect()} >= {"TOPIC", "BROKER"}


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("OPTIONS (ofsets '1') LOCATION '{}'", "[KRAFT_INVALID_OPTION] an option that kraft does"),
        ("OPTIONS (offsets '9..1') LOCATION '{}'", "[KRAFT_INVALID_OPTION] offsets 9..1 ends"),
        ("OPTIONS (columns 'ofset') LOCATION '{}'", "[KRAFT_INVALID_COLUMN] kraft has no column"),
        ("OPTIONS (rows 'partition') LOCATION '{}'", "[KRAFT_INVALID_OPTION] kraft has no rows"),
        ("LOCATION '/nowhere'", "[KRAFT_INVALID_PATH] /nowhere: no such file or directory"),
        (
            "OPTIONS (storageOptions '{{\"key\": \"hunter22\"}}') LOCATION '{}'",
            "[KRAFT_UNSUPPORTED] a table cannot keep credentials",
        ),
    ],
)
def test_what_is_turned_down_is_one_line_with_a_condition(
    spark: SparkSession, capfd: pytest.CaptureFixture[str], statement: str, message: str
) -> None:
    capfd.readouterr()
    with pytest.raises(AnalysisException) as caught:
        spark.sql(f"CREATE TABLE kraft_table USING kraft {statement.format(SINGLE)}")
    text = str(caught.value)
    assert message in text
    assert "Traceback" not in text
    assert "hunter22" not in text
    assert len([line for line in text.splitlines() if line.strip(" ")]) <= 2
    with pytest.raises(AnalysisException):
        spark.sql("SELECT nosuch FROM VALUES (1) AS t(x)")
    assert '"level"' not in capfd.readouterr().err


def test_the_options_of_a_table_are_in_no_other_schema() -> None:
    """A DataFrame that is written hands its columns' metadata on, to files that others read."""
    schema = spark_schema("kraft")
    assert with_options(schema, {"path": "/a"}) is schema
    table = {"provider": "kraft", "owner": "me", "location": "file:/a", "option.node": "1"}
    kept = with_options(schema, table)
    again = StructType.fromJson(kept.jsonValue())
    assert options_of({}, again) == {"path": "file:/a", "node": "1"}
    assert options_of({"path": "/b"}, again) == {"path": "/b"}


@pytest.mark.parametrize(
    "options",
    [
        {"path": "s3://KEY:hunter22@bucket/x"},
        {"location": "s3://KEY:hunter22@bucket/x"},
        {"path": '["/a", "s3://KEY:hunter22@bucket/x"]'},
        {"option.paths": '["/a", "s3://KEY:hunter22@bucket/x"]'},
        {"path": "/a", "option.directory": "https://host/x?token=hunter22"},
        {"path": "/a", "option.storageOptions": '{"key": "hunter22"}'},
    ],
)
def test_no_option_of_a_table_may_have_credentials(options: dict[str, str]) -> None:
    with pytest.raises(KraftoolError, match="cannot keep credentials") as caught:
        with_options(spark_schema("kraft"), {"provider": "kraft", **options})
    assert "hunter22" not in f"{caught.value}{caught.value.hint}"


def test_the_finder_leaves_other_sources_alone_where_kraftool_cannot_be_imported(
    tmp_path: Path,
) -> None:
    root = Path(__file__).resolve().parents[2]
    shutil.copytree(root / "pyspark_kraft", tmp_path / "pyspark_kraft")
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}]\n"
        "import pyspark_kraft; print(hasattr(pyspark_kraft, 'DefaultSource'))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")
    code = "import pyspark_kraft; print(pyspark_kraft.DefaultSource.name())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    assert done.stdout.strip() == "kraft"
