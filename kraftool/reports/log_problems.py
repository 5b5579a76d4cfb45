"""What can be wrong with a batch where it stands, in the words that every command uses.

Owns the place of each problem: the field that is wrong, which `explain --position` shows. It
refuses to say what Kafka would do about it; that is `log_findings.py`.
"""

from __future__ import annotations

from kraftool.decoders.batch import CRC_START, RecordBatch
from kraftool.decoders.segment import Damage
from kraftool.reports.log_summary import CRC, EPOCH_BACK, GAP, LogProblem

_CRC_FIELD = CRC_START - 4
_EPOCH_FIELD = 12


def damage_problem(damage: Damage, offset: int | None) -> LogProblem:
    """Bytes that are no batch, where `offset` was expected."""
    return LogProblem(
        kind=damage.kind.value,
        text=damage.reason,
        position=damage.position,
        offset=offset,
        size=damage.size,
        expected=damage.expected,
        found=damage.found,
    )


def crc_problem(batch: RecordBatch) -> LogProblem:
    """A batch whose bytes changed."""
    return LogProblem(
        kind=CRC,
        text="the batch's CRC does not match its bytes",
        position=batch.position + _CRC_FIELD,
        offset=batch.header.base_offset,
        size=batch.size,
        expected=f"{batch.computed_crc():08x}",
        found=f"{batch.header.crc:08x}",
    )


def gap_problem(batch: RecordBatch, expected: int | None) -> LogProblem:
    """A batch that does not go on where the one before it ends."""
    return LogProblem(
        kind=GAP,
        text="the offsets do not follow on the batch before",
        position=batch.position,
        offset=batch.base_offset,
        expected=str(expected),
        found=str(batch.base_offset),
    )


def epoch_back_problem(batch: RecordBatch, highest: int) -> LogProblem:
    """A batch of an earlier leader epoch than one before it."""
    return LogProblem(
        kind=EPOCH_BACK,
        text="the leader epoch goes backwards",
        position=batch.position + _EPOCH_FIELD,
        offset=batch.base_offset,
        field="partitionLeaderEpoch",
        expected=f"{highest} or more",
        found=str(batch.epoch),
    )
