"""The sentences on a picture of a quorum: what is wrong, and what to do about it.

Owns the words. Which voters count and how many may be lost is `client/judgement.py`'s. Each has the
code and the subject that a finding of `quorum health` or doctor has for it, so that one file of
mutes serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from kraftool.client.active_controller import next_step, only_controller, without_controller
from kraftool.client.between_polls import stuck_between, stuck_words
from kraftool.client.grades import Grade, ReplicaStanding
from kraftool.client.judgement import Judgement
from kraftool.client.model import NodeAnswer, QuorumView, is_of_cluster, leader_end
from kraftool.client.not_asked import NOT_MISSED, broker_words, out_of_reach_advice, reason
from kraftool.client.registrations import is_only_registered
from kraftool.client.thresholds import leader_clock
from kraftool.reports.findings.finding import Finding, FindingKind, Severity
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import live as kinds
from kraftool.reports.text.words import duration, listed, numbered
from kraftool.storage.lock import LockState
from kraftool.watching.directory_reading import DirectoryReading
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

    code: str
    """As `doctor --explain` and a file of mutes have it."""
    subject: str = ""
    """The node or directory; empty for the quorum as a whole."""
    severity: Severity
    reason: str
    advice: str = ""
    """What to do about it, in the imperative; empty where there is nothing to do."""
    is_of_old_log: bool = False
    """True if a log is only older than the newest: nodes and directories still agree."""

    @property
    def finding(self) -> Finding:
        """The same as a finding, for filters."""
        return KINDS[self.code].at(
            self.subject, self.reason, severity=self.severity, advice=self.advice
        )


# --- what should be read ----------------------------------------------------------------------


def statements(
    picture: Picture, voters: VoterState, judgement: Judgement | None
) -> Iterable[Statement]:
    """Return what the reader has to know, the worst first."""
    remarks = []
    if judgement is not None:
        remarks += [*_live(judgement, voters), *_tolerated(judgement)]
    remarks += [*_stuck(picture, judgement), *_voter_change(voters), *_directories(picture, voters)]
    order = [*Severity]
    return sorted(remarks, key=lambda statement: order.index(statement.severity))


def _tolerated(judgement: Judgement) -> Iterator[Statement]:
    """Say that no voter can be lost, and which ones are left."""
    severity = judgement.lacks_spare
    if severity is None or judgement.view.quorum is None or judgement.view.lacks_controller:
        return
    lost = [voter.id for voter in judgement.voters if not voter.is_fetching]
    back = f"bring back {numbered('voter', lost)}" if lost else ""
    if severity is Severity.ERROR:
        yield _error(kinds.NO_MAJORITY, f"The quorum has no majority: {judgement.reason}.", back)
        return
    ready = judgement.ready
    reason = "; ".join(filter(None, (judgement.reason, judgement.left_out)))
    stay = f"do not restart voter {listed(ready, 'or')}"
    advice = "; ".join(filter(None, (stay, back or ("" if judgement.left_out else "add a voter"))))
    kind, subject = _cause(judgement)
    reason = f"No voter can be lost: {reason}."
    yield _statement(kind, severity, reason, advice, subject)


def _cause(judgement: Judgement) -> tuple[FindingKind, str]:
    """Return what `quorum health` calls it if no voter can be lost, and its subject."""
    ready, count = judgement.ready, len(judgement.voters)
    if len(ready) > judgement.majority:
        return kinds.ONE_CONTROLLER, f"voter {only_controller(judgement.view, ready)}"
    is_small = count == 1 or len(ready) == count == 2
    return (kinds.FEW_VOTERS if is_small else kinds.NO_SPARE), ""


def _live(judgement: Judgement, voters: VoterState) -> Iterator[Statement]:
    view = judgement.view
    if judgement.overdue_ms is not None:
        yield _overdue(judgement, judgement.overdue_ms)
    elif not view.reached:
        words = "No node can be reached."
        yield _error(kinds.NO_ANSWER, words, "check addresses, processes and network")
    elif view.leader is None:
        yield from _no_leader(judgement)
    if view.quorum is not None and view.lacks_controller:
        words, advice = without_controller(view), next_step(view, judgement.ready)
        yield _error(kinds.NO_CONTROLLER, words, advice, _name(view.leader))
    if len(view.cluster_ids) > 1:
        claims = "; ".join(
            f"{_node(node)} says {node.cluster_id}" for node in view.nodes if node.cluster_id
        )
        yield _error(kinds.CLUSTER_ID, f"These nodes are of different clusters: {claims}.")
    elif len(view.leaders) > 1:
        claims = " and ".join(f"{_node(leader)} of epoch {leader.epoch}" for leader in view.leaders)
        same = len({leader.epoch for leader in view.leaders}) < len(view.leaders)
        if same:
            words = f"Two nodes lead one epoch, which must never happen: {claims}."
            yield _error(kinds.TWO_LEADERS, words)
        else:
            yield _warning(
                kinds.TWO_LEADERS,
                f"Two nodes report that they lead: {claims}. The newer epoch counts; the other node"
                " resigns when it learns of it.",
            )
    yield from _other_opinions(view)
    for node in view.nodes:
        what = ", a voter," if voters.key_of(node.node_id) is not None else ""
        yield from _answer(view, node, f"{_node(node)}{what}", judgement.standing(node.node_id))
    for broker in view.brokers:
        severity = Severity.INFO if broker.controllers else Severity.WARNING
        words = f"{broker_words(broker)}."
        yield _statement(kinds.BROKER, severity, words, subject=str(broker.endpoint))


def _overdue(judgement: Judgement, waiting_ms: int) -> Statement:
    """Say that what is shown is old. That is no fault of the quorum."""
    leader = judgement.view.leader
    whom = "the answers of a majority"
    if leader is not None and leader.waiting_ms is not None:
        whom = f"the answer of leader {leader.node_id}"
    words = f"Waiting {duration(waiting_ms)} for {whom}: what is shown is older than that."
    return _statement(kinds.UNREACHED, Severity.INFO, words, subject=_name(leader))


def _answer(
    view: QuorumView, node: NodeAnswer, name: str, standing: ReplicaStanding | None
) -> Iterator[Statement]:
    """Say what a node did not answer, and what that means by its grade."""
    grade = None if standing is None else standing.grade
    if node.waiting_ms is not None:
        return
    if node.is_reached:
        if node.problem:
            words = f"{_node(node)} did not answer everything: {reason(node)}."
            advice = node.advice or "look for the error in its own log"
            yield _warning(kinds.REFUSED, words, advice, node.name)
    elif is_only_registered(view, node.node_id):
        words = f"{name} cannot be reached: {reason(node)}."
        yield _statement(kinds.UNREACHED, Severity.INFO, words, NOT_MISSED, node.name)
    elif grade is Grade.OUT_OF_REACH:
        yield _warning(
            kinds.UNREACHED,
            f"{name} fetches from the leader, but it cannot be reached from here: {reason(node)}.",
            out_of_reach_advice(node),
            node.name,
        )
    elif grade is Grade.HANGS and standing is not None:
        yield _warning(
            kinds.UNREACHED,
            f"{name} does not answer: {standing.reason}.",
            "check if the process is paused or hangs before you restart it",
            node.name,
        )
    else:
        words = f"{name} cannot be reached: {reason(node)}."
        yield _warning(kinds.UNREACHED, words, node.advice or _REACH, node.name)


def _no_leader(judgement: Judgement) -> Iterator[Statement]:
    """Say what the nodes know instead, and who has to come back."""
    view = judgement.view
    down = [voter.id for voter in judgement.voters if not voter.is_fetching]
    advice = f"bring back voter {listed(down, 'or')}" if judgement.is_lost and down else ""
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
        words = f"No node leads. The others still take node {ids} for the leader, {why}."
    elif len(epochs) > 1:
        words = f"No node leads. Nodes are in epochs {listed(epochs)}: they are electing."
    else:
        where = f" of epoch {epochs[0]}" if epochs else ""
        words = f"No node leads, and no node knows a leader{where}."
    yield _error(kinds.NO_LEADER, words, advice)


def _other_opinions(view: QuorumView) -> Iterator[Statement]:
    """Nodes that take another one for the leader than the one that leads."""
    leader = view.leader
    if leader is None:
        return
    for answer in view.current:
        if answer.epoch is None or answer.quorum is not None:
            continue
        if not is_of_cluster(answer, leader.cluster_id):
            continue  # what it knows is about another quorum
        if (answer.epoch, answer.leader_id) == (leader.epoch, leader.node_id):
            continue
        leader_claim = f"node {leader.node_id} leads epoch {leader.epoch}"
        if answer.leader_id is None:
            words = f"knows no leader in its epoch {answer.epoch}"
        else:
            words = f"takes node {answer.leader_id} for the leader of epoch {answer.epoch}"
        reason = f"{_node(answer)} {words}; {leader_claim}."
        yield _warning(kinds.DISAGREE, reason, subject=answer.name)


def _stuck(picture: Picture, judgement: Judgement | None) -> Iterator[Statement]:
    """Nothing is committed: the followers do not get what the leader writes."""
    words = _stuck_while_watched(picture)
    if not words and judgement is not None and _seconds_between(judgement) >= STUCK_S:
        words = stuck_between(judgement.before, judgement.view)
    if words:
        yield _error(
            kinds.STUCK,
            f"{words[:1].upper()}{words[1:]}: too few voters fetch its records.",
            "bring back the voters that do not keep up",
        )


def _seconds_between(judgement: Judgement) -> float:
    """Return the time between the polls by the clock of the leader, as far as both have one."""
    then = None if judgement.before is None else judgement.before.quorum
    now = judgement.view.quorum
    return 0.0 if then is None or now is None else (leader_clock(now) - leader_clock(then)) / 1000


def _stuck_while_watched(picture: Picture) -> str:
    """Return what the samples of a dashboard show, which go on for longer than two polls."""
    samples = picture.history.samples
    last = samples[-1] if samples else None
    if last is None or last.leader_id is None or last.leader_end is None:
        return ""
    since = last
    for sample in reversed(samples):
        same = (sample.epoch, sample.leader_id, sample.high_watermark)
        if same != (last.epoch, last.leader_id, last.high_watermark):
            break
        since = sample
    grown = last.leader_end - (since.leader_end or 0)
    seconds = (last.at_ms - since.at_ms) / 1000
    if seconds < STUCK_S or (grown <= 0 and last.high_watermark is not None):
        return ""
    return stuck_words(grown, seconds, has_committed=last.high_watermark is not None)


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
        kinds.VOTER_CHANGE,
        f"A voter change that {what} is not committed: the leader counts by the new set already,"
        " and it is undone if another node is elected that does not have it.",
    )


# --- directories ------------------------------------------------------------------------------


def _directories(picture: Picture, voters: VoterState) -> Iterator[Statement]:
    for directory in picture.directories:
        if directory.problem:
            severity = Severity.WARNING if directory.is_readable else Severity.ERROR
            words = f"{directory.path}: {directory.problem}."
            yield _statement(dir_kinds.UNREADABLE, severity, words, subject=directory.path)
        if picture.view is not None:
            yield from _beside_live(directory, picture.view)
        freshness = currency(picture, directory)
        if freshness.stale:
            words = f"{directory.path} is stale: {freshness.words}."
            stale = _warning(kinds.STALE_DIRECTORY, words, subject=directory.path)
            yield replace(stale, is_of_old_log=True)
        yield from _as_voter(directory, voters)
    for one, other in combinations(picture.directories, 2):
        yield from _between(one, other)


def _beside_live(seen: DirectoryReading, view: QuorumView) -> Iterator[Statement]:
    node, state = seen.node, seen.quorum_state
    if view.cluster_id and node.cluster_id and view.cluster_id != node.cluster_id:
        yield _error(
            dir_kinds.CLUSTER_ID,
            f"{seen.path} belongs to cluster {node.cluster_id}, and the live quorum is"
            f" {view.cluster_id}.",
            subject=seen.path,
        )
        return
    if state is not None and view.epoch is not None and state.leader_epoch < view.epoch:
        is_running = seen.lock is LockState.HELD
        why = "its node does not follow" if is_running else "it is a copy, or its node is down"
        remark = f"{seen.path} is at epoch {state.leader_epoch}, the quorum at {view.epoch}: {why}."
        severity = Severity.WARNING if is_running else Severity.INFO
        yield _statement(kinds.STALE_DIRECTORY, severity, remark, subject=seen.path)
    if view.quorum is not None and seen.log_end_offset is not None:
        ahead = seen.log_end_offset - leader_end(view)
        if ahead > _SLACK:
            yield _warning(
                kinds.BEYOND_LEADER,
                f"{seen.path} goes on to offset {seen.log_end_offset}, {ahead} records beyond the"
                " leader's log: the quorum does not have those.",
                subject=seen.path,
            )


def _as_voter(seen: DirectoryReading, voters: VoterState) -> Iterator[Statement]:
    key = voters.key_of(seen.node.node_id)
    if key is not None and not voters.has(seen.node.node_id, seen.node.directory_id):
        yield _warning(
            dir_kinds.STALE_VOTER,
            f"{seen.path} of node {key.id} has directory id {seen.node.directory_id}, and the voter"
            f" is {key.directory_id}: with this directory the node has no vote.",
            subject=seen.path,
        )


def _between(one: DirectoryReading, other: DirectoryReading) -> Iterator[Statement]:
    if None not in (one.node.cluster_id, other.node.cluster_id) and (
        one.node.cluster_id != other.node.cluster_id
    ):
        words = f"{one.path} and {other.path} are not of one cluster."
        yield _error(dir_kinds.CLUSTER_ID, words, subject=other.path)
        return
    if one.node.node_id is not None and one.node.node_id == other.node.node_id:
        words = f"{one.path} and {other.path} are both of node {one.node.node_id}."
        yield _warning(dir_kinds.SAME_NODE_ID, words, subject=other.path)
    if one.voters is not None and other.voters is not None:
        ids = [
            {(v.id, v.directory_id) for v in voters.voters} for voters in (one.voters, other.voters)
        ]
        if ids[0] != ids[1] and one.voters.source is other.voters.source:
            voter_lists = " and ".join(
                f"{reading.path} has {listed(sorted(v.id for v in reading.voters.voters))}"
                + ("" if reading.voters.offset is None else f" (offset {reading.voters.offset})")
                for reading in (one, other)
                if reading.voters is not None
            )
            words = f"The directories have different voters: {voter_lists}."
            yield _warning(dir_kinds.VOTERS_DIFFER, words, subject=other.path)


# --- words ------------------------------------------------------------------------------------


_REACH = "check its process, then the network"


def _statement(
    kind: FindingKind, severity: Severity, words: str, advice: str = "", subject: str = ""
) -> Statement:
    return Statement(
        code=kind.code, subject=subject, severity=severity, reason=words, advice=advice
    )


def _error(kind: FindingKind, words: str, advice: str = "", subject: str = "") -> Statement:
    return _statement(kind, Severity.ERROR, words, advice, subject)


def _warning(kind: FindingKind, words: str, advice: str = "", subject: str = "") -> Statement:
    return _statement(kind, Severity.WARNING, words, advice, subject)


def _name(answer: NodeAnswer | None) -> str:
    """As a finding names it; empty where it is not known."""
    return "" if answer is None else answer.name


def _node(answer: NodeAnswer) -> str:
    if answer.node_id is None:
        return f"A node at {answer.endpoint}"
    return f"Node {answer.node_id}"
