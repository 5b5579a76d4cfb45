"""Voters without a log beside nodes that have one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.reports.doctor.quorum_advice import emptied_directories
from kraftool.reports.state.export import state_source
from kraftool.reports.state.load import load_state
from tests.reports.doctor.cases import PARTITION, begun, broker, found, node, partition, topic

CODE = "KT-SIG-WIPED-VOTER"


def quorum(path: Path, *wiped: int) -> list[Path]:
    paths = [node(path / str(id), begun(), id) for id in (1, 2, 3)]
    for id in wiped:
        shutil.rmtree(paths[id - 1] / PARTITION)
    return paths


def test_one_wiped_voter_forgot_its_vote(tmp_path: Path) -> None:
    (diagnosis,) = found(CODE, *quorum(tmp_path, 3))
    assert diagnosis.directory == str(tmp_path / "3")
    assert "do not start" not in diagnosis.finding.advice


def test_a_majority_of_wiped_voters_must_not_start(tmp_path: Path) -> None:
    diagnoses = found(CODE, *quorum(tmp_path, 2, 3))
    assert len(diagnoses) == 2
    assert all("do not start these" in diagnosis.finding.advice for diagnosis in diagnoses)


def test_whole_voters_are_not_wiped(tmp_path: Path) -> None:
    assert not found(CODE, *quorum(tmp_path))


def test_a_state_without_its_beginning_shows_no_lost_replicas(tmp_path: Path) -> None:
    log = begun(1)
    log.data = b""
    log.data_batch(topic(), partition(leader=-1, isr=[12]), broker(11))
    path = node(tmp_path / "data", log)
    whole = path / PARTITION / f"{0:020}.log"
    whole.rename(whole.with_name(f"{3:020}.log"))
    assert found("KT-SNAP-MISSING", path)
    assert not found("KT-SIG-LOST-REPLICAS", path)


def test_an_export_without_its_beginning_is_not_complete(tmp_path: Path) -> None:
    log = begun(1)
    log.data = b""
    log.data_batch(topic())
    path = node(tmp_path / "data", log)
    assert state_source(load_state(str(path))).is_complete
    whole = path / PARTITION / f"{0:020}.log"
    whole.rename(whole.with_name(f"{3:020}.log"))
    assert not state_source(load_state(str(path))).is_complete


def test_a_folder_that_may_not_be_listed_is_not_called_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root lists every folder, so the test simulates the refusal."""

    def refuse(path: str) -> list[str]:
        raise PermissionError(13, "Permission denied", path)

    assert any("is empty" in line for line in emptied_directories([str(tmp_path)]))
    monkeypatch.setattr("os.listdir", refuse)
    assert not [*emptied_directories([str(tmp_path)])]
