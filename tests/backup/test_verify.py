"""What verify reports of files that are not those that were written."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.backup.manifest import Manifest
from kraftool.backup.verify import BackupVerification, verify_all, verify_one
from kraftool.storage.backup_files import MANIFEST, BackupFiles
from kraftool.storage.source import ByteSource
from tests.reports.state_logs import Logs, level, topic
from tests.support.backups import FIRST, FIRST_MS, HOUR_MS, NODE, back_up
from tests.support.places import FIXTURES


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two backups of different states."""
    store = tmp_path / "store"
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [topic("a")])
    back_up(store, logs.path)
    logs.segment(2, [topic("b")])
    back_up(store, logs.path, now_ms=FIRST_MS + HOUR_MS)
    return store


def verify(store: Path) -> BackupVerification:
    return verify_all(BackupFiles(str(store)), lambda *_: None)


def codes(store: Path) -> list[str]:
    return [finding.code for finding in verify(store).all_findings]


def checkpoint(store: Path, name: str = FIRST) -> Path:
    [path] = (store / name).glob("*.checkpoint")
    return path


def forged(store: Path, name: str = FIRST) -> None:
    """Write the size and the hash of the checkpoint as it is into the manifest."""
    data = checkpoint(store, name).read_bytes()
    path = store / name / MANIFEST
    document: dict[str, Any] = json.loads(path.read_bytes())
    document["checkpoint"]["size"] = len(data)
    document["checkpoint"]["sha256"] = hashlib.sha256(data).hexdigest()
    path.write_text(json.dumps(document))


def test_a_checkpoint_of_several_backups_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    for several in (1, 3):
        store = tmp_path / str(several)
        for hour in range(several):
            back_up(store, FIXTURES / NODE, now_ms=FIRST_MS + hour * HOUR_MS)
        opened: list[str] = []
        whole = BackupFiles.open

        def counted(
            files: BackupFiles,
            path: str,
            opened: list[str] = opened,
            whole: Callable[[BackupFiles, str], ByteSource] = whole,
        ) -> ByteSource:
            opened.append(path)
            return whole(files, path)

        with monkeypatch.context() as patched:
            patched.setattr(BackupFiles, "open", counted)
            assert [one.is_verified for one in verify(store).backups] == [True] * several
        reads.append(sum(path.endswith(".checkpoint") for path in opened))
    assert reads[0] == reads[1] > 0


def test_whole_backups_verify(store: Path) -> None:
    report = verify(store)
    assert [backup.is_verified for backup in report.backups] == [True, True]
    assert not report.all_findings


def test_any_flipped_bit_of_a_checkpoint_is_found(store: Path) -> None:
    path = checkpoint(store)
    data = path.read_bytes()
    for position in range(0, len(data), 7):
        changed = bytearray(data)
        changed[position] ^= 1 << position % 8
        path.write_bytes(changed)
        assert codes(store) == ["KT-BAK-CHECKPOINT"], position


def test_a_bit_that_the_manifest_hides_is_found_by_the_records(store: Path) -> None:
    """The manifest has the hash of the damaged file: then the batch's CRC, or the state, does not
    match."""
    path = checkpoint(store)
    data = path.read_bytes()
    for position in range(0, len(data), 7):
        changed = bytearray(data)
        changed[position] ^= 1 << position % 8
        path.write_bytes(changed)
        forged(store)
        assert not verify(store).backups[0].is_verified, position


@pytest.mark.parametrize("size", [0, 1, 60, -1])
def test_a_checkpoint_of_another_size_is_found(size: int, store: Path) -> None:
    path = checkpoint(store)
    path.write_bytes(path.read_bytes()[:size])
    [finding] = verify(store).all_findings
    assert finding.code == "KT-BAK-CHECKPOINT"
    assert finding.found == str(path.stat().st_size)


def test_a_checkpoint_that_is_longer_is_found(store: Path) -> None:
    path = checkpoint(store)
    path.write_bytes(path.read_bytes() + b"\0")
    assert codes(store) == ["KT-BAK-CHECKPOINT"]


def test_a_missing_checkpoint_is_found(store: Path) -> None:
    checkpoint(store).unlink()
    assert codes(store) == ["KT-BAK-CHECKPOINT"]


def test_a_checkpoint_that_is_a_folder_is_found(store: Path) -> None:
    path = checkpoint(store)
    path.unlink()
    path.mkdir()
    assert codes(store) == ["KT-BAK-CHECKPOINT"]


def test_checkpoints_of_two_backups_that_were_swapped_are_found(store: Path) -> None:
    one, other = (checkpoint(store, name) for name in BackupFiles(str(store)).names())
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    assert codes(store) == ["KT-BAK-CHECKPOINT"] * 2


def test_a_checkpoint_of_another_state_is_found_by_its_state(store: Path) -> None:
    """The bytes are those of the manifest, and a checkpoint that Kafka wrote."""
    shutil.copyfile(checkpoint(store, BackupFiles(str(store)).names()[1]), checkpoint(store))
    forged(store)
    [finding] = verify(store).all_findings
    assert finding.code == "KT-BAK-STATE"
    assert finding.expected == manifest_of(store).state_hash != finding.found


def manifest_of(store: Path) -> Manifest:
    manifest = verify(store).backups[0].manifest
    assert manifest is not None
    return manifest


def test_a_state_hash_that_was_changed_is_found(store: Path) -> None:
    path = store / FIRST / MANIFEST
    document = json.loads(path.read_bytes())
    document["stateHash"] = "0" * 64
    path.write_text(json.dumps(document))
    assert codes(store) == ["KT-BAK-STATE"]


def test_one_damaged_checkpoint_counts_for_every_backup_that_names_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for hour in range(3):
        back_up(store, FIXTURES / NODE, now_ms=FIRST_MS + hour * HOUR_MS)
    path = checkpoint(store)
    path.write_bytes(path.read_bytes()[:-1])
    assert codes(store) == ["KT-BAK-CHECKPOINT"] * 3


def test_a_backup_that_was_renamed_is_not_that_backup(store: Path) -> None:
    (store / FIRST).rename(store / "2026-12-01T00-30-00Z")
    assert codes(store) == ["KT-BAK-MANIFEST"]
    report = verify_one(BackupFiles(str(store)), "2026-12-01T00-30-00Z")
    assert [finding.code for finding in report.all_findings] == ["KT-BAK-MANIFEST"]


def test_a_place_without_backups_is_a_finding(tmp_path: Path) -> None:
    assert codes(tmp_path) == ["KT-BAK-NONE"]
    assert codes(tmp_path / "not-there") == ["KT-BAK-NONE"]


def test_a_backup_that_is_not_there_is_a_finding(store: Path) -> None:
    report = verify_one(BackupFiles(str(store)), "2020-01-01T00-00-00Z")
    assert [finding.code for finding in report.all_findings] == ["KT-BAK-MANIFEST"]
    assert report.backups[0].manifest is None
