"""A lost quorum-state: what the node may have promised is not forgotten."""

from __future__ import annotations

import pytest

from tests.repair.directories import (
    Quorum,
    mended,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("content", [None, b"", b"garbage", b'{"leaderId":1,"leaderEp', b"\n"])
def test_a_lost_promise_is_never_forgotten(quorum: Quorum, content: bytes | None) -> None:
    """One above the highest epoch of all voters, and no vote in it."""
    path = quorum.partition(2) / "quorum-state"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    plan = quorum.plan()
    survey = mended(quorum, 2, plan, "quorum-state")
    assert (survey.quorum_state.leader_epoch, survey.quorum_state.voted_id) == (7, -1)


def test_a_lost_promise_without_all_other_voters_goes_far_above(quorum: Quorum) -> None:
    """Voters that nobody looked at may know of later epochs, in which it may have voted."""
    (quorum.partition(2) / "quorum-state").unlink()
    plan = quorum.plan(nodes=[2])
    assert plan.cases == ("quorum-state",)
    assert "1006" in plan.summary[0]


def test_two_lost_promises_go_far_above(quorum: Quorum) -> None:
    """Each may have voted for the other in an epoch that no other file tells of."""
    for node in (2, 3):
        (quorum.partition(node) / "quorum-state").write_bytes(b"garbage")
    plan = quorum.plan()
    assert plan.cases == ("quorum-state",)
    quorum.carry_out(plan)
    assert [quorum.survey(voter).quorum_state.leader_epoch for voter in (2, 3)] == [1006, 1006]
