"""Opening a log that did not end well: what is cut, what goes, what is refused and left alone.

Numbers in brackets are those of the conformance scenarios for log and files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch, seal
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.fault import FaultKind
from kraftool.raft.names import ElectionState, OffsetAndEpoch
from kraftool.raft.wire.batches import encode
from tests.storage.metadata_logs import NoSync, batch, batches_of, content, names, opened, snapshot
from tests.support.places import LOG, PARTITION

SIZE = len(encode(batch(0, 2)))


def written(
    directory: Path, *, batches: int = 10, epoch: int = 1, segment_bytes: int = 1 << 30
) -> Path:
    """A log of batches of two records each, closed in order."""
    log = opened(directory, segment_bytes=segment_bytes)
    for number in range(batches):
        log.append([batch(2 * number, 2, epoch=epoch)])
    log.flush(2 * batches)
    log.persist_election(ElectionState(epoch=epoch, leader_id=1), 1)
    log.close()
    return directory / PARTITION


def bases(directory: Path) -> list[int]:
    """Where the batches begin that a log has after it was opened."""
    log = opened(directory)
    offsets = [record_batch.base_offset for record_batch in batches_of(log)]
    log.close()
    return offsets


TAILS: dict[str, tuple[Callable[[bytes], bytes], FaultKind]] = {
    "half a batch": (lambda data: data + encode(batch(20, 2))[:70], FaultKind.TORN_TAIL),
    "part of a header": (lambda data: data + encode(batch(20, 2))[:20], FaultKind.TORN_TAIL),
    "zeros": (lambda data: data + bytes(5000), FaultKind.ZERO_TAIL),
    "garbage": (lambda data: data + bytes(range(1, 200)), FaultKind.CORRUPT),
    "a huge length": (
        lambda data: data + encode(batch(20, 2))[:8] + b"\x7f" + bytes(90),
        FaultKind.CORRUPT,
    ),
    "a batch whose CRC is wrong": (
        lambda data: data + encode(batch(20, 2))[:-1] + b"\x07",
        FaultKind.CRC,
    ),
}


@pytest.mark.parametrize("name", TAILS)
def test_what_is_no_batch_at_the_end_is_cut_off(name: str, tmp_path: Path) -> None:
    """[228]"""
    tear, kind = TAILS[name]
    folder = written(tmp_path)
    whole = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(tear(whole))
    log = opened(tmp_path)
    cut = log.recovery.cut
    assert cut is not None
    assert (cut.file, cut.position, cut.offset, cut.kind) == (LOG, len(whole), 20, kind)
    assert cut.lost_batches == 0
    assert cut.size == len(tear(whole)) - len(whole)
    assert str(cut) in list(log.recovery.sentences())
    assert log.end_offset == 20
    log.append([batch(20, 2)])
    log.close()
    assert bases(tmp_path) == list(range(0, 22, 2))


def test_batches_of_all_sizes_are_read_again(tmp_path: Path) -> None:
    """Larger than what is read at once, and over its borders."""
    log = opened(tmp_path)
    sizes = [0, 700_000, 700_000, 10, 3 << 20, 0, 1 << 20, 5]
    for offset, size in enumerate(sizes):
        log.append([batch(offset, size=size)])
    log.close()
    folder = tmp_path / PARTITION
    whole = (folder / LOG).read_bytes()
    again = opened(tmp_path)
    assert again.recovery.cut is None
    assert again.recovery.rebuilt == []
    assert again.end_offset == len(sizes)
    again.close()
    for torn in (1 << 20, (1 << 20) + 1, 5 << 20):
        (folder / LOG).write_bytes(whole + encode(batch(len(sizes), size=6 << 20))[:torn])
        again = opened(tmp_path)
        assert again.recovery.cut is not None
        assert again.end_offset == len(sizes)
        again.close()
        assert (folder / LOG).read_bytes() == whole


def test_damage_in_the_middle_ends_the_log_and_is_told(tmp_path: Path) -> None:
    """As Kafka does it, which only warns: what stood behind is counted."""
    folder = written(tmp_path, segment_bytes=4 * SIZE)
    data = bytearray((folder / LOG).read_bytes())
    data[2 * SIZE - 3] ^= 1
    (folder / LOG).write_bytes(data)
    log = opened(tmp_path)
    cut = log.recovery.cut
    assert cut is not None
    assert (cut.position, cut.offset, cut.kind) == (SIZE, 2, FaultKind.CRC)
    assert cut.lost_batches == 8
    assert cut.lost_segments == (f"{8:020}.log", f"{16:020}.log")
    assert log.view.end == OffsetAndEpoch(2, 1)
    log.close()
    assert [name for name in names(tmp_path) if name.endswith(".log")] == [LOG]
    assert (folder / LOG).stat().st_size == SIZE


def test_batches_whose_offsets_or_epochs_go_back_end_the_log(tmp_path: Path) -> None:
    """As a file has them whose truncation never reached the disk."""
    for number, old in enumerate((batch(16, 2), batch(20, 2, epoch=1))):
        directory = tmp_path / str(number)
        directory.mkdir()
        folder = written(directory, epoch=2)
        with (folder / LOG).open("ab") as file:
            file.write(encode(old))
        log = opened(directory)
        assert log.recovery.cut is not None
        assert log.recovery.cut.lost_batches == 1
        assert log.view.end == OffsetAndEpoch(20, 2)
        log.close()


def refused(directory: Path, match: str) -> None:
    """It does not open, and everything is as it was."""
    before = content(directory)
    with pytest.raises(KraftoolError, match=match):
        opened(directory)
    assert content(directory) == before
    with pytest.raises(KraftoolError, match=match):  # and the lock was given back
        opened(directory)


def test_a_gap_is_refused(tmp_path: Path) -> None:
    """Kafka goes on over it; nobody who fetched from such a log could append what he got."""
    folder = written(tmp_path, segment_bytes=4 * SIZE)
    (folder / f"{8:020}.log").unlink()
    refused(tmp_path, "after offset 7 the log goes on with 16")


def test_a_gap_inside_a_segment_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path)
    with (folder / LOG).open("ab") as file:
        file.write(encode(batch(24, 2)))
    refused(tmp_path, "after offset 19 the log goes on with 24")


def test_a_segment_that_begins_before_the_end_of_the_last_one_is_refused(tmp_path: Path) -> None:
    """Also an empty one, which no crash leaves there: both would have the same offsets."""
    folder = written(tmp_path)
    (folder / f"{18:020}.log").touch()
    refused(tmp_path, "after offset 19 the log goes on with 18")


def test_an_empty_segment_behind_a_lost_tail_goes(tmp_path: Path) -> None:
    """Kafka begins a segment before the end of the last one is durable."""
    folder = written(tmp_path)
    (folder / f"{24:020}.log").touch()
    log = opened(tmp_path)
    assert log.recovery.cut is not None
    assert log.recovery.cut.lost_segments == (f"{24:020}.log",)
    assert log.end_offset == 20
    log.append([batch(20, 2)])
    log.close()
    assert bases(tmp_path) == list(range(0, 22, 2))


def test_leftovers_go(tmp_path: Path) -> None:
    """[230]"""
    folder = written(tmp_path)
    left = (
        f"{0:020}.log.deleted",
        f"{40:020}.index",
        f"{40:020}.timeindex",
        f"{6:020}.log.cleaned",
        f"{99:020}.snapshot",
        f"{8:020}-{1:010}-1234567.checkpoint.part",
        f"{8:020}-{1:010}.checkpoint.deleted",
    )
    for name in left:
        (folder / name).write_bytes(b"old")
    (folder / "notes.txt").write_text("mine")
    (folder / f"{20:020}.snapshot").write_bytes(b"in the log")
    log = opened(tmp_path)
    assert sorted(log.recovery.removed) == sorted(left)
    log.close()
    kept = names(tmp_path)
    assert "notes.txt" in kept
    assert f"{20:020}.snapshot" in kept
    assert not set(left) & set(kept)


def test_snapshots_below_the_start_of_the_log_go(tmp_path: Path) -> None:
    """[230]"""
    log = opened(tmp_path, segment_bytes=4 * SIZE, retention_bytes=0)
    log.append([batch(offset, 2) for offset in range(0, 20, 2)])
    old, key = snapshot(log, 4, 1), snapshot(log, 8, 1)
    path = Path(log.snapshot_path(old))
    data = path.read_bytes()
    assert log.clean(0) == 8
    log.close()
    path.write_bytes(data)
    log = opened(tmp_path)
    assert path.name in log.recovery.removed
    assert not path.exists()
    assert log.snapshots == (key,)
    log.close()


def test_indexes_and_epochs_are_made_of_the_log(tmp_path: Path) -> None:
    log = opened(tmp_path, index_interval_bytes=100)
    for number in range(40):
        log.append([batch(2 * number, 2, epoch=1 + number // 20, timestamp=number)])
    log.close()
    good = content(tmp_path)
    folder = tmp_path / PARTITION
    for name in (f"{0:020}.index", f"{0:020}.timeindex", "leader-epoch-checkpoint"):
        for wrong in (b"", b"garbage\n" * 20, good[f"{PARTITION}/{name}"] + bytes(10_000)):
            (folder / name).write_bytes(wrong)
            log = opened(tmp_path, index_interval_bytes=100)
            assert log.recovery.rebuilt == [name.replace("timeindex", "index")]
            assert log.view.epochs == [(1, 0), (2, 40)]
            log.close()
            assert content(tmp_path) == good
        (folder / name).unlink()
        opened(tmp_path, index_interval_bytes=100).close()
        assert content(tmp_path) == good


def test_a_directory_that_ended_well_is_not_written_to(tmp_path: Path) -> None:
    log = opened(tmp_path, segment_bytes=4 * SIZE)
    log.append([batch(offset, 2) for offset in range(0, 20, 2)])
    snapshot(log, 10, 1)
    log.close()
    for path in (tmp_path / PARTITION).iterdir():
        os.utime(path, (1, 1))
    log = opened(tmp_path, segment_bytes=4 * SIZE)
    assert list(log.recovery.sentences()) == []
    log.close()
    assert {path.stat().st_mtime for path in (tmp_path / PARTITION).iterdir()} == {1}


# Snapshots that the log does not fit


def test_a_log_that_starts_later_needs_its_snapshot(tmp_path: Path) -> None:
    """[229]"""
    log = opened(tmp_path, segment_bytes=4 * SIZE, retention_bytes=0)
    log.append([batch(offset, 2) for offset in range(0, 20, 2)])
    snapshot(log, 4, 1)
    key = snapshot(log, 8, 1)
    assert log.clean(0) == 8
    path = Path(log.snapshot_path(key))
    log.close()
    path.rename(f"{path}.deleted")
    part = path.with_name(f"{4:020}-{1:010}.checkpoint")
    part.write_bytes(b"too old")
    (tmp_path / PARTITION / f"{8:020}-{1:010}-77.checkpoint.part").write_bytes(b"")
    refused(tmp_path, "no snapshot")


def test_a_log_behind_its_newest_snapshot_begins_anew(tmp_path: Path) -> None:
    """[186]: the power failed between the snapshot's rename and the end of the old log."""
    other = opened(tmp_path / "other")
    other.append([batch(0, 100, epoch=3)])
    key = snapshot(other, 100, 3)
    data = Path(other.snapshot_path(key)).read_bytes()
    other.close()
    for number, kept in enumerate((10, 4, 0)):
        directory = tmp_path / str(number)
        directory.mkdir()
        folder = written(directory, batches=kept, segment_bytes=4 * SIZE)
        (folder / f"{100:020}-{3:010}.checkpoint").write_bytes(data)
        log = opened(directory)
        assert log.recovery.wiped_to == key
        assert (log.view.start_offset, log.view.end) == (100, key)
        assert log.view.snapshots == [key]
        log.append([batch(100, epoch=4)])
        log.close()
        assert bases(directory) == [100]


