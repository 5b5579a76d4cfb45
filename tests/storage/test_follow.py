"""Following a log that grows, rolls, and is truncated under us."""

import os
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.fault import FaultKind
from kraftool.decoders.walk import Faulty, Walk
from kraftool.storage.follow import SegmentFollower
from kraftool.storage.source import FileSource
from kraftool.storage.tail import LogRewrite, UnsettledEnd

FIRST, SECOND = f"{0:020}.log", f"{10:020}.log"


def batch(offset: int, epoch: int = 1) -> bytes:
    return encode_batch([(None, b"v" * 30)], base_offset=offset, epoch=epoch, timestamp=offset)


def catch_up(follower: SegmentFollower) -> list[int]:
    """Look once and see everything new; the offsets of what was seen."""
    return [item.base_offset for item in look(follower) if isinstance(item, RecordBatch)]


def look(follower: SegmentFollower) -> list[RecordBatch | FaultKind]:
    """Look once and see everything new, with what is wrong in it."""
    seen: list[RecordBatch | FaultKind] = []
    for span in follower.poll().ranges:
        with FileSource(follower.path_of(span.segment)) as source:
            walk = Walk(source.read_at, span.before, stop=span.stop)
            seen += [item.fault.kind if isinstance(item, Faulty) else item for item in walk]
    return seen


def truncated(change: LogRewrite | None) -> tuple[str, int]:
    """The segment and the position that a look says the log was truncated to."""
    assert change is not None
    assert change.change == "TRUNCATED"
    return change.segment, change.position


def test_what_is_appended_is_seen_once(tmp_path: Path) -> None:
    log = tmp_path / FIRST
    log.write_bytes(batch(0))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    assert catch_up(follower) == []
    with log.open("ab") as file:
        file.write(batch(1) + batch(2))
    assert catch_up(follower) == [1, 2]


def test_half_a_batch_is_seen_when_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1)[:40])
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    polled = follower.poll()
    assert (polled.ranges, polled.tail) == (
        [],
        UnsettledEnd(FIRST, len(batch(0)), len(batch(0)) + 40),
    )
    with log.open("ab") as file:
        file.write(batch(1)[40:])
    assert catch_up(follower) == [1]


def test_a_last_batch_with_a_wrong_crc_is_not_passed_over(tmp_path: Path) -> None:
    """Its length may be there before its bytes are: over NFS, or while a copy is made."""
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1)[:-5] + bytes(5))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    assert follower.poll().tail == UnsettledEnd(FIRST, len(batch(0)), len(batch(0) + batch(1)))
    log.write_bytes(batch(0) + batch(1))
    assert catch_up(follower) == [1]


def test_what_is_no_batch_at_the_end_of_a_segment_is_damage_once_there_is_another(
    tmp_path: Path,
) -> None:
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1)[:-5] + bytes(5))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    (tmp_path / SECOND).write_bytes(batch(2))
    items = look(follower)
    assert [item.base_offset if isinstance(item, RecordBatch) else item for item in items] == [
        FaultKind.CRC, 2,
    ]  # fmt: skip


def test_a_roll_goes_on_in_the_next_segment(tmp_path: Path) -> None:
    (tmp_path / FIRST).write_bytes(batch(0))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    (tmp_path / SECOND).write_bytes(batch(10))
    assert catch_up(follower) == [10]


def test_a_truncation_is_told_with_its_place(tmp_path: Path) -> None:
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1) + batch(2))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    log.write_bytes(batch(0))
    polled = follower.poll()
    assert truncated(polled.change) == (FIRST, len(batch(0)))
    assert polled.ranges == []


def test_other_batches_in_the_same_place_are_noticed_though_the_size_is_the_same(
    tmp_path: Path,
) -> None:
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1) + batch(2))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    log.write_bytes(batch(0) + batch(1, epoch=2) + batch(2, epoch=2))
    at = len(batch(0))
    polled = follower.poll()
    assert truncated(polled.change) == (FIRST, at)
    (grown,) = polled.ranges
    assert (grown.segment, grown.start, grown.stop) == (FIRST, at, 3 * at)
    assert (grown.before.position, grown.before.next_offset) == (at, 1)


def test_a_segment_that_is_truncated_away_is_told(tmp_path: Path) -> None:
    (tmp_path / FIRST).write_bytes(batch(0))
    (tmp_path / SECOND).write_bytes(batch(10))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    (tmp_path / SECOND).unlink()
    assert truncated(follower.poll().change) == (FIRST, len(batch(0)))


