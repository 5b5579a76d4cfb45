"""localhost among other hosts, and a quorum that is on one machine as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import (
    Log,
    at,
    found,
    leader,
    node,
    one,
    severities,
    version,
    voters,
)


def quorum(path: Path, *listed: str) -> Path:
    log = Log()
    ids = range(1, len(listed) + 1)
    diagnosis = [at(id, host, 9090 + id) for id, host in zip(ids, listed, strict=True)]
    log.control(1, leader(1, ids), version(), voters(*diagnosis))
    return node(path / "data", log)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "LOCALHOST", "127.3.2.1"])
def test_one_local_voter_among_others_is_named(tmp_path: Path, host: str) -> None:
    diagnosis = one("KT-SIG-LOCAL-ENDPOINT", quorum(tmp_path, "c1", host, "c3"))
    assert diagnosis.finding.severity is Severity.WARNING
    assert (diagnosis.finding.offset, "voters 2" in diagnosis.finding.text) == (2, True)
    assert diagnosis.finding.found.startswith("CONTROLLER://")
    assert diagnosis.evidence[0].found.startswith("voter 1: CONTROLLER://c1:")
    assert diagnosis.commands[0].endswith(": advertised.listeners=CONTROLLER://host:port")


def test_a_quorum_on_one_machine_is_a_note(tmp_path: Path) -> None:
    path = quorum(tmp_path, "localhost", "127.0.0.1", "localhost")
    assert severities("KT-SIG-LOCAL-ENDPOINT", path) == [Severity.INFO]


def test_a_sole_local_voter_and_other_hosts_are_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-LOCAL-ENDPOINT", quorum(tmp_path / "a", "localhost"))
    assert not found(
        "KT-SIG-LOCAL-ENDPOINT", quorum(tmp_path / "b", "c1", "localhost5", "127.example")
    )
