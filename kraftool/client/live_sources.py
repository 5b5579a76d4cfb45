"""A live quorum's nodes as sources of voters, beside directories and settings.

Owns what each node is taken to say. A leader has its log, with what is not committed yet, and says
what is; any other controller tells only whom it takes for the leader, of which epoch, and which
controllers have registered: Kafka has no request by which a follower would name its voters.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.client.live import LiveQuorum
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.not_asked import node_findings, unobserved_finding
from kraftool.directory.metadata_summary import (
    MetadataSummary,
    NodeIds,
    SeenVoters,
    VoterSource,
)
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.reading import Progress
from kraftool.raft.messages import DescribeQuorumResponse
from kraftool.raft.names import Voter, VoterSet
from kraftool.reports.directory.voter_sources import read_sources_of
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.paths import LocationKind

_KIND = LocationKind.LIVE.value


def live_sources(
    live: LiveQuorum, progress: Progress = lambda name, position: None
) -> tuple[JudgedDirectory, ...]:
    """Every node of a quorum as a source, the leader with its log where that was read."""
    sources = {node_source.name: node_source for node_source in node_sources(live.before)}
    if live.captured is not None:
        for read in read_sources_of(live.captured.location, progress):
            node = sources[read.name].directory
            sources[read.name] = replace(read, directory=read.directory.with_words_of(node))
    elif live.before.reached:
        asked = live.before.leader or live.before.reached[0]
        why = unobserved_finding(live.before, asked.name, live.unobserved)
        source = sources[asked.name]
        sources[asked.name] = replace(source, findings=(*source.findings, why))
    return tuple(sources.values())


def node_sources(view: QuorumView) -> tuple[JudgedDirectory, ...]:
    """Every node as a source, by what it answered."""
    return tuple(
        JudgedDirectory(directory=_of_node(view, node), findings=tuple(node_findings(view, node)))
        for node in view.nodes
    )


def leader_source(view: QuorumView) -> NodeDirectory:
    """The leader as it describes the quorum, without its log."""
    if view.leader is None:
        return NodeDirectory(name="the leader", kind=_KIND, is_live=True)
    return _of_node(view, view.leader)


def _of_node(view: QuorumView, node: NodeAnswer) -> NodeDirectory:
    name = node.name
    return NodeDirectory(
        name=name,
        kind=_KIND,
        is_live=True,
        summary=MetadataSummary(
            node=NodeIds(
                node_id=node.node_id,
                directory_id=None if node.node_id is None else view.directory_id(node.node_id),
                cluster_id=node.cluster_id,
            ),
            controllers=tuple(sorted(node.controllers)),
            quorum_state=node.election if node.is_reached and node.epoch is not None else None,
            voter_set=None if node.quorum is None else _told(node.quorum),
        ),
        is_witness=view.is_witness(node.node_id),
    )


def _told(quorum: DescribeQuorumResponse) -> SeenVoters:
    """The voters as this leader goes by them, committed or not."""
    voters = VoterSet.of(
        *(
            Voter(key=voter.replica, endpoints=quorum.nodes.get(voter.replica.id, {}))
            for voter in quorum.voters
        )
    )
    return SeenVoters(source=VoterSource.LEADER, voters=voters)
