"""A backup as a data directory: only one that verifies, and only into a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.backup import verify
from kraftool.backup.create import NotWholeError
from kraftool.backup.unpack import unpack
from kraftool.image.state_hash import state_hash
from kraftool.reports.findings.kinds import backup as kinds
from kraftool.reports.state.load import load_state
from kraftool.storage.backup_files import BackupFiles
from tests.support.backups import FIRST_MS, NODE, back_up
from tests.support.places import FIXTURES


def test_it_has_the_state_of_the_backup(tmp_path: Path) -> None:
    manifest = back_up(tmp_path / "store", FIXTURES / NODE)
    unpack(BackupFiles(str(tmp_path / "store")), manifest, str(tmp_path / "new"), 999, FIRST_MS)
    assert state_hash(load_state(str(tmp_path / "new")).image) == manifest.state_hash


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    manifest = back_up(tmp_path / "store", FIXTURES / NODE)
    (tmp_path / "new").mkdir()
    (tmp_path / "new/file").touch()
    with pytest.raises(NotWholeError, match="is not empty"):
        unpack(BackupFiles(str(tmp_path / "store")), manifest, str(tmp_path / "new"), 9, FIRST_MS)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]


def test_a_damaged_backup_is_not_unpacked(tmp_path: Path) -> None:
    manifest = back_up(tmp_path / "store", FIXTURES / NODE)
    checkpoint = tmp_path / "store" / manifest.checkpoint.path
    data = bytearray(checkpoint.read_bytes())
    data[len(data) // 2] ^= 1
    checkpoint.write_bytes(data)
    with pytest.raises(NotWholeError, match="cannot be restored: SHA-256: the bytes"):
        unpack(BackupFiles(str(tmp_path / "store")), manifest, str(tmp_path / "new"), 9, FIRST_MS)
    assert not (tmp_path / "new").exists()


def test_a_note_does_not_keep_a_backup_from_being_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = back_up(tmp_path / "store", FIXTURES / NODE)
    note = kinds.UNFINISHED.at("a file", "a note")
    monkeypatch.setattr(verify, "_looked_at", lambda *_: ([note], {manifest.state_hash}))
    unpack(BackupFiles(str(tmp_path / "store")), manifest, str(tmp_path / "new"), 999, FIRST_MS)
    assert (tmp_path / "new/meta.properties").exists()
