"""What the protocol knows of a log: its epochs, where a replica parts from it, where it is cut."""

import pytest

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.raft.log_view import LogView, Validity
from kraftool.raft.names import CommittedTruncation, OffsetAndEpoch, ProtocolError
from kraftool.raft.records import Batch


def batch(first: int, last: int, epoch: int) -> Batch:
    return Batch(base_offset=first, last_offset=last, epoch=epoch)


def three_epochs(*snapshots: OffsetAndEpoch) -> LogView:
    """Epoch 1 from 0 to 14, 3 to 19, 4 to 29."""
    return LogView.of([batch(0, 14, 1), batch(15, 19, 3), batch(20, 29, 4)], snapshots=snapshots)


@pytest.mark.parametrize(
    ("epoch", "end"),
    [(0, (0, 0)), (1, (15, 1)), (2, (15, 1)), (3, (20, 3)), (4, (30, 4)), (5, (30, 4))],
)
def test_an_epoch_ends_where_the_next_that_is_known_begins(
    epoch: int, end: tuple[int, int]
) -> None:
    assert three_epochs().end_of_epoch(epoch) == end


def test_a_log_without_epochs_ends_them_all_where_it_ends() -> None:
    assert LogView(start_offset=5, end_offset=5).end_of_epoch(3) == (5, 0)


def test_an_empty_log_has_the_epoch_of_the_snapshot_that_it_begins_after() -> None:
    log = LogView.of([], snapshots=[OffsetAndEpoch(100, 4)], start=100)
    assert log.end == (100, 4)
    assert LogView().end == (0, 0)


def test_an_epoch_that_began_without_a_record_gives_way_to_the_next() -> None:
    log = LogView.of([batch(0, 9, 1)])
    log.start_epoch(2)
    log.start_epoch(3)
    assert log.epochs == [(1, 0), (3, 10)]
    log.start_epoch(3)
    log.start_epoch(2)
    assert log.epochs == [(1, 0), (3, 10)]


@pytest.mark.parametrize("wrong", [batch(31, 31, 4), batch(29, 30, 4), batch(30, 29, 4)])
def test_a_batch_follows_without_a_gap_or_it_breaks_the_log(wrong: Batch) -> None:
    with pytest.raises(ProtocolError):
        three_epochs().append(wrong)


def test_an_offset_belongs_to_the_batch_around_it_until_that_is_committed() -> None:
    log = three_epochs()
    assert [log.base_offset_of(offset) for offset in (0, 14, 15, 19, 29, 30, 31)] == [
        0, 0, 15, 15, 20, 30, 31,
    ]  # fmt: skip
    log.commit(20)
    assert [log.base_offset_of(offset) for offset in (14, 19, 25)] == [14, 19, 20]
    log.truncate(20)
    log.append(batch(20, 24, 5))
    log.append(batch(25, 29, 5))
    assert [log.base_offset_of(offset) for offset in (24, 26)] == [20, 25]
    log.begin_after(OffsetAndEpoch(40, 6))
    log.append(batch(40, 44, 6))
    assert log.base_offset_of(41) == 40


def test_only_what_is_there_can_be_flushed_and_it_stays_so() -> None:
    log = LogView()
    log.append(batch(0, 4, 1))
    assert log.flushed_offset == 0
    log.flushed(3)
    log.flushed(2)
    assert log.flushed_offset == 3
    log.flushed(100)
    assert log.flushed_offset == 5


def test_a_truncation_takes_epochs_and_what_was_flushed_with_it() -> None:
    log = three_epochs()
    log.truncate(20)
    assert (log.end, log.flushed_offset, log.epochs) == ((20, 3), 20, [(1, 0), (3, 15)])
    log.truncate(17)
    assert log.end == (17, 3)
    log.truncate(25)
    assert log.end == (17, 3)


def test_nothing_below_the_start_is_truncated() -> None:
    log = LogView.of([batch(10, 19, 2)], start=10)
    with pytest.raises(ProtocolError):
        log.truncate(9)


