"""A dashboard on real connections through slow, silent and refusing peers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from kraftool.client.asking import Access
from kraftool.client.target import Target
from kraftool.raft.names import Endpoint
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import QuorumReport, quorum_report
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Watcher
from tests.client.scripted_quorum import Quorum
from tests.support.peers_proxy import proxied
from tests.support.ports import free_ports

pytestmark = pytest.mark.slow

PATIENT_S = 60.0
"""A busy machine is not what is tried."""


async def _watch(
    paths: dict[int, float | Endpoint | None],
    until: Callable[[QuorumReport], bool],
    *,
    timeout_s: float,
) -> list[Picture]:
    """Return the pictures of a quorum until one of them is as expected."""
    quorum = Quorum(leader=1)
    quorum.clock_ms = lambda: int(time.time() * 1000)
    seen: list[Picture] = []
    async with quorum.running(), AsyncExitStack() as stack:
        resolved = {}
        for number, path in paths.items():
            resolved[number] = (
                path
                if isinstance(path, Endpoint)
                else (await stack.enter_async_context(proxied(quorum.bound[number], path))).endpoint
            )
        target = Target(
            bootstrap=(resolved[1],), access=Access(timeout_s=timeout_s), resolved=resolved
        )
        watcher = Watcher(Sources(target=target), interval_s=0.2)
        as_expected = asyncio.Event()

        def show(picture: Picture) -> None:
            seen.append(picture)
            if until(quorum_report(picture)):
                as_expected.set()

        running = asyncio.create_task(watcher.run(show))
        async with asyncio.timeout(PATIENT_S):
            await as_expected.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return seen


def _grades(report: QuorumReport) -> dict[int | None, str | None]:
    return {replica.id: replica.grade for replica in report.replicas}


@pytest.mark.parametrize("round_trip_s", [0.05, 0.9, 1.5])
def test_a_slow_path_ends_green_without_a_false_event(round_trip_s: float) -> None:
    looks = 0

    def is_settled(report: QuorumReport) -> bool:
        nonlocal looks
        looks += report.tolerance.failures == 1
        return looks == 10

    pictures = asyncio.run(
        _watch(dict.fromkeys((1, 2, 3), round_trip_s), is_settled, timeout_s=PATIENT_S)
    )
    reports = [quorum_report(picture) for picture in pictures]
    events = [event.reason for event in pictures[-1].history.events]
    # A busy machine may delay the dashboard itself, which it says.
    assert [words for words in events if "the dashboard itself" not in words] == [
        "watching begins: node 1 leads epoch 5"
    ]
    assert not any(replica.is_down for report in reports for replica in report.replicas)
    assert {report.leader_id for report in reports} <= {None, 1}
    assert all(
        report.judgement is not None and report.judgement.overdue_ms is not None
        for report in reports
        if report.leader_id is None
    ), "no leader is only said while the answer is overdue"


def test_a_silent_peer_is_late_and_then_out_of_reach() -> None:
    """Its leader says that it fetches, so it is not down."""
    pictures = asyncio.run(
        _watch(
            {1: 0.01, 2: 0.01, 3: None},
            lambda report: _grades(report).get(3) == "out of reach",
            timeout_s=2.0,
        )
    )
    grades = [_grades(quorum_report(picture)).get(3) for picture in pictures]
    assert grades[-1] == "out of reach"
    assert "waiting" in grades
    assert "down" not in grades


def test_a_peer_that_refuses_is_known_at_once() -> None:
    nobody = Endpoint("127.0.0.1", *free_ports(1))
    pictures = asyncio.run(
        _watch(
            {1: 0.05, 2: 0.05, 3: nobody},
            lambda report: _grades(report).get(3) == "out of reach",
            timeout_s=PATIENT_S,
        )
    )
    assert quorum_report(pictures[-1]).tolerance.failures == 0
