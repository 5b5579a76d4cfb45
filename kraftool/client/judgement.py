"""The one judgement of a live quorum: which voters count, how many may be lost, and who may stop.

Owns what follows from the grades of the voters (`grades.py`), by one poll or by two. Every command
and the dashboard take it from here, so that they agree. It is pure: it asks no node and keeps
nothing.

A verdict may be worse than the truth, and never better. So a voter counts only if it answers,
knows the leader, fetches, and has what was committed. Late, out of reach from here, and down are
three things: an answer that is overdue makes a verdict unknown, not bad.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kraftool.client.active_controller import only_controller
from kraftool.client.between_polls import unsettled
from kraftool.client.grades import Grade, ReplicaStanding, standing_without_leader, surveyed_quorum
from kraftool.client.model import QuorumView
from kraftool.raft.messages import DescribeQuorumResponse
from kraftool.raft.names import majority_of
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.words import duration, listed, many, numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A live quorum, judged."""

    view: QuorumView
    before: QuorumView | None
    """The earlier poll that it was compared with."""
    voters: tuple[ReplicaStanding, ...]
    """By id. Without a leader, those that the last one had; empty if nobody reported any."""
    failures: int | None
    """How many of the voters may fail while commits go on; None if that is not known."""
    reason: str
    """Why it is that number, or why it is not known."""
    is_lost: bool = False
    """True if nothing can be committed."""
    overdue_ms: int | None = None
    """For how long the answer of the leader, or of a majority of the voters, is overdue. All that
    is said of the quorum is as old."""
    unsettled: tuple[str, ...] = ()
    """Why no node may stop at all."""
    observers: tuple[ReplicaStanding, ...] = ()
    """By id. None of them counts; most of them are brokers, which are not asked."""

    @property
    def majority(self) -> int:
        return majority_of(len(self.voters))

    @property
    def ready(self) -> tuple[int, ...]:
        """Return the ids of the voters that count."""
        return tuple(voter.id for voter in self.voters if voter.counts)

    @property
    def fetching(self) -> tuple[int, ...]:
        """Return the ids of the voters that the leader can count for a commit."""
        return tuple(voter.id for voter in self.voters if voter.is_fetching)

    @property
    def waiting(self) -> tuple[ReplicaStanding, ...]:
        """Return the voters whose answer is overdue."""
        return tuple(voter for voter in self.voters if voter.grade is Grade.WAITING)

    @property
    def lacks_spare(self) -> Severity | None:
        """Return how grave it is that no voter can be lost; None if one can be, or if that is not
        known. To have a single voter is a choice, and to have two of two or of three is a risk."""
        if self.failures != 0:
            return None
        if self.is_lost:
            return Severity.ERROR
        return Severity.INFO if len(self.voters) == 1 else Severity.WARNING

    def standing(self, node_id: int | None) -> ReplicaStanding | None:
        """Return a replica's standing; None for a node that is neither voter nor observer."""
        every = (*self.voters, *self.observers)
        return next((replica for replica in every if replica.id == node_id), None)

    @property
    def left_out(self) -> str:
        """Return why voters that fetch do not count, in words; empty if all of them count."""
        reasons = [
            f"voter {voter.id} does not count: {voter.reason}"
            for voter in self.voters
            if voter.is_fetching and not voter.counts
        ]
        return "; ".join(reasons)


def judge(
    now: QuorumView,
    before: QuorumView | None = None,
    *,
    last_voters: Collection[int] = (),
    holders: Mapping[int, str] | None = None,
    is_change_open: bool = False,
) -> Judgement:
    """Judge a quorum by a poll, and by an earlier one if there is one.

    `last_voters`: the voters that the last leader reported, used while none leads. `holders`: the
    processes of this machine that hold the lock of a node's data directory, by node id.
    `is_change_open`: True if a voter change is known not to be committed.
    """
    if before is now:
        before = None
    holders = holders or {}
    quorum = now.quorum
    if quorum is None:
        return _without_leader(now, before, last_voters, holders)
    standings, observers = (
        tuple(
            surveyed_quorum(now, before, quorum, replica, holders)
            for replica in sorted(replicas, key=lambda replica: replica.replica.id)
        )
        for replicas in (quorum.voters, quorum.observers)
    )
    failures, reason, is_lost = _tolerance(now, standings)
    risks = tuple(unsettled(now, before, is_change_open=is_change_open))
    if failures and (why := next(iter((*_odd(now, quorum), *risks)), "")):
        failures, reason = None, why
    return Judgement(
        view=now,
        before=before,
        voters=standings,
        failures=failures,
        reason=reason,
        is_lost=is_lost,
        overdue_ms=_overdue_ms(now, standings),
        unsettled=risks,
        observers=observers,
    )


# --- the quorum -----------------------------------------------------------------------------------


