"""The harness against real Kafka, and the fixtures against what their SOURCE says of them."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.interop import capture, kafka
from tests.interop.dumplog import kafka_dump_log, split
from tests.support.places import FIXTURES

SCENARIOS = sorted(path.parent for path in FIXTURES.glob("kafka-*/*/SOURCE"))


def record_types(section: bytes) -> set[str]:
    """The record types among a dump's payload lines."""
    payloads = re.findall(rb" payload: (\{.*\})$", section, flags=re.MULTILINE)
    return {json.loads(payload)["type"] for payload in payloads}


# --- real Kafka -------------------------------------------------------------------------------


@pytest.mark.interop
@pytest.mark.soak
def test_a_live_node_logs_every_record_that_its_operations_ask_for(live_metadata_dir: Path) -> None:
    log = f"__cluster_metadata-0/{0:020}.log"
    section = kafka_dump_log(kafka.TOOLS_VERSION, [log], live_metadata_dir)[log]
    assert record_types(section) >= {
        "ACCESS_CONTROL_ENTRY_RECORD",
        "BEGIN_TRANSACTION_RECORD",
        "BROKER_REGISTRATION_CHANGE_RECORD",
        "CLIENT_QUOTA_RECORD",
        "CONFIG_RECORD",
        "DELEGATION_TOKEN_RECORD",
        "END_TRANSACTION_RECORD",
        "FEATURE_LEVEL_RECORD",
        "PARTITION_RECORD",
        "PRODUCER_IDS_RECORD",
        "REGISTER_BROKER_RECORD",
        "REGISTER_CONTROLLER_RECORD",
        "REMOVE_ACCESS_CONTROL_ENTRY_RECORD",
        "REMOVE_DELEGATION_TOKEN_RECORD",
        "REMOVE_TOPIC_RECORD",
        "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
        "TOPIC_RECORD",
        "USER_SCRAM_CREDENTIAL_RECORD",
    }


@pytest.mark.interop
@pytest.mark.soak
def test_a_live_node_leaves_snapshots_that_end_with_a_footer(live_metadata_dir: Path) -> None:
    names = [
        path.relative_to(live_metadata_dir).as_posix()
        for path in sorted(live_metadata_dir.glob("__cluster_metadata-0/*.checkpoint"))
    ]
    assert names
    sections = kafka_dump_log(kafka.TOOLS_VERSION, names, live_metadata_dir)
    assert list(sections) == names
    for section in sections.values():
        assert b"SnapshotFooter" in section.splitlines()[-1]


@pytest.mark.interop
@pytest.mark.soak
def test_a_live_node_leaves_the_files_of_a_combined_node(live_metadata_dir: Path) -> None:
    wanted = {
        "meta.properties",
        "bootstrap.checkpoint",
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
        "log-start-offset-checkpoint",
        "cleaner-offset-checkpoint",
        "__cluster_metadata-0/quorum-state",
        "__cluster_metadata-0/leader-epoch-checkpoint",
        "__cluster_metadata-0/partition.metadata",
        "orders-live-0/partition.metadata",
    }
    there = {p.relative_to(live_metadata_dir).as_posix() for p in live_metadata_dir.rglob("*")}
    assert wanted <= there


# --- the harness by itself --------------------------------------------------------------------


def test_a_machine_without_java_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    kafka._java_problem.cache_clear()
    try:
        problem = kafka.available()
    finally:
        kafka._java_problem.cache_clear()
    assert problem is not None
    assert "apt-get install openjdk-17" in problem


def test_maven_is_missed_only_for_a_version_that_is_not_cached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kafka, "_java_problem", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv("KAFKA_CACHE", str(tmp_path))
    (tmp_path / "4.3.0").mkdir()
    (tmp_path / "4.3.0" / "complete").touch()
    (tmp_path / "4.3.0" / "pom.xml").write_text(kafka._pom("4.3.0"))
    assert kafka.available("4.3.0") is None
    problem = kafka.available("4.3.0", "3.9.1")
    assert problem is not None
    assert "Kafka 3.9.1" in problem
    assert "apt-get install maven" in problem
    # What was brought for other artifacts is brought again.
    (tmp_path / "4.3.0" / "pom.xml").write_text(kafka._pom("3.9.1"))
    assert "Kafka 4.3.0" in (kafka.available("4.3.0") or "")


