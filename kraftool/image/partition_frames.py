"""Writes partitions fast, as the framed records of the newest Kafka.

Owns the layout of one version of PartitionRecord: the hash of a state has such a record for each
partition. It refuses other versions, and values that do not fit: the encoder of the catalogue
takes those.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from struct import Struct
from struct import error as StructError

from kraftool.decoders.wire import UUID_BYTES, unsigned_varint
from kraftool.image.metadata_version import LATEST_LEVEL, partition_version

_Ids = tuple[int, ...]
Cells = tuple[_Ids, tuple[str, ...], _Ids, _Ids, _Ids, _Ids, _Ids, int, int, int, int]
"""A PartitionRegistration."""
_VERSION = 2
IS_NEWEST = partition_version(LATEST_LEVEL) == _VERSION
"""True if the newest Kafka writes this version."""
_HEAD = Struct(">3si16s").pack
"""The frame, the number and the topic."""
_FRAME = bytes((1, 3, _VERSION))
_NUMBERS = Struct(">iii").pack
"""Leader, leader epoch and partition epoch."""
_MOST_KEPT = 1 << 14
"""There are few lists of brokers, and many partitions."""
_RECOVERY_STATE, _ELR, _LAST_KNOWN_ELR = range(3)
_NO_TAGS = b"\x00"


def framed(
    topic_id: str, partitions: Iterable[tuple[int, Cells]], *, elr_enabled: bool
) -> list[bytes] | None:
    """The records of a topic's partitions; None if a value does not fit this layout."""
    frames = []
    try:
        topic = UUID_BYTES[topic_id]
        for number, cells in partitions:
            replicas, directories, isr, removing, adding, elr, last_known_elr, *numbers = cells
            leader, recovery_state, leader_epoch, partition_epoch = numbers
            is_plain = not (recovery_state or elr or last_known_elr)
            frames.append(
                _HEAD(_FRAME, number, topic)
                + _ids(replicas)
                + _ids(isr)
                + _ids(removing)
                + _ids(adding)
                + _NUMBERS(leader, leader_epoch, partition_epoch)
                + _uuids(directories)
                + (
                    _NO_TAGS
                    if is_plain
                    else _tagged(recovery_state, *((elr, last_known_elr) if elr_enabled else ()))
                )
            )
    except (StructError, ValueError):
        return None
    return frames


@lru_cache(_MOST_KEPT)
def _ids(ids: _Ids) -> bytes:
    return unsigned_varint(len(ids) + 1) + Struct(f">{len(ids)}i").pack(*ids)


@lru_cache(_MOST_KEPT)
def _uuids(uuids: tuple[str, ...]) -> bytes:
    return unsigned_varint(len(uuids) + 1) + b"".join([UUID_BYTES[uuid] for uuid in uuids])


def _tagged(recovery_state: int, elr: _Ids = (), last_known_elr: _Ids = ()) -> bytes:
    """Return the tagged fields, without those that have their defaults."""
    fields = {}
    if recovery_state:
        fields[_RECOVERY_STATE] = Struct(">b").pack(recovery_state)
    if elr:
        fields[_ELR] = _ids(elr)
    if last_known_elr:
        fields[_LAST_KNOWN_ELR] = _ids(last_known_elr)
    values = (
        unsigned_varint(tag) + unsigned_varint(len(value)) + value for tag, value in fields.items()
    )
    return unsigned_varint(len(fields)) + b"".join(values)
