"""Batches whose offset or epoch is wrong, which no CRC covers: never believed, and never far off.

Kafka believes them: an epoch that flipped bits raised wins an election over longer logs. Two bits
are wrong here; one would be put back (test_flipped_bits.py).
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import write_segment_name
from kraftool.repair.offset_bounds import OffsetBounds
from kraftool.repair.plan import Fingerprint, Method
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.survey import SurveyedLog
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import Quorum, batches, cut_log, flip, flip_in_batch
from tests.support.places import PARTITION

pytestmark = pytest.mark.slow

VOTERS = (2, 3, 4)
"""At offset 224 of epoch 3, all three."""


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, "kafka-4.3.0/dynamic-quorum", VOTERS)


def poke(path: Path, position: int, data: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[position : position + len(data)] = data
    path.chmod(0o644)
    path.write_bytes(bytes(content))


def with_offset(path: Path, number: int, change: int) -> RecordBatch:
    """A batch says another base offset; the batch as it was."""
    batch = batches(path)[number]
    poke(path, batch.position, struct.pack(">q", batch.base_offset ^ change))
    return batch


def with_epoch(path: Path, number: int, change: int) -> RecordBatch:
    """A batch says another epoch; the batch as it was."""
    batch = batches(path)[number]
    poke(path, batch.position + 12, struct.pack(">i", batch.epoch ^ change))
    return batch


def log_of(quorum: Quorum, node_id: int) -> SurveyedLog:
    log = quorum.survey(node_id).log
    assert log is not None
    return log


@pytest.mark.parametrize("bit", [3, 12, 40, 62, 63])
@pytest.mark.parametrize("number", [0, 51, -1])
def test_an_offset_that_does_not_follow_is_damage_and_reaches_no_further(
    quorum: Quorum, number: int, bit: int
) -> None:
    change = (1 << bit if bit < 63 else -(1 << 63)) | 2
    batch = with_offset(quorum.segment(3), number, change)
    log = log_of(quorum, 3)
    assert log.broken is not None
    assert (log.intact_end, log.broken.torn) == (batch.base_offset, False)
    most = 1 << 13 | 2 if number == -1 else 0  # only what follows tells how far a batch can be off
    assert 224 <= log.broken.end_offset <= 224 + most
    plan = quorum.plan()
    assert (plan.method, plan.cases) == (Method.REBUILD, ("rebuilt",))
    assert plan.loss.verdict is LossBound.NONE
    quorum.carry_out(plan)
    assert quorum.segment(3).read_bytes() == quorum.segment(2).read_bytes()


def test_the_last_offset_after_damage_is_one_that_can_be(quorum: Quorum) -> None:
    with_offset(quorum.segment(3), 51, 3 << 60)
    (note,) = [ranked.note for ranked in quorum.plan().ranking if ranked.host == "node-3"]
    assert note.endswith("whole batches after it, up to offset 223")


def test_bytes_after_a_log_that_are_no_batch_may_be_records(quorum: Quorum) -> None:
    flip_in_batch(quorum.segment(3), -5)
    flip(quorum.segment(3), batches(quorum.segment(3))[-5].position + 64, 0x7F)
    with quorum.segment(3).open("ab") as log:
        log.write(b"\x5a" * 81)
    words = "node-3 may have records at offset 224 that node-2 does not have"
    with pytest.raises(PlanRefused, match=words):
        quorum.plan(nodes=[2, 3])


def test_the_new_quorum_begins_where_offsets_can_be(quorum: Quorum) -> None:
    with_offset(quorum.segment(3), 51, 3 << 60)
    plan = quorum.plan("lost=2,4", nodes=[3])
    (jump,) = [edit.snapshot for edit in plan.hosts[0].edits if edit.snapshot is not None]
    assert jump.offset == 1_000_224
    assert jump.state_offset == 224, "the log is whole behind its snapshot at 171"
    assert plan.loss.records == ()


@pytest.mark.parametrize("bit", [2, 6, 30])
@pytest.mark.parametrize("number", [51, -1])
def test_an_epoch_of_one_batch_of_records_alone_is_damage(
    quorum: Quorum, number: int, bit: int
) -> None:
    batch = with_epoch(quorum.segment(3), number, 1 << bit)
    log = log_of(quorum, 3)
    assert log.broken is not None
    assert log.broken.reason.startswith(f"epoch {batch.epoch ^ 1 << bit} b")
    assert (log.intact_end, log.last_epoch) == (batch.base_offset, batch.epoch)
    assert log.broken.highest_epoch == batch.epoch ^ 1 << bit, "a new epoch has to be above it"


def test_records_of_an_epoch_that_others_speak_of_are_believed(quorum: Quorum) -> None:
    """As a tool leaves them that appends by itself: no damage, though no leader writes so."""
    for number in (-2, -1):
        with_epoch(quorum.segment(3), number, 4)
    assert log_of(quorum, 3).broken is None
    with_epoch(quorum.segment(4), -1, 4)
    state = quorum.partition(4) / "quorum-state"
    state.write_text(state.read_text().replace('"leaderEpoch":3', '"leaderEpoch":7'))
    assert log_of(quorum, 4).broken is None


def test_a_false_epoch_makes_no_leader_of_a_log_that_was_left_behind(quorum: Quorum) -> None:
    """Kafka would elect node 3, and the others would cut what is committed."""
    cut_log(quorum, 3, 20)
    end = with_epoch(quorum.segment(3), -1, 192).base_offset
    plan = quorum.plan()
    assert plan.ranking[0].host != "node-3"
    assert plan.ranking[-1].end_offset == end
    quorum.carry_out(plan)
    assert quorum.survey(3).end == (224, 3)


def test_a_false_epoch_at_the_end_of_a_segment_is_told_by_the_next_one(quorum: Quorum) -> None:
    """An empty one, too, as a start leaves it: then the batch is the last of all."""
    cut_log(quorum, 3, 20)
    path = quorum.segment(3)
    data, first = path.read_bytes(), batches(path)[-5]
    before = data[: first.position]
    later = path.with_name(write_segment_name(first.base_offset, ".log"))
    for behind, words in (
        (data[first.position :], "between 3 and 3"),
        (b"", "begins with records"),
    ):
        path.write_bytes(before)
        later.write_bytes(behind)
        batch = with_epoch(path, -1, 192)
        broken = log_of(quorum, 3).broken
        assert broken is not None
        assert words in broken.reason
        assert (broken.offset, broken.segment) == (batch.base_offset, 0)
        assert (broken.position, broken.torn) == (batch.position, False)
        assert broken.prefix == Fingerprint.of(before[: batch.position])
        assert broken.end_offset == first.base_offset + (5 if behind else 0)
        plan = quorum.plan()
        assert [ranked.host for ranked in plan.ranking] == ["node-2", "node-4", "node-3"]
        assert plan.method is Method.REBUILD
    quorum.carry_out(plan)
    assert quorum.survey(3).end == (224, 3)


def test_a_false_epoch_of_a_leader_change_is_told_by_what_follows(quorum: Quorum) -> None:
    path = quorum.segment(3)
    (number,) = [at for at, record_batch in enumerate(batches(path)) if record_batch.epoch == 3][:1]
    assert batches(path)[number].is_control
    batch = with_epoch(path, number, 64)
    log = log_of(quorum, 3)
    assert log.broken is not None
    assert log.broken.reason == f"epoch {batch.epoch ^ 64} between {log.last_epoch} and 3"
    assert log.intact_end == batch.base_offset


def test_what_follows_a_snapshot_is_kept_only_in_its_own_epoch(quorum: Quorum) -> None:
    """One batch is damaged before the newest snapshot, and another behind it."""
    path = quorum.segment(3)
    with_offset(path, 51, 1 << 40)
    assert log_of(quorum, 3).rest
    with_epoch(path, -2, 4)
    assert not log_of(quorum, 3).rest


@pytest.mark.parametrize(
    ("name", "setting", "words"),
    [
        (f"{(1 << 63) - 1:020}-{1:010}.checkpoint", "offset=100000", "offset 9223372036854775807"),
        (f"{500:020}-{(1 << 31) - 1:010}.checkpoint", "epoch=2000", "epoch 2147483647"),
    ],
)
def test_where_nothing_can_be_beyond_a_false_name_a_person_says_what_is(
    quorum: Quorum, name: str, setting: str, words: str
) -> None:
    (quorum[3] / PARTITION / name).write_bytes(b"junk")
    with pytest.raises(KraftoolError, match=f"{words} is too close") as refused:
        quorum.plan("lost=2,4", nodes=[3])
    assert "--set" in refused.value.hint
    plan = quorum.plan("lost=2,4", setting, nodes=[3])
    quorum.carry_out(plan)
    assert not (quorum[3] / PARTITION / name).exists()
    key, _, value = setting.partition("=")
    assert getattr(quorum.survey(3).end, key) == int(value)


def test_a_seed_that_gives_up_a_false_tail_asks_first(quorum: Quorum) -> None:
    with_epoch(quorum.segment(3), -1, 3 << 29)
    with pytest.raises(PlanRefused, match="node-3 has 1 record from offset 223 on"):
        quorum.plan("lost=2,4", nodes=[3])


@pytest.mark.parametrize(
    ("batches_behind", "end"),
    [
        ([(10, 12), (13, 13)], 14),
        ([(10 + (1 << 40), 12 + (1 << 40)), (13, 13)], 14),
        ([(10 + 64, 12 + 64), (13, 13)], 14),
        ([(10 + 64, 12 + 64), (77, 77)], 78),
        ([(10, 12), (5, 5), (14, 20)], 21),
        ([(10, 12), (5, 5)], 14),
        ([(10 + 64, 12 + 64)], 77),
        ([(10 + 4000, 12 + 4000)], 13),
        ([(-(1 << 63) + 10, -(1 << 63) + 12)], 13),
        ([(50, 60), (61, 61)], 62),
    ],
)
def test_how_far_offsets_go(batches_behind: list[tuple[int, int]], end: int) -> None:
    reach = OffsetBounds(line=10)
    for first, last in batches_behind:
        reach.take(first, last, farthest=1000, is_valid=True)
    reach.ended()
    assert reach.end == end


def test_a_damaged_batch_says_how_far_it_goes_only_until_the_next_begins() -> None:
    reach = OffsetBounds(line=10)
    reach.take(10, 900, farthest=1000, is_valid=False)
    reach.take(20, 25, farthest=1000, is_valid=True)
    reach.ended()
    assert reach.end == 26
    reach.lost()
    assert reach.end == 27
