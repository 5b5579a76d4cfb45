"""The kinds of damage at a place in a log, in the words that every command uses.

Owns the place of each fault: the field that is wrong, which `explain --position` shows. It refuses
to say what to do about it; that is `reports/files/log_findings.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders.batch import CRC_START, RecordBatch
from kraftool.decoders.errors import DecodeError, Fault
from kraftool.decoders.segment import Damage

WRONG_CRC = "the batch's CRC does not match its bytes"
REVERSED_OFFSETS = "the batch's last offset is below its first"
"""No Kafka writes such a batch. Its CRC is right, so a walk hands it over as a sound one."""
_CRC_FIELD = CRC_START - 4
_EPOCH_FIELD = 12


class FaultKind(StrEnum):
    """The kinds of damage."""

    CRC = "crc"
    RECORDS = "records"
    UNKNOWN = "unknown"
    EPOCH_BACK = "epoch-back"
    GAP = "gap"
    TORN_TAIL = "torn tail"
    ZERO_TAIL = "zero-filled tail"
    CORRUPT = "corrupt"


DAMAGE_KINDS = frozenset({FaultKind.TORN_TAIL, FaultKind.ZERO_TAIL, FaultKind.CORRUPT})
"""Bytes that are no batch."""
CUTTING = DAMAGE_KINDS | {FaultKind.CRC}
"""At these Kafka cuts the log when it starts. It checks each batch by itself: it does not notice
offsets that do not follow on each other, or an epoch that goes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFault(Fault):
    """Damage at one place of a log. `size` is the number of bytes that it makes useless."""

    kind: FaultKind
    position: int
    size: int = 0
    flipped: str = ""
    """The only bit that explains it, if one flipped bit does and somebody looked for it."""

    @property
    def cuts(self) -> bool:
        """True if Kafka's next start cuts the log here."""
        return self.kind in CUTTING

    def plain(self, file: str) -> Fault:
        """The fault alone, as a finding about a file has it."""
        return Fault(
            reason=self.reason,
            file=file,
            position=self.position,
            offset=self.offset,
            field=self.field,
            expected=self.expected,
            found=self.found,
        )


def damage_fault(damage: Damage, offset: int | None, file: str = "") -> LogFault:
    """Bytes that are no batch, where `offset` was expected."""
    return LogFault(
        kind=FaultKind(damage.kind.value),
        reason=damage.reason,
        position=damage.position,
        file=file,
        offset=offset,
        size=damage.size,
        expected=damage.expected,
        found=damage.found,
    )


def crc_fault(batch: RecordBatch, offset: int | None, file: str = "") -> LogFault:
    """A batch whose bytes changed, where `offset` was expected."""
    return LogFault(
        kind=FaultKind.CRC,
        reason=WRONG_CRC,
        position=batch.position + _CRC_FIELD,
        file=file,
        offset=batch.header.base_offset if offset is None else offset,
        size=batch.size,
        expected=f"{batch.computed_crc():08x}",
        found=f"{batch.header.crc:08x}",
    )


def gap_fault(position: int, base_offset: int, expected: int, file: str = "") -> LogFault:
    """A batch that does not begin where the one before it ends."""
    return LogFault(
        kind=FaultKind.GAP,
        reason="the offsets do not follow on the batch before",
        position=position,
        file=file,
        offset=base_offset,
        expected=str(expected),
        found=str(base_offset),
    )


def epoch_back_fault(
    position: int, base_offset: int, epoch: int, highest: int, file: str = ""
) -> LogFault:
    """A batch of an earlier leader epoch than one before it."""
    return LogFault(
        kind=FaultKind.EPOCH_BACK,
        reason="the leader epoch goes backwards",
        position=position + _EPOCH_FIELD,
        file=file,
        offset=base_offset,
        field="partitionLeaderEpoch",
        expected=f"{highest} or more",
        found=str(epoch),
    )


def record_fault(
    error: DecodeError,
    position: int,
    offset: int | None,
    *,
    kind: FaultKind = FaultKind.RECORDS,
    type: str = "",
) -> LogFault:
    """Records that cannot be decoded; `type` is that of the record where it is known."""
    return LogFault(
        kind=kind,
        reason=f"{type}: {error.reason}" if type else error.reason,
        position=position,
        offset=offset,
        field=error.path,
        expected=error.expected,
        found=error.found,
    )
