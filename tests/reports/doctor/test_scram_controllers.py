"""Controllers with SCRAM only, and those with another way in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.doctor.cases import begun, found, node, one
from tests.reports.voter_cases import server

CODE = "KT-SIG-SCRAM-CONTROLLERS"
SCRAM = {
    "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
    "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
}


def _settings(path: Path, **changes: str) -> Path:
    node(path / "data", begun(1))
    file = server(path / "server.properties", 1, **{"log.dirs": str(path / "data")})
    lines = {**SCRAM, **{name.replace("__", "."): value for name, value in changes.items()}}
    file.write_text(file.read_text() + "".join(f"{k}={v}\n" for k, v in lines.items() if v))
    return file


def test_controllers_that_log_in_with_scram_only_are_named(tmp_path: Path) -> None:
    diagnosis = one(CODE, _settings(tmp_path))
    assert diagnosis.finding.field == "sasl.mechanism.controller.protocol"
    assert "at CONTROLLER with SCRAM-SHA-512" in diagnosis.finding.text
    assert diagnosis.commands[0].endswith(": sasl.mechanism.controller.protocol=PLAIN")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listener__security__protocol__map", "CONTROLLER:SSL"),
        ("listener__security__protocol__map", "CONTROLLER:PLAINTEXT"),
        ("listener__security__protocol__map", ""),
        ("sasl__mechanism__controller__protocol", "PLAIN"),
        ("sasl__mechanism__controller__protocol", ""),
        ("sasl__enabled__mechanisms", "SCRAM-SHA-512,PLAIN"),
        ("sasl__enabled__mechanisms", ""),
        ("listener__name__controller__sasl__enabled__mechanisms", "PLAIN"),
        ("process__roles", "broker"),
    ],
)
def test_another_way_in_is_fine(tmp_path: Path, name: str, value: str) -> None:
    assert not found(CODE, _settings(tmp_path, **{name: value}))
