"""UpdateFeatures asked of nodes without a controller: kraft.version goes up, nothing else moves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import (
    RequestFrame,
    ResponseFrame,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kraftool.node.runner import Runner
from kraftool.node.serving import Serving
from tests.node.quorum import ANYBODY, authorization, quorum_of


async def asked(
    runner: Runner, *updates: dict[str, Any], version: int = 1, is_allowed: bool = True, **more: Any
) -> dict[str, Any]:
    """The answer, by way of Kafka's bytes."""
    name, body = "UpdateFeatures", {"timeoutMs": 20_000, "featureUpdates": list(updates), **more}
    frame = RequestFrame(name=name, version=version, correlation_id=1, client_id="t", body=body)
    serving = Serving(
        runner, lambda: None, features={}, authorization=authorization(is_open=is_allowed)
    )
    arrived = decode_request(encode_request(frame))
    answer = await serving.answer(ANYBODY, arrived)
    assert answer is not None
    back = ResponseFrame(name=name, version=version, correlation_id=1, body=answer)
    return dict(decode_response(encode_response(back), name, version).body)


def to(level: int, feature: str = "kraft.version", **more: Any) -> dict[str, Any]:
    return {"feature": feature, "maxVersionLevel": level, **more}


def test_static_voters_become_dynamic_once_every_voter_has_told_of_itself(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()

            def knows_all() -> bool:
                known = getattr(leader.raft.role, "volatile_voters", None)
                return known is not None and all(voter.key.directory_id for voter in known)

            await quorum.until("the voters to tell", knows_all)
            before = leader.raft.log.end_offset
            tried = await asked(leader, to(1), validateOnly=True)
            assert (tried["errorCode"], leader.raft.log.end_offset) == (0, before)
            done = await asked(leader, to(1), version=2)
            assert done["errorCode"] == 0, done
            level, offset = leader.raft.control.kraft_version, leader.raft.control.voters_offset
            assert level == 1
            assert offset is not None
            assert (leader.raft.role.high_watermark or 0) > offset, "committed when it is answered"
            await quorum.caught_up(leader, 1, 2, 3)
            for runner in quorum.running.values():
                assert runner.raft.control.kraft_version == 1
                assert runner.raft.control.voters == leader.raft.control.voters
            again = await asked(leader, to(1), version=0)
            assert again["errorCode"] == 0
            assert [result["feature"] for result in again["results"]] == ["kraft.version"]

    asyncio.run(run())


def test_a_voter_that_is_not_known_yet_stands_in_the_way(tmp_path: Path) -> None:
    async def run() -> dict[str, Any]:
        async with quorum_of(tmp_path, 1, 2) as quorum:
            leader = await quorum.leader()
            role = leader.raft.role
            role.volatile_voters = leader.raft.control.static_voters  # as if nobody had told
            answer = await asked(leader, to(1))
            assert leader.raft.control.kraft_version == 0
            return answer

    answer = asyncio.run(run())
    assert answer["errorCode"] == Error.INVALID_UPDATE_VERSION
    assert "voters 1, 2" in answer["errorMessage"]


@pytest.mark.parametrize(
    ("updates", "error", "message"),
    [
        ((to(30, "metadata.version"),), Error.INVALID_UPDATE_VERSION, "without one"),
        ((to(1), to(1, "group.version")), Error.INVALID_UPDATE_VERSION, "group.version"),
        ((to(0, upgradeType=2),), Error.INVALID_UPDATE_VERSION, "only be upgraded"),
        ((to(-1),), Error.INVALID_UPDATE_VERSION, "only be upgraded"),
        ((to(9),), Error.INVALID_UPDATE_VERSION, "kraft.version 9"),
    ],
)
def test_what_it_does_not_change_is_refused_with_the_reason_and_nothing_is_written(
    tmp_path: Path, updates: tuple[dict[str, Any], ...], error: Error, message: str
) -> None:
    async def run() -> dict[str, Any]:
        async with quorum_of(tmp_path, 1) as quorum:
            leader = await quorum.leader()
            before = leader.raft.log.end_offset
            answer = await asked(leader, *updates)
            assert leader.raft.log.end_offset == before
            return answer

    answer = asyncio.run(run())
    assert answer["errorCode"] == error
    assert message in answer["errorMessage"]


def test_who_does_not_lead_or_may_not_ask_is_told_so(tmp_path: Path) -> None:
    async def run() -> tuple[dict[str, Any], dict[str, Any]]:
        async with quorum_of(tmp_path, 1, 2) as quorum:
            leader = await quorum.leader()
            other = next(runner for runner in quorum.running.values() if runner is not leader)
            return await asked(other, to(1)), await asked(leader, to(1), is_allowed=False)

    follower, stranger = asyncio.run(run())
    assert follower["errorCode"] == Error.NOT_CONTROLLER
    assert stranger["errorCode"] == Error.CLUSTER_AUTHORIZATION_FAILED
