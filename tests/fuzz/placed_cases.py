"""Snapshots on which placing partitions and replaying them must agree.

Owns the cases: topics and partitions that mostly fit, in batches that are sealed with a right CRC,
with whatever a replay refuses in between. All chance comes from the `Random` that is passed in.
"""

from __future__ import annotations

from random import Random
from typing import Any

from kraftool.decoders.framing import encode_record
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.image.uuids import LOST, MIGRATING, UNASSIGNED
from tests.fuzz.native_cases import changed_bytes, record_value, sealed_batch

_IDS = tuple(f"{letter * 21}A" for letter in "abcdefgh")
_DIRECTORIES = (MIGRATING, LOST, UNASSIGNED, *(f"{letter * 21}Q" for letter in "xyz"))
_FRAME = SnapshotFrame(epoch=1, last_contained_log_timestamp=5, timestamp=7)
LEVEL = encode_record("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30})


def snapshot(random: Random) -> bytes:
    """The bytes of a snapshot, of which most have something wrong."""
    batches = list(encode_snapshot([LEVEL], _FRAME))
    body, offset = b"", 2
    values = _values(random)
    while values:
        count = random.choice((1, 2, 5, 20, 200))
        some, values = values[:count], values[count:]
        body += sealed_batch(random, some, offset, is_changed=random.random() < 0.05, epoch=1)
        offset += len(some)
    # The base offset lies outside the CRC.
    footer = offset.to_bytes(8, "big") + batches[2][8:]
    return batches[0] + batches[1] + body + footer


def _values(random: Random) -> list[bytes]:
    values = []
    ids = list(_IDS)
    random.shuffle(ids)
    is_careful = random.random() < 0.3
    for topic_id in ids[: random.randint(1, 6)]:
        topic = {"name": f"topic-{topic_id[0]}", "topicId": topic_id}
        if is_careful or random.random() < 0.95:
            values.append(encode_record("TopicRecord", 0, topic))
        number = 0
        for _ in range(random.choice((0, 1, 3, 8, 30))):
            values.append(partition(random, topic_id, number, is_careful=is_careful))
            number += 1 if is_careful or random.random() < 0.97 else random.choice((-1, 0, 2))
            if not is_careful and random.random() < 0.03:
                values.append(_other(random))
    if not is_careful:
        for _ in range(random.choice((0, 0, 1, 3))):
            at = random.randrange(len(values) + 1)
            values.insert(at, random.choice(values) if values else LEVEL)
        for at, value in enumerate(values):
            if random.random() < 0.01:
                values[at] = changed_bytes(random, value)
    return values


def partition(random: Random, topic_id: str, number: int, *, is_careful: bool) -> bytes:
    """A PartitionRecord; one that a controller would write, if `is_careful`."""
    replicas = [random.randrange(5) for _ in range(random.choice((1, 2, 3)))]
    version = random.choice((2, 2, 2, 1, 0))
    value: dict[str, Any] = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": replicas,
        "isr": replicas[: random.randint(0, 3)],
        "removingReplicas": [],
        "addingReplicas": random.choice(([], [], [1])),
        "leader": random.choice((*replicas, -1)),
        "leaderEpoch": 1,
        "partitionEpoch": 2,
    }
    is_odd = not is_careful and random.random() < 0.05
    if random.random() < 0.1:
        value["leaderRecoveryState"] = random.choice((0, 1, 2, -1)) if is_odd else 1
    if version >= 1:
        count = random.choice((0, 1, 2, 3)) if is_odd else len(replicas)
        of = (MIGRATING,) if random.random() < 0.2 else _DIRECTORIES
        value["directories"] = [random.choice(of) for _ in range(count)]
    if version >= 2 and random.random() < 0.2:
        value["eligibleLeaderReplicas"] = random.choice((None, [], [1], [2, 3]))
        value["lastKnownElr"] = random.choice((None, [], [1]))
    return encode_record("PartitionRecord", version, value)


def change(random: Random) -> tuple[str, dict[str, Any]]:
    """A record of the log behind the snapshot, about one of its topics."""
    topic_id = random.choice(_IDS)
    lists = ("replicas", "isr", "removingReplicas", "addingReplicas", "directories")
    match random.randrange(8):
        case 0:
            return "RemoveTopicRecord", {"topicId": topic_id}
        case 1:
            return "ClearElrRecord", {"topicName": random.choice(("", f"topic-{topic_id[0]}"))}
        case _:
            value: dict[str, Any] = {
                **dict.fromkeys(lists),
                "topicId": topic_id,
                "partitionId": random.randrange(4),
                "leader": random.choice((-2, -1, 1)),
                "leaderRecoveryState": random.choice((-1, -1, 0, 1)),
            }
            if random.random() < 0.5:
                value["isr"] = [1]
            return "PartitionChangeRecord", value


def _other(random: Random) -> bytes:
    if random.random() < 0.5:
        return record_value(random)
    name, value = change(random)
    return encode_record(
        name, 0, {key: item for key, item in value.items() if key != "directories"}
    )
