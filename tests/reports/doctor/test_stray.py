"""More stray partitions than known ones; a few that deleted topics left; none."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import begun, found, node, severities

CODE = "KT-SIG-STRAY"


def folders(path: Path, stray: int, known: int) -> Path:
    made = node(path, begun(1))
    for number in range(stray):
        (made / f"gone-{number}.{number:032x}-stray").mkdir()
    for number in range(known):
        (made / f"foo-{number}").mkdir()
    return made


def test_more_stray_than_known_partitions_is_a_warning(tmp_path: Path) -> None:
    assert severities(CODE, folders(tmp_path / "data", 3, 2)) == [Severity.WARNING]


def test_a_few_are_a_note_and_none_is_nothing(tmp_path: Path) -> None:
    assert severities(CODE, folders(tmp_path / "a", 1, 2)) == [Severity.INFO]
    assert not found(CODE, folders(tmp_path / "b", 0, 2))
