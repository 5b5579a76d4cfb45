"""Health of a live quorum: two polls, a moment apart, compared with thresholds.

Owns the findings. Which voters count, and how many may be lost, is `judgement.py`'s; the thresholds
are those of `thresholds.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from kraftool.client.active_controller import EVIDENCE, next_step, only_controller
from kraftool.client.between_polls import election_between, stuck_between, two_leaders
from kraftool.client.cluster_health import ClusterHealth
from kraftool.client.grades import Grade
from kraftool.client.judgement import Judgement, judge
from kraftool.client.model import NodeAnswer, QuorumView, is_of_cluster
from kraftool.client.not_asked import broker_findings, node_findings, unobserved_finding
from kraftool.client.registrations import registration_findings
from kraftool.client.second_poll import has_same_leader, leader_end
from kraftool.client.thresholds import (
    FETCH_TIMEOUT_MS,
    LAG_MS,
    LAG_RECORDS,
    SILENT_MS,
    fetching,
    leader_clock,
)
from kraftool.decoders.json_marks import Hidden, Ids, Moment, in_json, in_json_before
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import live as kinds
from kraftool.reports.findings.mutes import MutedFinding
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.text.words import listed, many, numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The problems of a quorum."""

    view: Hidden[QuorumView]
    """The second poll."""
    judgement: Hidden[Judgement]
    """Which voters count, and how many may be lost."""
    commits_per_second: float | None = None
    """The speed of the high watermark between two polls; None without a leader in both."""
    cluster_health: ClusterHealth | None = None
    """None where the committed metadata was not read."""
    unobserved_reason: str = ""
    """The reason why the committed metadata could not be read. Empty if it was read or not wanted
    (--quorum-only), and if no node was reached."""
    findings: tuple[Finding, ...]
    muted: tuple[MutedFinding, ...] = ()
    """The findings that --mute left out."""

    @property
    @in_json_before("commits_per_second")
    def is_well(self) -> bool:
        return all(finding.severity is Severity.INFO for finding in self.findings)

    @property
    @in_json_before("commits_per_second")
    def keeping_up(self) -> Ids:
        """The voters that fetch: the leader can count them for a commit."""
        return self.judgement.fetching

    @property
    @in_json_before("commits_per_second")
    def ready_voters(self) -> Ids:
        """The voters that count: they also answer kraftool, know the leader, and have what was
        committed."""
        return self.judgement.ready

    @property
    @in_json_before("commits_per_second")
    def failure_tolerance(self) -> int | None:
        """The number of voters that may fail while commits go on; None if that is not known."""
        return self.judgement.failures

    @property
    @in_json_before("commits_per_second")
    def stable_since(self) -> Moment | None:
        """The time of the last change of the leader or of the voters, by the committed metadata. If
        the log behind the leader's newest snapshot has no such change, the time of that snapshot's
        last record: nothing has changed since then. None without a leader, or if the metadata was
        not read."""
        return None if self.cluster_health is None else self.cluster_health.stable_since

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.findings)

    @property
    def quorum_findings(self) -> tuple[Finding, ...]:
        """The findings without those on brokers and partitions, and on why these are unknown."""
        return tuple(
            finding
            for finding in self.findings
            if finding.code != kinds.UNOBSERVED.code and not self._is_of_cluster(finding)
        )

    @property
    def is_quorum_well(self) -> bool:
        """True if only brokers and partitions are not well; a broker observes the quorum."""
        return all(
            finding.severity is Severity.INFO or self._is_of_cluster(finding)
            for finding in self.findings
        )

    @property
    def is_cluster_well(self) -> bool:
        """True if nothing is wrong with brokers and partitions, as far as they are known."""
        return all(
            finding.severity is Severity.INFO or not self._is_of_cluster(finding)
            for finding in self.findings
        )

    def _is_of_cluster(self, finding: Finding) -> bool:
        return self.cluster_health is not None and finding.code in self.cluster_health.cluster_codes


