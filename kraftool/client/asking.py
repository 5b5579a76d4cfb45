"""Questions to one node: each a request whose answer is a value of the protocol, or an error.

Owns which requests an outsider may send without being noticed: none of these changes anything, a
fetch names no replica, so that no leader counts it among its observers, and no node gets a request
at which it would log an error.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from kraftool.client.failures import (
    NAME_A_CONTROLLER,
    NO_METADATA_YET,
    OLD_METADATA_VERSION,
    advice_on_refusal,
    unasked,
)
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.not_asked import reason
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error, error_name
from kraftool.image.metadata_version import CONTROLLER_REGISTRATION_LEVEL, METADATA_VERSION
from kraftool.net.api_versions import Offered
from kraftool.net.connection import Connection, connect
from kraftool.net.errors import NetError, UnsupportedError
from kraftool.net.security import ClientSecurity
from kraftool.raft.messages import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    FetchRequest,
    FetchResponse,
    Request,
    Response,
)
from kraftool.raft.names import NO_ID, Endpoint
from kraftool.raft.wire import requests, responses

CLIENT_ID = "kraftool"
LISTENER = "CONTROLLER"
"""Stands for the listener that was asked, whose name one cannot know from outside."""
_BROKERS, _CONTROLLERS = 1, 2
"""DescribeCluster's endpoint types."""
_FETCH = (12, 18)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The way to reach nodes."""

    security: ClientSecurity = field(default_factory=ClientSecurity)
    timeout_s: float = 5.0
    """For each node, all its answers together."""


async def ask(connection: Connection, name: str, request: Request, timeout_s: float) -> Response:
    """A request of the protocol, in the newest version that both sides have."""
    wanted = _FETCH if name == "Fetch" else None
    body = await connection.request(
        name, wanted, lambda version: requests.to_kafka(request, version), timeout_s
    )
    return responses.from_kafka(name, body, LISTENER)


@asynccontextmanager
async def connected(
    view: QuorumView, node: NodeAnswer, access: Access
) -> AsyncIterator[Connection]:
    """A connection to a node that was asked before. Raises NetError."""
    connection = await connect(
        node.endpoint,
        access.security,
        CLIENT_ID,
        timeout_s=access.timeout_s,
        server_name=view.server_name(node),
    )
    try:
        yield connection
    finally:
        await connection.close()


async def question(
    endpoint: Endpoint,
    access: Access,
    *,
    node_id: int | None = None,
    server_name: str | None = None,
) -> NodeAnswer:
    """Everything that a node tells of itself; what stands in the way is part of the answer."""
    began = time.monotonic()
    answer = NodeAnswer(endpoint=endpoint, node_id=node_id, asked_ms=int(time.time() * 1000))
    try:
        connection = await connect(
            endpoint,
            access.security,
            CLIENT_ID,
            timeout_s=access.timeout_s,
            server_name=server_name,
        )
    except NetError as error:
        return _timed(unasked(answer, error), began)
    try:
        answer = replace(answer, offered=connection.offered)
        answer = await answered(connection, answer, access.timeout_s)
    except NetError as error:
        answer = unasked(answer, error)
    finally:
        await connection.close()
    return _timed(answer, began)


def _timed(answer: NodeAnswer, began: float) -> NodeAnswer:
    return replace(answer, took_ms=round((time.monotonic() - began) * 1000))


async def answered(connection: Connection, answer: NodeAnswer, timeout_s: float) -> NodeAnswer:
    """Return what a node says over a connection; the questions go out at once. Raises NetError."""
    if answer.is_broker:
        return await _by_broker(connection, answer, timeout_s)
    replies = await asyncio.gather(
        _who_leads(connection, timeout_s),
        _describe(connection, timeout_s),
        _controllers(connection, timeout_s),
        return_exceptions=True,
    )
    answer = replace(answer, offered=connection.offered)
    problems: list[str] = []
    advice: list[str] = []
    for reply in replies:
        if isinstance(reply, UnsupportedError):
            problems.append(reply.message)
        elif isinstance(reply, BaseException):
            raise reply
    leads, quorum, cluster = replies
    if isinstance(leads, FetchResponse):
        if leads.top_error is not Error.NONE:
            problems.append(f"it refuses a fetch: {leads.top_error.name}")
            advice.append(advice_on_refusal(leads.top_error))
        else:
            answer = replace(
                answer,
                epoch=leads.leader_epoch if leads.leader_epoch >= 0 else None,
                leader_id=leads.leader_id if leads.leader_id != NO_ID else None,
                leader_endpoint=leads.endpoints.get(LISTENER),
            )
    if isinstance(quorum, DescribeQuorumResponse):
        if quorum.top_error is not Error.NONE:
            problems.append(f"it refuses to describe the quorum: {quorum.top_error.name}")
            advice.append(advice_on_refusal(quorum.top_error))
        elif quorum.error is Error.NONE:
            answer = replace(
                answer,
                quorum=quorum,
                node_id=quorum.leader_id,
                leader_id=quorum.leader_id,
                epoch=quorum.leader_epoch,
            )
    if cluster is None:
        is_starting = connection.offered.finalized_epoch < 0
        problems.append(
            "it does not name the controllers: it has not read any metadata yet"
            if is_starting
            else "it does not name the controllers"
        )
        advice.append(NO_METADATA_YET if is_starting else OLD_METADATA_VERSION)
    elif isinstance(cluster, dict):
        if cluster["errorCode"]:
            problems.append(f"it refuses to describe the cluster: {_refusal(cluster)}")
            old = cluster["errorCode"] == Error.UNSUPPORTED_VERSION
            advice.append(OLD_METADATA_VERSION if old else advice_on_refusal(cluster["errorCode"]))
        else:
            answer = replace(
                answer,
                cluster_id=cluster["clusterId"],
                controllers={
                    broker["brokerId"]: Endpoint(broker["host"], broker["port"])
                    for broker in cluster["brokers"]
                },
            )
    return replace(
        answer,
        problem="; ".join(problems),
        advice="; ".join(dict.fromkeys(hint for hint in advice if hint)),
    )


def _refusal(body: Value) -> str:
    """The words of an error. Those of a missing permission have Kafka's internals in them."""
    code: int = body["errorCode"]
    if code == Error.CLUSTER_AUTHORIZATION_FAILED:
        return error_name(code)
    return body["errorMessage"] or error_name(code)


