"""Says whether one node of a live quorum is ready: for startup and readiness probes.

Owns the checks. How a node stands with the leader is `judgement.py`'s, by two polls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.client.change import Check, CheckResult, blocked, fine, of
from kraftool.client.judgement import Judgement, judge
from kraftool.client.model import NodeAnswer, leader_end
from kraftool.client.not_asked import reason
from kraftool.client.second_poll import second_poll
from kraftool.client.target import Target
from kraftool.client.thresholds import POLLS_APART_S, fetching
from kraftool.decoders.json_marks import in_json
from kraftool.image.metadata_version import CONTROLLER_REGISTRATION_LEVEL, METADATA_VERSION
from kraftool.raft.names import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """The answer to whether a node is ready."""

    node_id: int | None
    """None if no node reports the owner of the address that was asked."""
    checks: tuple[Check, ...]

    @property
    @in_json
    def is_ready(self) -> bool:
        """True if no check blocks."""
        return all(check.verdict is not CheckResult.BLOCKED for check in self.checks)


async def ask_ready(target: Target, node_id: int | None) -> Readiness:
    """Poll twice, and judge the node; without an id, the one at the first bootstrap address."""
    before = await target.survey()
    if not before.reached:
        return readiness(judge(before), node_id, target.bootstrap[0])
    await asyncio.sleep(POLLS_APART_S)
    now = await second_poll(target, before)
    return readiness(judge(now, before), node_id, target.bootstrap[0])


def readiness(judgement: Judgement, node_id: int | None, first: Endpoint) -> Readiness:
    """Judge a node by its id, or by the first bootstrap address."""
    now = judgement.view
    if node_id is None:
        node = next((node for node in now.nodes if node.endpoint == first), None)
        node_id = None if node is None else node.node_id
        where = f"the node at {first}"
    else:
        node, where = now.node(node_id), f"node {node_id}"
    return Readiness(node_id=node_id, checks=tuple(_checks(judgement, node, where)))


def _checks(judgement: Judgement, node: NodeAnswer | None, where: str) -> Iterator[Check]:
    """Yield the checks, up to the first that makes the others meaningless."""
    now = judgement.view
    if node is None:
        yield blocked(f"{where} is not known to any node that was reached")
        return
    if not node.is_reached:
        yield blocked(f"{where} was not reached: {reason(node)}")
        return
    if node.node_id is None:
        yield blocked(f"no node reports the id of {where}", "name it with --node ID")
        return
    yield fine(f"node {node.node_id} answers")
    leader = now.leader
    if leader is None or now.quorum is None:
        yield blocked("no node leads")
        return
    if (node.epoch, node.leader_id) != (now.epoch, leader.node_id):
        known = "no leader" if node.leader_id is None else f"leader {node.leader_id}"
        words = f"it knows {known} of epoch {node.epoch}"
        yield blocked(f"{words}, but node {leader.node_id} leads epoch {now.epoch}")
        return
    yield fine(f"it knows leader {leader.node_id} of epoch {now.epoch}")
    yield _follows(judgement, node.node_id)
    yield _registered(leader, node.node_id)
    yield _commits(judgement)


def _follows(judgement: Judgement, node_id: int) -> Check:
    """Check that the leader knows the node by the directory with which it fetches."""
    now = judgement.view
    assert now.quorum is not None, "it was checked"
    voter = of(now.voters, node_id)
    elsewhere = [
        observer.replica.directory_id
        for observer in now.observers
        if observer.replica.id == node_id and fetching(now.quorum, (observer,))
    ]
    if voter is not None and elsewhere and elsewhere[0] != voter.replica.directory_id:
        return blocked(
            f"it fetches with directory id {elsewhere[0]}, but voter {node_id} is recorded with"
            f" {voter.replica.directory_id}",
            "kraftool doctor --explain KT-LIVE-OTHER-DIRECTORY says what to do",
        )
    if now.quorum.leader_id == node_id:
        return fine("it leads")
    standing = judgement.standing(node_id)
    if standing is None:
        return blocked("the leader does not see it fetch")
    if not standing.counts:
        return blocked(f"it does not follow: {standing.reason}")
    role = "a voter" if voter is not None else "an observer"
    return fine(f"it follows as {role}, with everything that was committed at the first poll")


def _registered(leader: NodeAnswer, node_id: int) -> Check:
    level = leader.offered.finalized.get(METADATA_VERSION, 0)
    if level < CONTROLLER_REGISTRATION_LEVEL:
        return fine("controllers do not register below metadata.version 3.7-IV0")
    if node_id in leader.controllers:
        return fine("it is registered")
    return blocked(
        "it is not registered as a controller" + (f" ({leader.problem})" if leader.problem else "")
    )


def _commits(judgement: Judgement) -> Check:
    """Check that the high watermark moves, or that nothing waits for it."""
    now, before = judgement.view, judgement.before
    assert now.quorum is not None, "it was checked"
    mark = now.quorum.high_watermark
    if judgement.unsettled:
        return blocked(judgement.unsettled[0])
    if mark < 0:
        return blocked("the leader has committed nothing in its epoch yet")
    then = -1 if before is None or before.quorum is None else before.quorum.high_watermark
    if mark > then:
        return fine(f"the high watermark moved from {then} to {mark}")
    if mark >= leader_end(now):
        return fine(f"the high watermark is at the log end, {mark}: nothing waits for a commit")
    return blocked(f"the high watermark stays at {mark}")
