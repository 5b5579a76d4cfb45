"""Finding a quorum's nodes from one of them: by whose words, and through port-forwards."""

from __future__ import annotations

import asyncio

import pytest

from kraftool.client.asking import Access
from kraftool.client.endpoints import EndpointError, parse_endpoints, parse_resolved
from kraftool.client.listeners import parse_listeners
from kraftool.client.model import QuorumView
from kraftool.client.not_asked import broker_words, unreached_words
from kraftool.client.survey import survey
from kraftool.client.target import Target
from kraftool.raft.names import Endpoint
from tests.client.scripted_quorum import Quorum


def _survey(
    quorum: Quorum, *first: int, resolve: bool = False, timeout_s: float = 10
) -> QuorumView:
    async def run() -> QuorumView:
        async with quorum.running():
            bootstrap = [quorum.bound[number] for number in first]
            resolved = dict(quorum.bound) if resolve else {}
            return await survey(bootstrap, Access(timeout_s=timeout_s), resolved)

    return asyncio.run(run())


def test_all_are_found_from_a_follower_and_nobody_is_taken_for_a_replica() -> None:
    quorum = Quorum(leader=1)
    view = _survey(quorum, 3)
    assert [node.node_id for node in view.nodes] == [1, 2, 3]
    assert all(node.problem == "" for node in view.nodes)
    assert view.leader is not None
    assert view.leader.node_id == 1
    assert view.agrees
    assert view.cluster_id == "cluster"
    assert quorum.fetched_as == {-1}


def test_a_voter_that_moved_without_registering_is_asked_where_the_voters_have_it() -> None:
    """As a node of ours does: it tells the leader of its endpoint, and registers nowhere."""
    gone = {number: Endpoint("ctl.invalid", number) for number in (1, 2, 3)}
    quorum = Quorum(leader=1, advertised=gone)
    quorum.told_voters = True
    view = _survey(quorum, 1)
    assert [(node.node_id, node.is_reached) for node in view.nodes] == [
        (1, True),
        (2, True),
        (3, True),
    ]


def test_without_a_leader_those_named_are_asked() -> None:
    view = _survey(Quorum(leader=None), 1, 2, 3)
    assert view.leader is None
    assert len(view.reached) == 3
    assert view.epoch == 5
    assert view.voters == ()


def test_advertised_names_that_lead_nowhere_are_told_and_port_forwards_help() -> None:
    nowhere = {number: Endpoint(f"ctl-{number}.invalid", 9093) for number in (1, 2, 3)}
    view = _survey(Quorum(leader=1, advertised=nowhere), 1)
    assert [(node.node_id, node.is_reached) for node in view.nodes] == [
        (1, True),
        (2, False),
        (3, False),
    ]
    view = _survey(Quorum(leader=1, advertised=nowhere), 1, resolve=True)
    assert [(node.node_id, node.is_reached) for node in view.nodes] == [
        (1, True),
        (2, True),
        (3, True),
    ]


def test_endpoints_as_operators_write_them() -> None:
    assert parse_endpoints("a:1, b:2,a:1") == (Endpoint("a", 1), Endpoint("b", 2))
    assert parse_endpoints("[::1]:9093") == (Endpoint("::1", 9093),)
    assert parse_resolved(["2=localhost:1"]) == {2: Endpoint("localhost", 1)}
    assert parse_listeners(["controller://a:1"]) == {"CONTROLLER": Endpoint("a", 1)}


@pytest.mark.parametrize("text", ["", "a", "a:", ":1", "a:0", "a:65536", "::1:9093", "a:b", ","])
def test_what_is_no_endpoint_is_refused(text: str) -> None:
    with pytest.raises(EndpointError):
        parse_endpoints(text)
    with pytest.raises(EndpointError):
        parse_resolved([f"x={text}"])
    with pytest.raises(EndpointError):
        parse_listeners([f"C://{text}"])


def test_nodes_of_two_clusters_with_one_id_are_two_nodes() -> None:
    """Whichever of the two leads the newer epoch."""
    for newer in (4, 6):
        one, other = Quorum(leader=2), Quorum(leader=1)
        other.cluster_id, other.epoch = "another", newer

        async def run(one: Quorum = one, other: Quorum = other) -> QuorumView:
            async with one.running(), other.running():
                bootstrap = [*one.bound.values(), *other.bound.values()]
                return await survey(bootstrap, Access(timeout_s=10))

        view = asyncio.run(run())
        ids = [(node.node_id, node.cluster_id) for node in view.nodes]
        assert sorted(ids) == [
            (number, cluster) for number in (1, 2, 3) for cluster in ("another", "cluster")
        ]
        assert view.cluster_id is None


