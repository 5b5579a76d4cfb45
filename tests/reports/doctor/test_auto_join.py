"""A removed controller that adds itself again, one that does not, and one that still votes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.doctor.cases import begun, found, hosts, node, one
from tests.reports.voter_cases import server


def settings(path: Path, auto_join: str, *, removed: bool = True) -> Path:
    log = begun(1, 2, 3)
    if removed:
        log.control(1, hosts(1, 2))
    node(path / "data", log, 3)
    lines = {"controller.quorum.auto.join.enable": auto_join}
    return server(path / "server.properties", 3, **{"log.dirs": str(path / "data"), **lines})


def test_a_removed_voter_with_auto_join_is_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-AUTO-JOIN", settings(tmp_path, "true"))
    assert diagnosis.finding.offset == 3
    assert diagnosis.finding.file == str(tmp_path / "server.properties")
    assert diagnosis.commands[0].endswith(": controller.quorum.auto.join.enable=false")
    assert "--bootstrap-controller c1.example:9090" in diagnosis.commands[1]


@pytest.mark.parametrize(("auto_join", "removed"), [("false", True), ("true", False), ("", True)])
def test_without_auto_join_or_removal_there_is_nothing(
    tmp_path: Path, auto_join: str, removed: bool
) -> None:
    assert not found("KT-SIG-AUTO-JOIN", settings(tmp_path, auto_join, removed=removed))


def test_a_controller_that_never_voted_may_join(tmp_path: Path) -> None:
    node(tmp_path / "data", begun(1, 2), 3)
    joins = server(
        tmp_path / "server.properties", 3,
        **{"log.dirs": str(tmp_path / "data"), "controller.quorum.auto.join.enable": "true"},
    )  # fmt: skip
    assert not found("KT-SIG-AUTO-JOIN", joins)
