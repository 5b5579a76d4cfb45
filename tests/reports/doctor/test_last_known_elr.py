"""lastKnownElr of -1 is a note, a broker's id nothing."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import found, partition, severities, state, topic

CODE = "KT-SIG-LAST-KNOWN-ELR"


def test_minus_one_is_a_note(tmp_path: Path) -> None:
    odd = partition(leader=-1, isr=[], lastKnownElr=[-1])
    assert severities(CODE, state(tmp_path / "data", topic(), odd)) == [Severity.INFO]


def test_a_broker_is_nothing(tmp_path: Path) -> None:
    usual = partition(leader=-1, isr=[], lastKnownElr=[11])
    assert not found(CODE, state(tmp_path / "data", topic(), usual))
