"""Credentials that a snapshot lacks: built, and as real Kafka lost them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.doctor.cases import (
    begun,
    credential,
    found,
    level,
    node,
    one,
    snapshot,
    without_credential,
)

CODE = "KT-SNAP-SCRAM-LOST"
BEGIN = "BeginTransactionRecord", 0, {"name": "work"}
ABORT = "AbortTransactionRecord", 0, {"reason": "no"}


def users(path: Path) -> Path:
    log = begun(1).data_batch(level(), credential("alice"), credential("bob"), credential("bob", 2))
    log.data_batch(without_credential("bob"), BEGIN, credential("carol"), ABORT)
    return node(path, log)


def test_a_lost_credential_is_named_with_its_record(tmp_path: Path) -> None:
    path = users(tmp_path / "data")
    file = snapshot(path, 11, level(), credential("bob", 2))
    diagnosis = one(CODE, path)
    assert diagnosis.finding.text.endswith(": alice (SCRAM-SHA-256)")
    assert (diagnosis.finding.file, diagnosis.evidence[0].offset) == (str(file), 4)
    _hint, command = diagnosis.commands
    assert command.startswith("# replace host:port: kafka-configs"), "no broker is known"
    assert "--entity-name alice --add-config 'SCRAM-SHA-256=[password=$password]'" in command


def test_without_a_removal_of_that_mechanism_the_snapshot_is_another_one(tmp_path: Path) -> None:
    """Kafka's error takes others along with a removal; nothing else of it loses a credential."""
    log = begun(1).data_batch(level(), credential("alice", 2), credential("bob"))
    log.data_batch(without_credential("bob"))
    path = node(tmp_path / "data", log)
    snapshot(path, 7, level())
    assert not found(CODE, path)
    diagnosis = one("KT-SNAP-DIFFERS", path)
    assert diagnosis.finding.text == (
        "it differs from what the log produces: SCRAM credentials: 1 missing (SCRAM-SHA-512"
        " of alice)"
    )


def test_removed_and_aborted_credentials_are_not_missed(tmp_path: Path) -> None:
    path = users(tmp_path / "data")
    snapshot(path, 11, level(), credential("alice"), credential("bob", 2))
    assert not found(CODE, path)


def test_a_snapshot_that_is_not_covered_by_the_log_cannot_be_judged(tmp_path: Path) -> None:
    path = users(tmp_path / "data")
    snapshot(path, 50, level())
    assert not found(CODE, path)


@pytest.mark.parametrize(
    ("node_path", "user"),
    [
        ("kafka-3.7.2/static-quorum/node-2", "alice-b"),
        ("kafka-3.9.1/dynamic-quorum/node-3", "alice-a"),
        ("kafka-4.3.0/dynamic-quorum/node-4", "alice-a"),
        ("kafka-4.4.0/upgrade/node-2", "alice-a"),
    ],
)
def test_real_snapshots_that_lost_a_user_are_found(
    fixtures_dir: Path, node_path: str, user: str
) -> None:
    assert user in one(CODE, fixtures_dir / node_path / "data").finding.text


def test_another_node_of_that_quorum_kept_the_user(fixtures_dir: Path) -> None:
    assert not found(CODE, fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data")