def _tolerance(
    now: QuorumView, voters: tuple[ReplicaStanding, ...]
) -> tuple[int | None, str, bool]:
    """Return how many voters may fail, why, and if nothing can be committed any more."""
    count, majority = many(len(voters), "voter"), majority_of(len(voters))
    ready = tuple(voter.id for voter in voters if voter.counts)
    fetching = [voter for voter in voters if voter.is_fetching]
    needed = f"{majority} {_are(majority)} needed"
    waiting = [voter for voter in voters if voter.grade is Grade.WAITING]
    leader = now.leader
    if leader is not None and leader.waiting_ms is not None:
        return None, f"the answer of leader {leader.node_id} is overdue", False
    if len(fetching) + len([voter for voter in waiting if not voter.is_fetching]) < majority:
        keep = "keeps" if len(fetching) == 1 else "keep"
        words = f"{len(fetching)} of {count} {keep} up, {needed}: nothing can be committed"
        return 0, words, True
    standing = f"{len(ready)} of {count} {_are(len(ready))} ready, {needed}"
    if now.lacks_controller:
        return 0, f"{standing}; the leader runs no controller", False
    only = only_controller(now, ready)
    if only is not None and len(ready) > majority:
        return 0, f"{standing}; only node {only} is known to run a controller", False
    pending = [voter for voter in voters if voter.is_pending]
    least, most = len(ready) - majority, len(ready) + len(pending) - majority
    if max(least, 0) == max(most, 0):
        return max(least, 0), standing, False
    if waiting:
        ids = numbered("voter", [voter.id for voter in waiting])
        longest = max(voter.waiting_ms or 0 for voter in waiting)
        return None, f"waiting {duration(longest)} for {ids}", False
    return None, "the leader is new and has not answered twice yet", False


def _odd(now: QuorumView, quorum: DescribeQuorumResponse) -> Iterator[str]:
    """Yield why a leader's word does not say how many voters may fail."""
    if len(now.cluster_ids) > 1:
        yield f"the nodes are of clusters {', '.join(now.cluster_ids)}"
    if quorum.high_watermark < 0:
        yield "the leader has committed nothing in its epoch yet"


def _overdue_ms(now: QuorumView, voters: tuple[ReplicaStanding, ...]) -> int | None:
    """Return for how long the leader, or so many voters that no majority is left, do not answer."""
    leader = now.leader
    if leader is not None and leader.waiting_ms is not None:
        return leader.waiting_ms
    waits = [voter.waiting_ms for voter in voters if voter.waiting_ms is not None]
    if voters and len(waits) >= majority_of(len(voters)):
        return max(waits)
    return None


# --- without a leader -----------------------------------------------------------------------------


def _without_leader(
    now: QuorumView,
    before: QuorumView | None,
    last_voters: Collection[int],
    holders: Mapping[int, str],
) -> Judgement:
    """Judge by who answers: only a leader knows who fetches."""
    standings = tuple(
        standing_without_leader(now.node(node_id), node_id, holders.get(node_id, ""))
        for node_id in sorted(last_voters)
    )
    failures, reason, is_lost = _turnout(now, standings)
    return Judgement(
        view=now,
        before=before,
        voters=standings,
        failures=failures,
        reason=reason,
        is_lost=is_lost,
        overdue_ms=_overdue_ms(now, standings) or _longest_wait(now, standings),
    )


def _longest_wait(now: QuorumView, voters: tuple[ReplicaStanding, ...]) -> int | None:
    """Return the longest wait for a node that may lead: one that others take for the leader, or
    any while nobody reported who votes."""
    leaders = {node.leader_id for node in now.current}
    waits = (
        node.waiting_ms
        for node in now.nodes
        if node.waiting_ms is not None and (not voters or node.node_id in leaders)
    )
    return max(waits, default=None)


def _turnout(now: QuorumView, voters: tuple[ReplicaStanding, ...]) -> tuple[int | None, str, bool]:
    if not voters:
        return None, "no node leads, and only a leader reports the voters", False
    up = [voter.id for voter in voters if voter.is_fetching]
    waiting = [voter.id for voter in voters if voter.grade is Grade.WAITING]
    majority = majority_of(len(voters))
    turnout = f"{len(up)} of {many(len(voters), 'voter')} {_are(len(up))} reached"
    if len(up) < majority <= len(up) + len(waiting):
        return None, f"{turnout}, and the answer of {listed(waiting)} is overdue", False
    if len(up) < majority:
        needed = f"{majority} {_are(majority)} needed to elect a leader"
        return 0, f"{turnout}, {needed}: {majority - len(up)} more must come back", True
    if not waiting and all(now.runs_controller(node_id) is False for node_id in up):
        missing = "and no one of them runs a controller: a voter that runs Kafka must come back"
        return 0, f"{turnout}, {missing}", True
    return None, f"{turnout}, enough to elect a leader", False


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
