"""Registrations that go back and forth between two machines, and one move to another machine."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import begun, broker, endpoint, found, level, node, one


def moves(path: Path, *where: str) -> Path:
    log = begun(1).data_batch(level())
    for number, host in enumerate(where):
        log.data_batch(
            broker(11, endPoints=[endpoint(host)], incarnationId=f"Incarnation-{number:09}A",
                   brokerEpoch=log.end)
        )  # fmt: skip
    return node(path, log)


def test_two_machines_by_turns_are_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-BROKER-TWINS", moves(tmp_path / "data", "m1", "m2", "m1", "m1", "m2"))
    assert "alternately from m1:9092" in diagnosis.finding.text
    assert [evidence.offset for evidence in diagnosis.evidence] == [4, 5, 6, 8]


def test_a_move_and_back_is_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-BROKER-TWINS", moves(tmp_path / "data", "m1", "m2", "m2", "m1"))
