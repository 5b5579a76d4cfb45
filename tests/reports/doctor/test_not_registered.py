"""A voter that has not registered, and what it is to register at."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import begun, controller, found, level, node, one


def quorum(path: Path, metadata_version: int, *registered: int) -> Path:
    told = [controller(each) for each in registered]
    return node(path, begun().data_batch(level(metadata_version), *told))


def test_a_voter_that_has_not_registered_is_named(tmp_path: Path) -> None:
    told = one("KT-SIG-NOT-REGISTERED", quorum(tmp_path / "data", 30, 1, 2))
    assert "voter 3 at CONTROLLER://c3.example:9090" in told.finding.text
    assert told.commands[1].endswith(
        "remove-controller --controller-id 3 --controller-directory-id Directory-of-node-003A"
    )


def test_all_registered_or_an_old_metadata_version_is_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-NOT-REGISTERED", quorum(tmp_path / "a", 30, 1, 2, 3))
    assert not found("KT-SIG-NOT-REGISTERED", quorum(tmp_path / "b", 14))
