"""Two voters at one host and port."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import Log, at, found, leader, node, one, version, voters


def quorum(path: Path, *places: tuple[str, int]) -> Path:
    log = Log()
    entries = [at(id, *place) for id, place in enumerate(places, 1)]
    log.control(1, leader(1, range(1, len(places) + 1)), version(), voters(*entries))
    return node(path / "data", log)


def test_voters_at_one_endpoint_are_named(tmp_path: Path) -> None:
    diagnosis = one(
        "KT-SIG-SAME-ENDPOINT", quorum(tmp_path, ("c1", 9090), ("C1", 9090), ("c3", 9090))
    )
    assert diagnosis.finding.text == "voters 1 and 2 have the same endpoint"
    assert [evidence.offset for evidence in diagnosis.evidence] == [2, 2]


def test_another_port_or_host_is_another_endpoint(tmp_path: Path) -> None:
    path = quorum(tmp_path, ("c1", 9090), ("c1", 9091), ("c2", 9090))
    assert not found("KT-SIG-SAME-ENDPOINT", path)
