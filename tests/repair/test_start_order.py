"""Plans for a quorum that has a majority: orders of starts, and repairs that keep the best log."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.repair.plan import Action, Method, Plan
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.request import PlanRequest
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import EQUAL, NOW, Quorum, cut_log, flip_in_batch, state_of
from tests.support.places import PARTITION

STATIC = "kafka-3.7.2/static-quorum"


def starts(plan: Plan) -> list[tuple[str, ...]]:
    return [step.hosts for step in plan.steps if step.action is Action.START]


def empty(quorum: Quorum, node_id: int) -> None:
    for path in quorum.partition(node_id).iterdir():
        path.unlink()


def test_a_leader_that_forgot_does_not_make_the_plan_give_up_what_others_have(
    tmp_path: Path,
) -> None:
    """The plan is an order of starts. All three would elect each other, and it gives up nothing."""
    quorum = Quorum(tmp_path, STATIC, [1, 2, 3])
    leader = quorum.survey(1).quorum_state.leader_id
    best, other = (node for node in (1, 2, 3) if node != leader)
    cut_log(quorum, leader, 20)
    cut_log(quorum, other, 20)
    plan = quorum.plan()
    assert plan.loss.verdict is LossBound.POSSIBLE, "the two may have committed more"
    assert f"voter {leader} lacks records" in plan.loss.text
    assert "No action needed" not in plan.summary[0]
    first, rest = starts(plan)
    assert f"node-{best}" in first
    assert len(first) == 2, "two short logs must not elect each other"
    assert len(rest) == 1


@pytest.mark.parametrize("is_leader", [True, False])
@pytest.mark.parametrize("behind", [0, 1])
def test_an_old_copy_beside_a_whole_voter_needs_no_word(
    tmp_path: Path, is_leader: bool, behind: int
) -> None:
    """The commonest accident: one voter is restored from a backup, or its log was cut. The third
    one may have stopped a batch earlier."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    leader = quorum.survey(1).quorum_state.leader_id
    first, second = (node for node in (1, 2, 3) if node != leader)
    old, lagging = (leader, first) if is_leader else (first, leader)
    cut_log(quorum, old, 20)
    if behind:
        cut_log(quorum, lagging, behind)
    plan = quorum.plan()
    assert plan.method is Method.NONE
    assert not plan.risks
    if not behind:
        assert plan.loss.verdict is LossBound.NONE, "two that forgot nothing agree"
        assert not starts(plan)
        return
    assert plan.loss.verdict is LossBound.POSSIBLE
    assert f"voter {leader} lacks records" in plan.loss.text, "of its own epoch"
    begun, rest = starts(plan)
    assert f"node-{second}" in begun
    assert len(rest) == 1
    apart = quorum.plan("lost=" + str(old), nodes=[node for node in (1, 2, 3) if node != old])
    assert apart.loss.verdict is LossBound.POSSIBLE, "less evidence gives no better verdict"


def test_repairs_and_the_order_of_starts_are_one_plan(tmp_path: Path) -> None:
    """Static voters: node 3 is gone, node 2 lags, node 1 lost its quorum-state."""
    quorum = Quorum(tmp_path, STATIC, [1, 2])
    cut_log(quorum, 2, 20)
    (quorum.partition(1) / "quorum-state").unlink()
    plan = quorum.plan("lost=3")
    assert plan.method is Method.MEND
    assert plan.loss.verdict is LossBound.POSSIBLE, "node 2 may be an old copy"
    assert "if the controllers start in the order of the steps" in plan.loss.text
    assert starts(plan)[0] == ("node-1", "node-2")
    applied = [number for number, step in enumerate(plan.steps) if step.action is Action.APPLY]
    begun = [number for number, step in enumerate(plan.steps) if step.action is Action.START]
    assert max(applied) < min(begun)


def test_an_emptied_voter_is_no_dead_end_where_another_is_damaged(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    whole = state_of(quorum[1])
    empty(quorum, 3)
    flip_in_batch(quorum.segment(2), 3)
    data = bytearray(quorum.segment(2).read_bytes())
    data[300:304] = b"\xff\xff\xff\xff"  # no single bit explains it
    quorum.segment(2).write_bytes(data)
    plan = quorum.plan()
    assert plan.loss.verdict is LossBound.NONE, "node 1 has all that node 2 had"
    assert plan.method is Method.REBUILD
    quorum.carry_out(plan)
    assert {state_of(quorum[node]) for node in (1, 2, 3)} == {whole}


def test_a_refusal_names_every_voter_that_is_lost(tmp_path: Path) -> None:
    """Dynamic voters: node 3 is gone, node 2 was formatted again, with another directory id."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2])
    empty(quorum, 2)
    meta = quorum[2] / "meta.properties"
    old = quorum.survey(2).identity.directory_id
    meta.write_text(meta.read_text().replace(old, "AAAAAAAAAAAAAAAAAAAAAg"))
    with pytest.raises(PlanRefused) as refused:
        quorum.plan("lost=3")
    assert "--set lost=2,3" in refused.value.hint
    plan = quorum.plan("lost=2,3", "endpoint.1=CONTROLLER://127.0.0.1:9093")
    assert plan.seed == "node-1"


def test_swapped_disks_go_where_their_node_ids_are(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    paths = []
    for node_id, data in ((1, quorum[2]), (2, quorum[1]), (3, quorum[3])):
        path = tmp_path / f"node-{node_id}.properties"
        path.write_text(
            f"node.id={node_id}\nprocess.roles=controller\nlog.dirs={data}\n"
            f"controller.listener.names=CONTROLLER\nlisteners=CONTROLLER://:{9090 + node_id}\n"
            "controller.quorum.bootstrap.servers=127.0.0.1:9091\n"
        )
        paths.append(str(path))
    assert (quorum[1] / PARTITION).is_dir()
    plan = plan_for(read_quorum(paths, now_ms=NOW).asked(PlanRequest(surveys=(), now_ms=NOW)))
    assert plan.cases == ("other-nodes-disk",)
    wanted = {host.path: {one.key: one.value for one in host.settings} for host in plan.hosts}
    assert wanted == {str(quorum[1]): {"node.id": "1"}, str(quorum[2]): {"node.id": "2"},
                      str(quorum[3]): {}}  # fmt: skip
    texts = [step.text for step in plan.steps if step.action is Action.CONFIGURE]
    assert any(f"mount {quorum[1]}" in text and "node.id=1" in text for text in texts), texts