def _reached(view: QuorumView) -> list[tuple[int | None, bool]]:
    return [(node.node_id, node.is_reached) for node in view.nodes]


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_later_look_does_not_need_the_bootstrap_node(lost: int) -> None:
    """Each node in turn is the only bootstrap node, and goes; node 1 leads, or node 2 then."""

    async def run() -> tuple[QuorumView, QuorumView]:
        quorum = Quorum(leader=1)
        async with quorum.running():
            target = Target(bootstrap=(quorum.bound[lost],), access=Access(timeout_s=10))
            before = await target.survey()
            await quorum.servers[lost].close()
            quorum.leader, quorum.epoch = (2, 6) if lost == 1 else (1, 5)
            return before, await target.survey()

    before, after = asyncio.run(run())
    assert _reached(before) == [(1, True), (2, True), (3, True)]
    assert _reached(after) == [(number, number != lost) for number in (1, 2, 3)]
    assert after.leader is not None
    assert after.leader.node_id == (2 if lost == 1 else 1)


def test_a_removed_node_is_not_asked_for_ever_but_a_lost_one_is() -> None:
    async def run() -> list[QuorumView]:
        quorum = Quorum(leader=1)
        quorum.told_voters = True
        async with quorum.running():
            target = Target(bootstrap=(quorum.bound[1],), access=Access(timeout_s=10))
            views = [await target.survey()]
            await quorum.servers[3].close()
            quorum.leader = None  # then no node names another one: all are kept
            views.append(await target.survey())
            quorum.leader, quorum.registered = 1, (1, 2)
            views.append(await target.survey())
            views.append(await target.survey())
            return views

    first, leaderless, *removed = asyncio.run(run())
    assert _reached(first) == [(1, True), (2, True), (3, True)]
    assert _reached(leaderless) == [(1, True), (2, True), (3, False)]
    for view in removed:
        assert _reached(view) == [(1, True), (2, True)]


def test_a_voter_that_moved_is_asked_at_its_new_address_only() -> None:
    async def run() -> list[QuorumView]:
        quorum, other = Quorum(leader=1), Quorum(leader=1)
        quorum.told_voters = True
        async with quorum.running(), other.running():
            target = Target(bootstrap=(quorum.bound[1],), access=Access(timeout_s=10))
            views = [await target.survey()]
            await quorum.servers[3].close()
            quorum.bound[3] = other.bound[3]
            views.append(await target.survey())
            views.append(await target.survey())
            return views

    for view in asyncio.run(run()):
        assert _reached(view) == [(1, True), (2, True), (3, True)]


def test_a_broker_names_the_controllers_and_is_not_taken_for_the_leader() -> None:
    """The leader is down, and the broker still has its answer: nothing of that is the broker's."""

    async def run() -> tuple[QuorumView, QuorumView]:
        quorum = Quorum(leader=1)
        quorum.told_voters = True
        async with quorum.with_broker() as broker:
            target = Target(bootstrap=(broker,), access=Access(timeout_s=10))
            whole = await target.survey()
            await quorum.servers[1].close()
            return whole, await target.survey()

    whole, lost = asyncio.run(run())
    assert _reached(whole) == [(1, True), (2, True), (3, True)]
    assert not any(node.problem for node in whole.nodes)
    assert whole.leader is not None
    assert whole.leader.endpoint == whole.brokers[0].controllers[1]
    assert whole.agrees
    [broker] = whole.brokers
    named = ", ".join(
        f"{id_} (127.0.0.1:{controller.port})" for id_, controller in broker.controllers.items()
    )
    assert broker_words(broker).endswith(f"is a broker; the controllers are {named}")
    assert _reached(lost) == [(1, False), (2, True), (3, True)]
    assert lost.leader is None


def test_an_old_broker_cannot_name_the_controllers() -> None:
    async def run() -> tuple[QuorumView, QuorumView]:
        quorum = Quorum(leader=1)
        async with quorum.with_broker() as broker:
            alone = Target(bootstrap=(broker,), access=Access(timeout_s=10))
            both = Target(bootstrap=(broker, quorum.bound[2]), access=Access(timeout_s=10))
            return await alone.survey(), await both.survey()

    alone, both = asyncio.run(run())
    assert not alone.reached
    problems, advice = unreached_words(alone)
    assert "does not name the controllers" in problems[0]
    assert "controller.quorum.voters" in advice
    assert "controller.quorum.bootstrap.servers" in advice
    assert _reached(both) == [(1, True), (2, True), (3, True)]


def test_a_port_forward_to_a_broker_is_no_controller() -> None:
    async def run() -> QuorumView:
        quorum = Quorum(leader=1)
        quorum.told_voters = True
        async with quorum.with_broker() as broker:
            bootstrap = [quorum.bound[1]]
            return await survey(bootstrap, Access(timeout_s=10), {2: broker})

    view = asyncio.run(run())
    assert _reached(view) == [(1, True), (2, False), (3, True)]
    assert view.nodes[1].problem.endswith("is a broker, not a controller")
