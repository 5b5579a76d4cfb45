"""Witnesses in a simulated election: who leads after one that led as a last resort.

Owns what follows for other nodes from a witness that can be elected, and when a run with one is
over. How a witness behaves is the core's to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.sim.candidacy import Chance
from kraftool.sim.conditions import Conditions
from kraftool.sim.replica import SimulatedNode


def as_candidate(case: ElectionCase, node_id: int) -> ElectionCase:
    """The same nodes, of which one keeps leadership: a trial looks at its own chance alone."""
    node = case.by_id[node_id]
    if not node.is_witness:
        return case
    settings = replace(node.settings, is_witness=False, hands_over=False)
    return case.with_node(replace(node, settings=settings))


def why_not(node: NodeCase) -> str:
    """Why a witness is no candidate; empty for every other node."""
    if not node.settings.is_witness:
        return ""
    return (
        f"{node.id} is a witness: it leads only as a last resort, until a Kafka controller has"
        " caught up"
    )


def handed_over(
    case: ElectionCase,
    conditions: Conditions,
    chances: tuple[Chance, ...],
    lead: Callable[[ElectionCase, int], Chance],
) -> tuple[Chance, ...]:
    """The chances, with those that lead because a witness hands leadership to them.

    A witness is elected as a last resort where it refuses a Kafka for its shorter log. `lead` tries
    one node.
    """
    by_id = case.by_id
    if not any(by_id[chance.node].settings.is_witness for chance in chances) or any(
        chance.commits and not by_id[chance.node].is_witness for chance in chances
    ):
        return chances
    lifted: dict[int, int] = {}
    for witness in chances:
        if not by_id[witness.node].settings.is_witness or witness.node in conditions.down:
            continue
        refused = [
            chance.node
            for chance in chances
            if not by_id[chance.node].is_witness
            and any(why.voter_id == witness.node and why.kind == "log" for why in chance.refusals)
        ]
        if refused and lead(as_candidate(case, witness.node), witness.node).commits:
            for node_id in refused:
                lifted.setdefault(node_id, witness.node)
    return tuple(
        replace(chance, wins=True, commits=True, via=lifted[chance.node], why_not="")
        if chance.node in lifted
        else chance
        for chance in chances
    )


def is_over(leader: SimulatedNode, replicas: Iterable[SimulatedNode]) -> bool:
    """True if a run with this leader is over: it runs a controller, or no other voter does."""
    if leader.raft.settings.runs_controller:
        return True
    voters = leader.raft.control.voters.ids
    return not any(
        replica.raft.settings.runs_controller and replica.id in voters for replica in replicas
    )


def leading(replicas: Iterable[SimulatedNode]) -> int | None:
    """The witness that leads now."""
    return next(
        (
            replica.id
            for replica in replicas
            if replica.leads and not replica.raft.settings.runs_controller
        ),
        None,
    )
