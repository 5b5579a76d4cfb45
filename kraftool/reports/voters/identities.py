"""Directories that claim to be the same one, or the same node.

Owns what two meta.properties with one id can mean: a copy, a file that was edited, or one that was
copied over another node's. Directory ids are random, so that two are never equal by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.directory.metadata_summary import SeenVoters
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.voters.source_differences import newest_source

Sources = Sequence[NodeDirectory]


def ids_twice(sources: Sources) -> Iterator[Finding]:
    """Directories with the same directory id, and one node with several directories."""
    by_directory: dict[str, NodeDirectory] = {}
    by_node: dict[int, NodeDirectory] = {}
    reference = newest_source(sources)
    voters = reference.in_force if reference is not None else None
    for source in sources:
        if source.is_live:
            continue  # the directory that it runs on may be given too
        node = source.node
        if node.directory_id is not None:
            first = by_directory.setdefault(node.directory_id, source)
            if first is not source:
                yield _same_directory(first, source, voters, sources)
        if node.node_id is None or node.directory_id is None or source.edited_from is not None:
            continue
        first = by_node.setdefault(node.node_id, source)
        if first.node.directory_id != node.directory_id:
            yield kinds.SAME_NODE_ID.at(
                source.name,
                f"{first.name} is node {node.node_id} too{_missing_words(voters, sources)}",
                field="directory.id",
                expected=str(first.node.directory_id),
                found=node.directory_id,
            )


def _same_directory(
    first: NodeDirectory, source: NodeDirectory, voters: SeenVoters | None, sources: Sources
) -> Finding:
    mine, other = source.node.node_id, first.node.node_id
    text = f"{first.name} has the same directory.id"
    expected, advice, severity = "", None, None
    if None not in (mine, other) and mine != other:
        wrong, right = (source, first) if _votes_with(first, voters) else (first, source)
        voter = voters.of(wrong.node.node_id) if voters is not None else None
        expected = (voter.directory_id or "") if voter is not None else ""
        text = f"{right.name} has the same directory.id as node {right.node.node_id}"
        advice = "one of these meta.properties was made from the other. Write back the directory.id"
        advice += " that the voter set has for this node, and never run both before that"
        source = wrong
    elif missing := _missing_words(voters, sources):
        text += f" and node.id{missing}"
        advice = (
            "find out where each comes from (kraftool doctor on the server.properties next to"
            " it shows the node). Never run both: a node with another node's meta.properties"
            " votes in its name"
        )
        severity = Severity.ERROR if _are_two_nodes(first, source) else None
    elif mine is not None:
        text += f" and node.id {mine}: one is a copy of the other"
    return kinds.SAME_DIRECTORY_ID.at(
        source.name,
        text,
        field="directory.id",
        expected=expected,
        found=str(source.node.directory_id),
        advice=advice,
        severity=severity,
    )


def _votes_with(source: NodeDirectory, voters: SeenVoters | None) -> bool:
    """True if the voters name the node with the directory id that it has."""
    voter = voters.of(source.node.node_id) if voters is not None else None
    return voter is not None and voter.directory_id == source.node.directory_id


def _missing_words(voters: SeenVoters | None, sources: Sources) -> str:
    """That voters have no directory here, where all others have one."""
    if voters is None:
        return ""
    there = {source.node.node_id for source in sources}
    missing = sorted(voter.id for voter in voters.voters if voter.id not in there)
    twice = sum(source.node.node_id is not None for source in sources) - len(there - {None})
    if not missing or len(missing) > twice:
        return ""
    who = f"voter {missing[0]} has"
    if len(missing) > 1:
        who = f"voters {', '.join(map(str, missing))} have"
    return f", but {who} no directory here: one of the two may belong to that node"


def _are_two_nodes(one: NodeDirectory, other: NodeDirectory) -> bool:
    """True if neither is an older or an exact copy: as far as each other, with snapshots of their
    own or another quorum-state."""
    if one.end != other.end:
        return False
    mine, theirs = (
        {(snapshot.offset, snapshot.epoch) for snapshot in of.snapshots} for of in (one, other)
    )
    return mine != theirs or one.quorum_state != other.quorum_state
