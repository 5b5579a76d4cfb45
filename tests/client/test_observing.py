"""The silent observer: what it has of a leader's log is what the leader committed, and no more;
nothing that it asks names a replica; a leader that sends nonsense is told, and ends nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from kraftool.client.asking import Access
from kraftool.client.capture import Capturing
from kraftool.client.model import QuorumView
from kraftool.client.observer import Observation, SilentObserver, observe
from kraftool.client.observing import UnobservableError
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.error_codes import Error
from kraftool.decoders.log_record import decode_batch
from kraftool.image.state_hash import state_hash
from kraftool.raft.messages import FetchResponse, FetchSnapshotResponse, Response
from kraftool.raft.names import Endpoint, OffsetAndEpoch
from kraftool.reports.directory.report import read_location
from kraftool.reports.state.load import load_state
from tests.client.scripted_leader import ScriptedLeader
from tests.support.places import FIXTURES

DIRECTORY = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-1/data"
FOLDER = DIRECTORY / "__cluster_metadata-0"
ACCESS = Access(timeout_s=10)


def _observe(leader: ScriptedLeader) -> Observation:
    async def run() -> Observation:
        async with leader.running() as view:
            return await observe(view, ACCESS)

    return asyncio.run(run())


def _refused(leader: ScriptedLeader, access: Access = ACCESS) -> str:
    async def run() -> str:
        async with leader.running() as view:
            with pytest.raises(UnobservableError) as refusal:
                await observe(view, access)
            return refusal.value.message

    return asyncio.run(run())


@pytest.mark.parametrize("with_snapshot", [True, False])
@pytest.mark.parametrize("chunk", [1 << 20, 700, 1])
def test_the_image_is_that_of_the_leaders_own_directory(with_snapshot: bool, chunk: int) -> None:
    leader = ScriptedLeader(FOLDER, with_snapshot=with_snapshot)
    leader.chunk = chunk if chunk > 1 or not with_snapshot else 61
    observation = _observe(leader)
    expected = load_state(str(DIRECTORY))
    assert state_hash(observation.image) == state_hash(expected.image)
    assert observation.image.provenance == expected.image.provenance
    assert observation.end_offset == expected.end_offset
    assert (observation.snapshot_id is not None) is with_snapshot
    assert observation.findings == ()


def test_who_reads_is_no_replica() -> None:
    leader = ScriptedLeader(FOLDER)
    leader.chunk = 500
    _observe(leader)
    assert {request.replica_id for request in leader.asked} == {-1}
    assert {request.name for request in leader.asked} == {"Fetch", "FetchSnapshot"}
    assert len(leader.asked) > 5


def test_what_is_not_committed_is_not_in_the_image() -> None:
    leader = ScriptedLeader(FOLDER)
    leader.high_watermark = leader.batches[-3].base_offset
    observation = _observe(leader)
    expected = load_state(str(DIRECTORY), at=leader.high_watermark)
    assert observation.end_offset == leader.high_watermark < leader.end
    assert state_hash(observation.image) == state_hash(expected.image)


def test_a_second_look_reads_only_what_came_since() -> None:
    leader = ScriptedLeader(FOLDER)
    middle = leader.high_watermark = leader.batches[-4].base_offset

    async def run() -> Observation:
        async with leader.running() as view:
            observer = SilentObserver(ACCESS)
            first = await observer.advance(view)
            assert first.end_offset == middle
            leader.asked.clear()
            leader.high_watermark = leader.end
            return await observer.advance(view)

    observation = asyncio.run(run())
    assert [request.offset for request in leader.asked] == [middle]
    assert observation.end_offset == leader.end
    assert state_hash(observation.image) == state_hash(load_state(str(DIRECTORY)).image)


def test_a_log_that_parted_is_read_anew() -> None:
    leader = ScriptedLeader(FOLDER)

    def parted(response: Response) -> Response:
        if isinstance(response, FetchResponse) and len(leader.asked) == 1:
            return replace(response, batches=(), diverging_epoch=OffsetAndEpoch(3, 1))
        return response

    async def run() -> Observation:
        async with leader.running() as view:
            observer = SilentObserver(ACCESS)
            await observer.advance(view)
            leader.asked.clear()
            leader.spoil = parted
            return await observer.advance(view)

    observation = asyncio.run(run())
    assert [request.offset for request in leader.asked if request.name == "Fetch"][:2] == [
        leader.end,
        0,
    ]
    assert state_hash(observation.image) == state_hash(load_state(str(DIRECTORY)).image)


def test_a_capture_is_a_directory_with_what_is_not_committed_too() -> None:
    leader = ScriptedLeader(FOLDER)
    leader.high_watermark = leader.batches[-3].base_offset

    async def run(capturing: Capturing) -> None:
        async with leader.running() as seen:
            captured = await capturing.capture(seen, ACCESS, with_image=True)
        assert load_state(captured.location).end_offset == leader.end
        assert captured.observation is not None
        assert captured.observation.end_offset == leader.high_watermark
        report = read_location(captured.location)
        # So it is in the fixture, and nothing of the form that it is given here.
        assert [finding.code for finding in report.all_findings] == ["KT-DIR-NOT-A-VOTER"]
        (directory,) = report.directories
        assert directory.directory.summary.node.node_id == 1
        assert directory.directory.summary.quorum_state is not None
        assert directory.directory.summary.quorum_state.leader_epoch == leader.epoch
        opened = captured.location.held[-1]
        with opened.open() as source:
            assert source.size() == sum(
                batch.size for batch in leader.batches if batch.base_offset >= 56
            )

    with Capturing() as capturing:
        asyncio.run(run(capturing))


# --- leaders that are none, and leaders that send nonsense ----------------------------------------


def test_one_that_does_not_lead_says_so() -> None:
    leader = ScriptedLeader(FOLDER)
    leader.spoil = lambda response: FetchResponse(error=Error.NOT_LEADER_OR_FOLLOWER)

    async def run() -> str:
        async with leader.running():
            with pytest.raises(UnobservableError) as refusal:
                await observe(leader.view(leads=False), ACCESS)
            return refusal.value.message

    message = asyncio.run(run())
    assert "no node leads" in message
    assert "NOT_LEADER_OR_FOLLOWER" in message


def test_the_next_node_goes_on_where_one_that_led_ended() -> None:
    """Nothing is taken twice: the image would not be the leader's."""
    leader = ScriptedLeader(FOLDER, with_snapshot=False)
    leader.chunk = 500
    leader.spoil = lambda response: (
        response if len(leader.asked) != 3 else FetchResponse(error=Error.NOT_LEADER_OR_FOLLOWER)
    )

    async def run() -> Observation:
        async with leader.running():
            (node,) = leader.view(leads=False).nodes
            observer = SilentObserver(ACCESS)
            return await observer.advance(QuorumView(nodes=(node, replace(node, node_id=2))))

    observation = asyncio.run(run())
    assert [request.offset for request in leader.asked].count(0) == 1
    assert state_hash(observation.image) == state_hash(load_state(str(DIRECTORY)).image)


