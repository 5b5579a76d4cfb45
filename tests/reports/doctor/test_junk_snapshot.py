"""A snapshot beyond the log that cannot be loaded, one that can, and a bad one below the end."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import (
    PARTITION,
    begun,
    found,
    level,
    node,
    one,
    partition,
    snapshot,
)


def test_an_unreadable_snapshot_beyond_the_log_is_named(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun())
    junk = path / PARTITION / f"{999:020}-{9:010}.checkpoint"
    junk.write_bytes(b"junk" * 100)
    diagnosis = one("KT-SIG-JUNK-SNAPSHOT", path)
    assert (diagnosis.finding.file, diagnosis.finding.offset) == (str(junk), 999)
    assert diagnosis.commands[0] == f"mv {junk} {path}.{junk.name}"
    assert not found("KT-SNAP-AHEAD", path)


def test_a_snapshot_that_does_not_replay_counts(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun())
    snapshot(path, 999, level(), partition(), epoch=9)
    assert "there is no topic with id" in one("KT-SIG-JUNK-SNAPSHOT", path).finding.text


def test_a_whole_snapshot_ahead_is_only_that(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun())
    snapshot(path, 999, level(), epoch=9)
    assert not found("KT-SIG-JUNK-SNAPSHOT", path)
    one("KT-SNAP-AHEAD", path)


def test_a_bad_snapshot_within_the_log_is_only_damage(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun())
    (path / PARTITION / f"{3:020}-{1:010}.checkpoint").write_bytes(b"junk" * 100)
    assert not found("KT-SIG-JUNK-SNAPSHOT", path)
    assert found("KT-SNAP-DAMAGE", path)
