"""Partitions whose last in-sync replica is on an unregistered broker, or on a fenced one."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import broker, found, one, partition, state, topic

CODE = "KT-SIG-LOST-REPLICAS"
NO_LEADER = partition(leader=-1, isr=[12])


def test_an_unregistered_last_replica_is_named(tmp_path: Path) -> None:
    diagnosis = one(CODE, state(tmp_path / "data", topic(), NO_LEADER, broker(11)))
    assert "(12): foo-0" in diagnosis.finding.text
    assert diagnosis.commands[-1].endswith("--election-type unclean --topic foo --partition 0")
    assert not found("KT-SIG-OFFLINE", tmp_path / "data")


def test_without_any_replica_left_no_election_is_offered(tmp_path: Path) -> None:
    alone = partition(leader=-1, isr=[12], replicas=[12])
    diagnosis = one(CODE, state(tmp_path / "data", topic(), alone, broker(11)))
    assert not any("kafka-leader-election" in command for command in diagnosis.commands)


def test_where_nobody_is_known_that_is_said(tmp_path: Path) -> None:
    unknown = partition(leader=-1, isr=[], lastKnownElr=[-1])
    diagnosis = one(CODE, state(tmp_path / "data", topic(), unknown, broker(11)))
    assert "(none that is known)" in diagnosis.finding.text


def test_a_fenced_last_replica_is_not_lost(tmp_path: Path) -> None:
    assert not found(CODE, state(tmp_path / "data", topic(), NO_LEADER, broker(12, fenced=True)))
