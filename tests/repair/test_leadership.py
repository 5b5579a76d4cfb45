"""No plan leaves directories on which an epoch that was led gets another leader."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.raft.names import NO_VOTERS
from kraftool.repair import planner, seed_choice
from kraftool.repair.leadership import (
    EpochMemory,
    led_epoch,
    memory_after,
    refuse_second_leader,
)
from kraftool.repair.plan import Action, Plan
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from tests.repair.directories import EQUAL, Quorum, batches, surveyed
from tests.repair.incident_trials import Verdict, tried
from tests.repair.incidents import Incident, NoIncident

pytestmark = pytest.mark.slow

VOTERS = (1, 2, 3)


def stale(quorum: Quorum, *nodes: int) -> None:
    """Directories from before the last epoch: their log, and what they promised."""
    for node in nodes:
        path = quorum.segment(node)
        log_batches = batches(path)
        first = next(batch for batch in log_batches if batch.epoch == log_batches[-1].epoch)
        path.write_bytes(path.read_bytes()[: first.position])
        for snapshot in quorum.snapshots(node):
            if int(snapshot.name[:20]) > first.base_offset:
                snapshot.unlink()
        (quorum.partition(node) / "leader-epoch-checkpoint").unlink()
        state = quorum.partition(node) / "quorum-state"
        content = json.loads(state.read_text()) | {"leaderEpoch": first.epoch - 1, "leaderId": -1}
        state.write_text(json.dumps(content | {"votedId": -1}))


def memories(quorum: Quorum, plan: Plan) -> dict[int, EpochMemory]:
    known = surveyed(quorum)
    hosts = {voter: known.host_of(voter) for voter in VOTERS}
    return {
        node: memory_after(plan, known, host) for node, host in hosts.items() if host is not None
    }


def can_lead_again(known: dict[int, EpochMemory], epoch: int) -> bool:
    """Brute force: a node that is a candidate of the epoch, and a majority that votes for it."""
    able = [epoch_memory for epoch_memory in known.values() if epoch_memory.can_vote_in(epoch)]
    return any(epoch_memory.epoch < epoch for epoch_memory in able) and len(able) > len(VOTERS) // 2


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, EQUAL, VOTERS)


def test_a_plan_by_which_an_epoch_would_be_led_twice_is_refused(
    quorum: Quorum, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes 2 and 3 are stale, and the log of node 1 is to be replaced by theirs: node 1 keeps its
    vote in epoch 6, and they elect one of them in epoch 6 once more."""
    stale(quorum, 2, 3)
    asked = ("rebuild=1", "from=2")
    with monkeypatch.context() as patched:
        patched.setattr(planner, "refuse_second_leader", lambda plan, quorum: None)
        plan = quorum.plan(*asked, accept=["ahead"])
    assert led_epoch(surveyed(quorum)) == 6
    assert can_lead_again(memories(quorum, plan), 6)
    with pytest.raises(PlanRefused, match="epoch 6 had a leader") as refused:
        quorum.plan(*asked, accept=["ahead"])
    assert "nodes 2 and 3" in refused.value.message
    assert "--set rebuild=2" in refused.value.hint


def test_a_rebuilt_node_goes_above_every_epoch_that_a_directory_shows(quorum: Quorum) -> None:
    """Also above one that only a vote shows: the rebuilt node may have given it."""
    stale(quorum, 2)
    state = quorum.partition(3) / "quorum-state"
    content = json.loads(state.read_text()) | {"leaderEpoch": 9, "leaderId": -1, "votedId": 1}
    state.write_text(json.dumps(content))
    plan = quorum.plan("rebuild=2", "from=1")
    by_node = memories(quorum, plan)
    assert by_node[2].epoch == 10
    assert not any(can_lead_again(by_node, epoch) for epoch in (6, 9))
    quorum.carry_out(plan)
    assert quorum.survey(2).quorum_state.leader_epoch == 10


def test_a_seed_without_a_higher_epoch_is_refused(
    quorum: Quorum, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lost majority may have led the epoch after the last one that is known."""
    monkeypatch.setattr(seed_choice, "EPOCH_MARGIN", 0)
    with pytest.raises(PlanRefused, match="epoch 7 had a leader, or may have had one"):
        quorum.plan("lost=2,3", "seed=1", nodes=[1], accept=["ahead"])


def test_a_node_starts_without_a_vote_in_the_epoch_of_its_log(quorum: Quorum) -> None:
    """Its quorum-state is older than its log, and a vote in that epoch says nothing of this one."""
    plan = replace(quorum.plan(), hosts=())
    state = quorum.partition(2) / "quorum-state"
    content = json.loads(state.read_text()) | {"leaderEpoch": 5, "leaderId": -1, "votedId": 1}
    state.write_text(json.dumps(content))
    by_node = memories(quorum, plan)
    assert by_node[2] == EpochMemory(epoch=6, has_voted=False)
    assert by_node[1] == EpochMemory(epoch=6, has_voted=True)


@pytest.mark.parametrize("missing", [(), (1,), (2, 3)])
def test_lost_promises_make_no_second_leader(quorum: Quorum, missing: tuple[int, ...]) -> None:
    """As it is, and with quorum-state lost: then the plan writes a higher epoch."""
    for node in missing:
        (quorum.partition(node) / "quorum-state").unlink()
    plan = quorum.plan()
    known = memories(quorum, plan)
    epoch = led_epoch(surveyed(quorum))
    assert epoch == (7 if len(missing) > 1 else 6)
    assert not can_lead_again(known, epoch)
    if missing:
        without = replace(plan, hosts=(), voters_after=NO_VOTERS)
        assert can_lead_again(memories(quorum, without), 7), "what a start without the plan does"


def test_generated_incidents_leave_no_second_leader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each plan of the trials, also those of ways that the operator tries after a refusal."""
    voters_looked_at = 0

    def watched(plan: Plan, known: SurveyedQuorum) -> None:
        nonlocal voters_looked_at
        refuse_second_leader(plan, known)
        starts = [step.hosts for step in plan.steps if step.action is Action.START]
        first = starts[0] if len(starts) > 1 else ()
        epoch, able = led_epoch(known), []
        for voter in plan.voters_after:
            host = known.host_of(voter.id)
            if host is None or voter.id in known.lost.ids or (first and host.name not in first):
                continue
            voters_looked_at += 1
            memory = memory_after(plan, known, host)
            able += [memory] if memory.can_vote_in(epoch) else []
        if len(able) >= plan.voters_after.majority > 0:
            assert all(epoch_memory.epoch >= epoch for epoch_memory in able), plan.summary

    monkeypatch.setattr(planner, "refuse_second_leader", watched)
    for seed in range(12):
        with suppress(NoIncident):
            assert tried(Incident.made(seed, tmp_path / str(seed))).verdict is not Verdict.BETTER
    assert voters_looked_at > 20
