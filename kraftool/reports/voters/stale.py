"""Directories in the place of a voter that the voters know by another directory id.

Owns what tells an old disk, a new one and an edited meta.properties apart, since each needs another
remedy. Where the voter's own directory is among the sources nothing is wrong with the quorum, and
to remove that voter, as for a disk that is lost, would do harm.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kraftool.directory.metadata_summary import SeenVoters
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_set import matches
from kraftool.image.uuids import is_reserved_directory
from kraftool.raft.names import Voter
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds

Sources = Sequence[NodeDirectory]
_OLD_DISK = (
    "find the directory with the other id, and start the node on that one. Only if it is"
    " lost: run remove-controller with that id, then add-controller. Never write that id"
    " here: this directory does not have the votes given under it"
)
_NO_LEADER = (
    "neither remove-controller nor add-controller can help, because no majority is left to"
    " elect a leader. Find the directories with the ids in the voter set. If somebody rewrote"
    " meta.properties over a voter's own log, write its old id back"
)


def is_stale(source: NodeDirectory, voters: SeenVoters) -> bool:
    """True if the voters name the node of a source with another directory id.

    With a reserved one Kafka does not start, which is told of meta.properties.
    """
    voter, own = voters.of(source.node.node_id), source.node.directory_id
    if voter is None or own is None or is_reserved_directory(own):
        return False
    return not matches(voter, own)


def stale_voter(
    source: NodeDirectory,
    reference: NodeDirectory,
    sources: Sources,
    past: Mapping[int, Collection[Voter]],
) -> Finding:
    """The finding for a source that `is_stale` by the voters of the reference."""
    node, voters = source.node, reference.in_force
    assert voters is not None
    voter = voters.of(node.node_id)
    assert voter is not None
    home = _own_directory(voter, sources)
    text = (
        f"node {voter.id} votes with another directory id than this directory's, according to"
        f" the voters at offset {voters.offset}"
    )
    if reference is not source:
        text += f" of {reference.name}"
    advice = None
    whose = _with_id(node.directory_id, voters)
    other = whose.id if whose is not None else None
    if other is not None:
        text += f"; it has that of voter {other}"
        advice = (
            f"if it is voter {other}'s directory, somebody edited node.id in meta.properties:"
            f" write {other} back. Otherwise it is a copy: do not start it"
        )
        if source.edited_from == other:
            advice = f"write node.id={other} back in meta.properties: its server.properties has it"
    elif home is not None:
        text += f"; {home.name} is that voter's directory"
        advice = "nothing to do as long as you do not start it in the voter's place"
    elif reference.newest is not None and reference.newest.contradicted:
        advice = "check the snapshot first: the log next to it has other voters"
    elif _cannot_elect(voters, sources):
        advice = _NO_LEADER
    elif any(past_voter.directory_id == node.directory_id for past_voter in past.get(voter.id, ())):
        text += "; it was the voter's before"
        advice = _OLD_DISK
    return kinds.STALE_VOTER.at(
        source.meta_file or source.name,
        text,
        field="directory.id",
        expected=voter.directory_id or "",
        found=node.directory_id or "",
        severity=Severity.INFO if home is not None and other is None else None,
        advice=advice,
    )


def is_edited(source: NodeDirectory, voters: SeenVoters, sources: Sources) -> bool:
    """True if a directory is a voter's by its directory id and nobody's by its node id.

    Settings with another node id than meta.properties' are reported by themselves, and so are two
    directories with one directory id.
    """
    node, settings = source.node, source.settings
    voter = _with_id(node.directory_id, voters)
    if voter is None or node.node_id is None or voters.of(node.node_id) is not None:
        return False
    configured = settings.node_id if settings is not None else None
    if configured not in (None, node.node_id):
        return False
    return all(other is source or other.node.directory_id != node.directory_id for other in sources)


def edited_node(source: NodeDirectory, voters: SeenVoters) -> Finding:
    """The finding for a source that `is_edited`."""
    voter = _with_id(source.node.directory_id, voters)
    assert voter is not None
    return kinds.NODE_ID_EDITED.at(
        source.meta_file or source.name,
        f"the directory.id is voter {voter.id}'s, and no voter has this node.id",
        field="node.id",
        expected=str(voter.id),
        found=str(source.node.node_id),
    )


def _with_id(wanted: str | None, voters: SeenVoters) -> Voter | None:
    """The voter with a directory id."""
    if wanted is None:
        return None
    return next((voter for voter in voters.voters if voter.directory_id == wanted), None)


def _own_directory(voter: Voter, sources: Sources) -> NodeDirectory | None:
    """The source that is the directory of a voter, with the id that the voters have."""
    wanted = voter.directory_id
    for source in sources:
        if (
            source.node.node_id == voter.id
            and source.node.directory_id == wanted
            and source.has_metadata
        ):
            return source
    return None


def _cannot_elect(voters: SeenVoters, sources: Sources) -> bool:
    """True if so many voters have only other directories that no majority can be left."""
    lost = [
        voter
        for voter in voters.voters
        if any(source.node.node_id == voter.id and is_stale(source, voters) for source in sources)
        and _own_directory(voter, sources) is None
    ]
    return len(voters.voters) - len(lost) < voters.voters.majority
