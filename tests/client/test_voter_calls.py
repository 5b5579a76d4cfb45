"""`may-stop` believes voters that report whether they can call the others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest

from kraftool.client import stopping
from kraftool.client.change import Check, CheckResult
from kraftool.client.model import QuorumView
from kraftool.client.stopping import StopPermission, StopVerdict, ask_may_stop
from kraftool.client.voter_calls import call_checks
from kraftool.net.metrics_http import MetricsServer
from kraftool.node.metrics import MetricSample
from kraftool.node.metrics_page import exposition
from kraftool.raft.names import Endpoint
from tests.client.views import NOW, described, gone, node, replica, view, well
from tests.support.ports import HOST, free_ports

Calls = Mapping[int, Mapping[int, int | None]]
"""By the voter that calls and the one that is called: how long ago that answered; None if the last
call failed and it never did; below 0 if the last call failed after an answer so long ago."""


def _page(calls: Mapping[int, int | None], accept: str = "") -> tuple[bytes, str]:
    connected, age = "kraftool_node_voter_connected", "kraftool_node_voter_last_answer_age_ms"
    samples = [
        MetricSample(name, "gauge", "", value, (("voter", str(voter)),))
        for voter, age_ms in calls.items()
        for name, value in (
            (connected, age_ms is not None and age_ms >= 0),
            (age, -1 if age_ms is None else abs(age_ms)),
        )
    ]
    return exposition(iter(samples)), "text/plain"


def _checks(calls: Calls, now: QuorumView | None = None, node_id: int = 1) -> list[Check]:
    async def run() -> list[Check]:
        async with AsyncExitStack() as stack:
            metrics = {}
            for voter, others in calls.items():
                server = MetricsServer(partial(_page, others), is_ready=lambda: True)
                metrics[voter] = Endpoint(HOST, await server.start(HOST, 0))
                stack.push_async_callback(server.close)
            return await call_checks(metrics, now or well(), node_id, 10)

    return asyncio.run(run())


def _blocks(checks: list[Check]) -> list[str]:
    return [check.reason for check in checks if check.verdict is CheckResult.BLOCKED]


def test_a_voter_that_would_remain_and_cannot_call_another_one_blocks() -> None:
    checks = _checks({2: {1: 5, 3: -12_000}, 3: {1: 5, 2: None}})
    assert _blocks(checks) == [
        "voter 2 cannot call voter 3 (it last did 12 s ago)",
        "voter 3 cannot call voter 2 (it never did)",
    ]


def test_calls_to_the_node_that_stops_do_not_matter() -> None:
    checks = _checks({2: {1: None, 3: 5}, 3: {1: None, 2: 5}, 1: {2: None, 3: None}})
    assert _blocks(checks) == []
    assert [check.reason for check in checks] == ["voters 2 and 3 can call the others that remain"]


def test_nor_do_calls_to_a_voter_that_is_down() -> None:
    quorum = described([replica(number) for number in (1, 2, 3, 4, 5)])
    others = (node(2), node(3), node(4), gone(5))
    assert not _blocks(_checks({2: {1: 5, 3: 5, 4: 5, 5: None}}, view(quorum, *others)))


def test_nothing_is_asked_for_a_node_that_does_not_vote() -> None:
    assert _checks({2: {1: 5, 3: None}}, node_id=9) == []


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ({}, "has no metric kraftool_node_voter_connected"),
        ({1: 5}, "voter 2 has not called voter 3 yet"),
        ({2: 5, 3: 5}, "has the metrics of another node"),
    ],
)
def test_a_page_that_does_not_say_it_is_a_caution(calls: Mapping[int, int], words: str) -> None:
    [check] = _checks({2: calls})
    assert check.verdict is CheckResult.CAUTION
    assert words in check.reason


def test_a_page_that_is_not_served_is_a_caution() -> None:
    [port] = free_ports(1)
    [check] = asyncio.run(call_checks({2: Endpoint(HOST, port)}, well(), 1, 10))
    assert check.verdict is CheckResult.CAUTION
    assert check.reason.startswith("voter 2 does not say whether it can call the others: ")


def test_may_stop_says_no_where_the_quorum_itself_looks_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stopping, "POLLS_APART_S", 0.0)

    class Target:
        access: Any = type("Access", (), {"timeout_s": 10})

        def __init__(self) -> None:
            self.looks = iter((well(mark=90, at=NOW - 1500), well()))

        async def survey(self) -> QuorumView:
            return next(self.looks)

    async def run(calls: Mapping[int, int | None]) -> StopPermission:
        server = MetricsServer(partial(_page, calls), is_ready=lambda: True)
        metrics = {2: Endpoint(HOST, await server.start(HOST, 0))}
        target: Any = Target()
        asking = ask_may_stop(target, 3, wait_s=0, waiting=pytest.fail, metrics=metrics)
        permission, _ = await asking
        await server.close()
        return permission

    assert asyncio.run(run({1: 5, 3: 5})).verdict is StopVerdict.YES
    cut = asyncio.run(run({1: None, 3: 5}))
    assert cut.verdict is StopVerdict.NOT_NOW
    assert cut.reason.startswith("voter 2 cannot call voter 1")
