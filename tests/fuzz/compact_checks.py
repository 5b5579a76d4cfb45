"""A log whose partitions the native module keeps is replayed to the same states and findings as
one that Python replays.

Owns the comparison, and counts the partitions that were kept natively: only there can they differ.

    python tests/fuzz/compact_checks.py --cases 1000000
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.native_rows import CompactRows
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Walk
from kraftool.image.image import MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.image.replay import ReplayError
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.replay import Replay
from kraftool.storage.source import BytesSource
from tests.fuzz.command_line import seed_and_cases
from tests.fuzz.compact_cases import batches
from tests.fuzz.native_cases import pure
from tests.fuzz.placed_cases import change


def outcome(data: bytes, seed: int) -> tuple[list[Any], list[MetadataImage]]:
    """What a log comes to, with looks at the state and changes in Python in between."""
    random, replay = Random(seed), Replay()
    seen: list[Any] = []
    images: list[MetadataImage] = []
    is_snapshot = random.random() < 0.1
    rest = [
        item for item in Walk(BytesSource("a.log", data).read_at) if isinstance(item, RecordBatch)
    ]
    while rest:
        start, below, item, span = 0, None, rest[0], _span(data, rest, random.randint(1, 4))
        match random.randrange(8):
            case 0:
                start = item.base_offset + random.randrange(4)
            case 1:
                below = item.base_offset + random.randrange(4)
        if start or below is not None or is_snapshot:
            seen.append(replay.batch("a.log", item, start=start, below=below, snapshot=is_snapshot))
            del rest[0]
        else:
            at = span.at
            while at < span.end:
                at, reached = replay.span("a.log", span, at, span.end)
            seen.append(reached)
            del rest[: span.batches]
        match random.randrange(6):
            case 0 | 1:
                images.append(replay.loader.image())
                # A change of it may not show in the image before.
                seen.append(repr(images[-1]))
            case 2:
                seen.append(_changed(replay.loader, random))
            case 3:
                seen.append(_looked_up(replay.loader))
            case 4:
                replay.loader = ImageLoader(replay.loader.image())
    images.append(replay.loader.image())
    seen += [replay.findings, replay.more_findings, replay.records, replay.controls]
    seen.append(replay.loader.open_transaction)
    seen += map(_views, images)
    return seen, images


def _span(data: bytes, batches: list[RecordBatch], most: int) -> BatchSpan:
    """The first batches as far as they are one piece."""
    first = last = batches[0]
    count = 1
    for batch in batches[1:most]:
        end = last.position + last.size, last.last_offset + 1, last.epoch
        if end != (batch.position, batch.base_offset, batch.epoch):
            break
        last, count = batch, count + 1
    at, end_at = first.position, last.position + last.size
    offsets = first.base_offset, last.last_offset
    return BatchSpan(data, at, end_at, at, *offsets, first.epoch, count)


def _changed(loader: ImageLoader, random: Random) -> str:
    """Replay a record in Python."""
    try:
        loader.replay(0, *change(random))
    except ReplayError as error:
        return error.message
    return ""


def _looked_up(loader: ImageLoader) -> list[Any]:
    topics = loader.delta.topics
    return [
        [(number, topics.partition(topic_id, number)) for number in (0, 1, 7, -1, 1 << 30)]
        + list(topics.partitions(topic_id).items())
        for topic_id in topics.ids()
    ]


def _views(image: MetadataImage) -> list[Any]:
    try:
        seen: list[Any] = [state_hash(image)]
    except ReplayError as error:
        seen = [error.message]
    for topic in image.topics.by_id.values():
        partitions = topic.partitions
        seen += [topic.name, topic.id, len(partitions), list(partitions), list(partitions.items())]
        seen += [list(partitions.values()), repr(partitions)]
        seen += [
            (number, partitions.get(number), number in partitions) for number in (0, 5, 1 << 40)
        ]
        seen.append([partitions[number] for number in partitions])
        seen.append(topic is image.topics.by_name.get(topic.name))
    return seen


def compact(image: MetadataImage) -> int:
    """The number of partitions that the native module keeps."""
    return sum(
        len(topic.partitions)
        for topic in image.topics.by_id.values()
        if isinstance(topic.partitions, CompactRows)
    )


def check(data: bytes, seed: int) -> tuple[int, int]:
    """Raises AssertionError if both paths differ; returns how many partitions there are, and how
    many of them the native module keeps."""
    native, images = outcome(data, seed)
    with pure():
        expected, replayed = outcome(data, seed)
    assert native == expected, (data.hex(), seed)
    assert images == replayed, (data.hex(), seed)
    assert replayed == images, (data.hex(), seed)
    assert not any(map(compact, replayed)), "Python has none"
    assert pickle.loads(pickle.dumps(images[-1])) == images[-1], (data.hex(), seed)
    assert [a == b for a in images for b in images] == [a == b for a in replayed for b in replayed]
    return images[-1].topics.partitions, compact(images[-1])


def run(seed: int, cases: int) -> tuple[int, int]:
    """Check so many logs; returns how many partitions there were, and how many compact ones."""
    random, partitions, kept = Random(seed), 0, 0
    for number in range(cases):
        there, kept_there = check(b"".join(batches(random)), number)
        partitions, kept = partitions + there, kept + kept_there
    return partitions, kept


def main() -> int:
    seed, cases = seed_and_cases(__doc__, 10_000)
    partitions, kept = run(seed, cases)
    print(f"{cases} logs, {partitions} partitions, {kept} of them kept natively")
    return 0


if __name__ == "__main__":
    sys.exit(main())
