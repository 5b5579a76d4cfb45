"""Unregistering and renewing a registration: what is refused before the leader is asked.

tests/interop/test_registrations.py does both with real Kafka.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kraftool.client.change import Check, CheckResult
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.registration_changes import can_unregister, is_stopped
from kraftool.client.thresholds import SILENT_MS
from kraftool.raft.messages import DescribeQuorumResponse
from tests.client.views import NOW, described, gone, node, replica, view

VOTERS = [replica(n) for n in (1, 2, 3)]


def _is_blocked(checks: Sequence[Check]) -> bool:
    return any(check.verdict is CheckResult.BLOCKED for check in checks)


@pytest.mark.parametrize(
    ("quorum", "answer", "blocked"),
    [
        (described(VOTERS), gone(4), False),
        (described(VOTERS), node(4), True),
        (described(VOTERS, [replica(4)]), gone(4), True),
        (described(VOTERS, [replica(4, fetched=NOW - SILENT_MS - 1)]), gone(4), False),
        (described(VOTERS, [replica(4, fetched=-1)]), gone(4), False),
        (described([*VOTERS, replica(4)]), gone(4), True),
        (described([*VOTERS, replica(4, fetched=NOW - SILENT_MS - 1)]), gone(4), False),
    ],
    ids=[
        "gone", "answers", "observes and cannot be reached", "was removed", "never fetched",
        "votes and cannot be reached", "a voter that is stopped",
    ],
)  # fmt: skip
def test_a_node_that_runs_keeps_its_registration(
    quorum: DescribeQuorumResponse, answer: NodeAnswer, blocked: bool
) -> None:
    assert _is_blocked(is_stopped(view(quorum, node(2), node(3), answer), 4)) is blocked


@pytest.mark.parametrize(
    ("level", "apis", "blocked"),
    [
        (33, ("UnregisterController",), False),
        (32, ("UnregisterController",), True),
        (33, (), True),
    ],
)
def test_a_registration_is_removed_from_4_4_iv2_on_by_software_that_can(
    level: int, apis: Sequence[str], blocked: bool
) -> None:
    quorum = described(VOTERS)
    leader = node(1, quorum=quorum, finalized={"metadata.version": level})
    offered = replace(leader.offered, apis=dict.fromkeys(apis, (0, 0)))
    checks = can_unregister(QuorumView(nodes=(replace(leader, offered=offered), node(2), node(3))))
    assert _is_blocked(checks) is blocked
    assert not blocked or "renew-registration" in checks[-1].advice