def test_nobody_reached_is_told() -> None:
    with pytest.raises(UnobservableError, match="no node was reached"):
        asyncio.run(observe(QuorumView(nodes=()), ACCESS))


def test_a_leader_without_a_commit_tells_nothing() -> None:
    leader = ScriptedLeader(FOLDER)
    leader.high_watermark = -1
    assert "committed nothing" in _refused(leader)


def test_a_snapshot_that_is_gone_is_asked_for_again_and_not_for_ever() -> None:
    leader = ScriptedLeader(FOLDER)
    times = 0

    def gone(response: Response) -> Response:
        nonlocal times
        if isinstance(response, FetchSnapshotResponse) and times < 1:
            times += 1
            return FetchSnapshotResponse(error=Error.SNAPSHOT_NOT_FOUND)
        return response

    leader.spoil = gone
    assert state_hash(_observe(leader).image) == state_hash(load_state(str(DIRECTORY)).image)
    times = -100
    assert "disappeared before it was read" in _refused(leader)
    assert len(leader.asked) < 40


def _wrong_position(response: Response) -> Response:
    if isinstance(response, FetchSnapshotResponse):
        return replace(response, position=response.position + 1)
    return response


def _no_bytes(response: Response) -> Response:
    return replace(response, chunk=b"") if isinstance(response, FetchSnapshotResponse) else response


def _endless(response: Response) -> Response:
    if isinstance(response, FetchSnapshotResponse):
        return replace(response, size=response.size + response.position)
    return response


