"""controller.quorum.voters taken away before kraft.version is 1, and after."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import Log, begun, found, leader, node, one
from tests.reports.voter_cases import server

STATIC = "1@c1.example:9090,2@c2.example:9090,3@c3.example:9090"


def static_log() -> Log:
    log = Log()
    log.control(1, leader(1, (1, 2, 3)))
    log.noops(1, 5)
    return log


def settings(path: Path, log: Log, **lines: str) -> Path:
    node(path / "data", log)
    return server(path / "server.properties", 1, **{"log.dirs": str(path / "data"), **lines})


def test_bootstrap_servers_alone_at_kraft_version_0_are_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-MIGRATION-ORDER", settings(tmp_path, static_log()))
    assert diagnosis.finding.field == "controller.quorum.voters"
    assert diagnosis.finding.expected == "1@host:port,2@host:port,3@host:port"
    assert any("upgrade --feature kraft.version=1" in command for command in diagnosis.commands)


def test_another_nodes_settings_tell_what_to_put_back(tmp_path: Path) -> None:
    lost = settings(tmp_path / "a", static_log())
    kept = settings(tmp_path / "b", static_log(), **{"controller.quorum.voters": STATIC})
    assert one("KT-SIG-MIGRATION-ORDER", lost, kept).finding.expected == STATIC


def test_static_voters_at_kraft_version_0_are_right(tmp_path: Path) -> None:
    path = settings(tmp_path, static_log(), **{"controller.quorum.voters": STATIC})
    assert not found("KT-SIG-MIGRATION-ORDER", path)


def test_bootstrap_servers_at_kraft_version_1_are_right(tmp_path: Path) -> None:
    assert not found("KT-SIG-MIGRATION-ORDER", settings(tmp_path, begun()))
