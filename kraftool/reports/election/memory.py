"""Which voters have forgotten records: their directory is older than their own past.

Owns the evidence for that. A voter that lost its log, or has an old copy of it, starts as if it had
confirmed nothing beyond. What it confirmed counts as unknown then, and never as not confirmed. It
refuses to say what follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kraftool.reports.election.case import ElectionCase, NodeCase

_PATIENCE = 2
"""A leader without followers resigns after one check-quorum time. A voter whose last record is
older than the newest one by twice that was not a follower at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What a voter may have had and does not have now."""

    first: int
    """It may have had any record from this offset on."""
    reason: str
    """A clause without a subject, as in `has an empty log`."""
    is_doubt: bool = False
    """True if the log may as well be that of a voter that was stopped. It then counts for records
    that another directory shows, and is no reason to expect records that no directory shows."""


def forgetful(case: ElectionCase) -> Mapping[int, Forgotten]:
    """Return the voters that may have had more than their directory shows, by id."""
    found: dict[int, Forgotten] = {}
    given = [each for each in case.nodes if not each.assumed]
    # If all voters were given, and no log has a record, then the quorum is new.
    has_records = any(each.end.offset for each in given)
    is_new = not has_records and case.voters.ids <= {each.id for each in given}
    for node in given:
        end = node.end.offset
        if end == 0 and not is_new:
            found[node.id] = Forgotten(first=0, reason="has an empty log")
        elif node.log.is_cut:
            found[node.id] = Forgotten(first=end, reason=f"has a log that is damaged at {end}")
    if any(each.is_running for each in given):
        return found  # they are read one after the other, so that their ends prove nothing
    voters = [each for each in given if case.voters.has(each.key)]
    for other in given:
        reason = _leader_forgot(case, other)
        for node in voters if reason else ():
            if _rank(node) < _rank(other):
                # Nothing says which of the shorter logs is an old copy: any of them may be one.
                found.setdefault(node.id, Forgotten(first=node.end.offset, reason=reason))
    for node in voters:
        if reason := _is_old(given, node):
            doubt = Forgotten(first=node.end.offset, reason=reason, is_doubt=True)
            found.setdefault(node.id, doubt)
    return found


def _rank(node: NodeCase) -> tuple[int, int]:
    return node.end.epoch, node.end.offset


def _leader_forgot(case: ElectionCase, other: NodeCase) -> str:
    """Why the last record of a node proves that its leader has forgotten it; empty if it does not.

    A leader has every record of its epoch before anyone else. If it lacks one, its directory is an
    old copy, or a power failure took the end of its log.
    """
    epoch, end = _rank(other)
    leader_id = _leader_of(case, epoch)
    if end == 0 or leader_id == other.id:
        return ""
    has = f"is behind node {other.id}, whose records of epoch {epoch} up to {end}"
    leader = case.by_id.get(leader_id) if leader_id is not None else None
    if leader is None or leader.assumed:
        return ""
    if leader.election is not None and leader.election.epoch > epoch:
        return ""  # it may have dropped the record because a later leader did not have it
    return f"{has} their leader {leader.id} does not have" if _rank(leader) < _rank(other) else ""


def _leader_of(case: ElectionCase, epoch: int) -> int | None:
    """Who led an epoch, by the LeaderChange records and the files quorum-state."""
    for node in case.nodes:
        for each, leader_id in node.log.leaders:
            if each == epoch:
                return leader_id
        election = node.election
        if election is not None and election.epoch == epoch and election.leader_id is not None:
            return election.leader_id
    return None


def _is_old(given: list[NodeCase], node: NodeCase) -> str:
    """Why a log may be a copy that is older than its node's past; empty if it is as new as others.

    A voter that was stopped leaves the same log as an old copy. Both may have had more: the one
    truly had it, and nothing tells them apart.
    """
    newest = max(given, key=lambda each: each.log.last_timestamp_ms)
    last = node.log.last_timestamp_ms
    behind_ms = newest.log.last_timestamp_ms - last
    if last < 0 or behind_ms <= _PATIENCE * node.settings.timing.check_quorum_ms:
        return ""
    return (
        f"ends {behind_ms / 1000:.0f} s before node {newest.id}: it was stopped, or it is an old"
        " copy"
    )
