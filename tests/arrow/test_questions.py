"""The queries of docs/arrow.md, run by DuckDB as they are written there.

Their answers are held against the reports that `state` and `dump-log` make of the same directories.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

import duckdb

from kraftool.arrow import read
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.codec import Value
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.reports.logs.dump import LogDump
from kraftool.reports.logs.text import jsonl_entry
from kraftool.reports.state.export import state_document
from kraftool.reports.state.files import open_state
from kraftool.reports.state.load import load_from
from kraftool.reports.text.json_document import json_document
from kraftool.storage.source import FileSource
from tests.support.places import ROOT

FLEET = [str(ROOT / "fixtures" / version) for version in ("kafka-4.3.0", "kafka-3.3.2")]
QUESTIONS: dict[str, str] = dict(
    re.findall(r"```sql\n-- ([^\n]+)\n(.*?)```", (ROOT / "docs/arrow.md").read_text(), re.DOTALL)
)
Row = dict[str, Any]


@pytest.fixture(scope="module")
def fleet() -> Iterator[Any]:
    """DuckDB with the tables that the document registers."""
    connection = duckdb.connect()
    for rows in ("states", "features", "partitions", "configs", "acls"):
        connection.register(rows, read(FLEET, rows))
    for rows in ("AccessControlEntryRecord", "RemoveAccessControlEntryRecord"):
        connection.register(rows, read(FLEET, rows, since="2026-11-21", snapshots=False))
    connection.sql(QUESTIONS["newest"])
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def states() -> dict[str, Row]:
    """What `state -o json` says of the newest directory of each cluster."""
    newest: dict[str, tuple[Any, Row]] = {}
    for meta in (path for root in FLEET for path in Path(root).rglob("meta.properties")):
        match = re.search(r"(?m)^cluster\.id=(.*)$", meta.read_text())
        assert match is not None
        try:
            loaded = load_from(open_state(str(meta.parent)))
        except KraftoolError:
            continue
        document = json.loads(b"".join(json_document(state_document(loaded, show_secrets=False))))
        end = document["provenance"]
        key = (end["lastEpoch"], end["offset"])
        if match[1] not in newest or newest[match[1]][0] < key:
            newest[match[1]] = (key, document)
    return {cluster: document for cluster, (_, document) in newest.items()}


def _ask(fleet: Any, question: str) -> list[Row]:
    answer = fleet.sql(QUESTIONS[question])
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]


def test_every_query_of_the_document_is_run_here() -> None:
    text = (ROOT / "docs/arrow.md").read_text()
    assert len(QUESTIONS) == text.count("```sql") == 6


def test_a_directory_without_a_sound_state_is_named(tmp_path: Path) -> None:
    source = ROOT / "fixtures/kafka-4.3.0/static-single/node-1/data"
    partition = tmp_path / "data/__cluster_metadata-0"
    partition.mkdir(parents=True)
    (tmp_path / "data/meta.properties").write_bytes((source / "meta.properties").read_bytes())
    log = bytearray((source / partition.name / f"{0:020}.log").read_bytes())
    log[len(log) // 2] ^= 1
    (partition / f"{0:020}.log").write_bytes(log)
    connection = duckdb.connect()
    connection.register("states", read([str(tmp_path), str(source)], "states"))
    (answer,) = _ask(connection, "unsound")
    assert (answer["directory"], answer["reason"]) == (str(tmp_path / "data"), "incomplete")


def test_changes_of_acls_are_those_of_dump_log(fleet: Any) -> None:
    kinds = {
        "ACCESS_CONTROL_ENTRY_RECORD": "added",
        "REMOVE_ACCESS_CONTROL_ENTRY_RECORD": "removed",
    }
    expected = set()
    for path in (path for root in FLEET for path in Path(root).rglob("__cluster_metadata-0/*.log")):
        meta = (path.parents[1] / "meta.properties").read_text()
        match = re.search(r"(?m)^cluster\.id=(.*)$", meta)
        assert match is not None
        with FileSource(str(path)) as source:
            for entry in LogDump().entries(str(path), source.read_at):
                for line in map(json.loads, jsonl_entry(entry).splitlines()):
                    if line.get("type") in kinds:
                        change = kinds[line["type"]]
                        expected.add((match[1], line["offset"], change, line["data"]["id"]))
    rows = _ask(fleet, "acl changes")
    assert {
        (row["cluster_id"], row["offset"], row["change"], row["id"]) for row in rows
    } == expected
    assert {row["change"] for row in rows} == {"added", "removed"}
    words = ("principal", "operationName", "permissionTypeName", "resourceTypeName", "resourceName")
    assert ("User:alice", "READ", "ALLOW", "TOPIC", "orders-a") in {
        tuple(row[word] for word in words) for row in rows
    }


def test_clusters_below_a_metadata_version(fleet: Any, states: dict[str, Row]) -> None:
    levels = {
        cluster: next(
            feature["level"]
            for feature in document["features"]
            if feature["name"] == "metadata.version"
        )
        for cluster, document in states.items()
    }
    expected = {cluster: level for cluster, level in levels.items() if level < 21}
    assert 0 < len(expected) < len(levels)
    answer = _ask(fleet, "old metadata.version")
    assert {row["cluster_id"]: row["level"] for row in answer} == expected


def test_partitions_without_isr_or_leader(fleet: Any, states: dict[str, Row]) -> None:
    expected = sorted(
        (cluster, topic["name"], partition["partition"])
        for cluster, document in states.items()
        for topic in document["topics"]
        for partition in topic["partitions"]
        if not partition["isr"] or partition["leaderId"] == -1
    )
    assert expected
    answer = _ask(fleet, "without isr")
    assert sorted((row["cluster_id"], row["topic"], row["partition"]) for row in answer) == expected


def _cluster(folder: Path, cluster: str, configs: dict[str, str]) -> None:
    partition = folder / "__cluster_metadata-0"
    partition.mkdir(parents=True)
    (folder / "meta.properties").write_text(f"version=1\ncluster.id={cluster}\nnode.id=1\n")
    feature = Value(name="metadata.version", featureLevel=30)
    records = [(None, encode_record("FeatureLevelRecord", 0, feature))]
    for name, text in configs.items():
        config = Value(resourceType=2, resourceName="orders", name=name, value=text)
        records.append((None, encode_record("ConfigRecord", 0, config)))
    data = encode_batch(records, base_offset=0, epoch=1, timestamp=1795234265000)
    (partition / f"{0:020}.log").write_bytes(data)


def test_configs_that_differ_between_clusters(tmp_path: Path) -> None:
    same = {"cleanup.policy": "compact"}
    _cluster(tmp_path / "one", "one", {**same, "retention.ms": "1"})
    _cluster(tmp_path / "two", "two", {**same, "retention.ms": "2"})
    _cluster(tmp_path / "three", "three", {**same, "retention.ms": "1"})
    connection = duckdb.connect()
    for rows in ("states", "configs"):
        connection.register(rows, read(tmp_path, rows))
    connection.sql(QUESTIONS["newest"])
    same = {"resource_type": "TOPIC", "resource_name": "orders", "name": "retention.ms"}
    assert _ask(connection, "config drift") == [
        {**same, "value": "1", "clusters": ["one", "three"]},
        {**same, "value": "2", "clusters": ["two"]},
    ]
