"""Requests that change a quorum: one each, sent to the leader, never sent twice.

Owns how their answers are told. Where no answer comes the request may have been done, and only a
later poll tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from kraftool.client.asking import Access, ask, connected
from kraftool.client.change import LeaderAnswer, QuorumChange
from kraftool.client.model import QuorumView, is_broker, leader_end
from kraftool.client.target import Target
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error, error_name
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.net.connection import Connection
from kraftool.net.errors import DisconnectedError, NetError, RequestTimeoutError
from kraftool.raft.messages import (
    AddVoterRequest,
    RemoveVoterRequest,
    Request,
    UpdateVoterRequest,
)
from kraftool.raft.names import Endpoints, ReplicaKey, VersionRange

CHANGE_S = 30.0
"""A change is answered once it is committed, or when the leader gives up."""
_ELECTION_S = 20.0
"""Time for another node to be elected: Kafka's default for fetching and for an election, twice."""
_BETWEEN_LOOKS_S = 0.5
_UPGRADE = 1
"""UpdateFeatures' upgrade type."""


class LeaderLostError(NetError):
    """The leader could not be reached any more. No request was sent."""


async def at_leader(
    view: QuorumView, access: Access, send: Callable[[Connection], Awaitable[LeaderAnswer]]
) -> LeaderAnswer | None:
    """Send something to the leader; None where its answer did not come. Raises LeaderLostError."""
    leader = view.leader
    assert leader is not None, "a change was checked against a leader"
    async with AsyncExitStack() as stack:
        try:
            connection = await stack.enter_async_context(connected(view, leader, access))
        except NetError as error:
            raise LeaderLostError(error.message, hint=error.hint) from None
        if is_broker(connection.offered):
            raise LeaderLostError(f"{leader.endpoint} is a broker now, not the leader")
        try:
            return await send(connection)
        except (DisconnectedError, RequestTimeoutError):
            return None


async def with_leader(
    target: Target, change: Callable[[QuorumView], Awaitable[QuorumChange]]
) -> QuorumChange:
    """Look at the quorum, and change it. Where the leader is lost before the request is sent, wait
    for another leader, and begin again with all checks. Raises NetError."""
    view = await target.reached()
    gives_up = asyncio.get_running_loop().time() + _ELECTION_S
    while True:
        try:
            return await change(view)
        except LeaderLostError as error:
            while True:
                if asyncio.get_running_loop().time() > gives_up:
                    raise error
                await asyncio.sleep(_BETWEEN_LOOKS_S)
                view = await target.survey()
                if view.leader is not None:
                    break


async def once_committed(
    target: Target, asked: QuorumView, answer: LeaderAnswer | None
) -> LeaderAnswer | None:
    """Wait until what the leader has accepted is committed; None where that cannot be seen.

    A leader answers an UpdateRaftVoter and an upgrade of kraft.version once the record is appended.
    Until it is committed another leader can discard it, and no other change of the voters is taken.
    """
    if answer is None or answer.error:
        return answer
    gives_up = asyncio.get_running_loop().time() + CHANGE_S
    end: int | None = None
    while asyncio.get_running_loop().time() < gives_up:
        view = await target.survey()
        if view.epoch is not None and view.epoch != asked.epoch:
            return None
        if view.quorum is not None:
            end = leader_end(view) if end is None else end
            if view.quorum.high_watermark >= end:
                return answer
        await asyncio.sleep(_BETWEEN_LOOKS_S)
    return None


async def add_voter(
    view: QuorumView, access: Access, voter: ReplicaKey, endpoints: Endpoints
) -> LeaderAnswer | None:
    request = AddVoterRequest(
        cluster_id=view.cluster_id,
        voter=voter,
        listeners=endpoints,
        timeout_ms=int(CHANGE_S * 1000),
    )
    return await _change(view, access, "AddRaftVoter", request)


async def remove_voter(view: QuorumView, access: Access, voter: ReplicaKey) -> LeaderAnswer | None:
    request = RemoveVoterRequest(cluster_id=view.cluster_id, voter=voter)
    return await _change(view, access, "RemoveRaftVoter", request)


async def update_voter(
    view: QuorumView,
    access: Access,
    voter: ReplicaKey,
    endpoints: Endpoints,
    levels: VersionRange,
) -> LeaderAnswer | None:
    assert view.epoch is not None, "a change was checked against a leader"
    request = UpdateVoterRequest(
        cluster_id=view.cluster_id,
        current_leader_epoch=view.epoch,
        voter=voter,
        listeners=endpoints,
        kraft_version=levels,
    )
    return await _change(view, access, "UpdateRaftVoter", request)


async def _change(
    view: QuorumView, access: Access, name: str, request: Request
) -> LeaderAnswer | None:
    async def send(connection: Connection) -> LeaderAnswer:
        response = await ask(connection, name, request, CHANGE_S + access.timeout_s)
        if response.error is Error.NONE:
            return LeaderAnswer()
        return LeaderAnswer(error=response.error.name, message=getattr(response, "message", ""))

    return await at_leader(view, access, send)


async def upgrade(
    view: QuorumView, access: Access, level: int, *, validate_only: bool
) -> LeaderAnswer | None:
    """Finalize a level of kraft.version."""
    body: Value = {
        "timeoutMs": int(CHANGE_S * 1000),
        "featureUpdates": [
            {"feature": KRAFT_VERSION, "maxVersionLevel": level, "upgradeType": _UPGRADE}
        ],
        "validateOnly": validate_only,
    }

    async def send(connection: Connection) -> LeaderAnswer:
        response = await connection.request(
            "UpdateFeatures", (1, 2), body, CHANGE_S + access.timeout_s
        )
        results = [
            feature_result
            for feature_result in response.get("results") or ()
            if feature_result["errorCode"]
        ]
        failed = response if response["errorCode"] or not results else results[0]
        return _answer(failed["errorCode"], failed["errorMessage"] or "")

    return await at_leader(view, access, send)


async def unregister(view: QuorumView, access: Access, controller_id: int) -> LeaderAnswer | None:
    """Remove the registration of a controller."""
    return await _by_controller(
        view, access, "UnregisterController", {"controllerId": controller_id}
    )


async def register(view: QuorumView, access: Access, body: Value) -> LeaderAnswer | None:
    """Register a controller, as it does itself when it starts."""
    return await _by_controller(view, access, "ControllerRegistration", body)


async def _by_controller(
    view: QuorumView, access: Access, name: str, body: Value
) -> LeaderAnswer | None:
    """Send what the active controller answers once its record is committed."""

    async def send(connection: Connection) -> LeaderAnswer:
        response = await connection.request(name, 0, body, CHANGE_S + access.timeout_s)
        return _answer(response["errorCode"], response["errorMessage"] or "")

    return await at_leader(view, access, send)


def _answer(code: int, message: str) -> LeaderAnswer:
    return LeaderAnswer() if code == 0 else LeaderAnswer(error=error_name(code), message=message)