def test_a_segment_that_is_cleaned_is_no_truncation(tmp_path: Path) -> None:
    (tmp_path / FIRST).write_bytes(batch(0))
    (tmp_path / SECOND).write_bytes(batch(10))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    (tmp_path / FIRST).unlink()
    polled = follower.poll()
    assert (polled.change, polled.ranges) == (None, [])


def test_bytes_appended_to_a_segment_come_before_those_of_the_next(tmp_path: Path) -> None:
    (tmp_path / FIRST).write_bytes(batch(0))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0]
    with (tmp_path / FIRST).open("ab") as file:
        file.write(batch(1))
    (tmp_path / SECOND).write_bytes(batch(10))
    assert catch_up(follower) == [1, 10]


def test_older_segments_are_not_opened_while_they_do_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for offset in range(0, 100, 10):
        (tmp_path / f"{offset:020}.log").write_bytes(batch(offset))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    follower.poll()
    opened: list[str] = []
    real = os.open

    def open_(path: str, *more: Any, **named: Any) -> int:
        opened.append(path)
        return real(path, *more, **named)

    monkeypatch.setattr(os, "open", open_)
    assert follower.poll().ranges == []
    assert opened == [str(tmp_path / f"{90:020}.log")]


def test_a_segment_replaced_by_another_file_is_read_anew(tmp_path: Path) -> None:
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    (tmp_path / "other").write_bytes(batch(0, epoch=5) + batch(1, epoch=5))
    (tmp_path / "other").rename(log)
    polled = follower.poll()
    assert truncated(polled.change) == (FIRST, 0)
    assert [(span.start, span.stop) for span in polled.ranges] == [(0, len(batch(0) + batch(1)))]


def test_a_log_that_is_wiped_for_a_snapshot_goes_on_at_its_new_start(tmp_path: Path) -> None:
    (tmp_path / FIRST).write_bytes(batch(0))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    (tmp_path / FIRST).unlink()
    (tmp_path / f"{500:020}.log").write_bytes(batch(500))
    polled = follower.poll()
    assert polled.change is not None
    assert (polled.change.change, polled.change.was_offset, polled.change.offset) == (
        "CLEANED", 1, 500,
    )  # fmt: skip
    assert [span.segment for span in polled.ranges] == [f"{500:020}.log"]


def test_a_folder_that_goes_and_comes_back_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / FIRST).write_bytes(batch(0))
    follower = SegmentFollower(str(folder))
    assert catch_up(follower) == [0]
    (folder / FIRST).unlink()
    folder.rmdir()
    gone = follower.poll().change
    assert gone is not None
    assert gone.change == "GONE"
    folder.mkdir()
    (folder / FIRST).write_bytes(batch(0) + batch(1))
    assert catch_up(follower) == [1]


def test_one_segment_by_itself_is_followed_without_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / FIRST).write_bytes(batch(0))
    (tmp_path / SECOND).write_bytes(batch(10))
    follower = SegmentFollower(str(tmp_path / FIRST))
    assert catch_up(follower) == [0]
    assert catch_up(follower) == []


@pytest.mark.parametrize(
    ("later", "fault"),
    [(batch(3), FaultKind.GAP), (batch(2, epoch=0), FaultKind.EPOCH_BACK)],
    ids=["gap", "epoch"],
)
def test_the_first_batch_of_a_look_is_compared_with_the_last_one_before(
    tmp_path: Path, later: bytes, fault: FaultKind
) -> None:
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0, 1]
    with log.open("ab") as file:
        file.write(later)
    assert look(follower)[0] is fault


def test_after_a_truncation_the_next_batch_is_compared_with_the_last_one_that_is_left(
    tmp_path: Path,
) -> None:
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + batch(1) + batch(2))
    follower = SegmentFollower(str(tmp_path))
    catch_up(follower)
    log.write_bytes(batch(0) + batch(1, epoch=2))
    assert catch_up(follower) == [1]
    log.write_bytes(batch(0) + batch(2, epoch=3))
    assert look(follower)[0] is FaultKind.GAP


def test_a_batch_in_the_place_of_damage_and_of_the_batch_behind_it_is_seen(tmp_path: Path) -> None:
    """As when Kafka cut the log at the damage, and its leader sent longer batches."""
    log = tmp_path / FIRST
    log.write_bytes(batch(0) + b"\xff" * 50 + batch(1))
    follower = SegmentFollower(str(tmp_path))
    assert catch_up(follower) == [0, 1]
    log.write_bytes(batch(0) + batch(1, epoch=2) + batch(2, epoch=2))
    items = look(follower)
    assert [item.base_offset if isinstance(item, RecordBatch) else item for item in items] == [1, 2]
