"""A log that is long enough for several snapshots, and one that is not."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import HOUR, STAMP, begun, found, level, node, one, snapshot
from tests.reports.voter_cases import server


def aged(path: Path, hours: float, **lines: str) -> Path:
    log = begun().data_batch(level())
    log.noops(1, 1, stamp=STAMP + int(hours * HOUR))
    node(path / "data", log)
    properties = {key.replace("_", "."): value for key, value in lines.items()}
    return server(path / "server.properties", 1, **{"log.dirs": str(path / "data"), **properties})


def test_four_hours_without_a_snapshot_are_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-NO-SNAPSHOT", aged(tmp_path, 4))
    assert diagnosis.finding.text == "4.0 hours of log but no snapshot"
    assert "metadata.log.max.snapshot.interval.ms=3600000" in diagnosis.finding.expected


def test_a_young_log_a_switched_off_timer_or_an_unknown_setting_is_fine(tmp_path: Path) -> None:
    code = "KT-SIG-NO-SNAPSHOT"
    assert not found(code, aged(tmp_path / "a", 2))
    assert not found(code, aged(tmp_path / "b", 40, metadata_log_max_snapshot_interval_ms="0"))
    aged(tmp_path / "c", 23)
    assert not found(code, tmp_path / "c/data")


def test_kafka_3_3_makes_none_by_time(tmp_path: Path) -> None:
    log = begun().data_batch(level(7)).noops(1, 1, stamp=STAMP + 40 * HOUR)
    assert not found("KT-SIG-NO-SNAPSHOT", node(tmp_path / "data", log))


def test_many_bytes_without_a_snapshot_are_named(tmp_path: Path) -> None:
    log = begun().data_batch(level(7)).noops(1, 1)
    path = node(tmp_path / "data", log)
    properties = {"metadata.log.max.record.bytes.between.snapshots": "5000", "log.dirs": str(path)}
    settings = server(tmp_path / "server.properties", 1, **properties)
    assert not found("KT-SIG-NO-SNAPSHOT", settings)
    name = "x" * 30_000
    for _ in range(120):
        log.data_batch(("ConfigRecord", 0, {
            "resourceType": 4, "resourceName": "", "name": "a", "value": name,
        }))  # fmt: skip
    (path / "__cluster_metadata-0" / f"{0:020}.log").write_bytes(log.data)
    assert "bytes of log but no snapshot" in one("KT-SIG-NO-SNAPSHOT", settings).finding.text
    snapshot(path, 4, level(7))
    assert not found("KT-SIG-NO-SNAPSHOT", settings)
