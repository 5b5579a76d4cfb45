"""A node whose first controller listener the voters are not recorded with."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import begun, found, node, one
from tests.reports.voter_cases import server


def settings(path: Path, names: str) -> Path:
    node(path / "data", begun())
    lines = {"log.dirs": str(path / "data"), "controller.listener.names": names}
    return server(path / "server.properties", 1, **lines)


def test_a_renamed_listener_is_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-VOTER-LISTENER", settings(tmp_path, "CTRL_SSL,CONTROLLER"))
    assert (diagnosis.finding.expected, diagnosis.finding.found) == (
        "CONTROLLER",
        "CTRL_SSL, CONTROLLER",
    )
    assert [evidence.found.partition("://")[0] for evidence in diagnosis.evidence] == [
        "voter 1: CONTROLLER", "voter 2: CONTROLLER", "voter 3: CONTROLLER",
    ]  # fmt: skip
    assert all("://" in evidence.found for evidence in diagnosis.evidence)
    assert diagnosis.commands[0].endswith(": controller.listener.names=CONTROLLER")


def test_names_are_compared_without_regard_to_case(tmp_path: Path) -> None:
    assert not found("KT-SIG-VOTER-LISTENER", settings(tmp_path, "controller,OTHER"))
