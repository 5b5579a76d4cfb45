"""One log directory id with two brokers; reserved ids are nobody's."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import broker, found, one, state

LOST = "AAAAAAAAAAAAAAAAAAAAAQ"


def test_two_brokers_with_one_log_directory_are_named(tmp_path: Path) -> None:
    shared = ["Log-dir-of-broker-011A"]
    diagnosis = one(
        "KT-SIG-SHARED-LOG-DIR", state(tmp_path / "data", broker(11), broker(12, logDirs=shared))
    )
    assert "brokers 11 and 12" in diagnosis.finding.text
    assert [evidence.offset for evidence in diagnosis.evidence] == [5, 6]


def test_directories_of_their_own_and_lost_ones_are_fine(tmp_path: Path) -> None:
    lost = [broker(id, logDirs=[f"Log-dir-of-broker-{id:03}A", LOST]) for id in (11, 12)]
    assert not found("KT-SIG-SHARED-LOG-DIR", state(tmp_path / "data", *lost))
