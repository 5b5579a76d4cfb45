"""What Health and Voters read of a live leader: its committed metadata, and the history of voters.

The leader is scripted, with the files of a real controller; the requests are real.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from kraftool.client.asking import Access
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.voters.matrix import history_rows
from kraftool.watching import voter_board
from kraftool.watching.checkup import MetadataWatch
from kraftool.watching.picture import Picture
from kraftool.watching.safety import MetadataHealth, live_health
from kraftool.watching.sources import Sources
from kraftool.watching.task import StoppedError, Task
from tests.client.scripted_leader import ScriptedLeader
from tests.support.places import FIXTURES
from tests.tui.copied_directories import here

DIRECTORY = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-1/data"
FOLDER = DIRECTORY / "__cluster_metadata-0"


def _with(leader: ScriptedLeader, body: Callable[[Target, QuorumView], Awaitable[None]]) -> None:
    async def run() -> None:
        async with leader.running() as view:
            await body(Target(bootstrap=(leader.bound,), access=Access(timeout_s=10)), view)

    asyncio.run(run())


def _picture(view: QuorumView) -> Picture:
    return Picture(at_ms=0, view=view)


@pytest.fixture
def surveyed(monkeypatch: pytest.MonkeyPatch) -> Callable[[QuorumView], None]:
    """Surveys find this; the scripted leader describes no quorum."""
    monkeypatch.setattr(voter_board, "apart", here)

    def finds(view: QuorumView) -> None:
        async def survey(_: Target) -> QuorumView:
            return view

        monkeypatch.setattr(Target, "survey", survey)

    return finds


def test_the_leaders_log_gives_the_history_of_its_own_directory(
    surveyed: Callable[[QuorumView], None],
) -> None:
    async def body(target: Target, view: QuorumView) -> None:
        (source,) = read_sources([str(DIRECTORY)])
        ours = (replace(node, cluster_id=source.directory.node.cluster_id) for node in view.nodes)
        surveyed(QuorumView(nodes=tuple(ours)))
        sources = Sources(target=target, directories=(str(DIRECTORY),))
        diff, unobserved = await asyncio.to_thread(voter_board.compare, sources, Task())
        assert unobserved == ""
        live, directory = diff.sources
        assert live.directory.is_live
        assert [
            entry.identity
            for entry in live.directory.history.entries
            if entry.origin.value == "log"
        ] == [
            entry.identity
            for entry in directory.directory.history.entries
            if entry.origin.value == "log"
        ]
        assert not diff.has_differences
        rows = {row.holders for row in history_rows(diff)}
        assert ("L", "L") in rows

    _with(ScriptedLeader(FOLDER, with_snapshot=False), body)


def test_a_leader_that_tells_no_log_is_compared_by_what_it_describes(
    surveyed: Callable[[QuorumView], None],
) -> None:
    leader = ScriptedLeader(FOLDER)

    async def body(target: Target, view: QuorumView) -> None:
        leader.epoch += 1  # it refuses whoever asks for the epoch that was surveyed
        surveyed(view)
        diff, unobserved = await asyncio.to_thread(
            voter_board.compare, Sources(target=target), Task()
        )
        assert "FENCED_LEADER_EPOCH" in unobserved
        assert diff.voters is not None
        assert [voter.id for voter in diff.voters.voters] == [1, 2, 3]

    _with(leader, body)


def test_metadata_is_read_whole_once_and_then_only_what_came() -> None:
    leader = ScriptedLeader(FOLDER)

    async def body(target: Target, view: QuorumView) -> None:
        watch = MetadataWatch(target)
        first = await asyncio.to_thread(watch.read, view, Task())
        assert first.cluster is not None
        assert first.unobserved == ""
        assert any(request.name == "FetchSnapshot" for request in leader.asked)
        assert {request.replica_id for request in leader.asked} == {-1}, "nobody's replica"
        leader.asked.clear()
        second = await asyncio.to_thread(watch.read, view, Task())
        assert {(request.name, request.offset) for request in leader.asked} == {
            ("Fetch", leader.end)
        }
        assert second.cluster is not None
        assert second.cluster.registered_brokers == first.cluster.registered_brokers
        judged = live_health(_picture(view), second)
        assert judged.cluster_health is second.cluster
        assert {finding.code for finding in second.cluster.findings} <= {
            finding.code for finding in judged.findings
        }

    _with(leader, body)


def test_without_a_leader_it_says_so_and_asks_again_at_once() -> None:
    leader = ScriptedLeader(FOLDER)

    async def body(target: Target, view: QuorumView) -> None:
        gone = leader.view(leads=False)
        leader.epoch += 1
        reading = await asyncio.to_thread(MetadataWatch(target).read, gone, Task())
        leader.epoch -= 1
        assert reading.cluster is None
        assert "no node leads" in reading.unobserved
        assert reading.is_due(reading.at_ms)
        read = await asyncio.to_thread(MetadataWatch(target).read, view, Task())
        assert not read.is_due(read.at_ms + read.took_ms)
        assert not live_health(_picture(gone), reading).is_well

    _with(leader, body)


def test_reading_ends_with_the_view() -> None:
    async def body(target: Target, view: QuorumView) -> None:
        task = Task()
        task.stop()
        with pytest.raises(StoppedError):
            await asyncio.to_thread(MetadataWatch(target).read, view, task)

    _with(ScriptedLeader(FOLDER), body)


def test_nothing_is_said_of_metadata_that_nobody_was_asked_for() -> None:
    view = ScriptedLeader(FOLDER).view()
    picture = _picture(view)
    assert live_health(picture, MetadataHealth()).findings == live_health(picture).findings


def test_directories_alone_ask_nobody(surveyed: Callable[[QuorumView], None]) -> None:
    diff, unobserved = voter_board.compare(Sources(directories=(str(DIRECTORY),)), Task())
    assert unobserved == ""
    assert [source.directory.name for source in diff.sources] == [
        source.name for source in read_sources([str(DIRECTORY)])
    ]
