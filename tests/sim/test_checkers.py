"""What the simulator's checkers count, and from when on."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from kraftool.raft.accumulator import Accumulator
from kraftool.raft.names import ElectionState, ReplicaKey
from kraftool.raft.records import Batch
from kraftool.raft.replicas import Replicas
from kraftool.raft.roles import Leader, Unattached
from kraftool.sim.batches import Batches
from tests.simulator.checkers.base import hooks_of
from tests.simulator.checkers.epochs import QuorumStateChecker
from tests.simulator.checkers.leaders import Leaders
from tests.simulator.checkers.logs import Committed
from tests.simulator.hooks import Hooks
from tests.simulator.options import Options
from tests.simulator.runner import run
from tests.simulator.simulation import ViolationError


def _node(node_id: int) -> Any:
    """A node that knows itself as the leader of epoch 3."""
    role = Unattached(epoch=3, leader_id=node_id)
    raft = SimpleNamespace(role=role)
    return SimpleNamespace(id=node_id, name=f"n{node_id}", incarnation=1, raft=raft)


def _violated(invariant: str, text: str) -> None:
    raise ViolationError(invariant, text, 0)


def _hooks() -> Hooks:
    world: Any = SimpleNamespace(violated=_violated)
    return hooks_of([Leaders()], world)


def _leader(epoch: int) -> Leader:
    key = ReplicaKey(2, "d2")
    return Leader(
        epoch=epoch,
        local=key,
        endpoints={},
        epoch_start_offset=5,
        granting=(),
        replicas=Replicas(local=key),
        accumulator=Accumulator(epoch=epoch, next_offset=5, linger_ms=0),
        check_quorum_deadline_ms=0,
        begin_quorum_deadline_ms=0,
    )


def test_a_role_whose_election_state_was_never_durable_names_no_leader() -> None:
    hooks, one, two = _hooks(), _node(1), _node(2)
    won = ElectionState(epoch=3, leader_id=1)
    hooks.role_changed(two, None, two.raft.role, None)  # it loses power before the write
    hooks.role_changed(one, None, one.raft.role, None)
    hooks.persisted(one, None, won)
    hooks.rested(one)


def test_two_durable_leaders_of_an_epoch_violate_single_leader() -> None:
    hooks, one, two = _hooks(), _node(1), _node(2)
    hooks.persisted(two, None, ElectionState(epoch=3, leader_id=2))
    with pytest.raises(ViolationError, match="single-leader"):
        hooks.persisted(one, None, ElectionState(epoch=3, leader_id=1))
    with pytest.raises(ViolationError, match="single-leader"):
        hooks.rested(one)


@pytest.mark.parametrize(("epoch", "is_violated"), [(3, False), (4, True), (5, True)])
def test_only_a_node_of_an_earlier_epoch_may_cut_off_committed_records(
    epoch: int, is_violated: bool
) -> None:
    checker = Committed()
    batch = Batch(base_offset=0, last_offset=4, epoch=2)
    log = Batches([batch])
    world: Any = SimpleNamespace(violated=_violated, committed=Batches(), counts=Counter())
    hooks = hooks_of([checker], world)
    leader = SimpleNamespace(name="n2", log=log)
    hooks.watermark(leader, _leader(epoch=4), None, 5)
    observer = SimpleNamespace(name="n4", raft=SimpleNamespace(epoch=epoch))
    with pytest.raises(ViolationError) if is_violated else nullcontext():
        hooks.truncated(observer, 0, [batch])


@pytest.mark.parametrize(
    ("leader_id", "is_violated"), [(1, False), (None, True)], ids=["went on", "forgot"]
)
def test_a_write_that_ends_late_is_judged_by_the_step_that_made_it(
    leader_id: int | None, is_violated: bool
) -> None:
    """A node that voted for itself in the epoch of its leader stands again after a restart. When
    that is durable, it may follow the leader already (seed 10570 of the generated incidents)."""
    world: Any = SimpleNamespace(violated=_violated)
    hooks, node, own = hooks_of([QuorumStateChecker()], world), _node(2), ReplicaKey(2, "d2")
    node.raft.role = Unattached(epoch=3, leader_id=leader_id, voted=own)
    before = ElectionState(epoch=3, leader_id=1, voted=own)
    stood_again = ElectionState(epoch=3, voted=own)
    with pytest.raises(ViolationError) if is_violated else nullcontext():
        hooks.persisted(node, before, stood_again)


@pytest.mark.parametrize("seed", [7001294, 8003427])
def test_seeds_that_gave_a_false_alarm_are_fine(seed: int) -> None:
    """In the first, node 2 wins epoch 3 and loses power before its write; node 1 wins epoch 3 then.
    In the second, node 2 of epoch 4 commits what an observer cuts off for the leader of epoch 3."""
    verdict = run(seed, Options())
    assert verdict.is_fine, verdict.text
