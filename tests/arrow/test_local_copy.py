"""Directories of a fleet on this machine: in place where they are local, else a private copy."""

import errno
import os
import stat
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fsspec")

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.local_copy import on_disk
from kraftool.arrow.search import find_fleet
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.state.load import load_state
from tests.support.places import FIXTURES

DATA = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"


@pytest.fixture(autouse=True)
def _room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))


@pytest.fixture
def remote() -> Iterator[str]:
    store = import_module("fsspec").filesystem("memory")
    store.put(str(DATA), "/here/data", recursive=True)
    yield "memory://here/data"
    store.rm("/here", recursive=True)


def _files(*paths: str) -> list[FleetFile]:
    return list(find_fleet(list(paths)).files)


def _left(tmp_path: Path) -> list[str]:
    return os.listdir(tmp_path / "room")


def test_a_local_directory_is_read_in_place(tmp_path: Path) -> None:
    with on_disk(_files(str(DATA))) as here:
        assert here.path == here.shown == str(DATA)
        assert here.shown_text(f"{DATA}/x") == f"{DATA}/x"
        assert not _left(tmp_path)


def test_the_folder_of_the_partition_alone_is_read_in_place() -> None:
    folder = str(DATA / "__cluster_metadata-0")
    with on_disk(_files(folder)) as here:
        assert here.path == folder


def test_a_file_that_was_named_is_that_file_alone() -> None:
    log = str(DATA / "__cluster_metadata-0/00000000000000000000.log")
    with on_disk(_files(log)) as here:
        assert here.path == log


def test_several_files_that_were_named_are_a_folder_of_them(tmp_path: Path) -> None:
    folder = DATA / "__cluster_metadata-0"
    names = sorted(path.name for path in folder.iterdir() if path.suffix in (".log", ".checkpoint"))
    with on_disk(_files(*(str(folder / name) for name in names))) as here:
        assert sorted(os.listdir(here.path)) == names
        loaded = load_state(here.path)
        assert here.shown_text(loaded.files[-1]).startswith(str(folder))
    assert not _left(tmp_path)
    assert loaded.end_offset == load_state(str(DATA)).end_offset


def test_a_url_is_copied_privately_and_the_copy_is_removed(remote: str, tmp_path: Path) -> None:
    expected = {
        str(path.relative_to(DATA)): path.read_bytes() for path in DATA.rglob("*") if path.is_file()
    }
    files = _files(remote)
    with on_disk(files) as here:
        below = Path(here.path)
        copies = {str(path.relative_to(below)): path for path in below.rglob("*") if path.is_file()}
        assert {name: path.read_bytes() for name, path in copies.items()} == {
            file.relative: expected[file.relative] for file in files
        }
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in copies.values())
        folders = [below, below.parent, *(path for path in below.rglob("*") if path.is_dir())]
        assert all(stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in folders)
        assert load_state(here.path).image == load_state(str(DATA)).image
    assert not _left(tmp_path)


def test_the_copy_is_removed_when_its_reader_fails(remote: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), on_disk(_files(remote)):
        raise RuntimeError
    assert not _left(tmp_path)


def test_reports_about_a_copy_name_the_url(remote: str) -> None:
    with on_disk(_files(remote)) as here:
        log = f"{here.path}/__cluster_metadata-0/x.log"
        assert here.shown_text(f"a gap in {log}") == f"a gap in {remote}/__cluster_metadata-0/x.log"


def test_one_file_behind_a_url_keeps_its_folders_name(remote: str) -> None:
    name = "00000000000000000000.log"
    with on_disk(_files(f"{remote}/__cluster_metadata-0/{name}")) as here:
        assert here.path.endswith(f"/__cluster_metadata-0/{name}")
        assert here.shown_text(here.path) == f"{remote}/__cluster_metadata-0/{name}"


def test_what_cannot_be_read_is_left_out_and_told(
    remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = _files(remote)
    open_file = FleetFile.open

    def refusing(self: FleetFile) -> Any:
        if self.basename == "quorum-state":
            raise KraftoolError(f"{self.name}: access denied", hint="ask for it")
        return open_file(self)

    monkeypatch.setattr(FleetFile, "open", refusing)
    with on_disk(files) as here:
        assert not Path(here.path, "__cluster_metadata-0/quorum-state").exists()
        assert [(problem.name.rpartition("/")[2], problem.hint) for problem in here.problems] == [
            ("quorum-state", "ask for it")
        ]


def test_a_copy_without_room_is_an_error_and_not_a_directory_with_files_missing(
    remote: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_file = os.open

    def full(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "No space left on device")
        return open_file(path, flags, *more, **named)

    files = _files(remote)
    with monkeypatch.context() as patched:
        patched.setattr("kraftool.arrow.local_copy.os.open", full)
        with pytest.raises(KraftoolError, match="No space left"), on_disk(files):
            pass
    assert not _left(tmp_path)


def test_no_name_leads_out_of_the_copy(remote: str, tmp_path: Path) -> None:
    import dataclasses

    first = _files(remote)[0]
    for relative in ("../escaped", "a/../../escaped", "/escaped", "a//b", "nul\0"):
        bad = dataclasses.replace(first, relative=relative)
        with on_disk([first, bad]) as here:
            assert [problem.reason for problem in here.problems] == ["its name is no file's name"]
            assert not (tmp_path / "room/escaped").exists()


def test_credentials_are_in_no_name(tmp_path: Path) -> None:
    import dataclasses

    (first, *_) = _files(str(DATA))
    login = dataclasses.replace(first, root="memory://user:canary@here/data", options='{"a":"b"}')
    with on_disk([login]) as here:
        assert "canary" not in here.path + here.shown + repr(here.problems)
