"""A node is ready if it takes part: each reason against it, from both sides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraftool.client.judgement import judge
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.readiness import Readiness, readiness
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.raft.names import ReplicaKey
from tests.client.views import FINALIZED, NOW, described, endpoint, gone, node, replica

BEFORE = NOW - 1500
IDS = (1, 2, 3)


def _view(
    quorum: DescribeQuorumResponse, *others: NodeAnswer, registered: tuple[int, ...] = IDS
) -> QuorumView:
    """A leader that names the controllers that are registered."""
    leader = node(1, quorum=quorum, controllers=registered)
    return QuorumView(nodes=(leader, *others))


THEN = _view(
    described([replica(n, end=90, fetched=BEFORE) for n in IDS], mark=90), node(2), node(3)
)
NOW_VIEW = _view(described([replica(n) for n in IDS]), node(2), node(3))


def _ready(now: QuorumView, node_id: int | None = 2, before: QuorumView = THEN) -> Readiness:
    return readiness(judge(now, before), node_id, endpoint(2))


def _why(answer: Readiness) -> str:
    return "; ".join(check.reason for check in answer.checks if check.verdict.value == "blocked")


@pytest.mark.parametrize("node_id", [1, 2, 3, None])
def test_each_voter_of_a_healthy_quorum_is_ready(node_id: int | None) -> None:
    answer = _ready(NOW_VIEW, node_id)
    assert answer.is_ready, answer.checks
    assert answer.node_id == (node_id or 2), "without an id the node at the first address"


def test_a_node_that_does_not_answer_or_is_unknown_is_not_ready() -> None:
    down = _view(described([replica(n) for n in IDS]), gone(2), node(3))
    assert "was not reached: refused" in _why(_ready(down))
    assert "not known to any node" in _why(_ready(NOW_VIEW, 9))
    nobody = QuorumView(nodes=(gone(1), gone(2), gone(3)))
    assert not _ready(nobody, None).is_ready
    nameless = QuorumView(nodes=(replace(node(2), node_id=None),))
    assert "--node" in _ready(nameless, None).checks[-1].advice


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (node(2, leader=None), "it knows no leader of epoch 5"),
        (node(2, leader=3, epoch=4), "it knows leader 3 of epoch 4"),
    ],
)
def test_a_node_that_knows_no_leader_or_another_one_is_not_ready(
    answer: NodeAnswer, reason: str
) -> None:
    assert reason in _why(_ready(_view(described([replica(n) for n in IDS]), answer, node(3))))


def test_without_a_leader_no_node_is_ready() -> None:
    leaderless = QuorumView(nodes=tuple(node(n, leader=None) for n in IDS))
    for node_id in IDS:
        assert "no node leads" in _why(_ready(leaderless, node_id))


@pytest.mark.parametrize(
    "state", [replica(2, fetched=BEFORE - 5000), replica(2, fetched=-1), replica(2, end=80)]
)
def test_a_node_that_does_not_follow_is_not_ready(state: ReplicaState) -> None:
    now = _view(described([replica(1), state, replica(3)]), node(2), node(3))
    assert "it does not follow" in _why(_ready(now))
    assert _ready(now, 3).is_ready, "the other ones are"


def test_a_node_that_no_leader_sees_is_not_ready_and_an_observer_is() -> None:
    quorum = described([replica(n) for n in IDS])
    now = _view(quorum, node(2), node(3), node(4), registered=(*IDS, 4))
    assert "does not see it fetch" in _why(_ready(now, 4))
    quorum = replace(quorum, observers=(replica(4),))
    now = _view(quorum, node(2), node(3), node(4), registered=(*IDS, 4))
    assert _ready(now, 4).is_ready, _why(_ready(now, 4))


def test_a_voter_on_another_directory_is_not_ready() -> None:
    other = replace(replica(2), replica=ReplicaKey(2, "elsewhere"))
    quorum = described([replica(1), replica(2, fetched=-1), replica(3)], [other])
    assert "it fetches with directory id elsewhere" in _why(_ready(_view(quorum, node(2), node(3))))


def test_a_node_that_has_not_registered_is_not_ready_where_controllers_register() -> None:
    quorum = described([replica(n) for n in IDS])
    now = _view(quorum, node(2), node(3), registered=(1, 3))
    assert _why(_ready(now)) == "it is not registered as a controller"
    older = {**FINALIZED, "metadata.version": 14}
    leader = node(1, quorum=quorum, finalized=older)
    assert _ready(QuorumView(nodes=(leader, node(2), node(3)))).is_ready


def test_a_high_watermark_that_stands_is_fine_only_if_nothing_waits() -> None:
    stuck = described([replica(n, end=100) for n in IDS], mark=90)
    assert not _ready(_view(stuck, node(2), node(3))).is_ready
    idle = described([replica(n, end=90) for n in IDS], mark=90)
    assert _ready(_view(idle, node(2), node(3))).is_ready
    nothing = described([replica(n, end=100) for n in IDS], mark=-1)
    assert not _ready(_view(nothing, node(2), node(3))).is_ready
