"""Planted secrets come out of no pipeline: no table, report, page, stream or log of the JVM.

The commands run on the session that the tests share. Its log has what all tests made the JVM write.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kraftool[spark]'")

from tests.commands.conftest import Ran
from tests.commands.test_secrets import SCENARIOS, assert_no_secret
from tests.spark.pipelines_here import RunHere, run_here
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOME = ("kafka-3.9.1/upgrade", "kafka-4.3.0/static-single", "built/aborted-transaction")
"""With secrets in the oldest and the newest versions of their records, and in a transaction."""


@pytest.fixture
def pipeline(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> RunHere:
    return run_here(spark, monkeypatch, capfd)


@pytest.mark.spark
@pytest.mark.parametrize(
    "scenarios", [SOME, pytest.param(SCENARIOS, marks=pytest.mark.soak)], ids=["some", "all"]
)
def test_the_pipelines_show_no_secret(
    scenarios: tuple[str, ...], pipeline: RunHere, spark_log: Path, tmp_path: Path
) -> None:
    pq: Any = import_module("pyarrow.parquet")

    roots = [FIXTURES / name for name in scenarios]
    page, tables = tmp_path / "audit.html", tmp_path / "tables"
    audited = pipeline("audit", "-o", "json", "--html", page, *roots)
    assert audited.code == 1, audited.err
    exported = pipeline("tables", "--snapshots", "--out", tables, *roots)
    assert exported.code == 0, exported.err
    streamed = pipeline("stream", "--once", "-o", "jsonl", *roots)
    assert streamed.code == 0, streamed.err
    rows = [pq.ParquetFile(path).read().to_pylist() for path in sorted(tables.rglob("*.parquet"))]
    assert sum(map(len, rows)) > 4_000
    assert spark_log.stat().st_size > 0
    written = [page.read_bytes(), spark_log.read_bytes(), repr(rows).encode()]
    written += [path.read_bytes() for path in tables.rglob("_kraftool/**/*") if path.is_file()]
    for scenario in scenarios:
        for ran in (audited, exported, streamed):
            assert_no_secret(scenario, ran, "pipeline")
        for content in written:
            assert_no_secret(scenario, Ran(0, content, ""), "what the pipelines wrote")
