"""The problems of one node in addition to the voters: who it is, whom it voted for, what its log
says.

Owns the rules for meta.properties, quorum-state, LeaderChange records and the history of one
source, in the light of the histories of all sources.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from kraftool.decoders.wire import ZERO_UUID
from kraftool.directory.metadata_summary import SeenVoters, VoterSource
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import Commitment
from kraftool.directory.voter_set import matches
from kraftool.raft.names import Voter, majority_of
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.voters.jumps import jumps_of
from kraftool.reports.voters.source_differences import newest_source
from kraftool.reports.voters.stale import edited_node, is_edited, is_stale, stale_voter

Sources = Sequence[NodeDirectory]


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(ids))) or "none"


def _past_voters(sources: Sources) -> dict[int, list[Voter]]:
    """Every voter of every set that any source tells, by id."""
    voters_by_id: dict[int, list[Voter]] = {}
    for source in sources:
        sets = [voter_set.voters or () for voter_set in source.voter_sets]
        sets += [source.seen_voters.voters] if source.seen_voters is not None else []
        for voter in (voter for one in sets for voter in one):
            voters_by_id.setdefault(voter.id, []).append(voter)
    return voters_by_id


def membership(sources: Sources) -> Iterator[Finding]:
    """meta.properties' ids against the newest voters of all sources."""
    reference = newest_source(sources)
    voters = reference.in_force if reference is not None else None
    if reference is None or voters is None:
        return
    past = _past_voters(sources)
    for source in sources:
        node = source.node
        voter = voters.of(node.node_id)
        if node.node_id is None:
            continue
        if is_edited(source, voters, sources):
            yield edited_node(source, voters)
        elif voter is None:
            if voters.source in (VoterSource.RECORD, VoterSource.PROPERTIES):
                yield from _not_a_voter(source, reference, node.node_id in past)
        elif is_stale(source, voters):
            yield stale_voter(source, reference, sources, past)


def _not_a_voter(
    source: NodeDirectory, reference: NodeDirectory, was_one: bool
) -> Iterator[Finding]:
    controller = source.plays("controller")
    if controller is None:
        # Without settings, a broker and a controller of an old Kafka look the same.
        controller = source.node.node_id in source.summary.controllers
    if not controller or reference.in_force is None:
        return
    ids = _ids([voter.id for voter in reference.in_force.voters])
    words = "no longer one of the voters" if was_one else "not among the voters"
    awaited = not was_one and _may_be_added(source, reference.in_force)
    yield kinds.NOT_A_VOTER.at(
        source.name,
        f"controller {source.node.node_id} is {words} {ids}",
        severity=Severity.INFO if was_one or awaited else None,
        advice=_removed_advice(source, reference)
        if was_one
        else "nothing to do if it should only observe."
        f" {kinds.NOT_A_VOTER.advice[0].upper()}{kinds.NOT_A_VOTER.advice[1:]}"
        if awaited
        else None,
    )


def _may_be_added(source: NodeDirectory, voters: SeenVoters) -> bool:
    """True if nothing speaks against a controller that was formatted to be added later.

    Only a dynamic quorum takes one in. A node that voted for itself took itself for a voter, and
    the directory of a voter under another node id is a copy, or its meta.properties was edited.
    """
    node, state = source.node, source.quorum_state
    if voters.source is not VoterSource.RECORD:
        return False
    if state is not None and node.node_id in (state.voted_id, state.leader_id):
        return False
    if any(node.node_id in (leader.leader_id, *leader.voters) for leader in source.history.leaders):
        return False
    own = node.directory_id
    return own is None or all(voter.directory_id != own for voter in voters.voters)


def _removed_advice(source: NodeDirectory, reference: NodeDirectory) -> str:
    """Return what to do with a node that was a voter: never stop one on the word of an unproved
    set.
    """
    newest = reference.newest
    if newest is None:
        return ""
    if newest.commitment in (Commitment.COMMITTED, Commitment.FORMATTED):
        return "it was removed. Stop it, or add it again"
    if any(jump.entry is newest for jump in jumps_of(reference)):
        return (
            f"nothing proves that the voter set at offset {newest.offset} is committed, and it"
            " looks written by hand. Keep this node. Do not start the directory of"
            f" {reference.name} until you know which of them may elect a leader"
        )
    where = "" if reference is source else f" of {reference.name}"
    return (
        f"nothing here proves that the removal at offset {newest.offset}{where} is committed."
        " Keep this node until the directories of a majority, or the running quorum, show it"
    )


