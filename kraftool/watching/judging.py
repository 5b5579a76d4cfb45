"""The meaning of a look at a quorum: how much may fail, what may be restarted, who disagrees.

Owns the judgements and their words. They are functions of what was seen, and ask nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from kraftool.client.active_controller import next_step, only_controller, without_controller
from kraftool.client.model import NodeAnswer, QuorumView, leader_end
from kraftool.client.reaching import broker_words, reason
from kraftool.client.thresholds import keeping_up, leader_clock
from kraftool.decoders.json_marks import Count
from kraftool.raft.names import ReplicaKey
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.words import listed, many
from kraftool.storage.lock import LockState
from kraftool.watching.directory_look import DirectoryLook
from kraftool.watching.picture import Picture
from kraftool.watching.staleness import currency
from kraftool.watching.voter_state import VoterState

STUCK_S = 3.0
"""Without a commit for so long, though something is there to commit."""
_SLACK = 1_000
"""Records that a directory may be ahead of the leader by: it is read a moment later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence for the people who watch."""

    severity: Severity
    reason: str
    advice: str = ""
    """What to do about it, in the imperative; empty where there is nothing to do."""
    is_of_old_log: bool = False
    """True if a log is only older than the newest: nodes and directories still agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The number of voters that may fail now."""

    failures: Count | None
    """None where it is not known; 0 also where nothing commits any more."""
    reason: str
    is_lost: bool = False
    """True if there is already no majority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartSafety:
    """The judgement on a restart of a node now: safe if it costs the quorum at most an election."""

    is_safe: bool
    reason: str


# --- what may fail ----------------------------------------------------------------------------


def keeping(picture: Picture) -> tuple[int, ...]:
    """Return the ids of the voters that keep up, including the leader.

    A voter that stopped answering while we watched has to fetch again before it counts: the leader
    itself takes some seconds to see that it is gone.
    """
    view, history = picture.view, picture.history
    if view is None or view.quorum is None:
        return ()
    clock = leader_clock(view.quorum)
    silent_ms = {
        voter.replica.id: clock - voter.last_fetch_timestamp for voter in view.quorum.voters
    }
    stopped_ms = {
        node_id: picture.at_ms - since_ms
        for node_id, since_ms in history.down_since_ms.items()
        if since_ms > history.since_ms
    }
    return tuple(
        node_id
        for node_id in keeping_up(view.quorum)
        if node_id not in stopped_ms or silent_ms[node_id] < stopped_ms[node_id]
    )


def tolerance(picture: Picture, voters: VoterState) -> Tolerance:
    """Return how many of the voters that keep up may fail while commits still go on."""
    view, count, majority = picture.view, len(voters.now), voters.majority
    if view is None:
        return Tolerance(failures=None, reason="directories do not show which nodes run")
    if view.quorum is None:
        return _without_leader(view, voters)
    ids = keeping(picture)
    standing = f"{len(ids)} of {many(count, 'voter')} keep up, {majority} {_are(majority)} needed"
    if len(ids) < majority:
        return Tolerance(failures=0, reason=f"{standing}: nothing can be committed", is_lost=True)
    if view.lacks_controller:
        return Tolerance(failures=0, reason=f"{standing}; the leader runs no controller")
    only = only_controller(view, ids)
    if only is not None and len(ids) > majority:
        return Tolerance(
            failures=0, reason=f"{standing}; only node {only} is known to run a controller"
        )
    return Tolerance(failures=len(ids) - majority, reason=standing)


def _without_leader(view: QuorumView, voters: VoterState) -> Tolerance:
    if not voters.now:
        return Tolerance(
            failures=None, reason="no node leads, and only a leader reports the voters"
        )
    reached = {answer.node_id for answer in view.reached}
    up = [key for key in voters.now if key.id in reached]
    turnout = f"{len(up)} of {many(len(voters.now), 'voter')} {_are(len(up))} reached"
    if len(up) < voters.majority:
        missing = voters.majority - len(up)
        return Tolerance(
            failures=0,
            reason=f"{turnout}, {voters.majority} {_are(voters.majority)} needed to elect a leader:"
            f" {missing} more must come back",
            is_lost=True,
        )
    if all(view.runs_controller(key.id) is False for key in up):
        return Tolerance(
            failures=0,
            reason=f"{turnout}, and no one of them runs a controller: a voter that runs Kafka must"
            " come back",
            is_lost=True,
        )
    return Tolerance(failures=None, reason=f"{turnout}, enough to elect a leader")


