"""A broker that comes up five times in an hour, or over a day, or registers again as it is."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import HOUR, STAMP, begun, broker, found, level, node, one


def starts(path: Path, count: int, each_ms: int, *, same: bool = False) -> Path:
    log = begun(1).data_batch(level())
    for number in range(count):
        incarnation = f"Incarnation-{0 if same else number:09}A"
        log.data_batch(
            broker(11, incarnationId=incarnation, brokerEpoch=log.end),
            stamp=STAMP + number * each_ms,
        )
    return node(path, log)


def test_five_starts_in_an_hour_are_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-RESTART-LOOP", starts(tmp_path / "data", 6, 60_000))
    assert diagnosis.finding.text == "broker 11 started 6 times in 300 s"
    assert len(diagnosis.evidence) == 5
    assert diagnosis.finding.offset == diagnosis.evidence[-1].offset == 9


def test_starts_over_a_day_or_four_of_them_or_one_process_are_fine(tmp_path: Path) -> None:
    code = "KT-SIG-RESTART-LOOP"
    assert not found(code, starts(tmp_path / "a", 12, HOUR // 2))
    assert not found(code, starts(tmp_path / "b", 4, 60_000))
    assert not found(code, starts(tmp_path / "c", 9, 60_000, same=True))
