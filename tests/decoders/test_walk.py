"""The walk over a log: what it hands over, what it finds, and where it can go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.fault import CUTTING, FaultKind
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import Damage, ResyncBudget, scan
from kraftool.decoders.walk import BEGINNING, Faulty, Item, Walk, WalkState, seam_faults
from tests.decoders.log_edits import edited
from tests.support.places import FIXTURES

LOG = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data/__cluster_metadata-0"
DAMAGED = sorted((*FIXTURES.glob("damaged/*/**/*.log"), *FIXTURES.glob("damaged/**/*.checkpoint")))
SIZE = 72
"""Bytes of a batch with one NoOpRecord."""
NOOP = encode_record("NoOpRecord", 0, {})


def batch(offset: int, *, epoch: int = 1, count: int = 1) -> bytes:
    records = ((None, NOOP) for _ in range(count))
    return encode_batch(records, base_offset=offset, epoch=epoch, timestamp=7)


def torn(data: bytes) -> bytes:
    """A batch with one bit of its CRC flipped."""
    return data[:20] + bytes([data[20] ^ 1]) + data[21:]


def walk(data: bytes, state: WalkState = BEGINNING, stop: int | None = None) -> Walk:
    return Walk(lambda at, size: data[at : at + size], state, stop=stop)


def scanned(data: bytes) -> Iterator[RecordBatch | Damage]:
    return scan(lambda at, size: data[at : at + size])


def faults(*pieces: bytes) -> list[tuple[FaultKind, int]]:
    return [
        (item.fault.kind, item.fault.position)
        for item in walk(b"".join(pieces))
        if isinstance(item, Faulty)
    ]


def flat(runs: Iterable[list[RecordBatch] | Faulty]) -> list[Item]:
    items: list[Item] = []
    for run in runs:
        items += [run] if isinstance(run, Faulty) else run
    return items


def logs() -> list[bytes]:
    whole = (LOG / "00000000000000000000.log").read_bytes()
    return [whole, *(path.read_bytes() for path in DAMAGED)] + [edited(whole, n) for n in range(60)]


def test_a_whole_log_has_no_fault() -> None:
    data = b"".join(batch(at, epoch=at // 10) for at in range(50))
    items = list(walk(data))
    assert len(items) == 50
    assert not any(isinstance(item, Faulty) for item in items)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((batch(0), batch(2)), [(FaultKind.GAP, SIZE)]),
        ((batch(5), batch(4)), [(FaultKind.GAP, SIZE)]),
        ((batch(0, epoch=3), batch(1, epoch=2)), [(FaultKind.EPOCH_BACK, SIZE + 12)]),
        ((batch(0), torn(batch(1)), batch(2)), [(FaultKind.CRC, SIZE + 17)]),
        ((batch(0), bytes(100)), [(FaultKind.ZERO_TAIL, SIZE)]),
        ((batch(0), batch(1)[:-9]), [(FaultKind.TORN_TAIL, SIZE)]),
        ((batch(0), b"\xff" * 90, batch(1)), [(FaultKind.CORRUPT, SIZE)]),
    ],
    ids=["gap", "back", "epoch back", "crc", "zeros", "torn", "garbage"],
)
def test_each_fault_is_found_at_its_place(
    pieces: tuple[bytes, ...], expected: list[tuple[FaultKind, int]]
) -> None:
    assert len(batch(0)) == SIZE
    assert faults(*pieces) == expected


def test_what_a_batch_with_a_wrong_crc_says_is_evidence_of_nothing() -> None:
    assert faults(batch(0), torn(batch(1, epoch=99)), batch(2)) == [(FaultKind.CRC, SIZE + 17)]
    assert faults(batch(0), torn(batch(9)), batch(2)) == [(FaultKind.CRC, SIZE + 17)]
    assert faults(batch(0), torn(batch(1, count=5)), batch(2))[1:] == []


def test_the_next_sound_batch_is_compared_with_the_last_sound_one() -> None:
    crc = FaultKind.CRC, SIZE + 17
    assert faults(batch(3), torn(batch(4)), batch(2)) == [crc, (FaultKind.GAP, 2 * SIZE)]
    back = faults(batch(3, epoch=5), torn(batch(4)), batch(5, epoch=4))
    assert back == [crc, (FaultKind.EPOCH_BACK, 2 * SIZE + 12)]
    later = faults(batch(0), torn(batch(1)), batch(2), batch(7))
    assert later == [crc, (FaultKind.GAP, 3 * SIZE)]


def test_an_epoch_that_went_back_is_one_fault() -> None:
    pieces = batch(0, epoch=5), batch(1, epoch=3), batch(2, epoch=3), batch(3, epoch=4)
    assert faults(*pieces) == [(FaultKind.EPOCH_BACK, SIZE + 12)]


def test_kafka_would_cut_at_the_first_damage() -> None:
    passing = walk(batch(0) + batch(2) + torn(batch(3)) + batch(4))
    faulty_items = [item for item in passing if isinstance(item, Faulty)]
    assert [item.fault.cuts for item in faulty_items] == [False, True]
    assert (passing.state.intact_end_offset, passing.state.end_offset) == (3, 5)
    assert {FaultKind.GAP, FaultKind.EPOCH_BACK}.isdisjoint(CUTTING)


def test_a_damaged_end_counts_as_long_as_its_numbers_agree() -> None:
    assert walk_end(batch(0), torn(batch(1, count=3))) == (1, 4)
    assert walk_end(batch(0), torn(batch(8, count=3))) == (1, 1)


def walk_end(*pieces: bytes) -> tuple[int | None, int | None]:
    passing = walk(b"".join(pieces))
    assert list(passing)
    return passing.state.intact_end_offset, passing.state.end_offset


def test_items_cover_every_byte_once() -> None:
    for data in logs():
        at = 0
        for item in walk(data):
            assert item.position == at
            at += item.size
        assert at == len(data)


def test_sound_batches_are_those_of_the_scan_whose_crc_is_right() -> None:
    for data in logs():
        sound = [item for item in scanned(data) if isinstance(item, RecordBatch) and item.is_valid]
        assert [item for item in walk(data) if not isinstance(item, Faulty)] == sound


def test_runs_are_the_same_items() -> None:
    for data in logs():
        singly, runs = walk(data), walk(data)
        assert list(singly) == flat(runs.runs())
        assert singly.state == runs.state


def test_a_walk_goes_on_from_every_item() -> None:
    for data in logs():
        passing = walk(data)
        steps = [(item, passing.state) for item in passing]
        items = [item for item, _ in steps]
        for number in range(0, len(items), 1 + len(items) // 12):
            going_on = walk(data, steps[number][1])
            assert list(going_on) == items[number + 1 :]
            assert going_on.state == passing.state


def test_the_budget_for_damage_is_taken_along() -> None:
    data = batch(0) + torn(batch(1)) + b"\xff" * 300 + batch(2)
    passing = walk(data)
    for _ in passing:
        pass
    assert passing.state.budget == ResyncBudget(0, passing.state.budget.spent)
    assert passing.state.budget.spent > 0
    assert WalkState.at(80).budget == ResyncBudget(80)


def test_segments_walked_over_one_by_one_have_the_faults_of_one_walk() -> None:
    whole = (LOG / "00000000000000000000.log").read_bytes()
    for seed in range(60):
        first, second = edited(whole, seed), edited(whole, seed + 1000)
        before = walk(first)
        list(before)
        carried = walk(second, before.state.next_segment())
        at_once = [item.fault for item in carried if isinstance(item, Faulty)]
        alone = walk(second)
        own = [item.fault for item in alone if isinstance(item, Faulty)]
        joined = [*seam_faults(before.state, alone.state), *own]
        places = sorted((fault.position, fault.kind) for fault in at_once)
        assert sorted((fault.position, fault.kind) for fault in joined) == places


def test_at_the_border_of_segments_only_damaged_batches_explain_missing_offsets() -> None:
    def border(*pieces: bytes) -> list[FaultKind]:
        before = walk(b"".join(pieces))
        list(before)
        after = walk(batch(5), before.state.next_segment())
        return [item.fault.kind for item in after if isinstance(item, Faulty)]

    assert border(batch(4)) == []
    assert border(batch(3), torn(batch(4))) == []
    assert border(batch(2), torn(batch(3))) == [FaultKind.GAP]
    assert border(batch(3), batch(4)[:-9]) == [FaultKind.GAP]


def test_nothing_begins_at_the_stop_or_behind_it() -> None:
    data = batch(0) + batch(1) + batch(2)
    assert [item.position for item in walk(data, stop=SIZE + 1)] == [0, SIZE]
    assert [item.position for item in walk(data, WalkState.at(SIZE), stop=2 * SIZE)] == [SIZE]
