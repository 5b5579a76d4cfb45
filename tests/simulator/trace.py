"""The events as text: a line an event, the same for the same seed.

Owns the short form of events, effects and messages. It refuses to print.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

from kraftool.raft.names import Endpoint, OffsetAndEpoch, ReplicaKey, VoterSet
from kraftool.raft.records import Batch

_LEFT_OUT = frozenset({"cluster_id", "endpoints", "leader_endpoints", "listener", "listeners"})


def short(value: Any) -> str:
    """A value in as few words as tell it."""
    match value:
        case Batch():
            kind = "control" if value.control else "data"
            return f"[{value.base_offset}..{value.last_offset} e{value.epoch} {kind}]"
        case VoterSet():
            return "{" + " ".join(str(voter.key) for voter in value) + "}"
        case ReplicaKey():
            return str(value)
        case OffsetAndEpoch():
            return f"{value.offset}@{value.epoch}"
        case Endpoint():
            return str(value)
        case Enum():
            return value.name
        case bytes():
            return f"{len(value)} bytes"
        case tuple() | list():
            return "(" + " ".join(short(member) for member in value) + ")"
        case Mapping():
            return "{" + " ".join(f"{key}={short(member)}" for key, member in value.items()) + "}"
    if is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value)
    return str(value)


def _dataclass(value: Any) -> str:
    parts = []
    for field in fields(value):
        field_value = getattr(value, field.name)
        if field.name in _LEFT_OUT or (
            field.default is not MISSING and field_value == field.default
        ):
            continue
        if field_value is None or field_value == ():
            continue
        parts.append(f"{field.name}={short(field_value)}")
    return f"{type(value).__name__}({', '.join(parts)})"
