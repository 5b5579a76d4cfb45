"""Asking a whole quorum: the nodes that are named, then those that they name.

Owns whose answer is whose. It works without a leader, as every node is asked itself; what it then
cannot know (who votes) is left out rather than guessed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kraftool.client.asking import Access, question
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.raft.names import Endpoint


async def survey(
    bootstrap: Sequence[Endpoint],
    access: Access,
    resolved: Mapping[int, Endpoint] | None = None,
) -> QuorumView:
    """Ask every node that can be found from these.

    `resolved`: where to reach nodes whose own endpoints do not lead there from here.
    """
    reach = dict(resolved or {})
    by_endpoint = {endpoint: node_id for node_id, endpoint in reach.items()}
    first = [*dict.fromkeys((*bootstrap, *reach.values()))]
    answers = list(
        await asyncio.gather(
            *(question(each, access, node_id=by_endpoint.get(each)) for each in first)
        )
    )
    asked = set(first)
    for _ in range(3):  # nodes may name nodes that none of the first had heard of
        advertised = _advertised(answers)
        answers = [_named(each, advertised) for each in answers]
        have = {each.node_id for each in answers}
        missing = {
            node_id: reach.get(node_id, endpoint)
            for node_id, endpoint in advertised.items()
            if node_id not in have and reach.get(node_id, endpoint) not in asked
        }
        if not missing:
            break
        asked |= set(missing.values())
        answers += await asyncio.gather(
            *(
                question(endpoint, access, node_id=node_id, server_name=advertised[node_id].host)
                for node_id, endpoint in missing.items()
            )
        )
    return QuorumView(nodes=_in_order(_without_doubles(answers)))


def _advertised(answers: Sequence[NodeAnswer]) -> dict[int, Endpoint]:
    """Where nodes say that nodes are; what a leader says counts most."""
    found: dict[int, Endpoint] = {}
    for each in sorted(answers, key=lambda one: (one.quorum is not None, one.epoch or -1)):
        if each.leader_id is not None and each.leader_endpoint is not None:
            found[each.leader_id] = each.leader_endpoint
        if each.quorum is not None:
            found |= _voters(each)
        found |= each.controllers
    return found


def _voters(leader: NodeAnswer) -> dict[int, Endpoint]:
    """The voters' endpoints of the listener that was asked, where that can be told."""
    assert leader.quorum is not None, "only a leader names voters"
    listeners = {
        name
        for endpoints in leader.quorum.nodes.values()
        for name, endpoint in endpoints.items()
        if endpoint == leader.endpoint
    }
    found = {}
    for node_id, endpoints in leader.quorum.nodes.items():
        chosen = [each for name, each in endpoints.items() if name in listeners]
        if each := next(iter([*chosen, *endpoints.values()]), None):
            found[node_id] = each
    return found


def _named(answer: NodeAnswer, advertised: Mapping[int, Endpoint]) -> NodeAnswer:
    """The answer with its node's id, where its endpoint tells it."""
    if answer.node_id is not None:
        return answer
    owners = [node_id for node_id, each in advertised.items() if each == answer.endpoint]
    return replace(answer, node_id=owners[0]) if len(owners) == 1 else answer


def _without_doubles(answers: Sequence[NodeAnswer]) -> list[NodeAnswer]:
    """One answer a node, the one that tells most. An endpoint of nobody's stays only where a node
    is missing that it could be."""
    best: dict[int, NodeAnswer] = {}
    nameless = []
    for each in answers:
        if each.node_id is None:
            nameless.append(each)
        elif each.node_id not in best or _worth(each) > _worth(best[each.node_id]):
            best[each.node_id] = each
    known = [*best.values()]
    is_complete = bool(known) and all(each.is_reached for each in known)
    kept = [each for each in nameless if not (is_complete and each.is_reached)]
    return [*known, *kept]


def _worth(answer: NodeAnswer) -> tuple[bool, bool, int]:
    return answer.quorum is not None, answer.is_reached, answer.asked_ms


def _in_order(answers: Sequence[NodeAnswer]) -> tuple[NodeAnswer, ...]:
    def key(each: NodeAnswer) -> tuple[bool, int, Endpoint]:
        return each.node_id is None, each.node_id or 0, each.endpoint

    return tuple(sorted(answers, key=key))
