"""A broker's own min.insync.replicas, with eligible leader replicas on and off."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import config, found, level, one, state

CODE, KEY = "KT-SIG-ELR-MIN-ISR", "min.insync.replicas"
ELR = level(1, "eligible.leader.replicas.version")


def test_a_brokers_own_setting_with_elr_is_named(tmp_path: Path) -> None:
    diagnosis = one(CODE, state(tmp_path / "data", ELR, config("11", KEY, "2", 4)))
    assert diagnosis.finding.text == "broker 11 sets its own min.insync.replicas=2"
    assert diagnosis.commands[0].endswith("--entity-name 11 --delete-config min.insync.replicas")


def test_without_elr_or_for_the_cluster_it_is_fine(tmp_path: Path) -> None:
    assert not found(CODE, state(tmp_path / "a", config("11", KEY, "2", 4)))
    assert not found(CODE, state(tmp_path / "b", ELR, config("", KEY, "2", 4)))
