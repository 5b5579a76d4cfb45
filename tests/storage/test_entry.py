"""Where a file lies, by its path alone."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from kraftool.storage.entry import Entry, EntryPlace, FolderKind, split_member
from kraftool.storage.paths import open_path
from tests.support.places import PARTITION

SEGMENT = f"{0:020}.log"
KEPT = f"{PARTITION}/.kraftool-recover/0123456789ab/old"


@pytest.mark.parametrize("above", ["", "data/", "kafka-0/data/"])
def test_folders_in_the_metadata_partition_are_not_looked_into(above: str) -> None:
    """Kafka passes them over; what a repair keeps there has the names of what it replaced."""
    split = split_member(f"{above}{PARTITION}/{SEGMENT}")
    assert split == (above.rstrip("/"), f"{PARTITION}/{SEGMENT}", EntryPlace.PARTITION)
    *_, place = split_member(f"{above}{KEPT}/{SEGMENT}")
    assert place is FolderKind.OTHER


def test_an_archive_gives_the_files_that_the_directory_gives(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / KEPT).mkdir(parents=True)
    (data / KEPT / SEGMENT).write_bytes(b"old")
    (data / PARTITION / SEGMENT).write_bytes(b"new")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.add(data, "data")
    (tmp_path / "data.tar").write_bytes(out.getvalue())
    for path in (data, tmp_path / "data.tar"):
        location = open_path(str(path))
        paths = [entry.path for entry in location.entries() if isinstance(entry, Entry)]
        assert paths == [f"{PARTITION}/{SEGMENT}"]
        assert all(folder.total == 0 for folder in location.folders.values())
