"""A real server of Spark Connect, from PySpark's own distribution, whose Python has no kraftool."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("grpc")

from kraftool.arrow import read as read_arrow
from kraftool.commands import main
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.engine import session
from kraftool.spark.errors import UnusableError
from kraftool.spark.frames import create_view, read
from kraftool.spark.java import find_java
from kraftool.spark.source import register
from kraftool.spark.values import results_of
from tests.spark.audit_cases import LOG, VOTERS, quorum, replace_batch
from tests.spark.class_archive import variables
from tests.spark.live_fleet import BATCHES, Live, next_offset
from tests.spark.standalone_cluster import said_in, started, worker_python
from tests.spark.test_audit import findings_by_command, findings_of_audit
from tests.support.places import FIXTURES

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SINGLE = FIXTURES / "kafka-4.3.0/static-single"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import pyspark

    folder = tmp_path_factory.mktemp("connect")
    home = Path(pyspark.__file__).parent
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SPARK"))
    }
    own = {
        "JAVA_HOME": str(find_java(folder).home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_LOG_DIR": str(folder),
        "PYSPARK_PYTHON": str(worker_python(folder / "python")),
    }
    environment = inherited | variables() | own
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    command = [str(home / "sbin/start-connect-server.sh"), "--master", "local[2]"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    options: dict[str, Any] = {"env": environment, "cwd": folder, "start_new_session": True}
    log = folder / "server.log"
    with started(command, log, **options) as process:
        try:
            said_in(log, "Spark Connect server started at", process)
            yield f"sc://127.0.0.1:{port}"
        finally:
            # The script waits for its JVM, and would leave it behind.
            os.killpg(process.pid, signal.SIGTERM)


def test_sources_views_and_work_run_on_a_server_of_spark_connect(server: str) -> None:
    expected = read_arrow(SINGLE, "TopicRecord").read().num_rows
    with session(server) as spark:
        assert type(spark).__module__.startswith("pyspark.sql.connect")
        assert read(spark, SINGLE).count() == read_arrow(SINGLE).read().num_rows
        create_view(spark, "topics", SINGLE, "TopicRecord")
        assert spark.sql("SELECT count(*) FROM topics").collect()[0][0] == expected
        assert results_of(spark, [1, 2, 3], range) == [
            0,
            0,
            1,
            0,
            1,
            2,
        ]
        with pytest.raises(Exception, match="no such file or directory"):
            read(spark, "/nowhere").count()
    with pytest.raises(KraftoolError, match="no such file or directory"), session(server) as spark:
        read(spark, "/nowhere").count()


def test_tables_are_written_by_a_server_and_the_next_run_has_nothing_to_do(
    server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")

    def run() -> tuple[int, str]:
        words = ["kraftool", "pipeline", "tables", SINGLE, "--out", tmp_path / "out"]
        monkeypatch.setattr("sys.argv", [*map(str, words), "--master", server])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out + captured.err

    code, output = run()
    assert code == 0, output
    records = dataset.dataset(tmp_path / "out/records", partitioning="hive")
    assert records.count_rows() == read_arrow(SINGLE).read().num_rows
    code, output = run()
    assert code == 0, output
    assert records.count_rows() == read_arrow(SINGLE).read().num_rows


def test_an_audit_on_a_server_has_the_findings_of_the_commands_and_of_the_comparison(
    server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    quorum(tmp_path / "fleet/one", "AAAAAAAAAAAAAAAAAAAAAw")
    quorum(tmp_path / "fleet/two", "AAAAAAAAAAAAAAAAAAAABA")
    batch = replace_batch(tmp_path / "fleet/two/node-3" / LOG, 60)
    words = ["kraftool", "pipeline", "audit", tmp_path / "fleet", "-o", "json", "--master", server]
    monkeypatch.setattr("sys.argv", list(map(str, words)))
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capfd.readouterr()
    assert (ended.value.code, "Traceback" in captured.err) == (1, False), captured.err
    document = json.loads(captured.out)
    assert document["counts"]["directoryCount"] == 2 * len(VOTERS)
    for directory in document["directories"]:
        path = directory["name"]
        assert findings_of_audit(document["findings"], path) == findings_by_command(path)
    (divergence,) = document["divergences"]
    assert divergence["firstOffset"] == batch.header.base_offset
    assert "KT-SIG-SAME-PLACE" in {finding["code"] for finding in document["findings"]}
    assert document["run"]["cores"] == 2


def test_streams_run_on_a_server_of_spark_connect_and_go_on_where_they_ended(
    server: str, tmp_path: Path
) -> None:
    live = Live(tmp_path / "fleet/node-1")
    live.append(*BATCHES[:40])
    with session(server) as spark:
        register(spark)
        rows = spark.readStream.format("kraft.live")
        rows = rows.option("stateLocation", str(tmp_path / "state"))

        def copied(batches: Iterator[Any]) -> Iterator[Any]:
            yield from batches

        def run() -> list[int]:
            frame = rows.load(str(tmp_path / "fleet")).where("kind = 'record'").select("offset")
            query = (
                frame.mapInArrow(copied, "offset BIGINT")
                .writeStream.format("parquet")
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .trigger(availableNow=True)
                .start(str(tmp_path / "table"))
            )
            assert query.awaitTermination(300)
            assert query.exception() is None
            table = spark.read.parquet(str(tmp_path / "table"))
            return sorted(row[0] for row in table.collect())

        assert run() == list(range(next_offset(BATCHES[39])))
        live.append(*BATCHES[40:60])
        assert run() == list(range(next_offset(BATCHES[59])))


def test_what_needs_the_driver_here_refuses_such_a_server() -> None:
    with (
        pytest.raises(UnusableError, match="Spark Connect cannot be used for this"),
        session("sc://host", classic_only=True),
    ):
        pass