def test_the_output_of_the_tool_is_cut_at_each_file_and_nowhere_else() -> None:
    first = b"Dumping a.log\npayload: Dumping b.log\n"
    second = b"Dumping b.log\nDumping a.log\n"
    assert split(first + second, ["a.log", "b.log"]) == {"a.log": first, "b.log": second}


def test_a_file_that_the_tool_passed_over_is_an_error() -> None:
    with pytest.raises(kafka.KafkaFailed, match=r"no section for b\.log"):
        split(b"Dumping a.log\n", ["a.log", "b.log"])


@pytest.mark.parametrize(
    ("name", "content", "kept"),
    [
        ("0.index", b"\0\0\0\1\0\0\1\0" + bytes(80), 8),
        ("0.timeindex", b"\1" + bytes(23), 12),
        ("0.timeindex.deleted", bytes(24), 0),
        ("0.log", b"\1" + bytes(23), 24),
    ],
)
def test_only_an_index_loses_its_zero_tail_and_keeps_whole_entries(
    name: str, content: bytes, kept: int
) -> None:
    assert capture.trimmed(name, content) == content[:kept]


def test_a_kept_folder_has_no_locks_and_names_what_was_trimmed(tmp_path: Path) -> None:
    source, target = tmp_path / "nodes", tmp_path / "fixture"
    (source / "node-1").mkdir(parents=True)
    (source / "node-1" / ".lock").touch()
    (source / "node-1" / "0.index").write_bytes(bytes(16))
    (source / "node-1" / "meta.properties").write_text("version=1\n")
    changed = capture.keep(source, target)
    assert sorted(p.name for p in target.rglob("*") if p.is_file()) == [
        "0.index",
        "meta.properties",
    ]
    assert changed == ["node-1/0.index: zero tail cut, 16 -> 0 bytes"]


# --- the fixtures -----------------------------------------------------------------------------


def test_every_kafka_version_has_fixtures() -> None:
    assert {path.parent.name for path in SCENARIOS} == {f"kafka-{v}" for v in kafka.VERSIONS}


@pytest.mark.parametrize("folder", SCENARIOS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_a_fixture_is_as_its_source_says(folder: Path) -> None:
    _, _, listed = (folder / "SOURCE").read_text().partition("sha256 of the files:\n")
    expected = {line.split()[1]: line.split()[0] for line in listed.splitlines()}
    there = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "SOURCE"
    }
    assert there == expected


@pytest.mark.parametrize("folder", SCENARIOS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_a_fixture_has_several_snapshots_and_no_trace_of_the_machine(folder: Path) -> None:
    snapshots = [
        len(list(metadata.glob("*.checkpoint")))
        for metadata in folder.rglob("__cluster_metadata-0")
    ]
    assert max(snapshots) >= 2
    for path in folder.rglob("*"):
        if path.is_file():
            assert not re.search(rb"(?<![\w.])/(home|root|tmp|work)/", path.read_bytes()), path


@pytest.mark.parametrize(
    "folder", [f for f in SCENARIOS if "quorum" in f.name], ids=lambda p: p.parent.name
)
def test_a_quorum_fixture_went_through_elections(folder: Path) -> None:
    checkpoints = folder.rglob("__cluster_metadata-0/leader-epoch-checkpoint")
    assert max(int(path.read_text().splitlines()[1]) for path in checkpoints) >= 3


@pytest.mark.parametrize(
    "folder", [f for f in SCENARIOS if f.name == "log-cleaning"], ids=lambda p: p.parent.name
)
def test_a_cleaned_log_starts_above_zero(folder: Path) -> None:
    (metadata,) = folder.rglob("__cluster_metadata-0")
    assert min(path.name for path in metadata.glob("*.log")) > f"{0:020}.log"
