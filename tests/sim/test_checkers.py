"""What the simulator's checkers count, and from when on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kraftool.raft.names import ElectionState
from kraftool.raft.roles import Unattached
from kraftool.sim.checkers.base import Hooks
from kraftool.sim.checkers.leaders import Leaders
from kraftool.sim.options import Options
from kraftool.sim.runner import run
from kraftool.sim.world import ViolationError


def _node(node_id: int) -> Any:
    """A node that knows itself as the leader of epoch 3."""
    role = Unattached(epoch=3, leader_id=node_id)
    raft = SimpleNamespace(role=role)
    return SimpleNamespace(id=node_id, name=f"n{node_id}", incarnation=1, raft=raft)


def _hooks() -> Hooks:
    def violated(invariant: str, text: str) -> None:
        raise ViolationError(invariant, text, 0)

    world: Any = SimpleNamespace(violated=violated)
    return Hooks([Leaders()], world)


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


def test_a_leader_that_loses_power_before_its_write_is_no_violation() -> None:
    """Seed 7001294: node 2 wins epoch 3 and loses power; then node 1 wins epoch 3."""
    verdict = run(7001294, Options())
    assert verdict.is_fine, verdict.text