def restarts(picture: Picture, voters: VoterState) -> Mapping[int, RestartSafety]:
    """Return a judgement for each replica that the leader reports, and for each voter."""
    view = picture.view
    if view is None:
        return {}
    if view.quorum is None:
        reached = {answer.node_id for answer in view.reached}
        no = RestartSafety(is_safe=False, reason="no node leads: every voter is needed")
        yes = RestartSafety(is_safe=True, reason="it is not reached: bring it back")
        return {key.id: no if key.id in reached else yes for key in voters.now}
    ids = {*keeping(picture)}
    safeties = {}
    for observer in view.quorum.observers:
        safe = RestartSafety(is_safe=True, reason="it has no vote")
        safeties[observer.replica.id] = _wait(view) if view.lacks_controller else safe
    for voter in view.quorum.voters:
        safeties[voter.replica.id] = _restart(
            voter.replica, ids, view, view.quorum.leader_id, voters
        )
    return safeties


def _restart(
    key: ReplicaKey, keeping: set[int], view: QuorumView, leader_id: int, voters: VoterState
) -> RestartSafety:
    left = len(keeping - {key.id})
    if key.id not in keeping:
        return RestartSafety(is_safe=True, reason="it does not keep up as it is")
    if view.lacks_controller:
        return _restart_without_controller(key, view, keeping, voters)
    if left < voters.majority:
        return RestartSafety(
            is_safe=False,
            reason=f"without it {left} of {many(len(voters.now), 'voter')} would keep up,"
            f" {voters.majority} {_are(voters.majority)} needed",
        )
    if voters.is_uncommitted:
        return RestartSafety(is_safe=False, reason="a voter change is not committed yet")
    if keeping - {key.id} <= view.witnesses:
        return RestartSafety(is_safe=False, reason="no other voter that keeps up runs a controller")
    if key.id == leader_id:
        return RestartSafety(
            is_safe=True, reason="it leads: another one will be elected; restart it last"
        )
    return RestartSafety(is_safe=True, reason=f"{left} others keep up")


def _wait(view: QuorumView) -> RestartSafety:
    leader = "none" if view.leader is None else view.leader.node_id
    return RestartSafety(
        is_safe=False,
        reason=f"node {leader} leads without a controller: first let a Kafka voter lead",
    )


def _restart_without_controller(
    key: ReplicaKey, view: QuorumView, keeping: set[int], voters: VoterState
) -> RestartSafety:
    """While the leader runs no controller: first a Kafka voter has to lead again."""
    if view.quorum is None or key.id != view.quorum.leader_id:
        return _wait(view)
    others = keeping - {key.id}
    return RestartSafety(
        is_safe=len(others) >= voters.majority and not others <= view.witnesses,
        reason=f"it leads without a controller: {next_step(view, tuple(keeping))}",
    )


# --- what should be read ----------------------------------------------------------------------


def statements(picture: Picture, voters: VoterState, tolerated: Tolerance) -> Iterable[Statement]:
    """Return what the reader has to know, the worst first."""
    remarks = []
    if picture.view is not None:
        remarks += [*_live(picture, picture.view, voters, tolerated)]
        remarks += [*_tolerated(picture, picture.view, voters, tolerated)]
    remarks += [*_stuck(picture), *_voter_change(voters), *_directories(picture, voters)]
    order = [*Severity]
    return sorted(remarks, key=lambda statement: order.index(statement.severity))


def _tolerated(
    picture: Picture, view: QuorumView, voters: VoterState, judged: Tolerance
) -> Iterator[Statement]:
    """Say that no voter can be lost, and which ones are left."""
    if view.quorum is None or view.lacks_controller or judged.failures != 0:
        return
    ids = {*keeping(picture)}
    lost = sorted({voter.id for voter in voters.now} - ids)
    back = f"bring back {_voters(lost)} {listed(lost)}" if lost else ""
    if judged.is_lost:
        yield _error(f"The quorum has no majority: {judged.reason}.", back)
        return
    stay = f"do not restart voter {listed(sorted(ids), 'or')}"
    advice = "; ".join(filter(None, (stay, back or "add a voter")))
    yield _warning(f"No voter can be lost: {judged.reason}.", advice)


