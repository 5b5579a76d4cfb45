"""Three unfinished snapshots, and two."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import PARTITION, begun, found, node, one


def parts(path: Path, count: int) -> Path:
    made = node(path, begun())
    for number in range(count):
        name = f"{3 + number:020}-{1:010}-{12345 + number}.checkpoint.part"
        (made / PARTITION / name).write_bytes(b"half")
    return made


def test_three_unfinished_snapshots_are_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-SNAPSHOT-ATTEMPTS", parts(tmp_path / "data", 3))
    assert diagnosis.finding.text == "3 unfinished snapshots, 12 bytes"
    assert all(evidence.file.endswith(".checkpoint.part") for evidence in diagnosis.evidence)
    assert diagnosis.commands == (f"df -h {tmp_path / 'data'}",)


def test_two_are_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-SNAPSHOT-ATTEMPTS", parts(tmp_path / "data", 2))
