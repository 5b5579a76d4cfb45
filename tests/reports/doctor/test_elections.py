"""A leader that flaps, and the elections that restarts bring about."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import HOUR, STAMP, Log, begun, found, leader, node, one


def elections(path: Path, count: int, *, each_ms: int) -> Path:
    """So many elections, one every so often."""
    log: Log = begun()
    stamp = STAMP
    for epoch in range(2, count + 2):
        stamp += each_ms
        log.noops(epoch - 1, 1, stamp=stamp - 1500)
        log.control(epoch, leader(epoch % 2 + 1, (1, 2, 3)), stamp=stamp)
    return node(path / "data", log, epoch=count + 1)


def test_ten_elections_in_an_hour_are_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-ELECTIONS", elections(tmp_path, 10, each_ms=120_000))
    assert "11 elections in the last hour" in diagnosis.finding.text
    assert "between the controllers 1, 2" in diagnosis.finding.text
    assert diagnosis.evidence[-1].found == "epoch 11: controller 2, after 1500 ms without a record"
    assert diagnosis.finding.offset == diagnosis.evidence[-1].offset
    assert diagnosis.commands[0].startswith("kraftool timeline ")


def test_more_than_one_an_hour_all_day_is_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-ELECTIONS", elections(tmp_path, 30, each_ms=HOUR // 3))
    assert "in the last 10 hours" in diagnosis.finding.text


def test_one_an_hour_or_a_rolling_restart_is_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-ELECTIONS", elections(tmp_path / "a", 30, each_ms=HOUR + 60_000))
    assert not found("KT-SIG-ELECTIONS", elections(tmp_path / "b", 5, each_ms=60_000))