def health(
    before: QuorumView,
    now: QuorumView,
    cluster: ClusterHealth | None = None,
    unobserved: str = "",
    *,
    judgement: Judgement | None = None,
) -> Health:
    """Judge a quorum by two polls at it, with what was judged of its metadata or why it was not.

    `judgement`: that of the same polls, where the caller knows more than they show.
    """
    judgement = judgement or judge(now, before)
    findings = [*_nodes(judgement), *_leadership(before, judgement), *_features(before, now)]
    findings += cluster.findings if cluster is not None else _unobserved(now, unobserved)
    quorum, leader = now.quorum, now.leader
    speed = None
    if quorum is not None and leader is not None:
        findings += [*_tolerance(judgement), *_voters(now, quorum)]
        findings += _replicas(now, quorum, cluster)
        registered = {} if cluster is None else cluster.observation.image.cluster.controllers
        findings += registration_findings(now, quorum, registered)
        speed, progress = _progress(before, now)
        findings += [*_controllers(judgement, progress)]
    elif judgement.is_lost and now.reached:
        # Whoever saw the last leader knows the voters: those that are left cannot elect one.
        findings.append(_no_majority(judgement))
    return Health(
        view=now,
        judgement=judgement,
        findings=tuple(in_order(findings)),
        commits_per_second=None if speed is None else round(speed, 2),
        cluster_health=cluster,
        unobserved_reason=unobserved,
    )


def _unobserved(now: QuorumView, why: str) -> Iterator[Finding]:
    if why and now.reached:
        yield unobserved_finding(now, "", why)


def _nodes(judgement: Judgement) -> Iterator[Finding]:
    now = judgement.view
    yield from broker_findings(now)
    for node in now.nodes:
        if node.waiting_ms is not None:
            continue  # It is late, which is no fault yet.
        standing = judgement.standing(node.node_id)
        if standing is not None and standing.grade is Grade.HANGS:
            yield kinds.UNREACHED.at(node.name, standing.reason, advice=_HANGS)
            continue
        is_fetching = standing is not None and standing.grade is Grade.OUT_OF_REACH
        yield from node_findings(now, node, is_fetching=is_fetching)
    if len(now.cluster_ids) > 1:
        claims = [f"{node.name} says {node.cluster_id}" for node in now.nodes if node.cluster_id]
        words = f"the nodes are of different clusters: {'; '.join(claims)}"
        yield kinds.CLUSTER_ID.at("", words)
    yield from _moved(now)


def _moved(now: QuorumView) -> Iterator[Finding]:
    """Voters that are not reached where they are recorded, beside nodes that nobody names."""
    lost = [node for node in now.nodes if node.node_id in now.voter_endpoints]
    lost = [answer for answer in lost if not answer.is_reached]
    strangers = [
        answer
        for answer in now.reached
        if answer.node_id is None and answer.cluster_id == now.cluster_id
    ]
    if lost and strangers and now.cluster_id is not None:
        there = ", ".join(str(answer.endpoint) for answer in strangers)
        for answer in lost:
            yield kinds.ENDPOINT.at(
                answer.name,
                f"not reached there. Of this cluster but not recorded for a voter: {there}",
            )


def _leadership(before: QuorumView, judgement: Judgement) -> Iterator[Finding]:
    now = judgement.view
    if now.leader is None and judgement.overdue_ms is not None:
        pass  # The node whose answer is overdue may lead.
    elif not now.reached:
        count = many(len(now.nodes), "address")
        yield kinds.NO_ANSWER.at("", f"unknown: {count} asked, and none answered")
    elif now.leader is None:
        yield kinds.NO_LEADER.at("", f"no node leads{_leader_known(now)}")
    if claims := two_leaders(now):
        same = len({leader.epoch for leader in now.leaders}) < len(now.leaders)
        yield kinds.TWO_LEADERS.at("", claims, severity=Severity.ERROR if same else None)
    if now.leader is not None:
        for answer in now.current:
            if answer is now.leader or answer.epoch is None:
                continue
            if not is_of_cluster(answer, now.leader.cluster_id):
                continue  # what it knows is about another quorum
            if (answer.epoch, answer.leader_id) != (now.leader.epoch, now.leader.node_id):
                known = "no leader" if answer.leader_id is None else f"leader {answer.leader_id}"
                yield kinds.DISAGREE.at(
                    answer.name,
                    f"reports {known} of epoch {answer.epoch}, but node {now.leader.node_id}"
                    f" leads epoch {now.leader.epoch}",
                )
    if epochs := election_between(before, now):
        yield kinds.ELECTION.at("", epochs)


def _leader_known(now: QuorumView) -> str:
    """Return the end of a sentence: what nodes of a quorum without a leader know of one."""
    named = {answer.leader_id for answer in now.reached if answer.leader_id is not None}
    epochs = sorted({answer.epoch for answer in now.reached if answer.epoch is not None})
    if named:
        leader = now.node(min(named))
        gone = leader is not None and not leader.is_reached
        why = "which cannot be reached" if gone else "which does not say that it leads"
        return f". The others still take node {listed(sorted(named))} for the leader, {why}"
    if len(epochs) > 1:
        return f". Nodes are in epochs {listed(epochs)}: they are electing"
    epoch = f" of epoch {epochs[0]}" if epochs else ""
    return f", and no node knows a leader{epoch}"


