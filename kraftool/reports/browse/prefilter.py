"""A filter of batches by a glance at their bytes: those that may have what is searched for.

Owns the glance, which is many times faster than decoding and never says no where the answer is
yes. Whatever it lets pass is decoded and looked at.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from kraftool.decoders import schema
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.framing import decode_record
from kraftool.decoders.wire import unsigned_varint
from kraftool.reports.browse.blocks import LogBlocks
from kraftool.reports.logs.dump import Selection, TopicNames, type_words

Glance = Callable[[RecordBatch], bool]

_STEP = 4 << 20
_UUID = 16


def glance(selection: Selection, topics: TopicNames) -> Glance:
    """Return what says of a batch whether it may hold records of a selection."""
    of_types = _of_types(selection.types) if selection.types else None
    needle = _of_topic(selection.topic, topics) if selection.topic else None

    def may_hold(batch: RecordBatch) -> bool:
        if not selection.may_hold(batch):
            return False
        if batch.compression != "none":
            return True
        if of_types is not None:
            types, control = of_types
            if batch.is_control:
                return control
            if types is None or types.search(batch.data) is None:
                return False
        return needle is None or needle.search(batch.data) is not None

    return may_hold


@lru_cache(maxsize=16)
def _of_types(types: frozenset[str]) -> tuple[re.Pattern[bytes] | None, bool]:
    """The frames that records of these types begin with, and whether control records are wanted."""
    keys = [
        message.api_key
        for message in map(schema.message, schema.names("metadata"))
        if message.api_key is not None
        and (type_words(message.name) | type_words(schema.record_type(message.name))) & types
    ]
    control = any(
        (type_words(kind.label) | type_words(kind.message)) & types for kind in ControlRecordType
    )
    frames = b"|".join(re.escape(b"\x01" + unsigned_varint(key)) for key in keys)
    return (re.compile(frames) if keys else None), control


def _of_topic(topic: str, topics: TopicNames) -> re.Pattern[bytes]:
    """The name, and the ids of topics of that name."""
    ids = [topic_id for topic_id, name in topics.by_id.items() if topic in (topic_id, name)]
    needles = [topic.encode("utf-8", "surrogateescape")]
    for candidate in {topic, *ids}:
        if len(candidate) == 22 and candidate.isascii():
            try:
                needles.append(base64.urlsafe_b64decode(candidate + "=="))
            except ValueError:
                continue
    return re.compile(b"|".join(map(re.escape, needles)))


def topic_ids(blocks: LogBlocks, topics: TopicNames, name: str) -> Iterator[int]:
    """Look for the TopicRecords of a name in the whole log, by their bytes; `topics` learns them.

    Yields how many bytes were looked through, piece by piece. What changes a topic has its id only,
    and may be met before the record that says whose it is.
    """
    raw = name.encode("utf-8", "surrogateescape")
    # Frame version, api key, version 0, then a compact string.
    record = b"\x01\x02\x00" + unsigned_varint(len(raw) + 1) + raw
    size = len(record) + _UUID
    for base in list(blocks.bases):
        position = 0
        while data := blocks.source(base).read_at(position, _STEP + size):
            at = data.find(record)
            while at >= 0:
                _learn(topics, data[at : at + size])
                at = data.find(record, at + 1)
            yield min(len(data), _STEP)
            position += _STEP


def _learn(topics: TopicNames, value: bytes) -> None:
    try:
        _, _, fields = decode_record(value + b"\0")
        topics.by_id[fields["topicId"]] = fields["name"]
    except DecodeError:
        pass  # bytes that look like one by chance
