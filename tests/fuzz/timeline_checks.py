"""The timeline of several copies of a log is the same with the native module and without it.

Owns the logs: long stretches in which nothing happens, now and then something that does, and copies
that begin later, end earlier, are split into other segments, or are damaged.

    python tests/fuzz/timeline_checks.py --cases 10000 --seed new
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Walk
from kraftool.directory.metadata_summary import NodeIds
from kraftool.reports.timeline.events import Timeline
from kraftool.reports.timeline.report import TimelineOptions, build
from kraftool.reports.timeline.sources import NodeLog
from kraftool.reports.timeline.stretches import StretchReader
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.source import BytesSource
from tests.fuzz.command_line import seed_and_cases
from tests.fuzz.native_cases import pure, record_value
from tests.reports.timeline_logs import (
    ABORT,
    BEGIN,
    END,
    FIRST,
    SECOND,
    TOPIC,
    Log,
    broker,
    change,
    feature,
)

_WAITS = (100, 100, 100, 0, -5, -2000, 4000, 10_000, 10_001, 60_000, 1 << 62)
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"isr": [1, 2], "leader": 1},
    {"leader": -1},
    {"leaderRecoveryState": 1},
    {"replicas": [2, 3]},
    {"replicas": []},
    {"addingReplicas": [3]},
    {"removingReplicas": [1], "addingReplicas": []},
)
"""Fields that PartitionChangeRecords set: no field that a timeline shows, then each of these."""
_RETENTION = {"resourceType": 2, "resourceName": "orders", "name": "retention.ms", "value": "1"}
_ANN = [{"entityType": "user", "entityName": "ann"}]
_SETTINGS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("ConfigRecord", 0, _RETENTION),
    ("ClientQuotaRecord", 0, {"entity": _ANN, "key": "request_percentage", "value": 2.0}),
    ("RemoveUserScramCredentialRecord", 0, {"name": "ann", "mechanism": 1}),
    ("ClearElrRecord", 0, {"topicName": "orders"}),
)
_OPTIONS = (
    TimelineOptions(list_topics=True),
    TimelineOptions(gaps_ms=400, list_topics=True),
    TimelineOptions(gaps_ms=1 << 40),
)


def long_log(random: Random) -> list[bytes]:
    """The batches of a log of some epochs."""
    log, batches = Log(), []
    partition = {"topicId": TOPIC, "partitionId": 3, "replicas": [1, 2], "isr": [1], "leader": 1}

    def write(*records: tuple[str, int, dict[str, Any]], wait: int | None = None) -> None:
        before, last = len(log.data), log.time
        log.records(*records, after=random.choice(_WAITS) if wait is None else wait)
        if abs(log.time - last) > 1 << 40:
            log.time = last
        batches.append(log.data[before:])

    for epoch in range(1, random.randint(2, 4)):
        before = len(log.data)
        log.leader(random.randint(1, 3), epoch * random.randint(1, 2))
        batches.append(log.data[before:])
        for _ in range(random.randint(1, 8)):
            match random.randrange(15):
                case 0:
                    write(broker(1, random.choice((FIRST, SECOND)), log.end))
                case 1:
                    write(change(1, 1, fenced=random.choice((-1, 0, 1))))
                case 2:
                    write(BEGIN)
                case 3:
                    write(random.choice((END, ABORT)))
                case 4:
                    topic = ("TopicRecord", 0, {"name": "orders", "topicId": TOPIC})
                    write(topic, *[("PartitionRecord", 2, partition)] * random.randint(0, 3))
                case 5:
                    changed = {"topicId": TOPIC, "partitionId": 3}
                    write(("PartitionChangeRecord", 2, {**changed, **random.choice(CHANGES)}))
                case 6:
                    write(feature("metadata.version", random.randint(20, 27)))
                case 7:  # as an idle leader writes it, with something else
                    write(("NoOpRecord", 0, {}), ("NoOpRecord", 0, {}))
                case 8:  # partitions that a topic gets later
                    write(*[("PartitionRecord", 2, partition)] * random.randint(1, 3))
                case 9:
                    write(*random.sample(_SETTINGS, random.randint(1, 3)))
                case 10:
                    made = encode_batch(
                        [(random.choice((None, None, b"key")), record_value(random))],
                        base_offset=log.end,
                        epoch=log.epoch,
                        timestamp=log.time,
                    )
                    log.data, log.end = log.data + made, log.end + 1
                    batches.append(made)
                case _:
                    for _ in range(random.choice((3, 40, 300))):
                        write(("NoOpRecord", 0, {}), wait=500)
    return batches


def copies(random: Random, batches: Sequence[bytes]) -> list[list[bytes]]:
    """The segments of some nodes with that log, each of them in its own way."""
    nodes = []
    for _ in range(random.randint(1, 3)):
        mine = list(batches)
        if random.random() < 0.3:
            mine = mine[random.randrange(len(mine)) :]
        if random.random() < 0.3:
            mine = mine[: random.randint(1, len(mine))]
        if random.random() < 0.3:  # what another leader wrote in its place
            at = random.randrange(len(mine))
            mine[at] = mine[at][:12] + (99).to_bytes(4, "big") + mine[at][16:]
        if random.random() < 0.2:
            at = random.randrange(len(mine))
            flipped = random.randrange(len(mine[at]))
            mine[at] = mine[at][:flipped] + b"\x55" + mine[at][flipped + 1 :]
        if random.random() < 0.2:
            del mine[random.randrange(len(mine)) :][:1]
        cut = random.randrange(len(mine))
        parts = [mine] if random.random() < 0.5 or not cut else [mine[:cut], mine[cut:]]
        nodes.append([b"".join(part) for part in parts])
    return nodes


def _node(number: int, segments: Sequence[bytes]) -> NodeLog:
    node = NodeLog(f"node-{number}", label=str(number), node=NodeIds(node_id=number))
    for data in segments:
        name = f"{int.from_bytes(data[:8], 'big'):020}.log"
        node.segments.append(
            Entry(
                directory=node.path, path=name, name=f"{node.path}/{name}",
                place=EntryPlace.PARTITION, size=len(data), mtime_ns=0,
                opener=partial(BytesSource, "a.log", data),
            )
        )  # fmt: skip
    return node


def told(nodes: Sequence[Sequence[bytes]], options: TimelineOptions) -> Timeline:
    """The timeline of nodes."""
    logs = [_node(number, segments) for number, segments in enumerate(nodes, 1)]
    return build(logs, (), options)


def check_timeline(nodes: Sequence[Sequence[bytes]], options: TimelineOptions) -> None:
    """Raises AssertionError if both paths tell another timeline."""
    native = told(nodes, options)
    with pure():
        expected = told(nodes, options)
    cases = [[data.hex() for data in segments] for segments in nodes]
    assert repr(native) == repr(expected), (cases, options)


def in_stretches(data: bytes) -> int:
    """Return how many batches of a log come in stretches of several."""
    reader, alone, batches = StretchReader("a.log"), 0, 0
    for item in Walk(BytesSource("a.log", data).read_at).spans():
        if isinstance(item, BatchSpan):
            read_batches = [*reader.read(item), *reader.close()]
            alone += sum(batch.stretch is None for batch in read_batches)
            batches += item.batches
    return batches - alone


def run(seed: int, cases: int) -> tuple[int, int]:
    """Check so many quorums; returns how many batches they have, and how many in stretches."""
    random = Random(seed)
    batches = taken = 0
    for number in range(cases):
        written = long_log(random)
        options = _OPTIONS[number % len(_OPTIONS)]
        if number % 5 == 0:
            options = replace(options, gaps_ms=random.randrange(12_000))
        check_timeline(copies(random, written), options)
        batches += len(written)
        taken += in_stretches(b"".join(written))
    return batches, taken


def main() -> int:
    seed, cases = seed_and_cases(__doc__, 1000)
    batches, taken = run(seed, cases)
    print(f"{cases} quorums, {batches} batches, {taken} of them in stretches")
    return 0


if __name__ == "__main__":
    sys.exit(main())
