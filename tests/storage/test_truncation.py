"""What a truncation of the log takes, and what nothing takes: committed records.

Numbers in brackets are those of the conformance scenarios for log and files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.raft.names import CommittedTruncation, OffsetAndEpoch, ProtocolError
from kraftool.raft.wire.batches import encode
from tests.storage.metadata_logs import (
    batch,
    batches_of,
    content,
    downloadable,
    names,
    opened,
    snapshot,
)
from tests.support.places import PARTITION


def test_a_truncation_drops_what_follows_and_the_log_goes_on(tmp_path: Path) -> None:
    log = opened(tmp_path, index_interval_bytes=100)
    log.append([batch(offset, 2, timestamp=1_000 + offset) for offset in range(0, 20, 2)])
    log.append([batch(20, 2, epoch=2, timestamp=5_000)])
    log.flush(22)
    log.truncate(8)
    assert (log.end_offset, log.flushed_offset) == (8, 8)
    assert [record_batch.base_offset for record_batch in batches_of(log)] == [0, 2, 4, 6]
    log.append([batch(8, 3, epoch=3, timestamp=1_010)])
    log.flush(11)
    assert [record_batch.base_offset for record_batch in batches_of(log)] == [0, 2, 4, 6, 8]
    log.close()
    epochs = (tmp_path / PARTITION / "leader-epoch-checkpoint").read_bytes()
    assert epochs == b"0\n2\n1 0\n3 8\n"
    again = opened(tmp_path, index_interval_bytes=100)
    assert again.recovery.rebuilt == []
    assert again.view.epochs == [(1, 0), (3, 8)]
    assert list(again.recovery.sentences()) == []
    again.close()


def test_a_truncation_takes_whole_segments_along(tmp_path: Path) -> None:
    size = len(encode(batch(0, 2)))
    log = opened(tmp_path, segment_bytes=2 * size)
    log.append([batch(offset, 2) for offset in range(0, 20, 2)])
    log.truncate(6)
    assert [name for name in names(tmp_path) if name.endswith(".log")] == [
        f"{offset:020}.log" for offset in (0, 4)
    ]
    log.truncate(4)
    log.append([batch(4, 2), batch(6, 2), batch(8, 2)])
    assert [record_batch.base_offset for record_batch in batches_of(log)] == [0, 2, 4, 6, 8]
    log.truncate(0)
    assert log.end_offset == 0
    log.append([batch(0, epoch=4)])
    log.close()
    again = opened(tmp_path)
    assert again.view.epochs == [(4, 0)]
    again.close()


def test_a_truncation_inside_a_batch_or_below_the_start_is_refused(tmp_path: Path) -> None:
    """[224]"""
    log = opened(tmp_path)
    log.append([batch(0, 4), batch(4, 4)])
    before = content(tmp_path)
    with pytest.raises(ProtocolError):
        log.truncate(6)
    assert content(tmp_path) == before
    snapshot(log, 4, 1)
    assert log.clean(1 << 60) is None, "one snapshot is kept whatever its age"
    snapshot(log, 8, 1)
    assert log.clean(1 << 60) == 8
    with pytest.raises(ProtocolError):
        log.truncate(4)
    log.close()


def test_committed_records_are_not_truncated(tmp_path: Path) -> None:
    """[224]: below the high watermark for the life of the process, below a snapshot after it."""
    log = opened(tmp_path)
    log.append([batch(first_offset, 2) for first_offset in range(0, 20, 2)])
    log.flush(20)
    snapshot(log, 4, 1)
    log.commit(12)
    log.commit(8)
    before = content(tmp_path)
    for offset in (10, 4, 0):
        with pytest.raises(CommittedTruncation, match="records below offset 12 are committed"):
            log.truncate(offset)
    assert content(tmp_path) == before
    log.truncate(14)
    log.truncate(12)
    assert (log.end_offset, log.flushed_offset) == (12, 12)
    log.close()
    log = opened(tmp_path)
    before = content(tmp_path)
    with pytest.raises(CommittedTruncation, match="records below offset 4 are committed"):
        log.truncate(2)
    assert content(tmp_path) == before
    log.truncate(4)
    assert log.end_offset == 4
    log.close()


def test_a_download_does_not_replace_committed_records(tmp_path: Path) -> None:
    data = downloadable(tmp_path / "other", 4, 3)
    log = opened(tmp_path / "mine")
    log.append([batch(0, 4), batch(4, 4)])
    log.flush(8)
    log.commit(8)
    key = OffsetAndEpoch(4, 3)
    log.begin_download(key)
    log.append_to_download(key, data)
    before = content(tmp_path / "mine")
    with pytest.raises(CommittedTruncation):
        log.install_snapshot(key)
    assert content(tmp_path / "mine") == before
    log.drop_download(key)
    log.close()
