"""Canonical forms of states, so that a state that was met before is known again.

Owns what of a replica is its state: everything that a later step can depend on. Times count from
the replica's own present, since only their distance matters; what is the same in every state of a
node (its settings) and what is nothing between two steps is left out.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from kraftool.raft.names import VoterSet
from kraftool.raft.records import Batch
from kraftool.raft.roles import NEVER
from kraftool.sim.replica import SentMessage, SimulatedNode

_NOT_STATE = frozenset(
    {"settings", "timing", "random", "now_ms", "bootstrap", "effects", "wake_ms"}
)

_DURATIONS = frozenset(
    {
        "request_timeout_ms",
        "retry_backoff_ms",
        "max_wait_ms",
        "timeout_ms",
        "linger_ms",
        "hand_over_pause_ms",
    }
)
"""The other `_ms` of a state are moments."""

Form = Any
"""Tuples of plain values: hashable, and equal for equal states."""


def form(value: Any, now_ms: int, name: str = "") -> Form:
    """A value as something that can be compared."""
    match value:
        case None | bool() | str() | bytes() | Enum():
            return value
        case int():
            is_moment = name.endswith("_ms") and name not in _DURATIONS and 0 < value < NEVER
            return ("in", value - now_ms) if is_moment else value
        case VoterSet():
            return tuple(sorted((voter.key, _endpoints(voter.endpoints)) for voter in value))
        case Batch():
            kinds = tuple(type(control_record).__name__ for control_record in value.control)
            return value.base_offset, value.last_offset, value.epoch, kinds, value.is_valid
        case dict():
            pairs = [
                (form(key, now_ms), form(member, now_ms, name)) for key, member in value.items()
            ]
            return tuple(sorted(pairs, key=repr))
        case set() | frozenset():
            return tuple(sorted((form(member, now_ms) for member in value), key=repr))
        case tuple() | list():
            return tuple(form(member, now_ms) for member in value)
    return (type(value).__name__, *(
        form(getattr(value, attribute), now_ms, attribute)
        for attribute in _attributes(type(value), value)
    ))  # fmt: skip


def _endpoints(value: Any) -> Form:
    return tuple(sorted(value.items()))


def _attributes(kind: type, value: Any) -> tuple[str, ...]:
    if is_dataclass(kind):
        return _fields(kind)
    slots = getattr(kind, "__slots__", None)
    names = tuple(slots) if slots is not None else tuple(sorted(vars(value)))
    return tuple(name for name in names if name not in _NOT_STATE)


@lru_cache(maxsize=256)
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name not in _NOT_STATE)


def of_replica(replica: SimulatedNode, now_ms: int) -> Form:
    """The whole state of a node: memory, disk, and what waits for its answers."""
    disk = replica.disk
    due = replica.deadline_ms
    return (
        replica.id,
        replica.incarnation,
        replica.broken,
        due if due >= NEVER else due - now_ms,
        form(replica.raft, now_ms),
        form(disk.election, now_ms),
        form(disk.log.items, now_ms),
        disk.log.start,
        tuple(sorted(disk.snapshots)),
        tuple((key, of_message(message)) for key, message in sorted(replica.waiting.items())),
    )


def of_message(message: SentMessage) -> Form:
    return form(message, 0)
