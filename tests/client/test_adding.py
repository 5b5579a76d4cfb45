"""A controller is added by its id alone: what the quorum knows of it, and what it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kraftool.client.asking import Access, question
from kraftool.client.change import CheckResult, QuorumChange
from kraftool.client.listeners import NewVoter
from kraftool.client.model import QuorumView
from kraftool.client.survey import Asking
from kraftool.client.target import Target
from kraftool.client.thresholds import LAG_RECORDS
from kraftool.client.voter_changes import _addable, add_controller
from kraftool.raft.messages import ReplicaState
from kraftool.raft.names import ReplicaKey
from kraftool.reports.state.load import load_state
from tests.client.scripted_leader import ScriptedLeader
from tests.client.views import NOW, described, replica, view
from tests.support.places import FIXTURES

DIRECTORY = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-1/data"
FIRST, SECOND = "m4edhskZReujT5KaPved-A", "tZQSAvsjSkG1h6dlBS_MFA"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted(Target):
    """A quorum whose leader sees these observers."""

    leader: ScriptedLeader
    observers: Sequence[ReplicaState]

    async def survey(self, asking: Asking = question) -> QuorumView:
        view = self.leader.view()
        quorum = view.quorum
        assert quorum is not None
        quorum = replace(quorum, observers=tuple(self.observers))
        return QuorumView(nodes=(replace(view.nodes[0], quorum=quorum),))


def _observer(node_id: int, directory_id: str, end: int) -> ReplicaState:
    return replace(replica(node_id, end=end), replica=ReplicaKey(node_id, directory_id))


def _plan(node_id: int, *directory_ids: str) -> QuorumChange:
    leader = ScriptedLeader(DIRECTORY / "__cluster_metadata-0")
    seen = [_observer(node_id, directory_id, leader.end) for directory_id in directory_ids]

    async def run() -> QuorumChange:
        async with leader.running():
            target = Scripted(
                bootstrap=(leader.bound,),
                access=Access(timeout_s=10),
                leader=leader,
                observers=seen,
            )
            candidate = NewVoter(node_id=node_id, endpoints={})
            return await add_controller(target, candidate, dry_run=True)

    return asyncio.run(run())


def _blocks(change: QuorumChange) -> list[tuple[str, str]]:
    return [(e.reason, e.advice) for e in change.checks if e.verdict is CheckResult.BLOCKED]


def test_directory_id_and_endpoints_are_those_that_the_quorum_knows() -> None:
    registered = load_state(str(DIRECTORY)).image.cluster.controllers[4].listeners
    assert registered
    change = _plan(4, FIRST)
    endpoints = ", ".join(
        f"{endpoint.name}://{endpoint.host}:{endpoint.port}" for endpoint in registered
    )
    assert change.subject == f"controller 4 with directory id {FIRST} and endpoints {endpoints}"
    assert not any("--endpoint" in advice for _, advice in _blocks(change))


def test_a_controller_that_has_not_registered_needs_its_endpoints() -> None:
    change = _plan(9, FIRST)
    assert change.subject.endswith("and endpoints unknown")
    [(text, advice)] = _blocks(change)
    assert "node 9 has not registered as a controller" in text
    assert "--endpoint LISTENER://HOST:PORT" in advice


def test_of_two_directories_of_one_node_the_operator_names_one() -> None:
    [(text, advice)] = _blocks(_plan(4, FIRST, SECOND))
    assert text == f"node 4 fetches with several directory ids: {FIRST}, {SECOND}"
    assert "--controller-directory-id" in advice


def test_a_controller_becomes_a_voter_only_if_it_has_caught_up_and_is_near_the_end() -> None:
    """An old moment at which it had caught up does not replace the records that it lacks now."""
    near, end = "node 4 observes, 1000 records behind", LAG_RECORDS + 5
    for behind, caught_up, is_blocked in [
        (LAG_RECORDS, NOW, False),
        (LAG_RECORDS + 1, NOW, True),
        (LAG_RECORDS, -1, True),
    ]:
        observer = replica(4, end=end - behind, caught_up=caught_up)
        quorum = view(described([replica(1, end=end)], [observer]))
        checks = _addable(quorum, observer.replica, None, observer)
        assert [check.verdict is CheckResult.BLOCKED for check in checks] == [is_blocked]
        assert is_blocked == (checks[0].reason != near), checks
        if is_blocked:
            assert checks[0].reason == f"node 4 is {behind} records behind"
