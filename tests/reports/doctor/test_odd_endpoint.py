"""Endpoints that no resolver takes, and unusual ones that it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.doctor.cases import Log, at, found, leader, node, one, version, voters


def quorum(path: Path, host: str, port: int = 9090) -> Path:
    log = Log()
    entries = [at(1, "c1"), at(2, host, port)]
    log.control(1, leader(1, (1, 2)), version(), voters(*entries))
    return node(path / "data", log)


@pytest.mark.parametrize(
    ("host", "port", "why"),
    [
        ("0.0.0.0", 9090, "it is the wildcard address"),
        ("::", 9090, "it is the wildcard address"),
        ("", 9090, "it has no host"),
        ("c2", 0, "it has no port"),
        ("kafka 2", 9090, "this is no host name"),
        ("-c2", 9090, "this is no host name"),
        ("${HOSTNAME}", 9090, "this is no host name"),
        ("10.0.0.256", 9090, "this is no address"),
    ],
)
def test_an_endpoint_that_cannot_be_reached_says_why(
    tmp_path: Path, host: str, port: int, why: str
) -> None:
    diagnosis = one("KT-SIG-ODD-ENDPOINT", quorum(tmp_path, host, port))
    assert diagnosis.finding.text == f"voter 2 cannot be reached at its endpoint: {why}"
    assert diagnosis.finding.offset == 2


@pytest.mark.parametrize(
    "host", ["kafka_2.svc.cluster.local", "c2.example.", "fe80::1", "10.0.0.2"]
)
def test_names_and_addresses_are_fine(tmp_path: Path, host: str) -> None:
    assert not found("KT-SIG-ODD-ENDPOINT", quorum(tmp_path, host))
