"""The list of files: what each holds by its name or its content, at a cost that does not grow."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.decoders.kinds import FileKind
from kraftool.directory.file_report import FileReport, read_file
from kraftool.storage.entry import Entry
from kraftool.storage.lock import LockState
from kraftool.watching import files as files_module
from kraftool.watching.files import DirectoryFiles, FileReading, WatchedFiles
from kraftool.watching.task import StoppedError, Task

_LOG = "__cluster_metadata-0/00000000000000000000.log"


@pytest.fixture
def directory(fixtures_dir: Path, tmp_path: Path) -> Path:
    """A copy of a controller's directory."""
    source = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum" / "node-2" / "data"
    return Path(shutil.copytree(source, tmp_path / "data", ignore=shutil.ignore_patterns(".lock")))


def _look(directory: Path) -> DirectoryFiles:
    (directory_files,) = WatchedFiles().read([str(directory)])
    return directory_files


def _file(directory_files: DirectoryFiles, name: str) -> FileReading:
    return next(file for file in directory_files.files if file.path.endswith(name))


def test_every_file_is_listed_with_what_it_holds(directory: Path) -> None:
    directory_files = _look(directory)
    on_disk = {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}
    assert {file.path for file in directory_files.files} == on_disk
    holdings = {file.path.rpartition("/")[2]: file.holds for file in directory_files.files}
    assert holdings["meta.properties"] == "node 2"
    assert holdings["quorum-state"] == "epoch 3, leader 2"
    assert holdings["00000000000000000085-0000000003.checkpoint"] == "the state before offset 85"
    assert holdings["00000000000000000000.index"] == "4 entries"
    assert directory_files.size == sum(
        path.stat().st_size for path in directory.rglob("*") if path.is_file()
    )


def test_a_segment_ends_where_the_next_begins(directory: Path) -> None:
    log = directory / _LOG
    shutil.copy(log, log.with_name("00000000000000000224.log"))
    directory_files = _look(directory)
    first, second = (_file(directory_files, f"{number:020}.log") for number in (0, 224))
    assert (first.first_offset, first.next_offset) == (0, 224)
    assert first.holds == "offsets 0 to 223"
    assert (second.first_offset, second.next_offset) == (224, None)
    assert second.holds == "from offset 224 on"


def test_no_segment_is_read_and_a_file_only_when_it_changed(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(entry: Entry) -> FileReport:
        read.append(entry.basename)
        return read_file(entry)

    monkeypatch.setattr(files_module, "read_file", noted)
    files = WatchedFiles()
    files.read([str(directory)])
    assert not [path for path in read if path.endswith((".log", "3.checkpoint"))]
    assert "quorum-state" in read
    read.clear()
    files.read([str(directory)])
    assert read == []
    (directory / "__cluster_metadata-0" / "quorum-state").write_text("{")
    (directory_files,) = files.read([str(directory)])
    assert read == ["quorum-state"]
    assert [finding.code for finding in _file(directory_files, "quorum-state").findings] == [
        "KT-DIR-QUORUM-STATE"
    ]


def test_what_a_removal_left_is_told(directory: Path) -> None:
    snapshot = directory / "__cluster_metadata-0" / "00000000000000000085-0000000003.checkpoint"
    snapshot.rename(f"{snapshot}.deleted")
    file_look = _file(_look(directory), ".checkpoint.deleted")
    assert file_look.kind is FileKind.CHECKPOINT
    assert file_look.holds == "the state before offset 85, waits for its deletion"


def test_a_directory_that_is_not_there_says_so_and_the_others_are_listed(directory: Path) -> None:
    gone, there = WatchedFiles().read(["/no/such/directory", str(directory)])
    assert gone.files == ()
    assert "no such file or directory" in gone.problems[0]
    assert there.problems == ()
    assert there.lock is LockState.MISSING


def test_damaged_files_are_listed_like_any_other(fixtures_dir: Path) -> None:
    paths = [str(path) for path in sorted((fixtures_dir / "damaged").rglob("*")) if path.is_file()]
    looks = WatchedFiles().read(paths)
    assert len(looks) == len(paths)
    assert all(directory_files.files or directory_files.problems for directory_files in looks)


def test_each_directory_is_a_partial_result(fixtures_dir: Path) -> None:
    quorum = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    paths = [str(path) for path in sorted(quorum.glob("node-*/data"))]
    partial: list[tuple[DirectoryFiles, ...]] = []
    task = Task()
    task.take_partial = partial.append
    looks = WatchedFiles().read(paths, task)
    assert len(paths) > 1
    assert partial == [looks[: number + 1] for number in range(len(paths))]


def test_a_listing_that_is_not_wanted_ends(fixtures_dir: Path) -> None:
    task = Task()
    task.stop()
    with pytest.raises(StoppedError):
        WatchedFiles().read([str(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data")], task)
