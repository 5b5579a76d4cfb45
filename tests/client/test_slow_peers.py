"""A quorum whose peers are slow, refuse connections or are silent: late is not down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from kraftool.client.asking import Access
from kraftool.client.health import health
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.raft.names import Endpoint
from tests.client.scripted_quorum import Quorum
from tests.support.peers_proxy import PeerProxy, proxied

pytestmark = pytest.mark.slow
Proxies = dict[int, PeerProxy]


@asynccontextmanager
async def _behind_proxies() -> AsyncIterator[tuple[Quorum, Proxies]]:
    advertised: dict[int, Endpoint] = {}
    quorum = Quorum(leader=2, advertised=advertised)
    async with quorum.running(), AsyncExitStack() as stack:
        proxies = {
            number: await stack.enter_async_context(proxied(where))
            for number, where in quorum.bound.items()
        }
        advertised |= {number: proxy.endpoint for number, proxy in proxies.items()}
        yield quorum, proxies


def _look(
    change: Callable[[Proxies], Awaitable[None]], *, timeout_s: float = 30.0
) -> tuple[QuorumView, QuorumView]:
    """One poll before the change, and one after it."""

    async def run() -> tuple[QuorumView, QuorumView]:
        async with _behind_proxies() as (_, proxies):
            target = Target(bootstrap=(proxies[1].endpoint,), access=Access(timeout_s=timeout_s))
            before = await target.survey()
            await change(proxies)
            return before, await target.survey()

    return asyncio.run(run())


def _verdict(view: QuorumView) -> set[tuple[str, str]]:
    return {(finding.code, finding.severity) for finding in health(view, view).findings}


@pytest.mark.parametrize("round_trip_s", [0.05, 0.3, 0.9, 1.5])
def test_a_slow_path_changes_no_verdict(round_trip_s: float) -> None:
    async def slow(proxies: Proxies) -> None:
        for proxy in proxies.values():
            proxy.round_trip_s = round_trip_s

    before, after = _look(slow)
    assert [node.node_id for node in after.reached] == [1, 2, 3]
    assert min(node.took_ms for node in after.reached) >= round_trip_s * 1000, "it was slow"
    assert (after.epoch, after.quorum) == (before.epoch, before.quorum)
    assert _verdict(after) == _verdict(before)


def test_one_slow_peer_is_the_only_one_that_is_late() -> None:
    async def slow(proxies: Proxies) -> None:
        proxies[3].round_trip_s = 0.9

    _, after = _look(slow)
    took = {node.node_id: node.took_ms for node in after.reached}
    assert took[3] == max(took.values())
    assert took[3] >= 900


def test_a_peer_that_refuses_is_named_with_its_cause() -> None:
    async def refuse(proxies: Proxies) -> None:
        await proxies[3].refuse()

    before, after = _look(refuse)
    assert [node.node_id for node in before.reached] == [1, 2, 3]
    [gone] = [node for node in after.nodes if not node.is_reached]
    assert gone.node_id == 3
    assert "connection refused" in gone.problem
    assert after.leader is not None


def test_a_silent_peer_has_all_of_the_timeout_and_holds_up_no_verdict_on_the_others() -> None:
    async def fall_silent(proxies: Proxies) -> None:
        proxies[2].is_silent = True

    before, after = _look(fall_silent, timeout_s=2.0)
    assert before.leader is not None
    [gone] = [node for node in after.nodes if not node.is_reached]
    assert gone.node_id == 2
    assert "did not answer within 2 s" in gone.problem
    assert gone.took_ms >= 2000
    assert [node.node_id for node in after.reached] == [1, 3]
    assert after.leader is None, "only the leader says what it leads"


def test_a_peer_that_comes_back_is_asked_again_at_its_place() -> None:
    async def come_back(proxies: Proxies) -> None:
        await proxies[1].refuse()
        await proxies[1].accept()

    _, after = _look(come_back)
    assert [node.node_id for node in after.reached] == [1, 2, 3]