def test_nothing_that_was_ever_committed_is_truncated() -> None:
    log = three_epochs(OffsetAndEpoch(5, 1))
    assert log.committed_offset == 5, "all that a restarted process knows"
    log.commit(17)
    log.commit(16)
    assert log.committed_offset == 17
    with pytest.raises(CommittedTruncation):
        log.truncate(16)
    with pytest.raises(CommittedTruncation):
        log.begin_after(OffsetAndEpoch(16, 5))
    assert log.end == (30, 4)
    log.truncate(17)
    log.begin_after(OffsetAndEpoch(17, 5))
    assert (log.start_offset, log.end) == (17, (17, 5))


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        (0, 0, (Validity.VALID, (0, 0))),
        (0, 9, (Validity.VALID, (0, 0))),
        (15, 1, (Validity.VALID, (15, 1))),
        (16, 1, (Validity.DIVERGING, (15, 1))),
        (15, 2, (Validity.DIVERGING, (15, 1))),
        (30, 4, (Validity.VALID, (30, 4))),
        (31, 4, (Validity.DIVERGING, (30, 4))),
        (30, 5, (Validity.DIVERGING, (30, 4))),
        (5, 0, (Validity.DIVERGING, (0, 0))),
    ],
)
def test_a_place_is_in_the_log_or_it_parts_from_it(
    offset: int, epoch: int, expected: tuple[Validity, tuple[int, int]]
) -> None:
    assert three_epochs().validate(offset, epoch) == expected


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        (3, 1, (Validity.SNAPSHOT, (8, 3))),
        (5, 1, (Validity.VALID, (5, 1))),
        (5, 2, (Validity.SNAPSHOT, (8, 3))),
        (6, 0, (Validity.SNAPSHOT, (8, 3))),
        (0, 0, (Validity.SNAPSHOT, (8, 3))),
        (8, 3, (Validity.VALID, (8, 3))),
    ],
)
def test_a_log_that_begins_after_a_snapshot_sends_those_who_need_it_to_the_newest(
    offset: int, epoch: int, expected: tuple[Validity, tuple[int, int]]
) -> None:
    snapshots = [OffsetAndEpoch(5, 1), OffsetAndEpoch(8, 3)]
    log = LogView.of([batch(5, 9, 3)], snapshots=snapshots, start=5)
    assert log.validate(offset, epoch) == expected


def test_an_epoch_that_ends_with_the_oldest_snapshot_ends_there() -> None:
    log = LogView.of([batch(0, 2, 2), batch(3, 9, 4)], snapshots=[OffsetAndEpoch(3, 2)])
    assert log.validate(4, 3) == (Validity.DIVERGING, (3, 2))


@pytest.mark.parametrize(
    ("diverging", "offset"),
    [((12, 1), 12), ((40, 4), 30), ((18, 2), 15), ((7, 0), 7), ((99, 0), 30)],
)
def test_a_follower_cuts_where_both_still_agree(diverging: tuple[int, int], offset: int) -> None:
    assert three_epochs().truncation_point(OffsetAndEpoch(*diverging)) == offset


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [((31, 4), True), ((30, 4), False), ((5, 5), True), ((31, 3), False)],
)
def test_a_snapshot_beyond_the_log_is_one_the_log_is_behind(
    snapshot: tuple[int, int], expected: bool
) -> None:
    assert three_epochs().is_behind(OffsetAndEpoch(*snapshot)) is expected


def test_a_log_begins_anew_after_a_snapshot() -> None:
    log = three_epochs(OffsetAndEpoch(5, 1))
    log.begin_after(OffsetAndEpoch(100, 7))
    assert (log.start_offset, log.end, log.flushed_offset) == (100, (100, 7), 100)
    assert log.snapshots == [(100, 7)]


def test_cleaning_drops_what_lies_below_and_keeps_the_epoch_it_cuts() -> None:
    log = three_epochs(OffsetAndEpoch(5, 1), OffsetAndEpoch(17, 3))
    log.clean(17)
    assert log.epochs == [(3, 17), (4, 20)]
    assert log.snapshots == [(17, 3)]
    assert log.validate(17, 3) == (Validity.VALID, (17, 3))


def test_snapshots_are_kept_in_order_and_once() -> None:
    log = three_epochs(OffsetAndEpoch(15, 1))
    log.add_snapshot(OffsetAndEpoch(5, 1))
    log.add_snapshot(OffsetAndEpoch(15, 1))
    assert (log.oldest_snapshot, log.newest_snapshot) == ((5, 1), (15, 1))


def test_a_modelled_kafka_node_is_truncated_below_its_snapshot() -> None:
    """As Kafka 3.9.1 and 4.3.0 do after a restart (tests/interop/start_claims_quorum.py)."""
    view = LogView(end_offset=9, epochs=[EpochEntry(1, 0)], snapshots=[OffsetAndEpoch(5, 1)])
    with pytest.raises(CommittedTruncation):
        view.truncate(4)
    view.protects_snapshots = False
    view.truncate(4)
    assert view.end_offset == 4
