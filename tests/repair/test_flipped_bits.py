"""One flipped bit in what real Kafka left: put back by plan and apply, verified and undone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kraftool.decoders.batch import HEADER_SIZE, seal
from kraftool.repair.narration import survey_lines
from kraftool.repair.plan import Method
from kraftool.repair.plan_yaml import plan_from_yaml, plan_to_yaml
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.verify import check_directory
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import (
    APART,
    Quorum,
    batches,
    cut_log,
    flip,
    mended,
    state_of,
)
from tests.repair.repair_cases import apply, undo

pytestmark = pytest.mark.slow

LONE = "kafka-4.3.0/static-single"


@pytest.fixture
def lone(tmp_path: Path) -> Quorum:
    quorum = Quorum(tmp_path, LONE, [1])
    for snapshot in quorum.snapshots(1):
        snapshot.unlink()
    return quorum


def flip_one(path: Path, number: int, within: int, bit: int = 3) -> None:
    """One bit of a batch, `within` bytes from its beginning."""
    flip(path, batches(path)[number].position + within, 1 << bit)


@pytest.mark.parametrize(
    ("within", "field"),
    [
        (7, "baseOffset"), (9, "batchLength"), (10, "batchLength"), (15, "partitionLeaderEpoch"),
        (16, "magic"), (18, "crc"), (22, "attributes"), (26, "lastOffsetDelta"), (30, "baseT"),
        (60, "recordsCount"), (HEADER_SIZE, "records"), (HEADER_SIZE + 9, "records"),
    ],
)  # fmt: skip
def test_a_bit_of_each_field_is_put_back_where_it_is(lone: Quorum, within: int, field: str) -> None:
    path = lone.segment(1)
    before, state = path.read_bytes(), state_of(lone[1])
    flip_one(path, 30, within)
    plan = lone.plan()
    assert plan.method is Method.MEND
    assert plan.loss.verdict is LossBound.NONE
    (edit,) = plan.hosts[0].restored
    assert [flipped_bit.field.startswith(field) for flipped_bit in edit.flipped] == [True]
    assert sum(len(piece.data) for piece in edit.pieces) == 1, "nothing else of the file changes"
    mended(lone, 1, plan, "flipped-bit")
    assert path.read_bytes() == before
    assert state_of(lone[1]) == state


def test_the_evidence_is_in_the_text_and_in_the_plan(lone: Quorum) -> None:
    path = lone.segment(1)
    batch = batches(path)[30]
    flip_one(path, 30, batch.size - 3)
    plan = lone.plan()
    bits = 8 * (batch.size - 17)
    words = " ".join(plan.summary)
    assert f"bit 3 of the byte at {batch.position + batch.size - 3} (records)" in words
    assert f"{(1 << 32) // bits:,} cases ({bits} bits / 2^32)" in words
    assert "decodes and fits its neighbours" in words
    text = plan_to_yaml(plan).decode()
    assert "flipped:" in text
    assert f"bits: {bits}" in text
    assert plan_from_yaml(plan_to_yaml(plan)).hosts[0].restored[0].flipped[0].bits == bits
    assert any(
        f"bit 3 of the byte at {batch.position}" for survey_line in survey_lines(lone.survey(1))
    )


def test_plan_apply_verify_undo(lone: Quorum) -> None:
    path = lone.segment(1)
    before = path.read_bytes()
    flip_one(path, 30, HEADER_SIZE + 5)
    flipped = path.read_bytes()
    plan = lone.plan()
    apply(plan, lone[1])
    assert path.read_bytes() == before
    assert not check_directory(plan, str(lone[1])).findings
    undo(plan, lone[1])
    assert path.read_bytes() == flipped


@pytest.mark.parametrize("seed", range(4))
def test_one_bit_in_each_of_several_batches(lone: Quorum, seed: int) -> None:
    path = lone.segment(1)
    before = path.read_bytes()
    draw = random.Random(seed)
    log_batches = batches(path)
    for number in draw.sample(range(3, len(log_batches) - 1), 3):
        flip(path, log_batches[number].position + draw.randrange(17, log_batches[number].size), 1)
    mended(lone, 1, lone.plan(), "flipped-bit")
    assert path.read_bytes() == before


def test_two_bits_of_one_batch_are_not_put_back(lone: Quorum) -> None:
    """What is given up is listed by kind, and what cannot be read is counted."""
    path = lone.segment(1)
    log_batches = batches(path)
    flip_one(path, 30, log_batches[30].size - 3)
    flip_one(path, 30, HEADER_SIZE, 1)
    with pytest.raises(PlanRefused):
        lone.plan()
    plan = lone.plan(accept=["ahead"])
    assert plan.cases == ("cut",)
    assert "no single bit explains it" in plan.summary[0]
    (lost,) = plan.loss.records
    counts = {record_count.type: record_count.count for record_count in lost.types}
    assert counts.pop("unreadable") == log_batches[30].last_offset - log_batches[30].base_offset + 1
    assert sum(counts.values()) == log_batches[-1].last_offset - log_batches[30].last_offset
    assert {"TOPIC_RECORD", "PARTITION_RECORD"} & counts.keys()


def test_one_bit_beside_other_damage_is_not_put_back(lone: Quorum) -> None:
    path = lone.segment(1)
    log_batches = batches(path)
    flip(path, log_batches[20].position + HEADER_SIZE, 1)
    flip(path, log_batches[30].position + 40, 0x81)
    assert not lone.survey(1).flipped


def test_another_directory_that_has_the_batch_confirms_it(quorum: Quorum) -> None:
    path = quorum.segment(2)
    before = path.read_bytes()
    flip_one(path, 60, HEADER_SIZE + 2)
    plan = quorum.plan()
    assert "node-1, node-3 and node-11 have the same bytes there" in plan.summary[0]
    mended(quorum, 2, plan, "flipped-bit")
    assert path.read_bytes() == before


def test_another_directory_that_has_other_bytes_decides(quorum: Quorum) -> None:
    """Node 2 had another batch there, in the same epoch, before its bit was flipped."""
    path = quorum.segment(2)
    data, batch = path.read_bytes(), batches(path)[60]
    header = batch.header._replace(max_timestamp=batch.header.max_timestamp + 1)
    other = seal(header, batch.data[HEADER_SIZE:])
    end = batch.position + batch.size
    path.write_bytes(data[: batch.position] + other + data[end:])
    flip_one(path, 60, HEADER_SIZE + 2)
    plan = quorum.plan()
    assert plan.cases == ("rebuilt",)
    words = "one flipped bit would explain it, but node-1, node-3 and node-11 have other bytes"
    assert words in plan.summary[0]
    quorum.carry_out(plan)
    assert state_of(quorum[2]) == state_of(quorum[1])


def test_a_snapshot_gets_its_bit_back(quorum: Quorum) -> None:
    path = quorum.snapshots(2)[-1]
    before = path.read_bytes()
    flip(path, len(before) // 2, 4)
    plan = quorum.plan()
    apply(plan, quorum[2])
    assert path.read_bytes() == before
    assert quorum.plan().method is Method.NONE


@pytest.mark.parametrize("collected", [False, True])
def test_a_lost_majority_goes_on_with_the_records_behind_a_flipped_bit(
    tmp_path: Path, collected: bool
) -> None:
    quorum = Quorum(tmp_path, APART, [2, 3, 4, 11])
    wanted = state_of(quorum[3])
    flip_one(quorum.segment(3), 60, HEADER_SIZE + 2)
    if collected:
        file = tmp_path / "node-3.collect"
        file.write_bytes(quorum.collected(3))
        there = quorum.directories[3]
        quorum.directories[3] = file
        plan = quorum.plan("lost=2,4", nodes=[3])
        quorum.directories[3] = there
    else:
        plan = quorum.plan("lost=2,4", nodes=[3])
    assert plan.cases == ("majority-lost", "flipped-bit")
    assert "bit 3" in " ".join(plan.summary)
    assert not plan.loss.records
    quorum.carry_out(plan)
    assert quorum.survey(3).end.offset > 1_000_000
    assert state_of(quorum[3]) == wanted


def test_the_state_of_another_directory_with_a_flipped_bit(tmp_path: Path) -> None:
    """The seed is behind. Its new checkpoint is of the broker's state with the bit put back."""
    quorum = Quorum(tmp_path, APART, [2, 3, 4, 11])
    cut_log(quorum, 3, 30)
    flip_one(quorum.segment(11), -10, HEADER_SIZE + 2)
    broken = quorum.segment(11).read_bytes()
    plan = quorum.plan("lost=2,4", nodes=[3, 11])
    assert "The state is node-11's, up to offset 224" in " ".join(plan.summary)
    quorum.carry_out(plan)
    assert quorum.survey(3).intact
    assert quorum.segment(11).read_bytes() == broken, "the source is only read"