def _live(
    picture: Picture, view: QuorumView, voters: VoterState, judged: Tolerance
) -> Iterator[Statement]:
    if not view.reached:
        yield _error("No node can be reached.", "check addresses, processes and network")
    elif view.leader is None:
        yield from _no_leader(view, voters, judged)
    if view.quorum is not None and view.lacks_controller:
        yield _error(without_controller(view), next_step(view, keeping(picture)))
    if len(view.cluster_ids) > 1:
        claims = "; ".join(
            f"{_node(node)} says {node.cluster_id}" for node in view.nodes if node.cluster_id
        )
        yield _error(f"These nodes are of different clusters: {claims}.")
    if len(view.leaders) > 1:
        claims = " and ".join(f"{_node(leader)} of epoch {leader.epoch}" for leader in view.leaders)
        same = len({leader.epoch for leader in view.leaders}) < len(view.leaders)
        if same:
            yield _error(f"Two nodes lead one epoch, which must never happen: {claims}.")
        else:
            yield _warning(
                f"Two nodes report that they lead: {claims}. The newer epoch counts; the other node"
                " resigns when it learns of it."
            )
    yield from _other_opinions(view)
    for node in view.nodes:
        if not node.is_reached:
            what = ", a voter," if voters.key_of(node.node_id) is not None else ""
            words = f"{_node(node)}{what} cannot be reached: {reason(node)}."
            yield _warning(words, node.advice or _REACH)
        elif node.problem:
            words = f"{_node(node)} did not answer everything: {reason(node)}."
            yield _warning(words, node.advice or "look for the error in its own log")
    for broker in view.brokers:
        severity = Severity.INFO if broker.controllers else Severity.WARNING
        yield Statement(severity=severity, reason=f"{broker_words(broker)}.")


def _no_leader(view: QuorumView, voters: VoterState, judged: Tolerance) -> Iterator[Statement]:
    """Say what the nodes know instead, and who has to come back."""
    down = sorted({voter.id for voter in voters.now} - {node.node_id for node in view.reached})
    advice = f"bring back voter {listed(down, 'or')}" if judged.is_lost and down else ""
    named = {
        node_answer.leader_id for node_answer in view.reached if node_answer.leader_id is not None
    }
    epochs = sorted(
        {node_answer.epoch for node_answer in view.reached if node_answer.epoch is not None}
    )
    if named:
        ids = listed(sorted(named))
        answer = view.node(next(iter(named)))
        gone = answer is not None and not answer.is_reached
        why = "which cannot be reached" if gone else "which does not say that it leads"
        yield _error(
            f"No node leads. The others still take node {ids} for the leader, {why}.", advice
        )
    elif len(epochs) > 1:
        yield _error(
            f"No node leads. Nodes are in epochs {listed(epochs)}: they are electing.", advice
        )
    else:
        where = f" of epoch {epochs[0]}" if epochs else ""
        yield _error(f"No node leads, and no node knows a leader{where}.", advice)


def _other_opinions(view: QuorumView) -> Iterator[Statement]:
    """Nodes that take another one for the leader than the one that leads."""
    leader = view.leader
    if leader is None:
        return
    for answer in view.reached:
        if answer.epoch is None or answer.quorum is not None:
            continue
        if (answer.epoch, answer.leader_id) == (leader.epoch, leader.node_id):
            continue
        leader_claim = f"node {leader.node_id} leads epoch {leader.epoch}"
        if answer.leader_id is None:
            yield _warning(
                f"{_node(answer)} knows no leader in its epoch {answer.epoch}; {leader_claim}."
            )
        else:
            yield _warning(
                f"{_node(answer)} takes node {answer.leader_id}"
                f" for the leader of epoch {answer.epoch};"
                f" {leader_claim}."
            )


def _stuck(picture: Picture) -> Iterator[Statement]:
    """The leader writes, and nothing is committed: its followers do not get it."""
    samples = picture.history.samples
    last = samples[-1] if samples else None
    if last is None or last.leader_id is None or last.leader_end is None:
        return
    since = last
    for sample in reversed(samples):
        same = (sample.epoch, sample.leader_id, sample.high_watermark)
        if same != (last.epoch, last.leader_id, last.high_watermark):
            break
        since = sample
    grown = last.leader_end - (since.leader_end or 0)
    seconds = (last.at_ms - since.at_ms) / 1000
    if grown > 0 and seconds >= STUCK_S:
        yield _error(
            f"Nothing was committed for {seconds:.0f} s, while the leader wrote {grown} records:"
            " too few voters fetch them.",
            "bring back the voters that do not keep up",
        )


