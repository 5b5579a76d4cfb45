"""The marker of a witness's directory counts until another process has written to the directory."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from kraftool.storage import witness_marker
from kraftool.storage.files import Files
from kraftool.storage.witness_marker import FILE_NAME, WitnessMarker

NODE, DIRECTORY_ID = 2, "AAAAAAAAAAAAAAAAAAAAAg"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory that a witness runs on."""
    (tmp_path / "__cluster_metadata-0").mkdir()
    _write_state(tmp_path, epoch=5)
    marker = WitnessMarker.of_this_process(NODE, DIRECTORY_ID, is_last_resort=True)
    marker.write(Files(), str(tmp_path))
    return tmp_path


def _state(directory: Path) -> Path:
    return directory / "__cluster_metadata-0" / "quorum-state"


def _write_state(directory: Path, *, epoch: int) -> None:
    _state(directory).write_text(json.dumps({"leaderId": 1, "leaderEpoch": epoch}))


def _read(directory: Path, node_id: int = NODE) -> WitnessMarker | None:
    return witness_marker.read(str(directory), node_id=node_id, directory_id=DIRECTORY_ID)


def test_it_names_the_node_and_its_start(directory: Path) -> None:
    marker = _read(directory)
    assert marker is not None
    assert (marker.node_id, marker.directory_id, marker.process_id) == (
        NODE,
        DIRECTORY_ID,
        os.getpid(),
    )
    assert marker.started_at
    assert marker.is_last_resort


def test_it_does_not_count_after_another_process_wrote_the_same_quorum_state(
    directory: Path,
) -> None:
    """A Kafka that follows the same leader writes the same bytes when it starts."""
    before = _state(directory).stat()
    data = _state(directory).read_bytes()
    _state(directory).write_bytes(data)
    os.utime(_state(directory), ns=(before.st_atime_ns, before.st_mtime_ns + 2_000_000_000))
    assert _read(directory) is None


def test_it_does_not_count_after_another_process_wrote_another_quorum_state(
    directory: Path,
) -> None:
    before = _state(directory).stat()
    _write_state(directory, epoch=6)
    os.utime(_state(directory), ns=(before.st_atime_ns, before.st_mtime_ns))
    assert _read(directory) is None


def test_it_counts_in_a_copy_that_keeps_the_times_and_in_no_other(
    directory: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kept = tmp_path_factory.mktemp("copies") / "kept"
    shutil.copytree(directory, kept)
    assert _read(kept) is not None
    os.utime(_state(kept))
    old = _state(directory).stat().st_mtime_ns - 5_000_000_000
    os.utime(_state(directory), ns=(old, old))
    assert _read(directory) is None


def test_it_does_not_count_for_another_node_or_directory(directory: Path) -> None:
    assert _read(directory, node_id=3) is None
    assert witness_marker.read(str(directory), node_id=NODE, directory_id="other") is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"version": 2}',
        b'{"version": 1, "nodeId": "2"}',
        b"\xff",
        b"[" * 60_000,
    ],
)
def test_a_damaged_one_does_not_count(directory: Path, data: bytes) -> None:
    (directory / FILE_NAME).write_bytes(data)
    assert _read(directory) is None


def test_a_pipe_or_a_link_in_its_place_does_not_count_and_does_not_block(directory: Path) -> None:
    marker = directory / FILE_NAME
    marker.rename(directory / "elsewhere")
    marker.symlink_to(directory / "elsewhere")
    assert _read(directory) is None
    marker.unlink()
    os.mkfifo(marker)
    assert _read(directory) is None


def test_an_orderly_exit_removes_it(directory: Path) -> None:
    witness_marker.remove(Files(), str(directory))
    assert _read(directory) is None
    witness_marker.remove(Files(), str(directory))
