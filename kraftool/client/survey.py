"""Asking a whole quorum: the nodes that are named, then those that they name.

Owns whose answer is whose, and which nodes a later poll asks. It works without a leader, as every
node is asked itself; what it then cannot know (who votes) is left out rather than guessed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kraftool.client.asking import Access, question
from kraftool.client.failures import NAME_A_CONTROLLER
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.raft.names import Endpoint
from kraftool.reports.files.home_cluster import by_cluster


class Asking(Protocol):
    """The way to ask one node: `question`, or what keeps connections between questions."""

    async def __call__(
        self,
        endpoint: Endpoint,
        access: Access,
        *,
        node_id: int | None = None,
        server_name: str | None = None,
    ) -> NodeAnswer: ...


@dataclass(slots=True)
class Known:
    """The places where earlier surveys found controllers: they are asked like bootstrap nodes.

    Without a leader it only grows. With a leader it keeps what some node names now, and the voters.
    A poll in another thread may replace it at any time, so that a mapping is never changed.
    """

    endpoints: Mapping[Endpoint, int] = field(default_factory=dict)

    def learn(self, view: QuorumView) -> None:
        """Take what the nodes of a poll named."""
        named = {
            endpoint: node_id
            for group in by_cluster((*view.nodes, *view.brokers), lambda answer: answer.cluster_id)
            for node_id, endpoint in _advertised(group).items()
        }
        kept = self.endpoints
        if view.quorum is not None:
            silent = {voter.replica.id for voter in view.voters} - {*named.values()}
            kept = {where: node_id for where, node_id in kept.items() if node_id in silent}
        self.endpoints = {**kept, **named}


async def survey(
    bootstrap: Sequence[Endpoint],
    access: Access,
    resolved: Mapping[int, Endpoint] | None = None,
    asking: Asking = question,
    known: Mapping[Endpoint, int] | None = None,
) -> QuorumView:
    """Ask every node that can be found from these.

    `resolved`: where to reach nodes whose own endpoints do not lead there from here.
    `known`: where earlier polls found nodes; one that no node names any longer is left out.
    """
    reach = dict(resolved or {})
    by_endpoint = {endpoint: node_id for node_id, endpoint in reach.items()}
    first = [*dict.fromkeys((*bootstrap, *reach.values()))]
    given = {*first}
    known = {where: node_id for where, node_id in (known or {}).items() if node_id not in reach}
    first = [*dict.fromkeys((*first, *known))]
    answers = list(
        await asyncio.gather(
            *(asking(endpoint, access, node_id=by_endpoint.get(endpoint)) for endpoint in first)
        )
    )
    asked = set(first)
    for _ in range(3):  # nodes may name nodes that none of the first had heard of
        missing: list[tuple[int, Endpoint, str]] = []
        named: list[NodeAnswer] = []
        # What nodes of two clusters say of node 1 is about two nodes.
        for group in by_cluster(answers, lambda answer: answer.cluster_id):
            advertised = _advertised(group)
            group = [_named(answer, advertised) for answer in group]
            have = {answer.node_id for answer in group}
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
    brokers = [answer for answer in answers if answer.is_broker]
    answers = [
        _as_node(answer) for answer in answers if not (answer.is_broker and answer.node_id is None)
    ]
    answers = _without_lost(answers, known, given)
    return QuorumView(
        nodes=_in_order(_without_doubles(answers)),
        brokers=_in_order(brokers),
    )


def _as_node(answer: NodeAnswer) -> NodeAnswer:
    """A broker that answers where a controller is said to be is no answer of that controller."""
    if not answer.is_broker:
        return answer
    return NodeAnswer(
        endpoint=answer.endpoint,
        node_id=answer.node_id,
        asked_ms=answer.asked_ms,
        is_reached=False,
        problem=f"{answer.endpoint} is a broker, not a controller",
        advice=NAME_A_CONTROLLER,
    )


def _without_lost(
    answers: Sequence[NodeAnswer], known: Mapping[Endpoint, int], given: Container[Endpoint]
) -> list[NodeAnswer]:
    """The answers, those of known nodes with their ids. A known node that no node names now was
    removed, or it moved: it is left out if it does not answer and there is a leader, unless the
    operator gave its address."""
    named = _advertised(answers)
    voters = {
        voter.replica.id for one in answers if one.quorum is not None for voter in one.quorum.voters
    }
    kept_answers = []
    for answer in answers:
        node_id = known.get(answer.endpoint) if answer.node_id is None else None
        if node_id is None:
            kept_answers.append(answer)
        elif node_id in named:
            # The known node moved. Another one may answer in its place.
            if answer.is_reached or answer.endpoint in given:
                kept_answers.append(answer)
        elif answer.is_reached or not voters or node_id in voters or answer.endpoint in given:
            kept_answers.append(replace(answer, node_id=node_id))
    return kept_answers


def _advertised(answers: Sequence[NodeAnswer]) -> dict[int, Endpoint]:
    """Return where nodes say that nodes are; what a leader says counts most."""
    endpoints: dict[int, Endpoint] = {}
    for answer in sorted(answers, key=lambda one: (one.quorum is not None, one.epoch or -1)):
        if answer.leader_id is not None and answer.leader_endpoint is not None:
            endpoints[answer.leader_id] = answer.leader_endpoint
        endpoints |= answer.controllers
        if answer.quorum is not None:
            # A controller that does not register, or not anew, moves in the voter set only.
            own, other = _voters(answer)
            endpoints = {**other, **endpoints, **own}
    return endpoints


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
        for name, endpoint in endpoints.items():
            (own if name in listeners else other).setdefault(node_id, endpoint)
    return own, other


def _named(answer: NodeAnswer, advertised: Mapping[int, Endpoint]) -> NodeAnswer:
    """The answer with its node's id, where its endpoint tells it."""
    if answer.node_id is not None:
        return answer
    owners = [node_id for node_id, endpoint in advertised.items() if endpoint == answer.endpoint]
    return replace(answer, node_id=owners[0]) if len(owners) == 1 else answer


def _without_doubles(answers: Sequence[NodeAnswer]) -> list[NodeAnswer]:
    """One answer a node, the one that tells most; nodes of two clusters may have one id. An
    endpoint of nobody's stays only where a node is missing that it could be."""
    best: dict[tuple[int, str | None], NodeAnswer] = {}
    nameless = []
    for answer in answers:
        if answer.node_id is None:
            nameless.append(answer)
            continue
        key = answer.node_id, answer.cluster_id
        if key not in best or _worth(answer) > _worth(best[key]):
            best[key] = answer
    clustered_ids = {node_id for node_id, cluster_id in best if cluster_id is not None}
    known = [
        answer
        for (node_id, cluster_id), answer in best.items()
        if cluster_id is not None or node_id not in clustered_ids
    ]
    is_complete = bool(known) and all(answer.is_reached for answer in known)
    kept = [answer for answer in nameless if not (is_complete and answer.is_reached)]
    return [*known, *kept]


def _worth(answer: NodeAnswer) -> tuple[bool, bool, int]:
    return answer.quorum is not None, answer.is_reached, answer.asked_ms


def _in_order(answers: Sequence[NodeAnswer]) -> tuple[NodeAnswer, ...]:
    def key(answer: NodeAnswer) -> tuple[bool, int, Endpoint]:
        return answer.node_id is None, answer.node_id or 0, answer.endpoint

    return tuple(sorted(answers, key=key))
