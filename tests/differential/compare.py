"""Compares what both nodes did in a step, field by field.

Owns which differences are words only: messages of errors, and orders that mean nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from kraftool.decoders import codec
from kraftool.raft.settings import NodeSettings
from tests.differential.outcome import Outcome, Sent
from tests.differential.steps import VERSIONS, Step, describe_bytes

_WORDS = ("errorMessage",)
_UNORDERED = ("voters", "currentVoters", "observers", "nodes", "listeners", "leaderEndpoints")
_SHORT = (".topics.partitions", ".responses.partitions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field in which the nodes differ."""

    where: str
    """What is compared, then the field: "Fetch reply .highWatermark", "state .epoch"."""
    ours: Any
    theirs: Any
    step: Step | None
    """None for a start."""
    before: Outcome | None
    """What kraftool's node did in the step before."""
    our_side: Outcome
    their_side: Outcome
    settings: NodeSettings

    def __str__(self) -> str:
        ours, theirs = (
            describe_bytes(each) if isinstance(each, bytes) else each
            for each in (self.ours, self.theirs)
        )
        return f"{self.where}\n      kraftool: {ours}\n      Kafka:    {theirs}"


def differences(
    ours: Outcome,
    theirs: Outcome,
    step: Step | None,
    before: Outcome | None,
    settings: NodeSettings,
) -> list[Difference]:
    """Return every difference between two outcomes, the causes first."""
    found: list[tuple[str, Any, Any]] = []
    if ours.fatal or theirs.fatal or ours.impossible:
        if not (ours.fatal and theirs.fatal):
            found.append(("fatal", ours.fatal or ours.impossible, theirs.fatal))
    else:
        found += _sends(ours.sends, theirs.sends)
        found += _replies(ours, theirs)
        if ours.leader != theirs.leader:
            found.append(("leader change", ours.leader, theirs.leader))
        if bool(ours.refused) != bool(theirs.refused):
            found.append(("refused", ours.refused, theirs.refused))
        if ours.is_down != theirs.is_down:
            found.append(("shutdown complete", ours.is_down, theirs.is_down))
        if not theirs.is_down:
            found += [(f"state {name}", *both) for name, *both in _fields(ours.state, theirs.state)]
    return [
        Difference(
            where=where, ours=mine, theirs=their, step=step, before=before,
            our_side=ours, their_side=theirs, settings=settings,
        )
        for where, mine, their in found
    ]  # fmt: skip


def _sends(ours: list[Sent], theirs: list[Sent]) -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    mine, their = _by_destination(ours), _by_destination(theirs)
    if {key: len(each) for key, each in mine.items()} != {
        key: len(each) for key, each in their.items()
    }:
        found.append(("requests sent", sorted(mine), sorted(their)))
    for key in mine.keys() & their.keys():
        for one, other in zip(mine[key], their[key], strict=False):
            what = f"{one.name} request"
            if (one.host, one.port) != (other.host, other.port):
                found.append((f"{what} endpoint", (one.host, one.port), (other.host, other.port)))
            if one.data != other.data and one.name != "ApiVersions":
                found += [(f"{what} {field}", *both) for field, *both in _fields_sent(one, other)]
    return found


def _by_destination(sends: list[Sent]) -> dict[tuple[int, str], list[Sent]]:
    found = defaultdict(list)
    for each in sends:
        found[each.destination, each.name].append(each)
    return found


def _replies(ours: Outcome, theirs: Outcome) -> list[tuple[str, Any, Any]]:
    found: list[tuple[str, Any, Any]] = []
    if ours.replies.keys() != theirs.replies.keys():
        found.append(("requests answered", sorted(ours.replies), sorted(theirs.replies)))
    for number in ours.replies.keys() & theirs.replies.keys():
        one, other = ours.replies[number], theirs.replies[number]
        if one.data != other.data:
            name = f"{one.name}Response"
            mine = plain(codec.decode(name, one.version, one.data)[0])
            their = plain(codec.decode(name, one.version, other.data)[0])
            found += [(f"{one.name} reply {field}", *both) for field, *both in _fields(mine, their)]
    return found


def _fields_sent(one: Sent, other: Sent) -> list[tuple[str, Any, Any]]:
    name, version = f"{one.name}Request", VERSIONS[one.name]
    mine = plain(codec.decode(name, version, one.data)[0])
    their = plain(codec.decode(name, version, other.data)[0])
    return _fields(mine, their)


def plain(value: Any, name: str = "") -> Any:
    """Return a message without what is words only."""
    if name in _WORDS:
        return None
    if name == "records":
        return bytes(value or b"")
    if isinstance(value, dict):
        return {key: plain(each, key) for key, each in value.items()}
    if isinstance(value, list):
        listed = [plain(each) for each in value]
        return sorted(listed, key=str) if name in _UNORDERED else listed
    return value


def _fields(ours: Any, theirs: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Return the fields that differ, by path."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [
            each
            for name in sorted(ours.keys() | theirs.keys())
            for each in _fields(ours.get(name), theirs.get(name), f"{path}.{name}")
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            each
            for one, other in zip(ours, theirs, strict=True)
            for each in _fields(one, other, path)
        ]
    if ours == theirs:
        return []
    for each in _SHORT:
        path = path.replace(each, "")
    return [(path, ours, theirs)]
