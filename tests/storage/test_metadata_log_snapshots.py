"""Snapshots of a metadata log, and what is deleted when."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kraftool.raft.names import (
    OffsetAndEpoch,
    ProtocolError,
)
from kraftool.storage.snapshots import SnapshotDamaged
from tests.storage.metadata_logs import (
    NO_OP,
    VOTERS,
    batch,
    batches_of,
    content,
    downloadable,
    names,
    opened,
    snapshot,
)
from tests.support.places import PARTITION

# Snapshots


def test_a_snapshot_counts_from_its_freeze_on(tmp_path: Path) -> None:
    """[175]"""
    log = opened(tmp_path)
    log.append([batch(0, 4)])
    log.flush(4)
    writer = log.new_snapshot(OffsetAndEpoch(4, 1), 1_000, 0, None)
    writer.append(NO_OP)
    unfinished = log.snapshots
    assert unfinished == ()
    (part,) = (name for name in names(tmp_path) if name.endswith(".part"))
    assert part.startswith(f"{4:020}-{1:010}-")
    writer.freeze()
    assert log.snapshots == (OffsetAndEpoch(4, 1),)
    path = tmp_path / PARTITION / f"{4:020}-{1:010}.checkpoint"
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert log.snapshot_path(OffsetAndEpoch(4, 1)) == str(path)
    given_up = log.new_snapshot(OffsetAndEpoch(4, 2), 1_000, 0, None)
    given_up.delete()
    assert not [name for name in names(tmp_path) if name.endswith(".part")]
    assert log.snapshots == (OffsetAndEpoch(4, 1),)
    log.close()


def test_a_snapshot_is_served_in_slices(tmp_path: Path) -> None:
    """[171]"""
    log = opened(tmp_path)
    log.append([batch(0, 4)])
    key = snapshot(log, 4, 1)
    data = Path(log.snapshot_path(key)).read_bytes()
    half = len(data) // 2
    assert log.read_snapshot(key, 0, half) == (len(data), data[:half])
    assert log.read_snapshot(key, half, 1 << 20) == (len(data), data[half:])
    assert log.read_snapshot(key, len(data), 10) == (len(data), b"")
    assert log.read_snapshot(OffsetAndEpoch(4, 2), 0, 10) is None
    log.close()


def test_a_download_takes_the_place_of_the_log(tmp_path: Path) -> None:
    """[178]"""
    data = downloadable(tmp_path / "other", 100, 3)
    log = opened(tmp_path / "mine", segment_bytes=200)
    log.append([batch(offset, 2) for offset in range(0, 20, 2)])
    snapshot(log, 10, 1)
    key = OffsetAndEpoch(100, 3)
    log.begin_download(key)
    log.append_to_download(key, data[:50])
    log.append_to_download(key, data[50:])
    installed = log.install_snapshot(key)
    assert (installed.snapshot_id, installed.kraft_version, installed.voters) == (key, 1, VOTERS)
    assert (log.start_offset, log.end_offset, log.flushed_offset) == (100, 100, 100)
    assert log.snapshots == (key,)
    log.append([batch(100, 2, epoch=3)])
    log.flush(102)
    log.close()
    assert names(tmp_path / "mine") == [
        f"{100:020}-{3:010}.checkpoint",
        f"{100:020}.index",
        f"{100:020}.log",
        f"{100:020}.timeindex",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]
    again = opened(tmp_path / "mine")
    assert again.view.end == OffsetAndEpoch(102, 3)
    assert again.view.start_offset == 100
    assert again.control.voters == VOTERS
    again.close()


def test_a_download_that_is_not_whole_changes_nothing(tmp_path: Path) -> None:
    data = downloadable(tmp_path / "other", 100, 3)
    log = opened(tmp_path / "mine")
    log.append([batch(0, 4)])
    log.flush(4)
    before = content(tmp_path / "mine")
    key = OffsetAndEpoch(100, 3)
    flipped = data[:-10] + bytes([data[-10] ^ 1]) + data[-9:]
    for damaged in (data[:-20], flipped, data + data, b"", data[70:]):
        log.begin_download(key)
        log.append_to_download(key, damaged)
        with pytest.raises(SnapshotDamaged):
            log.install_snapshot(key)
        assert content(tmp_path / "mine") == before
    log.close()


def test_a_download_that_is_dropped_or_begun_again_leaves_nothing(tmp_path: Path) -> None:
    """[182]"""
    log = opened(tmp_path)
    key = OffsetAndEpoch(100, 3)
    log.begin_download(key)
    log.append_to_download(key, b"some")
    log.begin_download(OffsetAndEpoch(200, 3))
    assert len([name for name in names(tmp_path) if name.endswith(".part")]) == 1
    with pytest.raises(ProtocolError):
        log.append_to_download(key, b"more")
    log.drop_download(key)
    assert len([name for name in names(tmp_path) if name.endswith(".part")]) == 1
    log.drop_download(OffsetAndEpoch(200, 3))
    assert not [name for name in names(tmp_path) if name.endswith(".part")]
    log.close()


def test_a_snapshot_that_the_log_does_not_need_is_no_reason_to_wipe_it(tmp_path: Path) -> None:
    data = downloadable(tmp_path / "other", 4, 1)
    log = opened(tmp_path / "mine")
    log.append([batch(0, 8)])
    key = OffsetAndEpoch(4, 1)
    log.begin_download(key)
    log.append_to_download(key, data)
    with pytest.raises(ProtocolError):
        log.install_snapshot(key)
    assert log.end_offset == 8
    log.close()


# Retention


def test_the_oldest_snapshot_goes_when_there_is_too_much(tmp_path: Path) -> None:
    """[231]"""
    log = opened(tmp_path, segment_bytes=250, retention_bytes=0, retention_ms=-1)
    log.append([batch(offset, 2) for offset in range(0, 40, 2)])
    snapshot(log, 10, 1)
    assert log.clean(2_000) is None, "the only one"
    snapshot(log, 20, 1)
    assert log.clean(2_000) == 20
    assert log.start_offset == 20
    assert log.snapshots == (OffsetAndEpoch(20, 1),)
    assert log.read(10, 100) == b"", "cleaned"
    assert batches_of(log)[0].base_offset == 20
    log.close()
    again = opened(tmp_path)
    assert again.view.start_offset <= 20
    assert again.view.snapshots == [OffsetAndEpoch(20, 1)]
    again.close()


def test_snapshots_go_by_age_and_no_further_than_what_is_committed(tmp_path: Path) -> None:
    log = opened(tmp_path, retention_bytes=-1, retention_ms=1_000)
    log.append([batch(first_offset, 2) for first_offset in range(0, 40, 2)])
    for offset, timestamp in ((10, 100), (20, 200), (30, 300)):
        snapshot(log, offset, 1, timestamp)
    assert log.clean(1_100) is None
    assert log.clean(1_201, committed=19) is None
    assert log.clean(1_201, committed=29) == 20
    assert log.clean(1_201) == 30
    assert log.clean(99_999) is None
    log.close()


def test_files_that_go_lose_their_names_first_and_their_bytes_later(tmp_path: Path) -> None:
    log = opened(tmp_path, segment_bytes=250, retention_bytes=0, retention_ms=-1)
    log.append([batch(offset, 2) for offset in range(0, 40, 2)])
    snapshot(log, 10, 1)
    snapshot(log, 20, 1)
    log.clean(5_000)
    marked = [name for name in names(tmp_path) if name.endswith(".deleted")]
    assert f"{10:020}-{1:010}.checkpoint.deleted" in marked
    assert f"{0:020}.log.deleted" in marked
    log.clean(64_999)
    assert [name for name in names(tmp_path) if name.endswith(".deleted")] == marked
    log.clean(65_000)
    assert not [name for name in names(tmp_path) if name.endswith(".deleted")]
    log.close()


def test_negative_limits_keep_everything(tmp_path: Path) -> None:
    log = opened(tmp_path, retention_bytes=-1, retention_ms=-1)
    log.append([batch(0, 20)])
    snapshot(log, 20, 1)
    log.append([batch(20, 20)])
    snapshot(log, 40, 1)
    assert log.clean(1 << 60) is None
    log.close()
