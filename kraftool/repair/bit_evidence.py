"""The evidence of other directories on the flipped bits of one.

Owns the comparison of a batch in which a bit was flipped with the other directories that have it:
their bytes decide, by CRC, epoch and last offset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftool.decoders.names import parse_segment_name
from kraftool.repair.flipped_bit import FlippedBit
from kraftool.repair.survey import Survey, SurveyedLog


@dataclass(frozen=True, slots=True, kw_only=True)
class BitEvidence:
    """The evidence of the other directories on the flipped bits of one."""

    confirmed_by: tuple[str, ...] = ()
    """The directories that have the batches as they are with the bits put back."""
    contradicted_by: tuple[str, ...] = ()
    """Those that have other batches there."""


UNKNOWN_EVIDENCE = BitEvidence()
"""No other directory has the batches."""


def bit_evidence(
    own: str, restored: Survey, directories: Sequence[tuple[str, Survey]]
) -> BitEvidence:
    """Compare a directory, with its flipped bits put back, with others of its cluster, by name."""
    log = restored.log
    if log is None:
        return UNKNOWN_EVIDENCE
    bits = list(_of_log(restored))
    confirmed, contradicted = [], []
    for name, other in directories:
        if name == own or other.identity.cluster_id != restored.identity.cluster_id:
            continue
        confirmations = [_has(other.log, log, bit) for bit in bits] if other.log else []
        if False in confirmations:
            contradicted.append(name)
        elif True in confirmations and None not in confirmations:
            confirmed.append(name)
    return BitEvidence(confirmed_by=tuple(confirmed), contradicted_by=tuple(contradicted))


def _of_log(restored: Survey) -> Iterator[FlippedBit]:
    for edit in restored.restored:
        if parse_segment_name(edit.target.name) is not None:
            yield from edit.flipped


def _has(other: SurveyedLog, own: SurveyedLog, bit: FlippedBit) -> bool | None:
    """True if a log has the batch as it is with the bit put back, False if it has another one.

    None if it has not the batch at all, or it cannot be told.
    """
    if other.start_offset > bit.base_offset:
        return None
    for batch in other.batches:
        if batch.base_offset <= bit.base_offset <= batch.last_offset:
            if batch.epoch != bit.epoch and bit.field != "partitionLeaderEpoch":
                return None  # another leader's, of which one was cut or will be
            same = (bit.base_offset, bit.last_offset, bit.epoch, bit.crc)
            return (batch.base_offset, batch.last_offset, batch.epoch, batch.crc) == same
    blocks = {
        (intact_batches.first_offset, intact_batches.end_offset): intact_batches
        for intact_batches in other.blocks
    }
    for block in own.blocks:
        if block.first_offset <= bit.base_offset < block.end_offset:
            there = blocks.get((block.first_offset, block.end_offset))
            starts = max(own.start_offset, other.start_offset)
            if there is None or starts > block.first_offset or there.last_epoch != block.last_epoch:
                return None
            return there.sha256 == block.sha256
    return None
