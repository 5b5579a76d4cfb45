"""A fenced broker, with its last registration; one that runs."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import broker, found, one, state


def test_a_fenced_broker_is_told_with_its_registration(tmp_path: Path) -> None:
    diagnosis = one(
        "KT-SIG-BROKER-FENCED", state(tmp_path / "data", broker(11), broker(12, fenced=True))
    )
    assert diagnosis.finding.text == "broker 12 is fenced"
    assert (diagnosis.evidence[0].offset, diagnosis.evidence[0].position is not None) == (6, True)
    assert "incarnation Incarnation-of-000012A" in diagnosis.evidence[0].found
    assert "--bootstrap-server b11.example:9092" in diagnosis.commands[0]


def test_brokers_that_run_are_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-BROKER-FENCED", state(tmp_path / "data", broker(11), broker(12)))
