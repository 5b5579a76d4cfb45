"""Says which voters cannot become an active controller, and what makes one that can lead again.

Owns the words on a leader that runs no controller, for health, the dashboard and their advice.
"""

from __future__ import annotations

from kraftool.client.model import QuorumView, leader_end
from kraftool.raft.names import majority_of
from kraftool.reports.text.words import listed, many

EVIDENCE = "runs no controller: its ApiVersions lacks CreateTopics"
CONSEQUENCE = "topics cannot be created, and brokers that start exit"


def without_controller(view: QuorumView) -> str:
    """Return a sentence on a leader that runs no controller; empty where the leader runs one."""
    if view.leader is None or not view.lacks_controller:
        return ""
    return f"Node {view.leader.node_id} leads, but it runs no controller: {CONSEQUENCE}."


def next_step(view: QuorumView, keeping: tuple[int, ...]) -> str:
    """Return what makes a controller lead again; `keeping`: the voters that keep up."""
    assert view.quorum is not None, "the caller has a leader"
    leader_id, end = view.quorum.leader_id, leader_end(view)
    count = len(view.voters)
    others = {*keeping} - {leader_id}
    ready = sorted(
        voter.replica.id
        for voter in view.voters
        if voter.replica.id in others
        and voter.log_end_offset >= end
        and view.runs_controller(voter.replica.id)
    )
    restart = f"restart node {leader_id} without --witness"
    if not ready:
        step = (
            "make sure that a voter runs a controller and that its lag is 0 (kraftool quorum"
            " describe):"
            f" node {leader_id} then hands leadership to it. If it still leads after a minute,"
            f" {restart}"
        )
    elif len(others) >= majority_of(count):
        step = (
            f"wait: node {leader_id} hands leadership to a controller that has caught up. If it"
            f" still leads after a minute, stop it: {_elected(ready)}"
        )
    else:
        step = (
            f"wait: node {leader_id} hands leadership to a controller that has caught up. If it"
            f" still leads after a minute, {restart}: {_elected(ready)}."
            f" Do not leave node {leader_id} stopped: without it"
            f" {len(others)} of {many(count, 'voter')} would be left, and a leader needs"
            f" {majority_of(count)} votes"
        )
    return step


def _elected(ready: list[int]) -> str:
    if len(ready) == 1:
        return f"node {ready[0]} runs a controller, has caught up, and is elected"
    return f"nodes {listed(ready)} run controllers and have caught up; one of them is elected"


def only_controller(view: QuorumView, keeping: tuple[int, ...]) -> int | None:
    """Return the voter that alone keeps up and may run a controller, beside witnesses.

    None where there are several, no one, or no witness.
    """
    able = {*keeping} - view.witnesses
    return able.pop() if len(able) == 1 and view.witnesses & {*keeping} else None
