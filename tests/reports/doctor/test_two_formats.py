"""Two voter sets under one cluster id, and nodes that were only formatted alike."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import begun, found, hosts, node, one, version
from tests.reports.voter_cases import add_snapshot


def formatted(path: Path, id: int, *ids: int) -> Path:
    made = node(path, begun(*ids), id)
    add_snapshot(made, 0, 0, version(), hosts(*ids))
    return made


def test_two_standalone_quorums_of_one_cluster_id_are_named(tmp_path: Path) -> None:
    diagnosis = one(
        "KT-SIG-TWO-FORMATS", formatted(tmp_path / "a", 1, 1), formatted(tmp_path / "b", 2, 2)
    )
    assert "1@Directory-of-node-001A" in diagnosis.finding.expected
    assert "2@Directory-of-node-002A" in diagnosis.finding.found
    assert [evidence.position is not None for evidence in diagnosis.evidence] == [True, True]
    cluster = "xxuyFdGYSvOPfcYJRNjaMA"
    assert any(f"format --cluster-id {cluster}" in command for command in diagnosis.commands)
    assert diagnosis.commands[-1].endswith("--bootstrap-controller c1.example:9090 add-controller")


def test_nodes_with_the_same_first_voters_are_fine(tmp_path: Path) -> None:
    paths = formatted(tmp_path / "a", 1, 1, 2), formatted(tmp_path / "b", 2, 1, 2)
    assert not found("KT-SIG-TWO-FORMATS", *paths)


def test_a_controller_that_was_formatted_without_voters_is_fine(tmp_path: Path) -> None:
    joined = node(tmp_path / "b", begun(1), 2)
    assert not found("KT-SIG-TWO-FORMATS", formatted(tmp_path / "a", 1, 1), joined)