def test_a_damaged_newest_snapshot_is_refused_before_the_log_goes(tmp_path: Path) -> None:
    """Kafka believes the name, wipes the log, and then dies."""
    folder = written(tmp_path)
    (folder / f"{100:020}-{3:010}.checkpoint").write_bytes(b"junk")
    refused(tmp_path, "the newest snapshot is damaged")


# Small files that say something else


def test_a_quorum_state_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path)
    for damaged in (b"", b"\n", b'{"leaderId":1', b"null"):
        (folder / "quorum-state").write_bytes(damaged)
        refused(tmp_path, "quorum-state cannot be read")


def test_a_folder_of_another_topic_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / "partition.metadata").write_bytes(b"version: 0\ntopic_id: xtzWWN4bTjitpL3kfd9s5g")
    refused(tmp_path, "topic id xtzWWN4bTjitpL3kfd9s5g")
    (folder / "partition.metadata").unlink()
    opened(tmp_path).close()
    assert (folder / "partition.metadata").read_bytes().endswith(b"AAAAAAAAAAAAAAAAAAAAAQ")


def test_control_records_that_nobody_knows_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path)
    known = RecordBatch.read(encode(batch(20)))
    odd = seal(known.header._replace(attributes=0x20), known.data[61:])
    with (folder / LOG).open("ab") as file:
        file.write(odd)
    refused(tmp_path, "control records at offset 20")


def test_a_folder_that_cannot_be_written_to_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write everywhere: the disk says it here."""
    written(tmp_path)

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / PARTITION / LOG))

    monkeypatch.setattr(NoSync, "open", denied)
    refused(tmp_path, f"{LOG} cannot be opened: Permission denied")
