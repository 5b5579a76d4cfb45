"""Changed cases: a node is wiped, new, or not lost after all.

Owns nodes that no directory tells of. What follows for the quorum the core is asked.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.raft.names import ElectionState
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION, NodeSettings, Timing
from kraftool.reports.election.case import ElectionCase, Log, NodeCase, reachable_by
from kraftool.reports.election.read import DEFAULT_LISTENER, UNKNOWN_CLUSTER, placeholder

EMPTY, EQUAL = "empty", "equal"


def wiped(case: ElectionCase, node_id: int) -> ElectionCase:
    """A node whose disk was lost and formatted anew: another directory id, and nothing on it."""
    node = case.by_id.get(node_id) or _blank(case, node_id)
    anew = replace(
        node,
        settings=replace(node.settings, directory_id=f"anew-{node_id}"),
        log=Log(),
        election=None,
        assumed="formatted again",
        notes=(),
        obstacle=None,
    )
    return case.with_node(anew).noting(
        f"{node_id} is wiped: formatted again, with another directory id and no log"
    )


def witness(case: ElectionCase, node_id: int) -> ElectionCase:
    """A voter on which kraftool node runs in place of a Kafka."""
    node = case.by_id[node_id]
    settings = replace(node.settings, is_witness=True, hands_over=True)
    return case.with_node(replace(node, settings=settings)).noting(
        f"{node_id} is a witness, which leads only as a last resort: kraftool node runs on it"
    )


def added(case: ElectionCase, node_id: int) -> ElectionCase:
    """A controller that is formatted and started, to be added."""
    if node_id in case.by_id:
        return case
    node = replace(_blank(case, node_id), assumed="new")
    return case.with_node(node).noting(
        f"{node_id} is a new controller with an empty log, and is started before it is added"
    )


def assumed_up(case: ElectionCase, node_id: int, log: str) -> ElectionCase:
    """A voter without a directory that runs nevertheless, with the best log or with none."""
    node = _blank(case, node_id)
    best = case.most_complete
    if log == EQUAL and best is not None:
        election = _remembered(case, best)
        words = f"{node_id} is assumed to be up, with a log equal to {best.id}'s"
        node = replace(node, log=best.log, election=election, assumed="equal log")
    else:
        words = f"{node_id} is assumed to be up, with an empty log"
        node = replace(node, assumed="empty log")
    return case.with_node(node).noting(words)


def _remembered(case: ElectionCase, like: NodeCase) -> ElectionState | None:
    """Return what a node knows of the epoch that another one is in: its leader, if anybody knows
    one. A node that led does not forget it.
    """
    if like.election is None:
        return None
    epoch = like.election.epoch
    election_states = [node.election for node in case.nodes if node.election is not None]
    leaders = [
        election_state.leader_id
        for election_state in election_states
        if election_state.epoch == epoch
    ]
    known = next((leader for leader in leaders if leader is not None), None)
    return ElectionState(epoch=epoch, leader_id=known)


def _blank(case: ElectionCase, node_id: int) -> NodeCase:
    """A node with nothing on its disk; who it is the voters say, if they know it."""
    like = case.most_complete
    voter = case.voters.voters.get(node_id)
    listener = like.settings.default_listener if like is not None else DEFAULT_LISTENER
    listeners = dict(voter.endpoints) if voter is not None else {}
    listeners.setdefault(listener, placeholder(node_id))
    directory = voter.key.directory_id if voter is not None else None
    settings = NodeSettings(
        node_id=node_id,
        directory_id=directory or f"of-node-{node_id}",
        cluster_id=like.settings.cluster_id if like is not None else UNKNOWN_CLUSTER,
        listeners=listeners,
        default_listener=listener,
        static_voters=like.settings.static_voters if like is not None else case.voters,
        timing=like.settings.timing if like is not None else Timing(),
        kraft_version=SUPPORTED_KRAFT_VERSION,
    )
    return NodeCase(settings=reachable_by(settings, case.nodes), log=Log())
