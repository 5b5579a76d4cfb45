"""The grade of one replica of a live quorum: what was seen of it, and why it does not count.

Owns the grades and their words. What follows for the quorum is `judgement.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kraftool.client.failures import ANSWERED
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.second_poll import has_same_leader, leader_end
from kraftool.client.thresholds import (
    FETCH_TIMEOUT_MS,
    LAG_MS,
    LAG_RECORDS,
    fetching,
    leader_clock,
)
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.reports.text.words import duration, many


class Grade(StrEnum):
    """The grade of a replica, by all that was seen of it."""

    READY = "ready"
    """It answers, knows the leader, fetches, and has what was committed. Only such a voter
    counts."""
    WAITING = "waiting"
    """Its answer is overdue, and the timeout has not passed."""
    NEW_LEADER = "new leader"
    """The leader has not answered twice yet, so nothing is known of the voter's fetches."""
    OUT_OF_REACH = "out of reach"
    """It fetches from the leader, but it cannot be reached from here."""
    HANGS = "hangs"
    """Its process runs on this machine and does not answer."""
    REJECTS = "rejects"
    """It does not fetch. A process accepts connections at its address, and they fail."""
    DOWN = "down"
    """It does not fetch, and it refused the connection or the timeout passed."""
    UNASKED = "unasked"
    """No address of it is known."""
    ASTRAY = "astray"
    """It answers, but knows no leader, or another one."""
    SILENT = "silent"
    """It answers and knows the leader, but does not fetch."""
    BEHIND = "behind"
    """It fetches, but lacks records that were committed."""


_PENDING = frozenset({Grade.WAITING, Grade.NEW_LEADER})
"""Grades that the next polls replace: they make a verdict unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStanding:
    """A voter or an observer with its grade."""

    id: int
    grade: Grade
    reason: str = ""
    """Why it does not count; empty if it does."""
    is_fetching: bool = False
    """True if the leader can count it for a commit; without a leader, if it answers."""
    waiting_ms: int | None = None
    """For how long its answer is overdue."""

    @property
    def counts(self) -> bool:
        return self.grade is Grade.READY

    @property
    def is_pending(self) -> bool:
        return self.grade in _PENDING


def surveyed_quorum(
    now: QuorumView,
    before: QuorumView | None,
    quorum: DescribeQuorumResponse,
    voter: ReplicaState,
    holders: Mapping[int, str],
) -> ReplicaStanding:
    node_id, node = voter.replica.id, now.node(voter.replica.id)
    grade, reason = _grade(now, before, quorum, voter, holders.get(node_id, ""))
    has_gone = grade in (Grade.DOWN, Grade.HANGS)
    return ReplicaStanding(
        id=node_id,
        grade=grade,
        reason=reason,
        is_fetching=bool(fetching(quorum, (voter,))) and not has_gone,
        waiting_ms=None if node is None else node.waiting_ms,
    )


def _grade(
    now: QuorumView,
    before: QuorumView | None,
    quorum: DescribeQuorumResponse,
    voter: ReplicaState,
    holder: str,
) -> tuple[Grade, str]:
    """Return a voter's grade, and why it does not count."""
    node = now.node(voter.replica.id)
    is_leader = voter.replica.id == quorum.leader_id
    then = None if before is None else before.quorum
    if node is None:
        return Grade.UNASKED, (
            "it was not asked, as its address is not known. Name it with --bootstrap-controller"
        )
    if node.waiting_ms is not None:
        return Grade.WAITING, f"its answer is overdue: waiting {duration(node.waiting_ms)}"
    if not node.is_reached:
        fetches = is_leader or _has_fetched(quorum, then, voter)
        return _unreached(node, _last_fetch(quorum, voter), holder, fetches=fetches)
    if node.epoch is None:
        return Grade.ASTRAY, f"it does not report its epoch ({node.problem})"
    if (node.epoch, node.leader_id) != (now.epoch, quorum.leader_id):
        known = "no leader" if node.leader_id is None else f"leader {node.leader_id}"
        return Grade.ASTRAY, f"it knows {known} of epoch {node.epoch}"
    if is_leader:
        return Grade.READY, ""
    is_new = then is None or not has_same_leader(then, quorum) or then.high_watermark < 0
    if before is not None and is_new:
        return Grade.NEW_LEADER, "the leader is new and has not answered twice yet"
    if not _has_fetched(quorum, then, voter):
        return Grade.SILENT, _last_fetch(quorum, voter, "it last fetched {}")
    return _progress(quorum, then, voter)


