"""Aborted metadata transactions: what we appended is what real Kafka took for one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.log_record import LogRecord, decode_batch
from kraftool.decoders.segment import scan
from kraftool.decoders.walk import BEGINNING, Walk
from kraftool.reports.logs.transactions import find_transactions
from tests.interop import build_aborted, kafka
from tests.interop.clusters import Cluster
from tests.interop.recorded import Recording
from tests.interop.scenarios import SMALL_SNAPSHOTS
from tests.interop.shared_jvms import ADMIN_SOURCE
from tests.interop.transactions import ABORTED_ID, ABORTED_TOPIC, PLAIN_TOPIC
from tests.support.places import FIXTURES

BUILT = FIXTURES / "built" / "aborted-transaction"
BY_KAFKA = FIXTURES / "kafka-4.3.0" / "aborted-transaction"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(FIXTURES.parent)}
LOG = f"node-1/data/__cluster_metadata-0/{0:020}.log"


def batches(log: Path) -> list[RecordBatch]:
    data = log.read_bytes()
    items = list(scan(lambda at, size: data[at : at + size]))
    assert all(isinstance(item, RecordBatch) for item in items)
    return [item for item in items if isinstance(item, RecordBatch)]


def records(log: Path) -> list[LogRecord]:
    return [record for batch in batches(log) for record in decode_batch(batch)]


@contextmanager
def started(log: bytes, root: Path) -> Iterator[tuple[Cluster, Path]]:
    """The built data directory with this log under a running Kafka, and where the log lies."""
    with Cluster(kafka.TOOLS_VERSION, root / "nodes", common=SMALL_SNAPSHOTS) as cluster:
        node = cluster.add_node(1, ("broker", "controller"))
        cluster.use_static_voters()
        shutil.copytree(BUILT / "node-1" / "data", node.directory / "data")
        path = node.directory.parent / LOG
        path.write_bytes(log)
        cluster.start(node)
        assert cluster.wait_leader() is node
        yield cluster, path


def cut_log() -> bytes:
    """The built log up to the abort."""
    (abort,) = (
        batch
        for batch in batches(BUILT / LOG)
        if any(r.type == "ABORT_TRANSACTION_RECORD" for r in decode_batch(batch))
    )
    return (BUILT / LOG).read_bytes()[: abort.position + abort.size]


def _loaded() -> dict[str, Any]:
    """What Kafka makes of the built log, and of the one that ends with the abort."""
    built = (BUILT / LOG).read_bytes()
    with tempfile.TemporaryDirectory() as root, started(built, Path(root)) as (cluster, path):
        whole: dict[str, Any] = {"topics": sorted(cluster.admin("list-topics"))}
        # Its name is free, though the broker may list it: what comes after an abort in the same
        # load has Kafka's MetadataBatchLoader publish the aborted records along with it.
        whole["new"] = cluster.admin("create-topic", topic=ABORTED_TOPIC) != ABORTED_ID
        cluster.stop(cluster.nodes[1])
        whole["kept"] = path.read_bytes().startswith(built)
        whole["aborts"] = [r.data for r in records(path) if r.type == "ABORT_TRANSACTION_RECORD"]
    with tempfile.TemporaryDirectory() as root, started(cut_log(), Path(root)) as (cluster, _):
        cut = {"topics": sorted(cluster.admin("list-topics"))}
        cluster.stop(cluster.nodes[1])
    return {"whole": whole, "cut": cut}


RECORDING = Recording(
    name="aborted-transaction",
    release=kafka.TOOLS_VERSION,
    command="kafka.Kafka server.properties, and topics listed and created by an admin client",
    sources=(ADMIN_SOURCE,),
    about=lambda: {
        "cut": cut_log(),
        **{
            str(path.relative_to(BUILT)): path.read_bytes()
            for path in (BUILT / "node-1").rglob("*")
            if path.is_file()
        },
    },
    ask=_loaded,
)


def test_kafka_loads_the_built_log_and_its_controller_forgets_the_aborted_topic() -> None:
    whole = RECORDING.answers()["whole"]
    assert PLAIN_TOPIC in whole["topics"]
    assert whole["new"], "the name of the aborted topic is free"
    # Kafka kept our batches as they are, and wrote no abort of its own.
    assert whole["kept"]
    assert whole["aborts"] == [{"reason": "aborted by hand"}]


def test_where_the_log_ends_with_the_abort_no_broker_sees_the_topic() -> None:
    topics = RECORDING.answers()["cut"]["topics"]
    assert "orders-a" in topics
    assert not {ABORTED_TOPIC, PLAIN_TOPIC} & set(topics)


def test_the_built_fixture_is_what_its_script_builds() -> None:
    stale = [
        name
        for name, content in build_aborted.files().items()
        if not (BUILT / name).is_file() or (BUILT / name).read_bytes() != content
    ]
    assert not stale, "run: python tests/interop/build_aborted.py"


def test_kafka_aborts_the_transaction_that_a_stopped_leader_left_open() -> None:
    types = [(r.type, r.data) for r in records(BY_KAFKA / LOG)]
    begins = [n for n, (_, data) in enumerate(types) if data == {"name": "opened by hand"}]
    aborts = [n for n, (kind, _) in enumerate(types) if kind == "ABORT_TRANSACTION_RECORD"]
    assert [types[n][1] for n in aborts] == [{"reason": "Controller failover"}]
    assert begins[0] < aborts[0]
    between = [kind for kind, _ in types[begins[0] : aborts[0] + 1]]
    assert between == [
        "BEGIN_TRANSACTION_RECORD",
        "TOPIC_RECORD",
        "PARTITION_RECORD",
        "LeaderChange",
        "ABORT_TRANSACTION_RECORD",
    ]


@pytest.mark.parametrize("folder", [BUILT, BY_KAFKA], ids=["built", "by-kafka"])
def test_one_transaction_is_aborted_and_the_bootstrap_is_committed(folder: Path) -> None:
    data = (folder / LOG).read_bytes()
    transactions = find_transactions(Walk(lambda at, size: data[at : at + size], BEGINNING))
    assert [transaction.outcome for transaction in transactions] == ["committed", "aborted"]


def test_hiding_the_aborted_transaction_hides_no_control_record() -> None:
    """The next leader's LeaderChange lies between the begin and the abort, and is no part of it."""
    arguments = ["-o", "jsonl", "--transactions", "hide", LOG]
    command = [sys.executable, "-m", "kraftool", "dump-log", *arguments]
    done = subprocess.run(command, cwd=BY_KAFKA, capture_output=True, env=ENVIRONMENT, check=True)
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    changes = [entry["epoch"] for entry in shown if entry.get("type") == "LeaderChange"]
    assert changes == [1, 2]
    assert b"never-was" not in done.stdout
