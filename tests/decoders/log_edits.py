"""Seeded edits of a log: bytes, batches cut out or repeated, epochs, torn ends."""

from __future__ import annotations

import random

from crc32c import crc32c

from kraftool.decoders.batch import CRC_START, HEADER_SIZE
from kraftool.decoders.segment import scan


def edited(data: bytes, seed: int) -> bytes:
    """A log with up to four edits."""
    chance, changed = random.Random(seed), bytearray(data)
    spans = [(item.position, item.size) for item in scan(lambda at, size: data[at : at + size])]
    for _ in range(chance.randint(1, 4)):
        at, size = chance.choice(spans)
        match chance.randrange(6):
            case 0:
                changed[at + chance.randrange(size) : at + size] = b""
            case 1:
                del changed[at : at + size]
            case 2:
                changed[at:at] = data[at : at + size]
            case 3:
                changed[at + 12 : at + 16] = chance.randrange(200).to_bytes(4, "big")
            case 4:
                del changed[chance.randrange(len(changed)) :]
            case _:
                for _ in range(chance.randint(1, 3)):
                    if changed:
                        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def edited_records(data: bytes, seed: int) -> bytes:
    """A log with up to three bytes of records that are others, under a CRC that is right."""
    chance, changed = random.Random(seed), bytearray(data)
    spans = [(item.position, item.size) for item in scan(lambda at, size: data[at : at + size])]
    for _ in range(chance.randint(1, 3)):
        at, size = chance.choice(spans)
        changed[at + chance.randrange(HEADER_SIZE, size)] = chance.randrange(256)
        crc = crc32c(bytes(changed[at + CRC_START : at + size]))
        changed[at + CRC_START - 4 : at + CRC_START] = crc.to_bytes(4, "big")
    return bytes(changed)