def _voter_change(voters: VoterState) -> Iterator[Statement]:
    if not voters.is_uncommitted:
        return
    parts = []
    if voters.joining:
        parts.append(f"adds node {listed(key.id for key in voters.joining)}")
    if voters.leaving:
        parts.append(f"removes node {listed(key.id for key in voters.leaving)}")
    what = " and ".join(parts) or "changes a voter"
    yield _warning(
        f"A voter change that {what} is not committed: the leader counts by the new set already,"
        " and it is undone if another node is elected that does not have it."
    )


# --- directories ------------------------------------------------------------------------------


def _directories(picture: Picture, voters: VoterState) -> Iterator[Statement]:
    for directory in picture.directories:
        if directory.problem:
            severity = Severity.WARNING if directory.is_readable else Severity.ERROR
            yield Statement(severity=severity, reason=f"{directory.path}: {directory.problem}.")
        if picture.view is not None:
            yield from _beside_live(directory, picture.view)
        freshness = currency(picture, directory)
        if freshness.stale:
            remark = f"{directory.path} is stale: {freshness.words}."
            yield Statement(severity=Severity.WARNING, reason=remark, is_of_old_log=True)
        yield from _as_voter(directory, voters)
    for one, other in combinations(picture.directories, 2):
        yield from _between(one, other)


def _beside_live(look: DirectoryLook, view: QuorumView) -> Iterator[Statement]:
    node, state = look.node, look.quorum_state
    if view.cluster_id and node.cluster_id and view.cluster_id != node.cluster_id:
        yield _error(
            f"{look.path} belongs to cluster {node.cluster_id}, and the live quorum is"
            f" {view.cluster_id}."
        )
        return
    if state is not None and view.epoch is not None and state.leader_epoch < view.epoch:
        is_running = look.lock is LockState.HELD
        why = "its node does not follow" if is_running else "it is a copy, or its node is down"
        remark = f"{look.path} is at epoch {state.leader_epoch}, the quorum at {view.epoch}: {why}."
        yield Statement(severity=Severity.WARNING if is_running else Severity.INFO, reason=remark)
    if view.quorum is not None and look.log_end_offset is not None:
        ahead = look.log_end_offset - leader_end(view)
        if ahead > _SLACK:
            yield _warning(
                f"{look.path} goes on to offset {look.log_end_offset}, {ahead} records beyond the"
                " leader's log: the quorum does not have those."
            )


def _as_voter(look: DirectoryLook, voters: VoterState) -> Iterator[Statement]:
    key = voters.key_of(look.node.node_id)
    if key is not None and not voters.has(look.node.node_id, look.node.directory_id):
        yield _warning(
            f"{look.path} of node {key.id} has directory id {look.node.directory_id}, and the voter"
            f" is {key.directory_id}: with this directory the node has no vote."
        )


def _between(one: DirectoryLook, other: DirectoryLook) -> Iterator[Statement]:
    if None not in (one.node.cluster_id, other.node.cluster_id) and (
        one.node.cluster_id != other.node.cluster_id
    ):
        yield _error(f"{one.path} and {other.path} are not of one cluster.")
        return
    if one.node.node_id is not None and one.node.node_id == other.node.node_id:
        yield _warning(f"{one.path} and {other.path} are both of node {one.node.node_id}.")
    if one.voters is not None and other.voters is not None:
        ids = [
            {(v.id, v.directory_id) for v in voters.voters} for voters in (one.voters, other.voters)
        ]
        if ids[0] != ids[1] and one.voters.source is other.voters.source:
            voter_lists = " and ".join(
                f"{look.path} has {listed(sorted(v.id for v in look.voters.voters))}"
                + ("" if look.voters.offset is None else f" (offset {look.voters.offset})")
                for look in (one, other)
                if look.voters is not None
            )
            yield _warning(f"The directories have different voters: {voter_lists}.")


# --- words ------------------------------------------------------------------------------------


def _voters(ids: Sequence[int]) -> str:
    return "voter" if len(ids) == 1 else "voters"


_REACH = "check its process, then the network"


def _error(text: str, advice: str = "") -> Statement:
    return Statement(severity=Severity.ERROR, reason=text, advice=advice)


def _warning(text: str, advice: str = "") -> Statement:
    return Statement(severity=Severity.WARNING, reason=text, advice=advice)


def _node(answer: NodeAnswer) -> str:
    if answer.node_id is None:
        return f"A node at {answer.endpoint}"
    return f"Node {answer.node_id}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