def _progress(
    quorum: DescribeQuorumResponse, then: DescribeQuorumResponse | None, voter: ReplicaState
) -> tuple[Grade, str]:
    """Compare a voter's log with what was committed at the earlier poll. One poll shows only a
    voter that is far behind."""
    if then is not None:
        missing = then.high_watermark - voter.log_end_offset
        if missing > 0:
            return Grade.BEHIND, f"it lacks {many(missing, 'committed record')}"
        return Grade.READY, ""
    missing = leader_end(quorum) - voter.log_end_offset
    late_ms = leader_clock(quorum) - voter.last_caught_up_timestamp
    if missing > LAG_RECORDS or (voter.last_caught_up_timestamp >= 0 and late_ms > LAG_MS):
        return Grade.BEHIND, f"it is {many(missing, 'record')} behind the leader"
    return Grade.READY, ""


def _has_fetched(
    quorum: DescribeQuorumResponse, then: DescribeQuorumResponse | None, voter: ReplicaState
) -> bool:
    """True if a voter has fetched since the earlier poll, and within the fetch timeout. Kafka's
    voters fetch at least twice a second."""
    fetched = voter.last_fetch_timestamp
    if fetched < 0:
        return False
    if then is not None and has_same_leader(then, quorum) and fetched <= leader_clock(then):
        return False
    return leader_clock(quorum) - fetched <= FETCH_TIMEOUT_MS


def _unreached(node: NodeAnswer, last: str, holder: str, *, fetches: bool) -> tuple[Grade, str]:
    """Return the grade of a voter that was not reached: it is down, or only out of reach."""
    problem = node.problem
    if fetches:
        elsewhere = "" if node.failure in ANSWERED else ". Set its address with --resolve"
        return (
            Grade.OUT_OF_REACH,
            f"it fetches, but it cannot be reached from here ({problem}){elsewhere}",
        )
    if holder:
        return Grade.HANGS, f"{holder} but does not answer ({problem}, {last})"
    if node.failure in ANSWERED:
        return Grade.REJECTS, f"it runs but cannot be asked ({problem}, {last})"
    return Grade.DOWN, f"it is down ({problem}, {last}). Bring it back first"


def _last_fetch(
    quorum: DescribeQuorumResponse, voter: ReplicaState, form: str = "last fetch {}"
) -> str:
    if voter.last_fetch_timestamp < 0:
        return "it has not fetched"
    return form.format(f"{duration(leader_clock(quorum) - voter.last_fetch_timestamp)} ago")


def standing_without_leader(node: NodeAnswer | None, node_id: int, holder: str) -> ReplicaStanding:
    if node is None:
        return ReplicaStanding(id=node_id, grade=Grade.UNASKED, reason="it was not asked")
    if node.waiting_ms is not None:
        return ReplicaStanding(
            id=node_id,
            grade=Grade.WAITING,
            reason=f"its answer is overdue: waiting {duration(node.waiting_ms)}",
            waiting_ms=node.waiting_ms,
        )
    if not node.is_reached:
        grade, reason = _unreached(node, "no node leads", holder, fetches=False)
        return ReplicaStanding(id=node_id, grade=grade, reason=reason)
    reason = "no node leads"
    return ReplicaStanding(id=node_id, grade=Grade.ASTRAY, reason=reason, is_fetching=True)
