"""Peers that lie: mutated requests and impossible answers leave a node up, and its promises kept.

Kafka's raft thread dies of several of them (digest 9.3); ours refuses the message and says so.
"""

import asyncio
import os
import random
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.error_codes import Error
from kraftool.decoders.errors import KraftoolError
from kraftool.node.runner import Runner
from kraftool.node.serving import Serving
from kraftool.raft.events import Append, Resign, ResponseReceived, Send
from kraftool.raft.messages import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    FetchRequest,
    FetchResponse,
    VoteRequest,
    VoteResponse,
)
from kraftool.raft.names import CommittedTruncation, Endpoint, OffsetAndEpoch, ReplicaKey
from kraftool.raft.records import Batch
from tests.node.hostile import frame_of, mutated, recorded_requests
from tests.node.quorum import ANYBODY, CLUSTER_ID, Quorum, authorization, directory_id, quorum_of

pytestmark = pytest.mark.slow

SEEDS = 200 if os.environ.get("KRAFTOOL_SOAK") else 4


def promises(runner: Runner) -> tuple[Any, ...]:
    """What must not go back."""
    return runner.raft.role.epoch, runner.raft.role.high_watermark or 0


async def committed(quorum: Quorum, leader: Runner, value: bytes) -> None:
    appended = await leader.order(
        Append(epoch=leader.raft.epoch, records=(value,), size=len(value))
    )
    assert appended is not None
    await quorum.until(
        "the commit", lambda: (leader.raft.role.high_watermark or 0) > appended.last_offset
    )


@pytest.mark.parametrize("seed", range(SEEDS))
def test_mutated_requests_leave_the_quorum_working(tmp_path: Path, seed: int) -> None:
    random_ = random.Random(seed)
    recorded = list(recorded_requests())
    assert len(recorded) > 500

    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            await committed(quorum, leader, b"before")
            for _ in range(300):
                name, version, body = random_.choice(recorded)
                target = quorum.running[random_.choice(quorum.ids)]
                before = promises(target)
                serving = Serving(target, lambda: None, features={}, authorization=authorization())
                frame = frame_of(name, version, mutated(body, random_))
                if frame is None:
                    continue
                try:
                    async with asyncio.timeout(0.05):
                        await serving.answer(ANYBODY, frame)
                except TimeoutError:
                    pass  # parked, as an honest one would be
                assert promises(target)[0] >= before[0], "the epoch went back"
            # It goes on: whoever leads now commits.
            after = await quorum.leader()
            await committed(quorum, after, b"after")

    asyncio.run(run())


class Liar:
    """In the network's place: answers everything with what it is told to."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.asked: list[Send] = []

    def send(self, effect: Send) -> None:
        self.asked.append(effect)

    def answer(self, effect: Send, response: Any) -> None:
        self.runner.post(
            ResponseReceived(
                source_id=effect.destination_id,
                correlation_id=effect.correlation_id,
                response=response,
            )
        )


async def follower(quorum: Quorum) -> tuple[Runner, Liar]:
    """A follower whose network is a liar's from now on."""
    leader = await quorum.leader()
    await committed(quorum, leader, b"record")
    await quorum.caught_up(leader, 1, 2, 3)
    runner = next(runner for runner in quorum.running.values() if runner is not leader)
    liar = Liar(runner)
    runner.sender = liar
    return runner, liar