def elections(sources: Sources) -> Iterator[Finding]:
    """quorum-state: the leader and the vote are voters, of now or of before."""
    past = _past_voters(sources)
    if not past:
        return
    # Static voters have no records but these.
    electing = {id for one in sources for leader in one.history.leaders for id in leader.voters}
    for source in sources:
        state, voters = source.quorum_state, source.in_force
        if state is None or voters is None:
            continue
        for field, id in (("leaderId", state.leader_id), ("votedId", state.voted_id)):
            if id < 0 or voters.of(id) is not None:
                continue
            known = id in past or id in electing
            yield kinds.VOTE_STRANGER.at(
                source.quorum_state_file,
                "a voter of another set of this history"
                if known
                else "not a voter in any set that the sources have",
                field=field,
                expected=f"one of {_ids([voter.id for voter in voters.voters])}",
                found=str(id),
                severity=Severity.INFO if known else None,
                advice="" if known else None,
            )
        voter = voters.of(state.voted_id)
        voted = state.voted_directory_id
        if voter is None or voted == ZERO_UUID or matches(voter, voted):
            continue
        known = any(voter.directory_id == voted for voter in past[state.voted_id])
        yield kinds.VOTE_STRANGER.at(
            source.quorum_state_file,
            f"the vote is for node {state.voted_id} with another directory id than that voter has",
            field="votedDirectoryId",
            expected=voter.directory_id or "",
            found=voted,
            severity=Severity.INFO if known else None,
            advice="" if known else None,
        )


def current_voters(sources: Sources) -> Iterator[Finding]:
    """currentVoters of a version 0 quorum-state, which matters at kraft.version 0 only.

    A node at kraft.version 1 may keep a file of version 0 that lists nobody.
    """
    for source in sources:
        state, voters = source.quorum_state, source.in_force
        if state is None or not state.current_voters or voters is None:
            continue
        if source.kraft_version or voters.source is VoterSource.QUORUM_STATE:
            continue
        if set(state.current_voters) != {voter.id for voter in voters.voters}:
            yield kinds.CURRENT_VOTERS.at(
                source.quorum_state_file,
                f"they differ from the voters of {voters.source.value}",
                field="currentVoters",
                expected=_ids([voter.id for voter in voters.voters]),
                found=_ids(state.current_voters),
                advice="a recovery plan wrote these voters: set controller.quorum.voters to them in"
                " every server.properties before you start a node, as the plan's steps say"
                if source.begins_planned_epoch
                else None,
            )


def leader_changes(sources: Sources) -> Iterator[Finding]:
    """The voters that a LeaderChange lists against the set before it in the same log."""
    for source in sources:
        log, sets = source.log, source.voter_sets
        offsets = [entry.offset for entry in sets]
        for leader in source.history.leaders:
            number = bisect_left(offsets, leader.offset)
            known = sets[number - 1] if number else None
            if known is None or known.voters is None or log is None:
                continue
            if not log.covers(max(known.offset + 1, 0), leader.offset):
                continue
            if set(leader.voters) != {voter.id for voter in known.voters}:
                yield kinds.LEADER_VOTERS.at(
                    leader.file,
                    f"leader {leader.leader_id} of epoch {leader.epoch} was elected by other"
                    " voters than those of the record before",
                    position=leader.position,
                    offset=leader.offset,
                    field="voters",
                    expected=_ids([voter.id for voter in known.voters]),
                    found=_ids(leader.voters),
                )


def jumps(sources: Sources) -> Iterator[Finding]:
    """Records that change several voters at once, each once.

    That a majority of the new set has the record settles nothing; that Kafka went on from it does.
    """
    seen = set()
    for source in sources:
        for jump in jumps_of(source):
            entry = jump.entry
            if entry.identity in seen:
                continue
            seen.add(entry.identity)
            settled = entry.commitment is Commitment.COMMITTED and not entry.by_majority
            words = "; ".join(entry.differences)
            if not jump.overlaps:
                before, after = len(jump.before), len(jump.voters)
                words += (
                    f". {majority_of(before)} of the {before} earlier voters can elect a"
                    f" leader without any of {majority_of(after)} of the new ones"
                )
            yield log_kinds.VOTERS_JUMP.at(
                entry.file,
                words,
                position=entry.position,
                offset=entry.offset,
                field="KRaftVoters",
                expected=_ids([voter.id for voter in jump.before]),
                found=_ids([voter.id for voter in jump.voters]),
                severity=Severity.INFO if settled else None,
            )
