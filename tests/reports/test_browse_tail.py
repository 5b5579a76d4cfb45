"""A log that is written, cut and cleaned while somebody looks at it."""

import shutil
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from kraftool.reports.browse.rows import RowKind
from kraftool.reports.browse.session import LogSession
from kraftool.storage.lock import Lock, LockState
from tests.support.places import FIXTURES, LOG

DYNAMIC = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data/__cluster_metadata-0"


def batches() -> list[RecordBatch]:
    data = (DYNAMIC / LOG).read_bytes()
    parts = scan(lambda at, size: data[at : at + size])
    return [part for part in parts if isinstance(part, RecordBatch)]


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    return folder


def written(some: list[RecordBatch]) -> bytes:
    return b"".join(batch.data for batch in some)


def offsets(session: LogSession) -> list[int | None]:
    return [row.offset for row in session.before(None, 1000).rows]


def test_what_is_appended_comes_behind_what_was_reached(partition: Path) -> None:
    whole = batches()
    (partition / LOG).write_bytes(written(whole[:20]))
    session = LogSession.open(str(partition))
    page = session.behind(None, 1000)
    assert page.resume is None
    assert not session.poll().is_news
    with (partition / LOG).open("ab") as out:
        out.write(written(whole[20:25]))
    change = session.poll()
    assert (change.has_grown, change.cut_offset) == (True, None)
    assert change.end_offset == whole[24].last_offset + 1
    more = session.behind(page.reached, 1000)
    assert [*page.rows, *more.rows] == list(session.behind(None, 1000).rows)
    assert not session.poll().is_news


def test_a_batch_that_does_not_follow_the_last_look_has_a_row_that_says_so(partition: Path) -> None:
    whole = batches()
    (partition / LOG).write_bytes(written(whole[:20]))
    session = LogSession.open(str(partition))
    reached = session.behind(None, 1000).reached
    assert not session.poll().is_news
    with (partition / LOG).open("ab") as out:
        out.write(written(whole[21:25]))
    assert session.poll().has_grown
    rows = session.behind(reached, 1000).rows
    gap = (RowKind.GAP, whole[20].position)
    assert [(row.kind, row.position) for row in rows if row.kind is not RowKind.RECORD] == [gap]


def test_half_a_batch_is_damage_until_it_is_whole(partition: Path) -> None:
    whole = batches()
    (partition / LOG).write_bytes(written(whole[:10]) + whole[10].data[:70])
    session = LogSession.open(str(partition))
    rows = session.before(None, 2).rows
    assert rows[-1].kind is RowKind.DAMAGE
    assert rows[-1].label == "torn tail"
    with (partition / LOG).open("ab") as out:
        out.write(whole[10].data[70:])
    assert session.poll().has_grown
    assert [row.kind for row in session.before(None, 3).rows] == [RowKind.RECORD] * 3


@pytest.mark.parametrize("is_torn", [True, False], ids=["torn", "wrong CRC"])
def test_half_a_batch_of_a_running_node_is_not_shown_before_two_looks_saw_it(
    partition: Path, monkeypatch: pytest.MonkeyPatch, is_torn: bool
) -> None:
    held = Lock(state=LockState.HELD)
    monkeypatch.setattr("kraftool.storage.lock.lock_holder", lambda path: held)
    whole = batches()
    half = whole[10].data[:70]
    if not is_torn:
        half += bytes(len(whole[10].data) - 70)
    (partition / LOG).write_bytes(written(whole[:10]) + half)
    session = LogSession.open(str(partition))
    assert session.before(None, 1).rows[-1].offset == whole[9].last_offset
    session.poll()
    last = session.before(None, 1).rows[-1]
    assert not last.is_valid
    assert last.place.position == whole[10].position
    with (partition / LOG).open("r+b") as out:
        out.write(written(whole[:11]))
    assert session.poll().has_grown
    last = session.before(None, 1).rows[-1]
    assert (last.is_valid, last.offset) == (True, whole[10].last_offset)


def test_a_truncation_is_told_with_the_first_offset_that_is_gone(partition: Path) -> None:
    whole = batches()
    log = partition / LOG
    log.write_bytes(written(whole[:30]))
    session = LogSession.open(str(partition))
    assert offsets(session)
    with log.open("r+b") as out:
        out.truncate(whole[25].position)
    change = session.poll()
    assert change.cut_offset == whole[25].base_offset
    assert change.end_offset == whole[24].last_offset + 1
    assert offsets(session)[-1] == whole[24].last_offset


def test_other_records_in_the_place_of_those_that_were_cut_are_noticed(partition: Path) -> None:
    """As a new leader's: the size alone says nothing."""
    whole = batches()
    log = partition / LOG
    log.write_bytes(written(whole[:30]))
    session = LogSession.open(str(partition))
    first = whole[25]
    # The epoch is outside the CRC. A new leader's records are of its epoch, all of them.
    others = b"".join(
        batch.data[:12] + (99).to_bytes(4, "big") + batch.data[16:] for batch in whole[25:30]
    )
    log.write_bytes(written(whole[:25]) + others)
    change = session.poll()
    assert change.cut_offset == first.base_offset
    assert change.has_grown
    assert change.is_news
    row = session.behind(session.window.seek_offset(first.base_offset), 1).rows[0]
    assert row.epoch == 99


def test_a_rolled_segment_and_one_that_was_cleaned_are_noticed(partition: Path) -> None:
    whole = batches()
    (partition / LOG).write_bytes(written(whole[:20]))
    session = LogSession.open(str(partition))
    page = session.behind(None, 1000)
    following = partition / f"{whole[20].base_offset:020}.log"
    following.write_bytes(written(whole[20:30]))
    change = session.poll()
    assert change.end_offset == whole[29].last_offset + 1
    more = session.behind(page.reached, 1000).rows
    assert more[0].offset == whole[20].base_offset
    (partition / LOG).unlink()
    change = session.poll()
    assert change.start_moved
    assert change.cut_offset is None
    assert offsets(session)[0] == whole[20].base_offset
    assert session.extent.start_offset == whole[20].base_offset


def test_a_log_that_goes_away_altogether_leaves_no_rows_and_no_error(partition: Path) -> None:
    shutil.copy(DYNAMIC / LOG, partition / LOG)
    session = LogSession.open(str(partition))
    assert offsets(session)
    shutil.rmtree(partition)
    session.poll()
    assert offsets(session) == []
