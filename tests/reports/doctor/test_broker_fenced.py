"""A fenced broker, with its last registration; one that runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.rules import broker_fenced
from kraftool.reports.findings.kinds.live import FENCED
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


def test_a_running_quorum_reports_it_alone(tmp_path: Path) -> None:
    path = state(tmp_path / "data", broker(11), broker(12, fenced=True))
    examination = examine(*locations_of([str(path)]))
    live = FENCED.at("127.0.0.1:9092", "broker 12 is fenced")
    assert [*broker_fenced.find(examination)]
    assert not [*broker_fenced.find(replace(examination, findings=(live,)))]
