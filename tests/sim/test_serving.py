"""What is read from a disk into an answer: whole batches, and slices of a snapshot."""

import pytest

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import (
    FetchResponse,
    FetchSnapshotResponse,
    ReadRange,
    SnapshotRange,
)
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kraftool.raft.reading import filled
from kraftool.raft.records import Batch
from kraftool.sim.disk import Disk
from kraftool.sim.machine import Snapshot

SNAPSHOT = Snapshot(id=OffsetAndEpoch(5, 1), kraft_version=0, voters=None, total=7)
SIZE = len(SNAPSHOT.encoded())


def disk() -> Disk:
    """Three batches of 100 bytes, and a snapshot."""
    prepared = Disk("d1")
    prepared.append(
        tuple(Batch(base_offset=at, last_offset=at + 1, epoch=1, size=100) for at in (0, 2, 4))
    )
    prepared.add(SNAPSHOT)
    return prepared


def slice_of(position: int, most: int) -> FetchSnapshotResponse:
    wanted = SnapshotRange(snapshot_id=SNAPSHOT.id, position=position, max_bytes=most)
    answer = filled(disk(), FetchSnapshotResponse(snapshot_id=SNAPSHOT.id, read=wanted))
    assert isinstance(answer, FetchSnapshotResponse)
    return answer


@pytest.mark.parametrize(
    ("most", "bases"), [(1, [2]), (100, [2]), (199, [2]), (200, [2, 4]), (999, [2, 4])]
)
def test_one_whole_batch_is_given_though_it_is_larger_than_what_was_asked_for(
    most: int, bases: list[int]
) -> None:
    answer = filled(disk(), FetchResponse(read=ReadRange(offset=2, max_bytes=most)))
    assert isinstance(answer, FetchResponse)
    assert [batch.base_offset for batch in answer.batches] == bases


@pytest.mark.parametrize(("offset", "bases"), [(3, [2, 4]), (5, [4]), (6, [])])
def test_a_read_from_within_a_batch_begins_with_the_batch(offset: int, bases: list[int]) -> None:
    """Scenario 225, and Kafka's answers in tests/raft/golden (a fetch at 3 gets 1 to 9)."""
    answer = filled(disk(), FetchResponse(read=ReadRange(offset=offset, max_bytes=999)))
    assert isinstance(answer, FetchResponse)
    assert [batch.base_offset for batch in answer.batches] == bases


def test_the_slices_of_a_snapshot_make_the_file() -> None:
    half = SIZE // 2
    first, second = slice_of(0, half), slice_of(half, SIZE)
    assert (first.error, len(first.chunk), first.size) == (Error.NONE, half, SIZE)
    assert second.size == SIZE
    assert first.chunk + second.chunk == SNAPSHOT.encoded()


@pytest.mark.parametrize("position", [SIZE, SIZE + 1])
def test_a_position_at_the_end_of_a_snapshot_is_out_of_range(position: int) -> None:
    answer = slice_of(position, SIZE)
    assert (answer.error, answer.chunk) == (Error.POSITION_OUT_OF_RANGE, b"")
    assert (answer.snapshot_id, answer.position) == (BOOTSTRAP_SNAPSHOT, 0)