def _no_batch(response: Response) -> Response:
    if isinstance(response, FetchSnapshotResponse):
        return replace(response, chunk=bytes(len(response.chunk)))
    return response


def _flipped(response: Response) -> Response:
    if isinstance(response, FetchResponse) and response.batches:
        first = response.batches[0]
        data = first.data[:-1] + bytes([first.data[-1] ^ 1])
        return replace(response, batches=(replace(first, data=data),))
    return response


def _before_the_log(response: Response) -> Response:
    """Offsets are outside of what a CRC is of."""
    if isinstance(response, FetchResponse) and response.batches:
        first = response.batches[0]
        data = (-1).to_bytes(8, "big", signed=True) + first.data[8:]
        return replace(response, batches=(replace(first, data=data),))
    return response


def _nothing(response: Response) -> Response:
    return replace(response, batches=()) if isinstance(response, FetchResponse) else response


def _no_snapshot(response: Response) -> Response:
    if isinstance(response, FetchResponse):
        return replace(response, batches=(), snapshot_id=OffsetAndEpoch(56, -1))
    return response


def _always_another(response: Response) -> Response:
    if isinstance(response, FetchResponse):
        return replace(response, batches=(), snapshot_id=OffsetAndEpoch(56, 2))
    return response


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_wrong_position, "do not continue at position"),
        (_no_bytes, "do not continue at position"),
        (_endless, "do not continue at position"),
        (_no_batch, "no batch at position 0"),
        (_flipped, "is damaged"),
        (_before_the_log, "at offset -1 is damaged"),
        (_nothing, "sends nothing from"),
        (_no_snapshot, "the snapshot that it names cannot exist"),
        (_always_another, "one snapshot after another"),
    ],
)
def test_nonsense_is_told_and_ends_the_reading(
    spoil: Callable[[Response], Response], message: str
) -> None:
    leader = ScriptedLeader(FOLDER)
    leader.chunk = 3000
    leader.spoil = spoil
    assert message in _refused(leader)


def test_a_snapshot_with_a_wrong_byte_is_a_finding() -> None:
    leader = ScriptedLeader(FOLDER)
    at = leader.snapshot.index(b"orders")
    leader.snapshot = leader.snapshot[:at] + b"O" + leader.snapshot[at + 1 :]
    assert [finding.code for finding in _observe(leader).findings] == ["KT-SNAP-DAMAGE"]


def test_a_leader_that_never_answers_does_not_hold_up_for_ever() -> None:
    leader = ScriptedLeader(FOLDER)

    async def run() -> str:
        async with leader.running() as view:
            stuck = asyncio.Event()

            async def never(*_: object) -> None:
                await stuck.wait()

            server = await asyncio.start_server(never, "127.0.0.1", 0)
            host, port = server.sockets[0].getsockname()[:2]
            answer = replace(view.nodes[0], endpoint=Endpoint(host, port))
            with pytest.raises(UnobservableError) as refusal:
                await observe(replace(view, nodes=(answer,)), Access(timeout_s=0.2))
            stuck.set()
            server.close()
            return refusal.value.message

    assert "did not answer within 0.2 s" in asyncio.run(run())


def test_a_reading_may_be_given_a_limit() -> None:
    leader = ScriptedLeader(FOLDER)

    async def run() -> None:
        async with leader.running() as view:
            with pytest.raises(UnobservableError, match="not read within 0 s"):
                await SilentObserver(ACCESS).advance(view, limit_s=0)

    asyncio.run(run())


@pytest.mark.parametrize("with_snapshot", [True, False])
def test_each_start_of_a_controller_in_the_log_is_known_with_its_time(with_snapshot: bool) -> None:
    leader = ScriptedLeader(FOLDER, with_snapshot=with_snapshot)
    observation = _observe(leader)
    begin = 0 if observation.snapshot_id is None else observation.snapshot_id.offset
    registered = [
        (item.data["controllerId"], batch.header.max_timestamp)
        for batch in (RecordBatch.read(one.data, 0) for one in leader.batches)
        if batch.base_offset >= begin
        for item in decode_batch(batch)
        if item.name == "RegisterControllerRecord" and item.data is not None
    ]
    assert registered or with_snapshot
    assert [*observation.controller_starts] == registered
