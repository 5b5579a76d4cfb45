"""An uncleanly elected leader: of several replicas, of one, and one that has recovered."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import broker, found, partition, severities, state, topic

CODE = "KT-SIG-RECOVERING"


def test_a_recovering_leader_is_named(tmp_path: Path) -> None:
    path = state(tmp_path / "data", topic(), partition(leaderRecoveryState=1), broker(11))
    assert severities(CODE, path) == [Severity.WARNING]
    diagnosis = found(CODE, path)[0]
    assert diagnosis.evidence[0].found == "foo-0: leader 11, ISR [11, 12], leaderRecoveryState 1"


def test_of_one_replica_it_is_a_note(tmp_path: Path) -> None:
    alone = partition(leaderRecoveryState=1, replicas=[11], isr=[11])
    assert severities(CODE, state(tmp_path / "data", topic(), alone, broker(11))) == [Severity.INFO]


def test_a_recovered_one_is_fine(tmp_path: Path) -> None:
    assert not found(CODE, state(tmp_path / "data", topic(), partition(), broker(11)))