LIES: dict[str, Any] = {
    "the high watermark falls": lambda end, epoch, leader: FetchResponse(
        leader_id=leader, leader_epoch=epoch, high_watermark=0
    ),
    "batches with a gap": lambda end, epoch, leader: FetchResponse(
        leader_id=leader, leader_epoch=epoch, high_watermark=end,
        batches=(Batch(base_offset=end + 5, last_offset=end + 5, epoch=epoch, data=b"?"),),
    ),
    "batches that go back": lambda end, epoch, leader: FetchResponse(
        leader_id=leader, leader_epoch=epoch, high_watermark=end,
        batches=(Batch(base_offset=0, last_offset=0, epoch=epoch, data=b"?"),),
    ),
    "another leader of the same epoch": lambda end, epoch, leader: FetchResponse(
        error=Error.FENCED_LEADER_EPOCH, leader_id=6 - leader, leader_epoch=epoch,
        endpoints={"CONTROLLER": Endpoint("node", 6 - leader)},
    ),
    "a leader of which nobody has an address": lambda end, epoch, leader: FetchResponse(
        error=Error.FENCED_LEADER_EPOCH, leader_id=99, leader_epoch=epoch + 1,
    ),
    "the request is called invalid": lambda end, epoch, leader: FetchResponse(
        error=Error.INVALID_REQUEST, leader_id=leader, leader_epoch=epoch,
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_an_impossible_answer_is_refused(tmp_path: Path, lie: str) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            runner, liar = await follower(quorum)
            wire = quorum.wire(runner)
            fetch = await quorum.until(
                "a fetch",
                lambda: next(
                    (
                        request
                        for request in liar.asked
                        if isinstance(request.request, FetchRequest)
                    ),
                    None,
                ),
            )
            end, epoch = runner.raft.log.end_offset, fetch.request.current_leader_epoch
            before = runner.raft.role.high_watermark
            liar.answer(fetch, LIES[lie](end, epoch, fetch.destination_id))
            await asyncio.sleep(0.05)
            assert runner.raft.log.end_offset == end
            assert (runner.raft.role.high_watermark or 0) >= (before or 0)
            runner.sender = wire  # the network is honest again
            leader = await quorum.leader()
            await committed(quorum, leader, b"after")
            await quorum.caught_up(leader, 1, 2, 3)

    asyncio.run(run())


@pytest.mark.parametrize("has_resigned", [False, True], ids=["a follower", "a resigned leader"])
def test_a_node_that_should_truncate_committed_records_stops_and_keeps_them(
    tmp_path: Path, has_resigned: bool
) -> None:
    """Kafka stops, too. Once a leader has resigned, only its log knows the high watermark."""

    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            await committed(quorum, leader, b"record")
            await quorum.caught_up(leader, 1, 2, 3)
            runner = next(
                runner for runner in quorum.running.values() if (runner is leader) is has_resigned
            )
            end, epoch = runner.raft.log.end_offset, runner.raft.epoch
            node_id = runner.settings.node_id or 0
            new_leader = node_id % 3 + 1
            log = quorum.folder(node_id) / "__cluster_metadata-0" / f"{0:020}.log"
            before = log.read_bytes()
            with pytest.raises(CommittedTruncation):
                runner.log.truncate(end - 1)  # whatever the core says
            liar = Liar(runner)
            runner.sender = liar
            if has_resigned:
                await runner.order(Resign(epoch=epoch))
                assert runner.raft.role.high_watermark is None
            request = BeginQuorumEpochRequest(
                cluster_id=CLUSTER_ID,
                leader_id=new_leader,
                leader_epoch=epoch + 1,
                voter=runner.settings.key,
                leader_endpoints={"CONTROLLER": Endpoint("node", new_leader)},
            )
            await runner.ask(request, "CONTROLLER")
            [fetch] = [
                request
                for request in liar.asked
                if isinstance(request.request, FetchRequest)
                and request.request.current_leader_epoch == epoch + 1
            ]
            liar.answer(
                fetch,
                FetchResponse(
                    leader_id=new_leader,
                    leader_epoch=epoch + 1,
                    diverging_epoch=OffsetAndEpoch(0, 1),
                ),
            )
            failure = await quorum.failure(node_id)
            assert f"leader {new_leader} of epoch {epoch + 1}" in failure.message
            assert f"all records below offset {end} are committed" in failure.message
            assert "Copy the data directory before you restart" in failure.hint
            assert failure.state["committedOffset"] == failure.state["logEndOffset"] == end
            assert log.read_bytes() == before

    asyncio.run(run())


def test_a_vote_that_answers_nothing_is_dropped(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            refused = leader.refused
            for number in range(50):
                leader.post(
                    ResponseReceived(
                        source_id=2, correlation_id=number, response=VoteResponse(vote_granted=True)
                    )
                )
                leader.post(
                    ResponseReceived(
                        source_id=77, correlation_id=number, response=BeginQuorumEpochResponse()
                    )
                )
            await committed(quorum, leader, b"after")
            assert leader.leads
            assert leader.refused == refused

    asyncio.run(run())


def test_a_request_of_this_very_node_is_not_voted_for(tmp_path: Path) -> None:
    """Real 4.3.0 dies of a Vote with its own id that it would grant (digest 10.3)."""

    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            runner, _ = await follower(quorum)
            end = runner.raft.log.end
            own = ReplicaKey(runner.settings.node_id or 0, directory_id(9))
            response = await runner.ask(
                VoteRequest(
                    cluster_id=CLUSTER_ID,
                    replica_epoch=runner.raft.epoch + 1,
                    replica=own,
                    voter=runner.settings.key,
                    last_offset=end.offset + 100,
                    last_offset_epoch=end.epoch,
                ),
                "CONTROLLER",
            )
            assert isinstance(response, VoteResponse)
            assert not response.vote_granted

    asyncio.run(run())


def test_who_is_told_of_a_leader_without_address_is_refused_and_goes_on(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            runner, _ = await follower(quorum)
            with pytest.raises(KraftoolError):
                await runner.ask(
                    EndQuorumEpochRequest(
                        cluster_id=CLUSTER_ID, leader_id=99, leader_epoch=runner.raft.epoch + 1
                    ),
                    "CONTROLLER",
                )
            assert runner.refused == 1
            runner.sender = quorum.wire(runner)
            leader = await quorum.leader()
            await committed(quorum, leader, b"after")
            await quorum.caught_up(leader, 1, 2, 3)

    asyncio.run(run())


@pytest.mark.parametrize("endpoints", [{"OTHER": Endpoint("node", 3)}, {"": Endpoint("", 0)}])
def test_a_leader_that_cannot_be_fetched_from_is_not_followed(
    tmp_path: Path, endpoints: dict[str, Endpoint]
) -> None:
    """Of a later epoch, and with no endpoint of the listener that nodes fetch by."""

    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            runner, _ = await follower(quorum)
            before = runner.raft.epoch
            request = BeginQuorumEpochRequest(
                cluster_id=CLUSTER_ID,
                leader_id=9,
                leader_epoch=before + 1_000,
                leader_endpoints=endpoints,
            )
            with pytest.raises(KraftoolError, match="no endpoint of CONTROLLER"):
                await runner.ask(request, "CONTROLLER")
            assert runner.raft.epoch < before + 1_000
            assert runner.refused == 1

    asyncio.run(run())


@pytest.mark.parametrize("epoch", [(1 << 31) - 1, (1 << 31) - (1 << 20)])
def test_no_single_message_uses_up_the_epochs(tmp_path: Path, epoch: int) -> None:
    """Kafka's quorum-state could not hold the one after it."""

    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            runner, _ = await follower(quorum)
            there = {"CONTROLLER": Endpoint("node", 3)}
            vote = VoteRequest(
                cluster_id=CLUSTER_ID,
                replica_epoch=epoch,
                replica=ReplicaKey(3, directory_id(3)),
                last_offset=1_000,
                last_offset_epoch=epoch - 1,
            )
            begin = BeginQuorumEpochRequest(
                cluster_id=CLUSTER_ID, leader_id=3, leader_epoch=epoch, leader_endpoints=there
            )
            for request in (vote, begin):
                with pytest.raises(KraftoolError, match="a quorum cannot reach epoch"):
                    await runner.ask(request, "CONTROLLER")
            assert runner.raft.stored.epoch < 1_000

    asyncio.run(run())
