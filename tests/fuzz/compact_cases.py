"""Logs on which partitions that the native module keeps, and those of Python, must agree.

Owns the cases: topics, partitions and changes of them that mostly fit, in batches that are sealed
with a right CRC, with whatever a replay refuses in between, and with transactions. All chance comes
from the `Random` that is passed in.
"""

from __future__ import annotations

from random import Random
from typing import Any

from kraftool.decoders.framing import encode_record
from kraftool.image.uuids import LOST, MIGRATING
from tests.fuzz.native_cases import changed_bytes, record_value, sealed_batch
from tests.fuzz.placed_cases import LEVEL, partition

_IDS = tuple(f"{letter * 21}A" for letter in "abcd")
_DIRECTORIES = (MIGRATING, LOST, *(f"{letter * 21}Q" for letter in "xyz"))
_TRANSACTION: tuple[tuple[str, dict[str, Any]], ...] = (
    ("BeginTransactionRecord", {"name": None}),
    ("EndTransactionRecord", {}),
    ("AbortTransactionRecord", {"reason": None}),
)


def batches(random: Random) -> list[bytes]:
    """The batches of a log."""
    made, offset, is_careful = [], 0, random.random() < 0.4
    for _ in range(random.randint(1, 8)):
        values = _values(random, is_careful=is_careful)
        is_changed = not is_careful and random.random() < 0.1
        made.append(sealed_batch(random, values, offset, is_changed=is_changed, epoch=1))
        offset += len(values)
    return made


def _values(random: Random, *, is_careful: bool) -> list[bytes]:
    values = [_value(random, is_careful=is_careful) for _ in range(random.choice((1, 4, 30)))]
    if not is_careful and random.random() < 0.2:
        at = random.randrange(len(values))
        values[at] = changed_bytes(random, values[at])
    return values


def _value(random: Random, *, is_careful: bool) -> bytes:
    topic_id = random.choice(_IDS)
    kind = random.random()
    if kind < 0.1:
        topic = {"name": f"topic-{topic_id[0]}", "topicId": topic_id}
        return encode_record("TopicRecord", 0, topic)
    if kind < 0.4:
        number = random.choice((0, 1, 2, 3, 7, -1, 1 << 30))
        return partition(random, topic_id, number, is_careful=is_careful)
    if kind < 0.86:
        return change(random, topic_id, is_careful=is_careful)
    if kind < 0.88:
        return encode_record("RemoveTopicRecord", 0, {"topicId": topic_id})
    if kind < 0.92:
        name = random.choice(("", f"topic-{topic_id[0]}"))
        return encode_record("ClearElrRecord", 0, {"topicName": name})
    if kind < 0.96:
        name, value = random.choice(_TRANSACTION)
        return encode_record(name, 0, value)
    if kind < 0.98:
        return LEVEL if kind < 0.97 else encode_record("NoOpRecord", 0, {})
    return record_value(random)


def change(random: Random, topic_id: str, *, is_careful: bool) -> bytes:
    """A PartitionChangeRecord; one that a controller could write, if `is_careful`."""
    version = random.choice((2, 2, 1, 0))
    value: dict[str, Any] = {
        "topicId": topic_id,
        "partitionId": random.choice((0, 0, 1, 1, 2, 3, 7, -1, 1 << 30)),
    }

    def numbers() -> list[int]:
        return [random.randrange(-1, 300) for _ in range(random.choice((0, 1, 2, 3)))]

    for name in ("isr", "removingReplicas", "addingReplicas"):
        if random.random() < 0.25:
            value[name] = numbers()
    if random.random() < 0.3:
        value["leader"] = random.choice((-1, 0, 1, 300))
    if random.random() < 0.1:
        value["leaderRecoveryState"] = random.choice((0, 1) if is_careful else (0, 1, 2, -2, 127))
    if random.random() < 0.2:
        value["replicas"] = numbers()
    if version >= 1 and random.random() < 0.3:
        count = len(value.get("replicas") or (1, 2))
        count = count if random.random() < 0.8 else random.randrange(4)
        of = (MIGRATING,) if random.random() < 0.3 else _DIRECTORIES
        value["directories"] = [random.choice(of) for _ in range(count)]
    if version >= 2 and random.random() < 0.2:
        value["eligibleLeaderReplicas"] = numbers()
        value["lastKnownElr"] = numbers()
    return encode_record("PartitionChangeRecord", version, value)