async def _by_broker(connection: Connection, answer: NodeAnswer, timeout_s: float) -> NodeAnswer:
    """The controllers that a broker names, or why it does not. Raises NetError.

    It passes the question on to the leader, and waits long for one where there is no leader.
    """
    quorum, cluster = await asyncio.gather(
        _describe(connection, timeout_s),
        _cluster(connection, timeout_s, _BROKERS),
        return_exceptions=True,
    )
    if isinstance(cluster, dict) and not cluster["errorCode"]:
        answer = replace(answer, cluster_id=cluster["clusterId"])
    advice = NAME_A_CONTROLLER
    if isinstance(quorum, NetError):
        node_answer = unasked(answer, quorum)
        problem, advice = (
            reason(node_answer),
            f"{node_answer.advice}. {advice[0].upper()}{advice[1:]}"
            if node_answer.advice
            else advice,
        )
    elif isinstance(quorum, BaseException):
        raise quorum
    else:
        assert isinstance(quorum, DescribeQuorumResponse), "it is answered as one"
        error = quorum.error if quorum.top_error is Error.NONE else quorum.top_error
        named = {
            node_id: next(iter(endpoints.values()))
            for node_id, endpoints in quorum.nodes.items()
            if endpoints
        }
        if named:
            return replace(answer, controllers=named)
        problem = "brokers before Kafka 3.9 cannot"
        if error is not Error.NONE:
            problem = f"it refuses to describe the quorum: {error.name}"
            advice = "; ".join(filter(None, (advice_on_refusal(error), advice)))
    return replace(answer, problem=f"it does not name the controllers: {problem}", advice=advice)


async def _who_leads(connection: Connection, timeout_s: float) -> Response:
    """A fetch that no node can answer, of epoch 0: the refusal tells epoch and leader."""
    request = FetchRequest(
        replica=None,
        current_leader_epoch=0,
        fetch_offset=0,
        last_fetched_epoch=0,
        max_wait_ms=0,
    )
    return await ask(connection, "Fetch", request, timeout_s)


async def _describe(connection: Connection, timeout_s: float) -> Response:
    return await ask(connection, "DescribeQuorum", DescribeQuorumRequest(), timeout_s)


async def _controllers(connection: Connection, timeout_s: float) -> Value | None:
    """Return the answer to DescribeCluster; None if the node would refuse it.

    A controller below metadata.version 3.7-IV0 refuses it, and logs an ERROR. So does each one that
    has just started, until it has read the cluster's level.
    """
    if not _names_controllers(connection.offered):
        await connection.agree(timeout_s)  # it may have read metadata since it was last asked
        if not _names_controllers(connection.offered):
            return None
    return await _cluster(connection, timeout_s)


def _names_controllers(offered: Offered) -> bool:
    """True unless the node is a controller of Kafka that cannot name the others.

    Until it has read the cluster's level, it reports the lowest one; from 4.4 on, no level at all.
    kraftool's own node reports kraft.version from its start, and can name the voters then.
    """
    level = offered.finalized.get(METADATA_VERSION)
    if "DescribeCluster" not in offered.apis:
        return True  # so that the answer says that
    if level is None:
        return bool(offered.finalized) or offered.finalized_epoch >= 0
    return level >= CONTROLLER_REGISTRATION_LEVEL


async def _cluster(
    connection: Connection, timeout_s: float, endpoint_type: int = _CONTROLLERS
) -> Value:
    body: Value = {"includeClusterAuthorizedOperations": False}

    def body_of(version: int) -> Value:
        return body | ({"endpointType": endpoint_type} if version >= 1 else {})

    return await connection.request("DescribeCluster", None, body_of, timeout_s)