def _tolerance(judgement: Judgement) -> Iterator[Finding]:
    """Yield that no voter can be lost, as the judgement has it."""
    severity, count = judgement.lacks_spare, len(judgement.voters)
    if count == 1:
        yield kinds.FEW_VOTERS.at("", "no voter can be lost: there is only one")
    if severity is Severity.ERROR:
        yield _no_majority(judgement)
    elif severity is Severity.WARNING and not _has_other_cause(judgement):
        reasons = "; ".join(filter(None, (judgement.reason, judgement.left_out)))
        words = f"no voter can be lost: {reasons}"
        if len(judgement.ready) == count == 2:
            yield kinds.FEW_VOTERS.at("", words, severity=severity)
        else:
            stay = f"do not restart voter {listed(judgement.ready, 'or')}"
            first = _bring_back(judgement) or kinds.NO_SPARE.advice
            yield kinds.NO_SPARE.at("", words, advice=f"{stay}; {first}")


def _no_majority(judgement: Judgement) -> Finding:
    advice = _bring_back(judgement)
    return kinds.NO_MAJORITY.at("", f"no majority: {judgement.reason}", advice=advice or None)


def _bring_back(judgement: Judgement) -> str:
    lost = [voter.id for voter in judgement.voters if not voter.is_fetching]
    return f"bring back {numbered('voter', lost)}" if lost else ""


def _has_other_cause(judgement: Judgement) -> bool:
    """True if controllers are lacking, not voters: those are findings of their own."""
    return judgement.view.lacks_controller or len(judgement.ready) > judgement.majority


def _voters(now: QuorumView, quorum: DescribeQuorumResponse) -> Iterator[Finding]:
    count = len(quorum.voters)
    if count > 2 and count % 2 == 0:
        yield kinds.EVEN_VOTERS.at("", f"{count} voters")
    known = {voter.replica.id: voter.replica.directory_id for voter in quorum.voters}
    for observer in quorum.observers:
        node_id, directory_id = observer.replica
        if not fetching(quorum, (observer,)):
            continue  # an earlier directory of a voter: the leader still lists it for some minutes
        if known.get(node_id) is not None and known[node_id] != directory_id:
            yield kinds.OTHER_DIRECTORY.at(
                f"node {node_id}",
                f"it fetches with directory id {directory_id}, but voter {node_id} is recorded"
                f" with {known[node_id]}",
            )
    leader = now.leader
    if leader is None or KRAFT_VERSION not in leader.offered.supported:
        return
    if now.claims_too_much:
        claimed = leader.offered.finalized[KRAFT_VERSION]
        yield kinds.FALSE_UPGRADE.at(
            "", f"kraft.version {claimed}, but no voter has a directory id"
        )
    elif now.kraft_version == 0:
        yield kinds.STATIC.at("", "kraft.version 0")


def _controllers(judgement: Judgement, progress: Iterable[Finding]) -> Iterator[Finding]:
    """A leader that runs no controller, or only one voter that runs one; and the progress."""
    now, ready = judgement.view, judgement.ready
    leader, only = now.leader, only_controller(now, ready)
    assert leader is not None, "the caller has a leader"
    if now.lacks_controller:
        # That the log stands still is evidence for it, and no finding of its own.
        still = [finding.text for finding in progress if finding.code == kinds.IDLE.code]
        progress = [finding for finding in progress if finding.code != kinds.IDLE.code]
        words = "; ".join([f"it leads, but {EVIDENCE}", *still])
        yield kinds.NO_CONTROLLER.at(leader.name, words, advice=next_step(now, ready))
    elif only is not None and len(ready) > judgement.majority:
        yield kinds.ONE_CONTROLLER.at(
            f"voter {only}",
            f"{many(len(ready), 'voter')} are ready, and only {only} is known to run a controller",
        )
    yield from progress


def _replicas(
    now: QuorumView, quorum: DescribeQuorumResponse, cluster: ClusterHealth | None
) -> Iterator[Finding]:
    clock = leader_clock(quorum)
    running = fetching(quorum, (*quorum.voters, *quorum.observers))
    end = max((voter.log_end_offset for voter in quorum.voters), default=-1)
    for role, replicas in (("voter", quorum.voters), ("observer", quorum.observers)):
        for replica in replicas:
            if replica.replica.id == quorum.leader_id:
                continue
            silent = _silent(replica, f"{role} {replica.replica.id}", clock)
            if _has_gone(now.node(replica.replica.id), replica, clock):
                pass  # that it was not reached is a finding of its own
            elif silent is None:
                yield from _lag(replica, f"{role} {replica.replica.id}", clock, end)
            elif role == "observer" and _may_be_gone(replica.replica.id, running, cluster):
                yield replace(silent, severity=Severity.INFO, advice=_GONE)
            else:
                yield silent


