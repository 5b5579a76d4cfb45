"""Folders in a log directory that a broker dies on, and that a controller never looks at.

Tried on Kafka 4.3.0: a folder `__cluster_metadata-0.aside` in log.dirs ends a broker's start with
"Found directory …, is not in the form of topic-partition".
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.doctor.cases import begun, broker, found, level, node, one
from tests.reports.voter_cases import server

CODE = "KT-SIG-FOLDER-NAME"


def with_folder(path: Path, name: str, *, is_broker: bool = True) -> Path:
    log = begun(1).data_batch(level(), *([broker(1)] if is_broker else []))
    made = node(path, log)
    (made / name).mkdir()
    return made


@pytest.mark.parametrize("name", ["lost+found", "__cluster_metadata-0.aside", "backup"])
def test_a_folder_without_a_partitions_name_is_named(tmp_path: Path, name: str) -> None:
    path = with_folder(tmp_path / "data", name)
    diagnosis = one(CODE, path)
    assert diagnosis.finding.found == name
    assert diagnosis.commands == (f"mv {path / name} {path}.{name}",)


@pytest.mark.parametrize("name", ["foo-0", "foo-0.0a-delete", "remote-log-index-cache"])
def test_partitions_and_the_cache_of_tiered_storage_are_fine(tmp_path: Path, name: str) -> None:
    assert not found(CODE, with_folder(tmp_path / "data", name))


def test_a_controller_does_not_mind(tmp_path: Path) -> None:
    path = with_folder(tmp_path / "data", "lost+found", is_broker=False)
    assert not found(CODE, path)
    settings = tmp_path / "server.properties"
    with_folder(tmp_path / "other", "lost+found")
    server(settings, 1, **{"log.dirs": str(tmp_path / "other")})
    assert not found(CODE, settings), "process.roles=controller"
    server(
        settings, 1, **{"log.dirs": str(tmp_path / "other"), "process.roles": "broker,controller"}
    )
    one(CODE, settings)
