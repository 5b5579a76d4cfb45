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
    """The part that is compared, then the field: "Fetch reply .highWatermark", "state .epoch"."""
    ours: Any
    theirs: Any
    step: Step | None
    """None for a start."""
    before: Outcome | None
    """The outcome of kraftool's node in the step before."""
    our_side: Outcome
    their_side: Outcome
    settings: NodeSettings

    def __str__(self) -> str:
        ours, theirs = (
            describe_bytes(value) if isinstance(value, bytes) else value
            for value in (self.ours, self.theirs)
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
    fields: list[tuple[str, Any, Any]] = []
    if ours.fatal or theirs.fatal or ours.impossible:
        if not (ours.fatal and theirs.fatal):
            fields.append(("fatal", ours.fatal or ours.impossible, theirs.fatal))
    else:
        if ours.accepts_answer != theirs.accepts_answer:
            fields.append(("answer accepted", ours.accepts_answer, theirs.accepts_answer))
        fields += _sends(ours.sends, theirs.sends)
        fields += _replies(ours, theirs)
        if ours.leader != theirs.leader:
            fields.append(("leader change", ours.leader, theirs.leader))
        if bool(ours.refused) != bool(theirs.refused):
            fields.append(("refused", ours.refused, theirs.refused))
        if ours.is_down != theirs.is_down:
            fields.append(("shutdown complete", ours.is_down, theirs.is_down))
        if not theirs.is_down:
            fields += [
                (f"state {name}", *both) for name, *both in _fields(ours.state, theirs.state)
            ]
    return [
        Difference(
            where=where, ours=mine, theirs=their, step=step, before=before,
            our_side=ours, their_side=theirs, settings=settings,
        )
        for where, mine, their in fields
    ]  # fmt: skip


def _sends(ours: list[Sent], theirs: list[Sent]) -> list[tuple[str, Any, Any]]:
    fields: list[tuple[str, Any, Any]] = []
    mine, their = _by_destination(ours), _by_destination(theirs)
    if {key: len(sends) for key, sends in mine.items()} != {
        key: len(sends) for key, sends in their.items()
    }:
        fields.append(("requests sent", sorted(mine), sorted(their)))
    for key in mine.keys() & their.keys():
        for sent, other in zip(mine[key], their[key], strict=False):
            what = f"{sent.name} request"
            if (sent.host, sent.port) != (other.host, other.port):
                fields.append(
                    (f"{what} endpoint", (sent.host, sent.port), (other.host, other.port))
                )
            if sent.data != other.data and sent.name != "ApiVersions":
                fields += [(f"{what} {field}", *both) for field, *both in _fields_sent(sent, other)]
    return fields


def _by_destination(sends: list[Sent]) -> dict[tuple[int, str], list[Sent]]:
    fields = defaultdict(list)
    for sent in sends:
        fields[sent.destination, sent.name].append(sent)
    return fields


def _replies(ours: Outcome, theirs: Outcome) -> list[tuple[str, Any, Any]]:
    fields: list[tuple[str, Any, Any]] = []
    if ours.replies.keys() != theirs.replies.keys():
        fields.append(("requests answered", sorted(ours.replies), sorted(theirs.replies)))
    for number in ours.replies.keys() & theirs.replies.keys():
        reply, other = ours.replies[number], theirs.replies[number]
        if reply.data != other.data:
            name = f"{reply.name}Response"
            mine = plain(codec.decode(name, reply.version, reply.data)[0])
            their = plain(codec.decode(name, reply.version, other.data)[0])
            fields += [
                (f"{reply.name} reply {field}", *both) for field, *both in _fields(mine, their)
            ]
    return fields


def _fields_sent(sent: Sent, other: Sent) -> list[tuple[str, Any, Any]]:
    name, version = f"{sent.name}Request", VERSIONS[sent.name]
    mine = plain(codec.decode(name, version, sent.data)[0])
    their = plain(codec.decode(name, version, other.data)[0])
    return _fields(mine, their)


def plain(value: Any, name: str = "") -> Any:
    """Return a message without what is words only."""
    if name in _WORDS:
        return None
    if name == "records":
        return bytes(value or b"")
    if isinstance(value, dict):
        return {key: plain(item, key) for key, item in value.items()}
    if isinstance(value, list):
        listed = [plain(item) for item in value]
        return sorted(listed, key=str) if name in _UNORDERED else listed
    return value


def _fields(ours: Any, theirs: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Return the fields that differ, by path."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [
            field
            for name in sorted(ours.keys() | theirs.keys())
            for field in _fields(ours.get(name), theirs.get(name), f"{path}.{name}")
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            field
            for one, other in zip(ours, theirs, strict=True)
            for field in _fields(one, other, path)
        ]
    if ours == theirs:
        return []
    for part in _SHORT:
        path = path.replace(part, "")
    return [(path, ours, theirs)]
