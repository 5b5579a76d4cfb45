"""Asking a whole quorum: the nodes that are named, then those that they name.

Owns whose answer is whose. It works without a leader, as every node is asked itself; what it then
cannot know (who votes) is left out rather than guessed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kraftool.client.asking import Access, question
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.raft.names import Endpoint
from kraftool.reports.home_cluster import by_cluster


class Asking(Protocol):
    """How one node is asked: `question`, or what keeps connections between questions."""

    async def __call__(
        self,
        endpoint: Endpoint,
        access: Access,
        *,
        node_id: int | None = None,
        server_name: str | None = None,
    ) -> NodeAnswer: ...


async def survey(
    bootstrap: Sequence[Endpoint],
    access: Access,
    resolved: Mapping[int, Endpoint] | None = None,
    asking: Asking = question,
) -> QuorumView:
    """Ask every node that can be found from these.

    `resolved`: where to reach nodes whose own endpoints do not lead there from here.
    """
    reach = dict(resolved or {})
    by_endpoint = {endpoint: node_id for node_id, endpoint in reach.items()}
    first = [*dict.fromkeys((*bootstrap, *reach.values()))]
    answers = list(
        await asyncio.gather(
            *(asking(each, access, node_id=by_endpoint.get(each)) for each in first)
        )
    )
    asked = set(first)
    for _ in range(3):  # nodes may name nodes that none of the first had heard of
        missing: list[tuple[int, Endpoint, str]] = []
        named: list[NodeAnswer] = []
        # What nodes of two clusters say of node 1 is about two nodes.
        for group in by_cluster(answers, lambda each: each.cluster_id):
            advertised = _advertised(group)
            group = [_named(each, advertised) for each in group]
            have = {each.node_id for each in group}
            missing += (
                (node_id, reach.get(node_id, endpoint), endpoint.host)
                for node_id, endpoint in advertised.items()
                if node_id not in have and reach.get(node_id, endpoint) not in asked
            )
            named += group
        answers = named
        if not missing:
            break
        asked |= {where for _, where, _ in missing}
        answers += await asyncio.gather(
            *(
                asking(where, access, node_id=node_id, server_name=host)
                for node_id, where, host in missing
            )
        )
    return QuorumView(nodes=_in_order(_without_doubles(answers)))


def _advertised(answers: Sequence[NodeAnswer]) -> dict[int, Endpoint]:
    """Where nodes say that nodes are; what a leader says counts most."""
    found: dict[int, Endpoint] = {}
    for each in sorted(answers, key=lambda one: (one.quorum is not None, one.epoch or -1)):
        if each.leader_id is not None and each.leader_endpoint is not None:
            found[each.leader_id] = each.leader_endpoint
        found |= each.controllers
        if each.quorum is not None:
            # A controller that does not register, or not anew, moves in the voter set only.
            own, other = _voters(each)
            found = {**other, **found, **own}
    return found


def _voters(leader: NodeAnswer) -> tuple[dict[int, Endpoint], dict[int, Endpoint]]:
    """The voters' endpoints of the listener that was asked, where that can be told, and others."""
    assert leader.quorum is not None, "only a leader names voters"
    listeners = {
        name
        for endpoints in leader.quorum.nodes.values()
        for name, endpoint in endpoints.items()
        if endpoint == leader.endpoint
    }
    own: dict[int, Endpoint] = {}
    other: dict[int, Endpoint] = {}
    for node_id, endpoints in leader.quorum.nodes.items():
        for name, each in endpoints.items():
            (own if name in listeners else other).setdefault(node_id, each)
    return own, other


def _named(answer: NodeAnswer, advertised: Mapping[int, Endpoint]) -> NodeAnswer:
    """The answer with its node's id, where its endpoint tells it."""
    if answer.node_id is not None:
        return answer
    owners = [node_id for node_id, each in advertised.items() if each == answer.endpoint]
    return replace(answer, node_id=owners[0]) if len(owners) == 1 else answer


def _without_doubles(answers: Sequence[NodeAnswer]) -> list[NodeAnswer]:
    """One answer a node, the one that tells most; nodes of two clusters may have one id. An
    endpoint of nobody's stays only where a node is missing that it could be."""
    best: dict[tuple[int, str | None], NodeAnswer] = {}
    nameless = []
    for each in answers:
        if each.node_id is None:
            nameless.append(each)
            continue
        key = each.node_id, each.cluster_id
        if key not in best or _worth(each) > _worth(best[key]):
            best[key] = each
    told = {node_id for node_id, cluster_id in best if cluster_id is not None}
    known = [
        each
        for (node_id, cluster_id), each in best.items()
        if cluster_id is not None or node_id not in told
    ]
    is_complete = bool(known) and all(each.is_reached for each in known)
    kept = [each for each in nameless if not (is_complete and each.is_reached)]
    return [*known, *kept]


def _worth(answer: NodeAnswer) -> tuple[bool, bool, int]:
    return answer.quorum is not None, answer.is_reached, answer.asked_ms


def _in_order(answers: Sequence[NodeAnswer]) -> tuple[NodeAnswer, ...]:
    def key(each: NodeAnswer) -> tuple[bool, int, Endpoint]:
        return each.node_id is None, each.node_id or 0, each.endpoint

    return tuple(sorted(answers, key=key))
