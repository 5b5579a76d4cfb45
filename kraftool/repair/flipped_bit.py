"""A flipped bit of a file as surveys and plans have it.

Owns the evidence in words. It refuses to search (`decoders/bit_flip.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.bit_flip import BitFlip
from kraftool.repair.document import DocumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedBit:
    """The only bit that explains why a batch is damaged."""

    position: int
    """Of the byte, in the file."""
    bit: int
    """Of the byte; 0 is the lowest."""
    byte: int
    """The byte with the bit put back."""
    field: str
    """Of the batch, as Kafka names it."""
    batch_position: int
    batch_size: int
    base_offset: int
    last_offset: int
    epoch: int
    crc: int
    """The batch's, with the bit put back."""
    bits: int = 0
    """How many places the CRC can distinguish; 0 if no CRC covers the field."""

    def __post_init__(self) -> None:
        within = self.position - self.batch_position
        if not (0 <= self.bit < 8 and 0 <= self.byte < 256 and 0 <= within < self.batch_size):
            raise DocumentError("a flipped bit is one of the eight of a byte of its batch")

    @classmethod
    def of(cls, flip: BitFlip) -> FlippedBit:
        batch = flip.batch
        return cls(
            position=flip.position,
            bit=flip.bit,
            byte=flip.byte,
            field=flip.field,
            batch_position=batch.position,
            batch_size=batch.size,
            base_offset=batch.base_offset,
            last_offset=batch.last_offset,
            epoch=batch.epoch,
            crc=batch.header.crc,
            bits=flip.bits if flip.is_covered else 0,
        )

    def describe(self) -> str:
        """The evidence in one sentence."""
        last = f" to {self.last_offset}" if self.last_offset > self.base_offset else ""
        where = f"bit {self.bit} of the byte at {self.position} ({self.field}) was flipped"
        batch = f"in the batch of offset {self.base_offset}{last}"
        if not self.bits:
            return (
                f"{where} {batch}. With the bit restored, the batch fits the one before it and"
                " the next one, and its CRC, which does not cover the field, is right"
            )
        chance = (1 << 32) // self.bits
        return (
            f"{where} {batch}. Only with the bit restored is the CRC-32C right. The batch then"
            " decodes and fits its neighbours. Other damage looks like this by chance in one"
            f" of {chance:,} cases ({self.bits} bits / 2^32)"
        )
