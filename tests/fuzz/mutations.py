"""Files as no Kafka would leave them: real ones, cut, flipped, spliced, with absurd numbers.

Owns the corpus and the mutations. All chance comes from the `Random` that is passed in, so that a
seed, or hypothesis, can bring a file back. It refuses to know what a decoder should make of them:
that is checks.py.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, seal
from kraftool.decoders.segment import scan

LARGEST = 200_000
"""No mutated file is longer: what is measured on them, memory above all, is bounded by it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A file: the name that Kafka gave it, which tells its kind, and its bytes."""

    name: str
    data: bytes


def corpus(fixtures: Path) -> list[Sample]:
    """Two files of each kind and Kafka version, the longest among those that are not too long."""
    kinds: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(fixtures.glob("kafka-*/**/data*/**/*")):
        if not path.is_file() or not 0 < path.stat().st_size < LARGEST // 4:
            continue
        version = path.relative_to(fixtures).parts[0]
        kinds.setdefault((version, path.suffix or path.name), []).append(path)
    chosen: list[Path] = []
    for paths in kinds.values():
        paths.sort(key=lambda path: path.stat().st_size)
        chosen += paths[-2:]
    damaged = (path for path in sorted(fixtures.glob("damaged/*/*")) if path.is_file())
    chosen += [path for path in damaged if path.name != "SOURCE"]
    return [Sample(path.name, path.read_bytes()) for path in chosen]


# --- mutations: each takes some bytes and gives back others ---------------------------------------

Mutation = Callable[[Random, bytes, Sequence[Sample]], bytes]

ABSURD = (
    *(struct.pack(">i", n) for n in (0, 1, -1, 61, 0x7FFFFFFF, -0x80000000, 1 << 20, 1 << 24)),
    *(struct.pack(">q", n) for n in (-1, 0x7FFFFFFFFFFFFFFF, -0x8000000000000000)),
    b"\xff\xff\xff\xff\x07",  # varints: 2^31 - 1, -2^31, too long, and endless
    b"\xff\xff\xff\xff\x0f",
    b"\xff" * 9 + b"\x01",
    b"\xff" * 11,
    b"9" * 25,
    b"\xc3\x28\xf0\x9f\xed\xa0\x80",  # no UTF-8, and a surrogate
    b'{"a":' * 40,
    b"[" * 200,
    b"\x1b[31m\x00\r\n",
)
CONTROL_BYTES = b'\x00\x01\x02\x7f\x80\xff\n "\\{}[]:,=-09'


def flip(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    return data[: random.randrange(len(data))]


def behead(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    return data[random.randrange(len(data)) :]


def remove(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    start = random.randrange(len(data))
    return data[:start] + data[start + random.randint(1, 64) :]


def insert(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    at = random.randrange(len(data))
    piece = bytes(random.choice(CONTROL_BYTES) for _ in range(random.randint(1, 12)))
    return data[:at] + piece + data[at:]


def repeat(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    start = random.randrange(len(data))
    piece = data[start : start + random.randint(1, 300)]
    return data[:start] + piece * random.randint(2, 20) + data[start:]


def zero(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    start = random.randrange(len(data))
    end = min(start + random.choice((1, 4, 17, 61, 5000)), len(data))
    return data[:start] + bytes(end - start) + data[end:]


def absurd(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    piece = random.choice(ABSURD)
    at = random.randrange(len(data))
    over = len(piece) if random.randrange(2) else 0
    return data[:at] + piece + data[at + over :]


def absurd_header(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    """An absurd number in a field of some batch's header, or in the first bytes of its records."""
    batches = found(data)
    if not batches:
        return absurd(random, data, samples)
    at = random.choice(batches).position + random.choice(
        (0, 8, 12, 16, 17, 21, 23, 27, 35, 43, 51, 53, 57, *range(61, 75))
    )
    piece = random.choice(ABSURD)
    return data[:at] + piece + data[at + len(piece) :]


def splice(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    other = random.choice(samples).data
    start = random.randrange(len(other)) if other else 0
    piece = other[start : start + random.randint(1, 2000)]
    at = random.randrange(len(data))
    return data[:at] + piece + data[at + random.choice((0, len(piece))) :]


def resealed(random: Random, data: bytes, samples: Sequence[Sample]) -> bytes:
    """The bytes inside one batch changed, its length and CRC made to fit."""
    batches = found(data)
    if not batches:
        return flip(random, data, samples)
    batch = random.choice(batches)
    body = batch.data[HEADER_SIZE:] or b"\0"
    for _ in range(random.randint(1, 2)):
        body = random.choice(INSIDE)(random, body, samples) or b"\0"
    header = batch.header
    if not random.randrange(4):
        header = header._replace(record_count=random.choice((0, -1, 1, 1 << 20, 0x7FFFFFFF)))
    if not random.randrange(4):
        header = header._replace(attributes=random.choice((1, 2, 3, 4, 5, 0x10, 0x20, 0x48)))
    return (
        data[: batch.position]
        + seal(header._replace(crc=0), body)
        + data[batch.position + batch.size :]
    )


INSIDE: tuple[Mutation, ...] = (flip, cut, remove, insert, absurd, splice, zero)
UNSEALED: tuple[Mutation, ...] = (*INSIDE, behead, repeat, absurd_header)
MUTATIONS: tuple[Mutation, ...] = (*UNSEALED, resealed, resealed)


def found(data: bytes) -> list[RecordBatch]:
    """The batches in some bytes, few of them: mutated logs may have thousands."""
    batches: list[RecordBatch] = []
    for item in scan(lambda at, size: data[at : at + size]):
        if isinstance(item, RecordBatch):
            batches.append(item)
            if len(batches) > 200:
                break
    return batches


def mutate(
    random: Random, samples: Sequence[Sample], mutations: Sequence[Mutation] = MUTATIONS
) -> Sample:
    """One of the samples, changed a few times; sometimes under the name of another kind of file."""
    with_batches = [
        candidate for candidate in samples if candidate.name.endswith((".log", ".checkpoint"))
    ]
    sample = random.choice(with_batches if random.randrange(3) else samples)
    data = sample.data
    for _ in range(random.randint(1, 4)):
        if data:
            data = random.choice(mutations)(random, data, samples)
    name = sample.name if random.randrange(8) else random.choice(samples).name
    return Sample(name, data[:LARGEST])
