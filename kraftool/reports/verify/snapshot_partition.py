"""The problems of a PartitionRecord by itself.

Owns the states that a controller brings a partition into, and tells those that it does not. What
is possible in a healthy cluster is no fault: an ISR member that is fenced or not registered (the
last one stays), a partition without a leader, an empty ISR while ELR is on, a reassignment.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.replay import RecordValue

Fault = tuple[str, str, str]
"""In words, what would be right, and what is there."""


def partition_faults(value: RecordValue, *, elr_enabled: bool) -> Iterator[Fault]:
    """The faults of one record, mostly none."""
    replicas, isr, leader = value["replicas"], value["isr"], value["leader"]
    if not replicas:
        yield "a partition without replicas", "1 or more", "none"
    members = set(replicas)
    if len(members) < len(replicas):
        yield "a broker is among the replicas twice", "", _ids(replicas)
    if not members.issuperset(isr):
        yield "the ISR has a broker that is not a replica", f"some of {_ids(replicas)}", _ids(isr)
    if leader not in isr and leader != -1:
        yield "the leader is not in the ISR", f"-1 or one of {_ids(isr)}", str(leader)
    if value["leaderEpoch"] < 0:
        yield "a negative leader epoch", "0 or more", str(value["leaderEpoch"])
    if value["partitionEpoch"] < 0:
        yield "a negative partition epoch", "0 or more", str(value["partitionEpoch"])
    elr, last_known = value.get("eligibleLeaderReplicas"), value.get("lastKnownElr")
    if elr or last_known:
        if not elr_enabled:
            eligible_ids = _ids(elr or last_known or [])
            yield "there are eligible leader replicas, but the feature is off", "none", eligible_ids
        if not set(isr).isdisjoint(elr or ()):
            yield (
                "an eligible leader replica is in the ISR",
                f"none of {_ids(isr)}",
                _ids(elr or []),
            )


def _ids(ids: list[int]) -> str:
    return ", ".join(map(str, ids)) or "none"
