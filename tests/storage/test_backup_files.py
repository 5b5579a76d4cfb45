"""Where backups are: which PATH is one, names in order, and files at URLs as in folders."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.backup_files import MANIFEST, BackupFiles, is_backup, split
from kraftool.storage.paths import LocationKind, open_path
from tests.support.backups import FIRST, NODE
from tests.support.copies import writable
from tests.support.places import FIXTURES, PARTITION


def _folder(tmp_path: Path) -> str:
    return str(tmp_path / "above" / "store")


def _file_url(tmp_path: Path) -> str:
    return f"file://{tmp_path}/store"


def _memory(_: Path) -> str:
    pytest.importorskip("fsspec")
    return f"memory://{uuid.uuid4().hex}/prod"


each_place = pytest.mark.parametrize("place", [_folder, _file_url, _memory])


@each_place
def test_a_file_is_written_read_listed_and_removed(
    place: Callable[[Path], str], tmp_path: Path
) -> None:
    files = BackupFiles(place(tmp_path))
    assert files.names() == []
    assert not files.has(f"{FIRST}/x")
    content = bytes(range(256)) * 40_000
    files.write(f"{FIRST}/x", io.BytesIO(content))
    files.write(f"{FIRST}/y", io.BytesIO(b""))
    assert files.has(f"{FIRST}/x")
    with files.open(f"{FIRST}/x") as source:
        assert source.size() == len(content)
        assert source.read_at(0, len(content)) == content
    assert files.names() == [FIRST]
    assert sorted(files.files_of(FIRST)) == ["x", "y"]
    files.remove_if_empty(FIRST)
    assert files.names() == [FIRST]
    for name in ("x", "y", "y"):
        files.remove(f"{FIRST}/{name}")
    files.remove_if_empty(FIRST)
    assert files.names() == []
    with pytest.raises(KraftoolError):
        files.open(f"{FIRST}/x")


@each_place
def test_only_folders_with_the_name_of_a_backup_are_listed(
    place: Callable[[Path], str], tmp_path: Path
) -> None:
    files = BackupFiles(place(tmp_path))
    others = ("lost+found", "2026-12-01", f"{FIRST}-", f"{FIRST}-1000", f"x{FIRST}", "٢" * 20)
    for name in (f"{FIRST}-10", f"{FIRST}-9", FIRST, "2025-01-01T00-00-00Z", *others):
        files.write(f"{name}/x", io.BytesIO(b"x"))
    expected = ["2025-01-01T00-00-00Z", FIRST, f"{FIRST}-9", f"{FIRST}-10"]
    assert files.names() == expected


def test_a_place_is_shown_without_what_logs_in() -> None:
    pytest.importorskip("fsspec")
    files = BackupFiles("memory://user:hunter22@host/prod")
    assert files.shown == "memory://host/prod"
    assert files.shown_path("x") == "memory://host/prod/x"


def test_a_place_that_cannot_be_listed_is_named(tmp_path: Path) -> None:
    with pytest.raises(KraftoolError, match="File name too long"):
        BackupFiles(str(tmp_path / ("x" * 300))).names()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for place in (tmp_path / "file", tmp_path / "file" / "store"):
        with pytest.raises(KraftoolError, match=r"file.*: (Not a directory|File exists)"):
            BackupFiles(str(place)).write(f"{FIRST}/x", io.BytesIO(b"x"))


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    """Nobody can have kraftool overwrite another file by a link with the name to come."""
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    (tmp_path / FIRST).mkdir()
    (tmp_path / FIRST / "x.part").symlink_to(target)
    with pytest.raises(KraftoolError):
        BackupFiles(str(tmp_path)).write(f"{FIRST}/x", io.BytesIO(b"theirs"))
    assert target.read_bytes() == b"mine"


def test_a_file_that_is_not_complete_does_not_have_its_name(tmp_path: Path) -> None:
    class Killed(BaseException):
        """The process is gone."""

    class Content(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise Killed
            return super().read(10)

    files = BackupFiles(str(tmp_path))
    with pytest.raises(Killed):
        files.write(f"{FIRST}/x", Content(bytes(100)))
    assert files.files_of(FIRST) == ["x.part"]


# --- which PATH is a backup -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "place", "name"),
    [
        (f"/backup/prod/{FIRST}", "/backup/prod", FIRST),
        (f"/backup/prod/{FIRST}/", "/backup/prod", FIRST),
        (f"/{FIRST}-2", "/", f"{FIRST}-2"),
        (FIRST, ".", FIRST),
        (f"file:///backup/{FIRST}", "/backup", FIRST),
        (f"memory://bucket/prod/{FIRST}/", "memory://bucket/prod", FIRST),
    ],
)
def test_a_path_is_a_store_and_a_name(path: str, place: str, name: str) -> None:
    files, split_name = split(path)
    assert (files.shown, split_name) == (place, name)


@pytest.mark.parametrize("path", ["/backup/prod", "/backup/prod/2026-12-01", "memory://bucket/x"])
def test_a_path_that_is_not_named_as_a_backup_is_refused(path: str) -> None:
    with pytest.raises(KraftoolError, match="is not named as a backup is"):
        split(path)


def test_a_backup_can_be_named_from_inside_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FIRST).mkdir()
    (tmp_path / FIRST / MANIFEST).write_bytes(b"{}")
    monkeypatch.chdir(tmp_path / FIRST)
    assert is_backup(".")
    files, name = split(".")
    assert (files.shown, name) == (str(tmp_path), FIRST)


def test_an_export_of_a_state_does_not_make_a_directory_a_backup(tmp_path: Path) -> None:
    """`kraftool state DIR --out backup.json` has the same name."""
    data = writable(FIXTURES / NODE, tmp_path / "data")
    for folder in (data, data / PARTITION):
        (folder / MANIFEST).write_bytes(b"{}")
        assert not is_backup(str(folder))
    assert open_path(str(data)).kind is LocationKind.DATA_DIRECTORY
    assert open_path(str(data / PARTITION)).kind is LocationKind.PARTITION


def test_folders_and_urls_without_a_manifest_are_no_backups(tmp_path: Path) -> None:
    assert not is_backup(str(tmp_path))
    assert not is_backup("memory://bucket/prod")
    assert not is_backup(str(tmp_path / FIRST))
