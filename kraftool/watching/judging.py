"""The sentences on a picture of a quorum: what is wrong, and what to do about it.

Owns the words on watched directories, and on what shows only while one goes on watching. The words
on a live quorum are the findings of `client/health.py`, so that one file of mutes serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from kraftool.client.health import Health
from kraftool.client.judgement import Judgement
from kraftool.client.model import QuorumView, leader_end
from kraftool.reports.findings.finding import Finding, FindingKind, Severity
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import live as kinds
from kraftool.reports.text.words import duration, listed
from kraftool.storage.lock import LockState
from kraftool.watching.directory_reading import DirectoryReading
from kraftool.watching.picture import Picture
from kraftool.watching.staleness import currency
from kraftool.watching.voter_state import VoterState

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


def statements(picture: Picture, voters: VoterState, live: Health | None) -> Iterator[Statement]:
    """Yield what the reader has to know; `live`: the health of the live quorum."""
    if live is not None:
        if live.judgement.overdue_ms is not None:
            yield _overdue(live.judgement, live.judgement.overdue_ms)
        away = [node.node_id for node in live.view.nodes if not node.is_current]
        silent = {f"{role} {node_id}" for node_id in away for role in ("voter", "observer")}
        for finding in live.quorum_findings:
            # That a node was not reached says that it is silent.
            if finding.code != kinds.SILENT.code or finding.file not in silent:
                yield _of_quorum(finding)
    yield from _voter_change(voters)
    yield from _directories(picture, voters)


def _of_quorum(finding: Finding) -> Statement:
    words = ": ".join(filter(None, (finding.file, finding.sentence())))
    reason = f"{words[:1].upper()}{words[1:]}."
    return _statement(finding.kind, finding.severity, reason, finding.advice, finding.file)


def _overdue(judgement: Judgement, waiting_ms: int) -> Statement:
    """Say that what is shown is old. That is no fault of the quorum."""
    leader = judgement.view.leader
    whom = "the answers of a majority"
    if leader is not None and leader.waiting_ms is not None:
        whom = f"the answer of leader {leader.node_id}"
    words = f"Waiting {duration(waiting_ms)} for {whom}: what is shown is older than that."
    subject = "" if leader is None else leader.name
    return _statement(kinds.UNREACHED, Severity.INFO, words, subject=subject)


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
