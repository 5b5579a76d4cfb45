"""Following a log that grows, rolls, and is truncated under us."""

import os
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.segment import scan
from kraftool.storage.follow import Grown, SegmentFollower, Truncated
from kraftool.storage.source import FileSource

FIRST, SECOND = f"{0:020}.log", f"{10:020}.log"


def batch(offset: int, epoch: int = 1) -> bytes:
    return encode_batch([(None, b"v" * 30)], base_offset=offset, epoch=epoch, timestamp=offset)


def catch_up(follower: SegmentFollower) -> list[int]:
    """Look once and see everything new; the offsets of what was seen."""
    seen = []
    for change in follower.poll():
        if isinstance(change, Grown):
            with FileSource(change.path) as source:
                for item in scan(source.read_at, change.position):
                    if isinstance(item, RecordBatch):
                        follower.saw(change.path, item.position, item.data)
                        seen.append(item.base_offset)
    return seen


def test_what_is_appended_is_seen_once(tmp_path: Path):
    log = tmp_path / FIRST
    log.write_bytes(batch(0))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    assert catch_up(follower) == []
    with log.open("ab") as file:
        file.write(batch(1) + batch(2))
    assert catch_up(follower) == [1, 2]


def test_half_a_batch_is_seen_when_it_is_whole(tmp_path: Path):
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1)[:40])
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    with log.open("ab") as file:
        file.write(batch(1)[40:])
    assert catch_up(follower) == [1]


def test_a_roll_goes_on_in_the_next_segment(tmp_path: Path):
    (tmp_path / FIRST).write_bytes(batch(0))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    (tmp_path / SECOND).write_bytes(batch(10))
    assert catch_up(follower) == [10]


def test_a_truncation_is_told_with_its_place(tmp_path: Path):
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1) + batch(2))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    log.write_bytes(batch(0))
    assert follower.poll() == [Truncated(str(log), len(batch(0)))]


def test_other_batches_in_the_same_place_are_noticed_though_the_size_is_the_same(tmp_path: Path):
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1) + batch(2))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    log.write_bytes(batch(0) + batch(1, epoch=2) + batch(2, epoch=2))
    at = len(batch(0))
    assert follower.poll() == [Truncated(str(log), at), Grown(str(log), at)]
    assert catch_up(follower) == [1, 2]


def test_a_segment_that_is_truncated_away_is_told(tmp_path: Path):
    (tmp_path / FIRST).write_bytes(batch(0))
    (tmp_path / SECOND).write_bytes(batch(10))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    (tmp_path / SECOND).unlink()
    assert follower.poll() == [Truncated(str(tmp_path / SECOND), 0)]


def test_a_segment_that_is_cleaned_is_no_truncation(tmp_path: Path):
    (tmp_path / FIRST).write_bytes(batch(0))
    (tmp_path / SECOND).write_bytes(batch(10))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    (tmp_path / FIRST).unlink()
    assert follower.poll() == []


def test_bytes_appended_to_a_segment_come_before_those_of_the_next(tmp_path: Path):
    (tmp_path / FIRST).write_bytes(batch(0))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    with (tmp_path / FIRST).open("ab") as file:
        file.write(batch(1))
    (tmp_path / SECOND).write_bytes(batch(10))
    assert catch_up(follower) == [1, 10]


def test_an_older_segment_that_changes_after_a_roll_is_noticed(tmp_path: Path):
    (tmp_path / FIRST).write_bytes(batch(0) + batch(1))
    (tmp_path / SECOND).write_bytes(batch(10))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0, 1, 10]
    assert follower.poll() == []
    (tmp_path / FIRST).write_bytes(batch(0))
    assert follower.poll() == [Truncated(str(tmp_path / FIRST), len(batch(0)))]


def test_older_segments_are_not_opened_while_they_do_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for offset in range(0, 100, 10):
        (tmp_path / f"{offset:020}.log").write_bytes(batch(offset))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    follower.poll()
    opened: list[str] = []
    real = os.open
    monkeypatch.setattr(
        os,
        "open",
        lambda path, *more, **named: (opened.append(path), real(path, *more, **named))[1],
    )
    assert follower.poll() == []
    assert opened == [str(tmp_path / f"{90:020}.log")]


def test_a_segment_replaced_by_another_file_is_read_anew(tmp_path: Path):
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    (tmp_path / "other").write_bytes(batch(0, epoch=5) + batch(1, epoch=5))
    (tmp_path / "other").rename(log)
    assert follower.poll() == [Truncated(str(log), 0), Grown(str(log), 0)]
    assert catch_up(follower) == [0, 1]


def test_a_log_that_is_wiped_for_a_snapshot_goes_on_at_its_new_start(tmp_path: Path):
    (tmp_path / FIRST).write_bytes(batch(0))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    (tmp_path / FIRST).unlink()
    (tmp_path / f"{500:020}.log").write_bytes(batch(500))
    assert catch_up(follower) == [500]


def test_a_folder_that_goes_and_comes_back_is_read_anew(tmp_path: Path):
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / FIRST).write_bytes(batch(0))
    follower = SegmentFollower(str(folder))
    assert catch_up(follower) == [0]
    (folder / FIRST).unlink()
    folder.rmdir()
    assert follower.poll() == [Truncated(str(folder / FIRST), 0)]
    folder.mkdir()
    (folder / FIRST).write_bytes(batch(0))
    assert catch_up(follower) == [0]


def test_one_segment_by_itself_is_followed_without_its_neighbours(tmp_path: Path):
    (tmp_path / FIRST).write_bytes(batch(0))
    (tmp_path / SECOND).write_bytes(batch(10))
    follower = SegmentFollower(str(tmp_path / FIRST))
    assert catch_up(follower) == [0]
    assert catch_up(follower) == []
