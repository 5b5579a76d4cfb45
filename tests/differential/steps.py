"""The steps of a trial: what happens to both nodes, as values that can be replayed.

Owns their form and how a report prints them. A step carries bytes and offsets, never a reference to
a node, so that a trial can run again without some of its steps.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.control import BY_ID, decode_value, read_key
from kraftool.decoders.segment import Damage, scan

BEGIN_MS = 1_000_000
"""The time at which each trial begins."""

API_KEYS = {
    "Fetch": 1,
    "ApiVersions": 18,
    "Vote": 52,
    "BeginQuorumEpoch": 53,
    "EndQuorumEpoch": 54,
    "DescribeQuorum": 55,
    "FetchSnapshot": 59,
    "AddRaftVoter": 80,
    "RemoveRaftVoter": 81,
    "UpdateRaftVoter": 82,
}
API_NAMES = {key: name for name, key in API_KEYS.items()}
VERSIONS = {
    "Fetch": 18,
    "ApiVersions": 4,
    "Vote": 2,
    "BeginQuorumEpoch": 1,
    "EndQuorumEpoch": 1,
    "DescribeQuorum": 2,
    "FetchSnapshot": 1,
    "AddRaftVoter": 1,
    "RemoveRaftVoter": 0,
    "UpdateRaftVoter": 0,
}
"""The versions in which both nodes write their requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Time passes, and nothing else happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request arrives."""

    request_id: int
    name: str
    version: int
    data: bytes
    listener: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response arrives to one of the requests that both nodes sent since their last start."""

    destination: int
    name: str
    number: int
    """Which request of this name to this destination, from 0."""
    version: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendRecords:
    epoch: int
    records: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResignLeader:
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeLevel:
    epoch: int
    level: int
    validate_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSnapshot:
    offset: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanLog:
    """Drop everything before a snapshot."""

    offset: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShutDown:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Both processes end, and start again on their own directories."""


Action = (
    Pause
    | Ask
    | Answer
    | AppendRecords
    | ResignLeader
    | UpgradeLevel
    | WriteSnapshot
    | CleanLog
    | ShutDown
    | Restart
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    at_ms: int
    chance: int
    """Every random number of the step, modulo its bound, on both nodes."""
    action: Action
    arrives_while_waiting: bool = False
    """True if the message ends the node's wait: it is handled before the timers that have run out
    by then. False if the timers come first."""


def describe(step: Step) -> str:
    """Return one line for a report."""
    order = ", before the timers" if step.arrives_while_waiting else ""
    return f"{step.at_ms - BEGIN_MS:>7} ms  {_described(step.action)}{order}"


def _described(action: Action) -> str:
    match action:
        case Ask():
            value = codec.decode(f"{action.name}Request", action.version, action.data)[0]
            where = f"#{action.request_id} v{action.version} on {action.listener}"
            return f"{action.name} request {where}: {brief(value)}"
        case Answer():
            value = codec.decode(f"{action.name}Response", action.version, action.data)[0]
            where = f"{action.destination} #{action.number}"
            return f"{action.name} response from {where}: {brief(value)}"
        case _:
            given = ", ".join(
                f"{field.name}={getattr(action, field.name)}" for field in fields(action)
            )
            return f"{type(action).__name__}({given})"


def brief(value: Any) -> str:
    """Return a message without defaults and without the bytes of records."""
    if isinstance(value, dict):
        shown = [
            f"{name}: {describe_bytes(item) if name == 'records' else brief(item)}"
            for name, item in value.items()
            if item not in (None, [], {}, "") and name not in ("topicName", "topicId", "topic")
        ]
        return "{" + ", ".join(shown) + "}"
    if isinstance(value, list):
        return brief(value[0]) if len(value) == 1 else "[" + ", ".join(map(brief, value)) + "]"
    if isinstance(value, bytes | memoryview):
        return f"{len(value)} bytes"
    return str(int(value)) if isinstance(value, int) else str(value)


def describe_bytes(data: bytes | None) -> str:
    """Return the batches of a log, of a snapshot or of a message."""
    whole = bytes(data or b"")
    shown = []
    for batch in scan(lambda position, size: whole[position : position + size]):
        if isinstance(batch, Damage):
            shown.append(f"damage at {batch.position}")
            continue
        text = f"{batch.base_offset}..{batch.last_offset}@{batch.epoch}"
        if not batch.is_valid:
            text += " with a wrong CRC"
        elif batch.is_control:
            text += (
                f" ({', '.join(_control(record.key, record.value) for record in batch.records())})"
            )
        shown.append(text)
    return "[" + ", ".join(shown) + "]"


def _control(key: bytes | None, value: bytes | None) -> str:
    kind = BY_ID[read_key(key)]
    return f"{kind.label} {brief(decode_value(kind, value)[1])}"