_HANGS = "check if the process is paused or hangs before you restart it"
_GONE = (
    "nothing to do if you removed or stopped this node: a leader lists an observer for five minutes"
    " after its last fetch, and a removed voter is an observer"
)


def _has_gone(node: NodeAnswer | None, replica: ReplicaState, clock: int) -> bool:
    """True if a replica was not reached and does not fetch, but not yet for so long that it is
    silent: it stopped just now, and does not lag."""
    since = clock - replica.last_fetch_timestamp
    is_away = node is not None and not node.is_reached and node.waiting_ms is None
    return is_away and replica.last_fetch_timestamp >= 0 and FETCH_TIMEOUT_MS < since <= SILENT_MS


def _may_be_gone(node_id: int, running: Collection[int], cluster: ClusterHealth | None) -> bool:
    """True if a silent observer is not a broker, or is an earlier directory of a node."""
    return node_id in running or (cluster is not None and node_id not in cluster.registered_brokers)


def _silent(state: ReplicaState, name: str, clock: int) -> Finding | None:
    if state.last_fetch_timestamp < 0:
        return kinds.SILENT.at(name, "has not fetched from this leader")
    silent = clock - state.last_fetch_timestamp
    if silent > SILENT_MS:
        return kinds.SILENT.at(name, f"last fetched {silent / 1000:.1f} s ago")
    return None


def _lag(state: ReplicaState, name: str, clock: int, end: int) -> Iterator[Finding]:
    records, behind = end - state.log_end_offset, clock - state.last_caught_up_timestamp
    if records > LAG_RECORDS:
        yield kinds.LAG.at(name, f"{records} records behind")
    elif state.last_caught_up_timestamp >= 0 and behind > LAG_MS:
        yield kinds.LAG.at(name, f"was last caught up {behind / 1000:.1f} s ago")


def _progress(before: QuorumView, now: QuorumView) -> tuple[float | None, list[Finding]]:
    then, this = before.quorum, now.quorum
    if then is None or this is None or not has_same_leader(then, this):
        return None, []
    grown = leader_end(this) - leader_end(then)
    committed = this.high_watermark - then.high_watermark
    seconds = (leader_clock(this) - leader_clock(then)) / 1000
    findings = []
    if words := stuck_between(before, now):
        findings.append(kinds.STUCK.at("", words))
    elif grown <= 0 and seconds > 0:
        findings.append(kinds.IDLE.at("", f"no record was written in {seconds:.1f} s"))
    return (committed / seconds if seconds > 0 else None), findings


def _features(before: QuorumView, now: QuorumView) -> Iterator[Finding]:
    """Each node's levels against the newest that are told, and its range."""
    answers = [answer for answer in now.reached if answer.offered.finalized_epoch >= 0]
    if not answers:
        return
    newest = max(
        answers, key=lambda answer: (answer.quorum is not None, answer.offered.finalized_epoch)
    )
    levels = newest.offered.finalized
    for answer in now.reached:
        for name, level in sorted(levels.items()):
            low, high = answer.offered.supported.get(name, (0, 0))
            if answer.offered.supported and not low <= level <= high:
                yield kinds.FEATURE_RANGE.at(
                    answer.name, f"{name} is {level}, but it supports {low} to {high}"
                )
    for answer in answers:
        # A change takes a moment to be applied everywhere: only what both polls show counts.
        earlier = None if answer.node_id is None else before.node(answer.node_id)
        stays = earlier is not None and earlier.offered.finalized == answer.offered.finalized
        if stays and answer.offered.finalized != levels:
            yield kinds.FEATURES_DIFFER.at(answer.name, _difference(answer, newest))


def _difference(one: NodeAnswer, other: NodeAnswer) -> str:
    names = sorted({*one.offered.finalized, *other.offered.finalized})
    mine, theirs = one.offered.finalized, other.offered.finalized
    return ", ".join(
        f"{name} is {mine.get(name, 0)}, but {other.name} has {theirs.get(name, 0)}"
        for name in names
        if mine.get(name, 0) != theirs.get(name, 0)
    )
