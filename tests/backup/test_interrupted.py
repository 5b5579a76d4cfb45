"""Whatever stops a backup or a removal, at any step: the earlier backups stay listed and whole."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftool.backup.listing import list_backups
from kraftool.backup.prune import Retention, prune
from kraftool.backup.verify import verify_all
from kraftool.decoders.errors import KraftoolError
from kraftool.storage.backup_files import BackupFiles
from kraftool.storage.files import Files, OpenFile
from tests.reports.state_logs import Logs, level, topic
from tests.support.backups import FIRST_MS, HOUR_MS, back_up

NOW_MS = FIRST_MS + 10 * HOUR_MS
DAY_MS = 24 * HOUR_MS


class Killed(BaseException):
    """The process is gone: no handler runs, and nothing is tidied up."""


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    made = Logs(tmp_path / "data")
    made.segment(0, [level()], [topic("a")])
    return made


@pytest.fixture
def store(tmp_path: Path, logs: Logs) -> Path:
    """A store with one backup; the log has more since."""
    store = tmp_path / "store"
    back_up(store, logs.path)
    logs.segment(2, [topic("b")])
    return store


def whole_backups(store: object) -> list[str]:
    """The backups that verify. Every backup that is listed has to be one of them."""
    listing = list_backups(str(store))
    assert {finding.code for finding in listing.findings} <= {"KT-BAK-UNFINISHED"}
    report = verify_all(BackupFiles(str(store)), lambda *_: None)
    assert all(backup.is_verified for backup in report.backups)
    assert [backup.name for backup in report.backups] == [one.name for one in listing.backups]
    return [backup.name for backup in report.backups]


STEPS = [
    (Files, "make_folder"),
    (Files, "create"),
    (OpenFile, "write_at"),
    (OpenFile, "sync"),
    (Files, "rename"),
    (Files, "sync_folder"),
]


class Steps:
    """The operations on the disk, of which the one with a number fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
        self.count = 0
        self.fatal = 0
        self.is_dead = False
        self._failure = failure
        for owner, name in STEPS:
            monkeypatch.setattr(owner, name, self._counted(getattr(owner, name)))
        for owner, name in ((Files, "unlink"), (Files, "remove_folder")):
            monkeypatch.setattr(owner, name, self._of_the_living(getattr(owner, name)))

    def _counted(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.count += 1
            if self.count == self.fatal:
                self.is_dead = isinstance(self._failure, Killed)
                raise self._failure
            return operation(*arguments)

        return counted

    def _of_the_living(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: None if self.is_dead else operation(*arguments)


def _steps(monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> Iterator[Steps]:
    """Steps that fail at the first operation, at the second, and so on."""
    number = 0
    while True:
        number += 1
        with monkeypatch.context() as patch:
            steps = Steps(patch, failure)
            steps.fatal = number
            yield steps
            if steps.count < number:
                assert number > 10, "it has steps"
                return


def test_a_backup_that_is_killed_at_any_step_leaves_the_earlier_one(
    store: Path, logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = whole_backups(store)
    for number, steps in enumerate(_steps(monkeypatch, Killed())):
        copy = shutil.copytree(store, tmp_path / str(number))
        try:
            made = back_up(copy, logs.path, now_ms=NOW_MS)
        except Killed:
            assert steps.is_dead
            left = {path.parent.name for path in copy.rglob("backup.json")}
            assert whole_backups(copy) == sorted(left)
            assert whole_backups(copy)[:1] == before
            with monkeypatch.context() as patch:
                patch.undo()
                steps.is_dead, steps.fatal = False, 0
                again = back_up(copy, logs.path, now_ms=NOW_MS)
                assert whole_backups(copy)[-1] == again.name
        else:
            assert whole_backups(copy) == [*before, made.name]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_full_disk_at_any_step_leaves_the_store_as_it_was(
    code: int, store: Path, logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = whole_backups(store)
    for number, _ in enumerate(_steps(monkeypatch, OSError(code, os.strerror(code)))):
        copy = shutil.copytree(store, tmp_path / str(number))
        message = ""
        try:
            back_up(copy, logs.path, now_ms=NOW_MS)
        except KraftoolError as error:
            message = error.message
        if message:
            assert os.strerror(code) in message
            assert str(copy) in message
            assert before[0] in whole_backups(copy)
            assert len(whole_backups(copy)) == len(list(copy.iterdir())), "nothing is left of it"
        else:
            assert len(whole_backups(copy)) == 2
        assert not list(copy.rglob("*.part"))


def test_without_space_for_temporary_files_there_is_no_backup(
    store: Path, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = sorted(store.rglob("*"))
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(KraftoolError, match="No space left") as caught:
        back_up(store, logs.path, now_ms=NOW_MS)
    assert "TMPDIR" in caught.value.hint
    assert sorted(store.rglob("*")) == before


def test_a_disk_that_writes_something_else_gives_no_backup(
    store: Path, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real = whole_backups(store), OpenFile.write_at

    def flipping(self: OpenFile, position: int, data: bytes) -> None:
        real(self, position, data[:-1] + bytes([data[-1] ^ 1]))

    monkeypatch.setattr(OpenFile, "write_at", flipping)
    with pytest.raises(KraftoolError, match="reads back as something else"):
        back_up(store, logs.path, now_ms=NOW_MS)
    monkeypatch.undo()
    assert whole_backups(store) == before
    assert [path.name for path in store.iterdir()] == before


def test_what_a_kill_left_is_named_and_goes_a_day_later(store: Path, logs: Logs) -> None:
    half = store / "2026-12-01T05-00-00Z"
    half.mkdir()
    (half / f"{2:020}-{1:010}.checkpoint.part").write_bytes(b"half")
    empty = store / "2026-12-01T06-00-00Z"
    empty.mkdir()
    [first] = whole_backups(store)
    listing = list_backups(str(store))
    assert [finding.file for finding in listing.findings] == [str(half), str(empty)]
    young = Retention(newest=1, days=None, now_ms=FIRST_MS + DAY_MS)
    assert prune(BackupFiles(str(store)), young, lambda *_: None, dry_run=False).kept_backups
    assert half.exists()
    old = Retention(newest=1, days=None, now_ms=FIRST_MS + 2 * DAY_MS)
    report = prune(BackupFiles(str(store)), old, lambda *_: None, dry_run=False)
    assert report.removed_unfinished == (half.name, empty.name)
    assert [path.name for path in store.iterdir()] == [first]


def test_a_removal_that_is_killed_at_any_step_leaves_whole_backups(
    store: Path, logs: Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hour in range(1, 4):
        back_up(store, logs.path, now_ms=FIRST_MS + hour * HOUR_MS)
        if hour == 2:
            logs.segment(3, [topic("c")])
    names = whole_backups(store)
    assert len(names) == 4
    real, count, fatal = Files.unlink, 0, 0

    def unlink(self: Files, path: str) -> None:
        nonlocal count
        count += 1
        if count == fatal:
            raise Killed
        real(self, path)

    monkeypatch.setattr(Files, "unlink", unlink)
    while fatal <= count:
        fatal, count = fatal + 1, 0
        copy = shutil.copytree(store, tmp_path / str(fatal))
        try:
            keep = Retention(newest=1, days=None, now_ms=NOW_MS)
            prune(BackupFiles(str(copy)), keep, lambda *_: None, dry_run=False)
        except Killed:
            assert whole_backups(copy)[-1] == names[-1]
        else:
            assert whole_backups(copy) == names[-1:]
    assert fatal > 4, "three manifests and two checkpoints"


# --- uploads --------------------------------------------------------------------------------------


def _memory_store() -> tuple[str, Any]:
    fsspec = pytest.importorskip("fsspec")
    return f"memory://{uuid.uuid4().hex}/prod", fsspec.filesystem("memory")


@pytest.mark.parametrize("suffix", [".checkpoint", "backup.json"])
def test_an_upload_that_is_interrupted_leaves_the_earlier_backup(
    suffix: str, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, memory = _memory_store()
    first = back_up(store, logs.path)
    logs.segment(2, [topic("b")])
    real = memory.open

    def breaking(path: str, mode: str = "rb", **options: Any) -> Any:
        file = real(path, mode, **options)
        if mode == "wb" and path.endswith(suffix):
            write = file.write

            def half(data: bytes) -> int:
                write(data[: len(data) // 2])
                raise ConnectionResetError("the store is gone")

            file.write = half
        return file

    with monkeypatch.context() as patch:
        patch.setattr(
            type(memory), "open", lambda _, *words, **options: breaking(*words, **options)
        )
        with pytest.raises(KraftoolError, match="the store is gone"):
            back_up(store, logs.path, now_ms=NOW_MS)
    assert whole_backups(store) == [first.name]
    second = back_up(store, logs.path, now_ms=NOW_MS)
    assert whole_backups(store) == [first.name, second.name]


def test_an_upload_of_which_the_store_keeps_a_part_is_a_finding_and_no_backup(logs: Logs) -> None:
    """As after a kill, where a store has no upload that is complete or not there."""
    store, memory = _memory_store()
    first = back_up(store, logs.path)
    logs.segment(2, [topic("b")])
    second = back_up(store, logs.path, now_ms=NOW_MS)
    path = f"{store}/{second.name}/backup.json"
    memory.pipe(path, memory.cat(path)[:100])
    listing = list_backups(store)
    assert [manifest.name for manifest in listing.backups] == [first.name]
    assert [finding.code for finding in listing.findings] == ["KT-BAK-MANIFEST"]
