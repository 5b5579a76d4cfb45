"""Planted secrets come out of no pipeline: no table, report, page, stream or log of the JVM."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Ran, apart
from tests.commands.secret_nodes import FIXTURES
from tests.commands.test_secrets import SCENARIOS, assert_no_secret

SOME = ("kafka-3.9.1/upgrade", "kafka-4.3.0/static-single", "built/aborted-transaction")
"""With secrets in the oldest and the newest versions of their records, and in a transaction."""


@pytest.mark.spark
@pytest.mark.parametrize(
    "scenarios", [SOME, pytest.param(SCENARIOS, marks=pytest.mark.soak)], ids=["some", "all"]
)
def test_the_pipelines_show_no_secret(scenarios: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pip install 'kraftool[spark]'")
    pq: Any = import_module("pyarrow.parquet")

    roots = [FIXTURES / each for each in scenarios]
    page, tables, log = tmp_path / "audit.html", tmp_path / "tables", tmp_path / "jvm.log"
    spark = ("--spark-log", log, "--master", "local[2]")
    run = partial(apart, "pipeline", timeout=None)  # there may be a Spark session in this process
    audited = run("audit", "-o", "json", "--html", page, *spark, *roots)
    assert audited.code == 1, audited.err
    exported = run("tables", "--snapshots", "--out", tables, *spark, *roots)
    assert exported.code == 0, exported.err
    streamed = run("stream", "--once", "-o", "jsonl", *spark, *roots)
    assert streamed.code == 0, streamed.err
    rows = [pq.ParquetFile(path).read().to_pylist() for path in sorted(tables.rglob("*.parquet"))]
    assert sum(map(len, rows)) > 4_000
    assert log.stat().st_size > 0
    written = [page.read_bytes(), log.read_bytes(), repr(rows).encode()]
    written += [path.read_bytes() for path in tables.rglob("_kraftool/**/*") if path.is_file()]
    for scenario in scenarios:
        for ran in (audited, exported, streamed):
            assert_no_secret(scenario, ran, "pipeline")
        for each in written:
            assert_no_secret(scenario, Ran(0, each, ""), "what the pipelines wrote")
