"""A newest snapshot that is hours older than the log's end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.doctor.cases import (
    HOUR,
    STAMP,
    begun,
    controller,
    found,
    leader,
    level,
    node,
    one,
    snapshot,
)


def aged(path: Path, hours: float) -> Path:
    log = begun().data_batch(level()).noops(1, 1)
    log.noops(1, 1, stamp=STAMP + int(hours * HOUR))
    made = node(path, log)
    snapshot(made, 5, level())
    return made


def test_a_snapshot_more_than_a_day_behind_is_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-OLD-SNAPSHOT", aged(tmp_path / "data", 25))
    assert diagnosis.finding.text.startswith("the newest snapshot is 25.0 hours older")
    assert diagnosis.finding.found == "1 records since"
    assert diagnosis.evidence[1].offset == 5


def test_some_hours_may_be_a_setting_that_is_not_known(tmp_path: Path) -> None:
    assert not found("KT-SIG-OLD-SNAPSHOT", aged(tmp_path / "data", 23))


def test_nothing_written_since_is_fine(tmp_path: Path) -> None:
    path = aged(tmp_path / "data", 25)
    snapshot(path, 6, level(), stamp=STAMP)
    assert not found("KT-SIG-OLD-SNAPSHOT", path)


def test_a_cluster_that_was_down_for_days_made_none_meanwhile(tmp_path: Path) -> None:
    later = STAMP + 72 * HOUR
    log = begun().data_batch(level()).noops(1, 1).control(2, leader(1, (1, 2, 3)), stamp=later)
    path = node(tmp_path / "data", log.noops(2, 1, stamp=later + HOUR), epoch=2)
    snapshot(path, 5, level())
    assert not found("KT-SIG-OLD-SNAPSHOT", path)
    log.noops(2, 1, stamp=later + 25 * HOUR)
    path = node(tmp_path / "longer", log, epoch=2)
    snapshot(path, 5, level())
    assert "25.0 hours older" in one("KT-SIG-OLD-SNAPSHOT", path).finding.text


@pytest.mark.parametrize(("restarted", "is_late"), [(1, False), (2, True)])
def test_a_node_that_was_restarted_begins_to_count_again(
    tmp_path: Path, restarted: int, is_late: bool
) -> None:
    """Node 1 was down for two days. It registers again when it starts; that of another node does
    not explain why it makes no snapshot."""
    later = STAMP + 48 * HOUR
    log = begun().data_batch(level()).noops(1, 1).data_batch(controller(restarted), stamp=later)
    path = node(tmp_path / "data", log.noops(1, 1, stamp=later + HOUR))
    snapshot(path, 5, level())
    assert bool(found("KT-SIG-OLD-SNAPSHOT", path)) is is_late
