"""`pipeline stream` beside real Kafka: its live controllers are followed into a topic of it."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from tests.interop import clusters, connector, kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import kraftool

pytestmark = [pytest.mark.interop, pytest.mark.spark, pytest.mark.soak]

VERSION = kafka.TOOLS_VERSION
PASSWORD = "CANARY-PLAIN-admin"
SMALL = ("--master=local[2]", "--conf=spark.driver.memory=700m")
Row = tuple[dict[str, Any], dict[str, Any]]
"""Key and value."""


def command(node: Node, checkpoint: Path, *options: str) -> list[str]:
    import pyspark

    jars = ",".join(map(str, connector.jars(pyspark.__version__)))
    security = [f"--kafka-conf={key}={value}" for key, value in clusters.SASL_CLIENT.items()]
    return [
        *(sys.executable, "-m", "kraftool", "pipeline", "stream"),
        str(node.directory / "server.properties"),
        f"--to=kafka:{node.at('SASL')}/told",
        f"--checkpoint={checkpoint}",
        f"--conf=spark.jars={jars}",
        *security,
        *SMALL,
        *options,
    ]


def told(node: Node) -> list[Row]:
    """Keys and values of what the broker has in the topic by now, from its own log."""
    log = node.directory / f"data/told-0/{0:020}.log"
    if not log.exists():  # the broker hears of the topic after the controller has made it
        return []
    data = log.read_bytes()
    batches = scan(lambda at, size: data[at : at + size])
    records = (
        record
        for batch in batches
        if isinstance(batch, RecordBatch) and batch.is_valid
        for record in batch.records()
    )
    return [(json.loads(record.key or b""), json.loads(record.value or b"")) for record in records]


def consumed(node: Node, count: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The same, as a consumer of Kafka's gets it."""
    done = kafka.run(
        VERSION,
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", node.at("BROKER"), "--topic", "told", "--partition", "0"),
        *("--offset", "earliest", "--max-messages", str(count), "--property", "print.key=true"),
        heap="-Xmx200m",
    )
    # A warning about the options of the tool goes there too.
    pairs = (line.split(b"\t") for line in done.stdout.splitlines() if b"\t" in line)
    return [(json.loads(key), json.loads(value)) for key, value in pairs]


def logged(node: Node) -> set[tuple[int, int]]:
    """Epoch and offset of every record that the node has on its disk."""
    done = kraftool("dump-log", "-o", "jsonl", node.metadata_log_dir)
    assert done.returncode == 0, done.stderr
    lines = map(json.loads, done.stdout.splitlines())
    return {(line["epoch"], line["offset"]) for line in lines if line["kind"] == "record"}


def session_of(leader: int) -> list[int]:
    """The processes that run in a session."""
    sessions = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader and fields[0] != "Z":
                sessions.append(int(path.name))
    return sessions


def topics(rows: list[tuple[dict[str, Any], dict[str, Any]]]) -> set[str]:
    values = (value for _, value in rows if value.get("type") == "TopicRecord")
    return {value["data"]["name"] for value in values}


def test_a_live_controller_is_followed_into_its_own_cluster_at_least_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a kill by SIGKILL leaves temporary files
    if problem := kafka.available(VERSION):
        pytest.skip(problem)
    with Cluster(VERSION, tmp_path / "nodes") as cluster:
        node = cluster.add_node(1, ("broker", "controller"))
        cluster.use_static_voters()
        cluster.format([node])
        cluster.start(node)
        cluster.admin("create-topic", topic="told", partitions=1, replicas=1)
        checkpoint, jvm_log = tmp_path / "checkpoint", tmp_path / "spark.log"
        following = command(node, checkpoint, f"--spark-log={jvm_log}", "--interval=0.2")
        with kafka.Process(following, tmp_path / "stream.log") as stream:

            def rows_while_it_runs() -> list[Row]:
                stream.require_alive()
                return told(node)

            kafka.wait_for("rows", rows_while_it_runs, timeout=300)
            cluster.admin("create-topic", topic="while-it-runs", partitions=2, replicas=1)
            rows = kafka.wait_for(
                "a topic that is new",
                lambda: (r := told(node)) and "while-it-runs" in topics(r) and r,
                timeout=300,
            )
            stream.kill()
            # Its JVM sees that, and ends; until then it may write to the checkpoint.
            kafka.wait_for("its JVM to end", lambda: not session_of(stream.pid), timeout=300)
        assert PASSWORD not in stream.output() + jvm_log.read_text(errors="replace")
        cluster.admin("create-topic", topic="while-it-was-down", partitions=1, replicas=1)
        before = logged(node)
        subprocess.run(command(node, checkpoint, "--once"), check=True, capture_output=True)

        rows = told(node)
        assert consumed(node, len(rows)) == rows
        assert topics(rows) >= {"told", "while-it-runs", "while-it-was-down"}
        records = [(key, value) for key, value in rows if value["kind"] == "record"]
        assert {key["directory"] for key, _ in records} == {node.directory_id}
        assert {(key["epoch"], key["offset"]) for key, _ in records} >= before
        for key, value in records:
            assert set(key) == {"directory", "epoch", "offset"}
            assert (key["epoch"], key["offset"]) == (value["epoch"], value["offset"])
            assert value["clusterId"] == cluster.id
        assert not any(value["kind"] == "problem" for _, value in rows)
        assert not any(value.get("severity") in ("error", "warning") for _, value in rows)
