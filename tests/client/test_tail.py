"""A committed log is followed: each batch once, through a leader that is gone for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from kraftool.client.asking import Access, question
from kraftool.client.capture import Captured, Capturing
from kraftool.client.model import QuorumView
from kraftool.client.survey import Asking
from kraftool.client.tail import LogTail
from kraftool.client.target import Target
from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import FetchResponse
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch
from kraftool.reports.state.load import load_state
from tests.client.scripted_leader import ScriptedLeader
from tests.support.places import FIXTURES

DIRECTORY = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-1/data"
FOLDER = DIRECTORY / "__cluster_metadata-0"
ACCESS = Access(timeout_s=10)


class Followed:
    """What a tail handed on, and said."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.said: list[str] = []

    def show(self, batches: Sequence[Batch]) -> None:
        self.batches += batches

    def ranges(self) -> list[tuple[int, int]]:
        return [(batch.base_offset, batch.last_offset) for batch in self.batches]


async def _captured(leader: ScriptedLeader, capturing: Capturing) -> Captured:
    async with leader.running() as view:
        return await capturing.capture(view, ACCESS, committed=True)


def test_a_capture_of_what_is_committed_ends_at_the_high_watermark() -> None:
    leader = ScriptedLeader(FOLDER)
    leader.high_watermark = leader.batches[-3].base_offset
    with Capturing() as capturing:
        captured = asyncio.run(_captured(leader, capturing))
        assert captured.end.offset == leader.high_watermark < leader.end
        state = load_state(captured.location)
    assert state.end_offset == leader.high_watermark
    assert state.image == load_state(str(DIRECTORY), at=leader.high_watermark).image


def test_a_log_that_ends_with_its_snapshot_has_an_empty_segment() -> None:
    """As Kafka's own directory has one then: there is a log to dump, and to follow."""
    leader = ScriptedLeader(FOLDER)
    assert leader.snapshot_id is not None
    leader.high_watermark = leader.snapshot_id.offset
    with Capturing() as capturing:
        captured = asyncio.run(_captured(leader, capturing))
        held = {entry.basename: entry.size for entry in captured.location.held}
        assert held[f"{leader.snapshot_id.offset:020}.log"] == 0
        assert load_state(captured.location).end_offset == leader.snapshot_id.offset


def test_each_batch_is_handed_on_once_when_it_is_committed() -> None:
    leader, seen = ScriptedLeader(FOLDER, with_snapshot=False), Followed()
    leader.chunk = 500
    last = leader.batches[-4]

    async def run() -> None:
        async with leader.running() as view:
            place = OffsetAndEpoch(last.last_offset + 1, last.epoch)
            tail = LogTail(_target(leader), view, place, show=seen.show, tell=seen.said.append)
            leader.high_watermark = place.offset
            await tail.advance()
            assert seen.batches == []
            for batch in leader.batches[-3:]:
                leader.high_watermark = batch.last_offset + 1
                await tail.advance()
                await tail.advance()

    asyncio.run(run())
    assert seen.ranges() == [(e.base_offset, e.last_offset) for e in leader.batches[-3:]]
    assert seen.said == []


def test_while_no_node_leads_it_says_so_once_and_goes_on_afterwards() -> None:
    leader, seen = ScriptedLeader(FOLDER, with_snapshot=False), Followed()
    last = leader.batches[-4]

    async def run() -> None:
        async with leader.running() as view:
            place = OffsetAndEpoch(last.last_offset + 1, last.epoch)
            tail = LogTail(_target(leader), view, place, show=seen.show, tell=seen.said.append)
            leader.spoil = lambda response: FetchResponse(error=Error.NOT_LEADER_OR_FOLLOWER)
            await tail.advance()
            await tail.advance()
            assert len(seen.said) == 1
            assert "keeps trying" in seen.said[0]
            leader.spoil = lambda response: response
            await tail.advance()

    asyncio.run(run())
    assert seen.ranges() == [(e.base_offset, e.last_offset) for e in leader.batches[-3:]]


def test_where_the_leader_has_only_a_snapshot_it_says_what_is_skipped() -> None:
    leader, seen = ScriptedLeader(FOLDER), Followed()
    assert leader.snapshot_id is not None

    async def run() -> None:
        async with leader.running() as view:
            tail = LogTail(
                _target(leader), view, OffsetAndEpoch(3, 1), show=seen.show, tell=seen.said.append
            )
            once = [FetchResponse(leader_id=1, leader_epoch=9, snapshot_id=leader.snapshot_id)]
            leader.spoil = lambda response: once.pop() if once else response
            await tail.advance()

    asyncio.run(run())
    offset, epoch = leader.snapshot_id
    [message] = seen.said
    assert f"offsets 3 to {offset - 1} in its log. It has only snapshot {offset}-{epoch}" in message
    assert seen.batches[0].base_offset <= offset <= seen.batches[0].last_offset
    assert seen.batches[-1].next_offset == leader.end


@dataclass(frozen=True, slots=True, kw_only=True)
class OneNode(Target):
    """A quorum of which every survey finds the scripted leader."""

    leader: ScriptedLeader

    async def survey(self, asking: Asking = question) -> QuorumView:
        return self.leader.view()


def _target(leader: ScriptedLeader) -> Target:
    return OneNode(bootstrap=(leader.bound,), access=ACCESS, leader=leader)
