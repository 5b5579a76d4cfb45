"""What a leader has been given to append: how it becomes batches, and when they are due."""

import pytest

from kraftool.decoders.batch import HEADER_SIZE
from kraftool.raft.accumulator import Accumulator
from kraftool.raft.names import ProtocolError
from kraftool.raft.records import KRaftVersion, LeaderChange
from kraftool.raft.settings import MAX_BATCH_BYTES


def fresh(max_batch_bytes: int = MAX_BATCH_BYTES) -> Accumulator:
    return Accumulator(epoch=5, next_offset=10, linger_ms=25, max_batch_bytes=max_batch_bytes)


def test_nothing_given_is_never_due() -> None:
    accumulator = fresh()
    assert not accumulator.is_due(1 << 60)
    assert accumulator.drain() == []


def test_lists_share_a_batch_that_is_due_after_the_linger_of_the_first() -> None:
    accumulator = fresh()
    assert accumulator.append("ab", 2, 1000) == 11
    assert accumulator.append("c", 1, 1020) == 12
    assert not accumulator.is_due(1024)
    assert accumulator.is_due(1025)
    (batch,) = accumulator.drain()
    assert (batch.base_offset, batch.last_offset, batch.epoch) == (10, 12, 5)
    assert batch.timestamp_ms == 1000, "when its first record was given, not when it was written"
    assert batch.data == ("a", "b", "c")
    assert batch.size == HEADER_SIZE + 3
    assert not accumulator.is_due(1 << 60)


def test_the_linger_begins_anew_after_a_drain() -> None:
    accumulator = fresh()
    accumulator.append("a", 1, 1000)
    accumulator.drain()
    accumulator.append("b", 1, 1030)
    assert not accumulator.is_due(1054)
    assert accumulator.is_due(1055)


def test_a_list_that_does_not_fit_closes_the_batch_which_is_due_at_once() -> None:
    accumulator = fresh(max_batch_bytes=HEADER_SIZE + 10)
    accumulator.append("a", 6, 1000)
    accumulator.append("bc", 5, 1000)
    assert accumulator.is_due(1000)
    assert [batch.data for batch in accumulator.drain()] == [("a",), ("b", "c")]


def test_a_list_that_fits_exactly_shares_the_batch() -> None:
    accumulator = fresh(max_batch_bytes=HEADER_SIZE + 10)
    accumulator.append("a", 6, 1000)
    accumulator.append("b", 4, 1000)
    assert [batch.data for batch in accumulator.drain()] == [("a", "b")]


def test_what_is_larger_than_a_batch_does_not_fit() -> None:
    accumulator = fresh(max_batch_bytes=HEADER_SIZE + 10)
    assert accumulator.fits(10)
    assert not accumulator.fits(11)


def test_control_records_close_the_data_before_them_and_are_due_at_once() -> None:
    accumulator = fresh()
    accumulator.append("a", 1, 1000)
    change = LeaderChange(1, (1,), (1,))
    assert accumulator.append_control([change, KRaftVersion(1)], 1000) == 11
    assert accumulator.append("b", 1, 1000) == 13
    assert accumulator.is_due(1000)
    first, second, third = accumulator.drain()
    assert (first.data, first.control) == (("a",), ())
    assert (second.base_offset, second.last_offset) == (11, 12)
    assert second.control == (change, KRaftVersion(1))
    assert (third.base_offset, third.data) == (13, ("b",))


def test_a_control_batch_has_a_record() -> None:
    with pytest.raises(ProtocolError):
        fresh().append_control([], 0)


def test_ten_batches_that_wait_are_all_it_takes() -> None:
    accumulator = fresh(max_batch_bytes=HEADER_SIZE + 1)
    for _ in range(10):
        accumulator.append("a", 1, 1000)
    assert not accumulator.is_full  # nine are closed, the tenth is open
    accumulator.append("a", 1, 1000)
    assert accumulator.is_full
    assert len(accumulator.drain()) == 11
    assert not accumulator.is_full
