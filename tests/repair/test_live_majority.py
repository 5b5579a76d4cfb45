"""A node is repaired while the others run: their majority is left running."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from kraftool.repair.apply import Apply
from kraftool.repair.disk import RepairRefused
from kraftool.repair.judging import judge
from kraftool.repair.narration import survey_lines
from kraftool.repair.plan import Action, Method, Plan, PlanStep
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.verify import check_directory
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.election.assessment_words import next_sentence
from kraftool.reports.findings.finding import Severity
from tests.repair.directories import EQUAL, NOW, Quorum
from tests.support.locks import run_on

NEWEST = f"{144:020}-{6:010}.checkpoint"


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    """The voters alone; 2 has no snapshot that node 3's log could take."""
    return Quorum(tmp_path, EQUAL, [1, 2, 3])


def damaged(quorum: Quorum) -> None:
    """Node 3's log begins at offset 47, and each snapshot that it needs is cut short."""
    for snapshot in quorum.snapshots(3):
        snapshot.chmod(0o644)
        snapshot.write_bytes(snapshot.read_bytes()[:700])


def steps(plan: Plan) -> list[tuple[Action, tuple[str, ...]]]:
    return [(step.action, step.hosts) for step in plan.steps]


def step(plan: Plan, action: Action) -> PlanStep:
    return next(planned for planned in plan.steps if planned.action is action)


def test_a_running_majority_is_left_running(quorum: Quorum, locks: ExitStack) -> None:
    damaged(quorum)
    run_on(locks, quorum[1], quorum[2])
    plan = quorum.plan()
    assert plan.cases == ("snapshot-copied",)
    assert not plan.risks, "nothing has to be accepted"
    assert plan.loss.verdict is LossBound.NONE
    source = "node-1"
    assert steps(plan) == [
        (Action.STOP, ("node-3",)),
        (Action.CHECK, ("node-1", "node-2")),
        (Action.COPY, (source, "node-3")),
        (Action.APPLY, ("node-3",)),
        (Action.START, ("node-3",)),
        (Action.CHECK, ("node-3",)),
    ]
    assert "Leave node-1 and node-2 running: they are a majority" in plan.steps[0].text
    assert plan.steps[1].commands[0].startswith("kraftool quorum health")
    pack, _ = step(plan, Action.COPY).commands
    assert pack.endswith(f"meta.properties __cluster_metadata-0/{NEWEST}")
    host = plan.host(source)
    assert host is not None
    assert sorted(one.target.name for one in host.expected) == [NEWEST, "meta.properties"]


def test_the_plan_fits_after_the_source_wrote_more(quorum: Quorum, locks: ExitStack) -> None:
    damaged(quorum)
    run_on(locks, quorum[1], quorum[2])
    plan = quorum.plan()
    with quorum.segment(1).open("ab") as log:
        log.write(bytes(100))
    with Apply(plan, str(quorum[3]), sources={"node-1": str(quorum[1])}) as apply:
        apply.carry_out(NOW, "test")
    assert (quorum.partition(3) / NEWEST).read_bytes() == (
        quorum.partition(1) / NEWEST
    ).read_bytes()


def test_a_node_that_was_repaired_by_hand_is_left_as_it_is(
    quorum: Quorum, locks: ExitStack
) -> None:
    """The checkpoint was copied, as doctor says. The plan is not needed any more."""
    damaged(quorum)
    run_on(locks, quorum[1], quorum[2])
    plan = quorum.plan()
    (planned,) = check_directory(plan, str(quorum[3])).findings[:1]
    assert planned.severity is Severity.ERROR
    for snapshot in quorum.snapshots(3):
        snapshot.write_bytes((quorum.partition(1) / snapshot.name).read_bytes())
    (finding,) = check_directory(plan, str(quorum[3])).findings
    assert (finding.code, finding.severity) == ("KT-REC-NOT-APPLIED", Severity.WARNING)
    assert finding.text.endswith("and the directory has changed since. It is healthy")
    assert "do not apply this plan" in finding.advice


def test_a_source_without_what_is_used_of_it_is_refused(quorum: Quorum, locks: ExitStack) -> None:
    damaged(quorum)
    run_on(locks, quorum[1], quorum[2])
    plan = quorum.plan()
    (quorum.partition(1) / NEWEST).unlink()
    sources = {"node-1": str(quorum[1])}
    with (
        Apply(plan, str(quorum[3]), sources=sources) as apply,
        pytest.raises(RepairRefused, match="does not exist, but it did"),
    ):
        apply.check()


def test_the_open_segment_of_a_running_node_is_a_risk(quorum: Quorum, locks: ExitStack) -> None:
    """A log that is made from another node's takes its last segment, which grows."""
    run_on(locks, quorum[1], quorum[2])
    with pytest.raises(PlanRefused, match="a process was running on node-1, node-2") as refused:
        quorum.plan("rebuild=3", "from=1")
    assert refused.value.hint.startswith("do not stop node-1 or node-2: ")
    plan = quorum.plan("rebuild=3", "from=1", accept=["running"])
    assert "Leave" in plan.steps[0].text
    log = quorum.segment(1)
    written = log.read_bytes()
    sources = {"node-1": str(quorum[1])}
    with Apply(plan, str(quorum[3]), sources=sources) as apply:
        log.write_bytes(written + bytes(100))
        apply.check()
        changed = bytearray(written + bytes(100))
        changed[40] ^= 1
        log.write_bytes(changed)
        with pytest.raises(RepairRefused, match="is not what it was when the plan was made"):
            apply.check()


def test_a_node_with_a_broken_quorum_state_is_repaired_before_it_starts(
    quorum: Quorum, locks: ExitStack
) -> None:
    """Kafka exits on it, so no advice says to start it."""
    run_on(locks, quorum[1], quorum[2])
    state = quorum[3] / "__cluster_metadata-0" / "quorum-state"
    state.chmod(0o644)
    state.write_text('{"leaderId":2,"lead')
    words = next_sentence(judge([quorum.survey(node) for node in (1, 2, 3)]))
    assert "Repair node 3 before you start it" in words
    assert "Start 3" not in words


@pytest.mark.parametrize("running", [(2, 3), (1,)])
def test_a_running_node_that_is_repaired_or_a_minority_is_as_strict(
    quorum: Quorum, locks: ExitStack, running: tuple[int, ...]
) -> None:
    damaged(quorum)
    run_on(locks, *(quorum[node] for node in running))
    with pytest.raises(PlanRefused, match="a process was running on"):
        quorum.plan()
    assert "Leave" not in quorum.plan(accept=["running"]).steps[0].text


def test_nothing_is_stopped_where_one_more_voter_has_to_start(
    quorum: Quorum, locks: ExitStack
) -> None:
    run_on(locks, quorum[1])
    plan = quorum.plan()
    assert plan.method is Method.NONE
    assert [entry[0] for entry in steps(plan)] == [Action.START, Action.CHECK, Action.START]
    assert plan.steps[0].hosts in {("node-2",), ("node-3",)}


def test_collect_does_not_ask_to_stop_a_healthy_node(quorum: Quorum, locks: ExitStack) -> None:
    run_on(locks, quorum[1])
    text = " ".join(survey_lines(quorum.survey(1)))
    assert "A plan can use its snapshots and closed segments" in text
    assert "will not fit" not in text


def test_a_node_that_is_stopped_needs_no_other_to_stop(quorum: Quorum) -> None:
    """Over quiet directories, a snapshot of another one is used as it is."""
    damaged(quorum)
    assert quorum.plan().steps[0].hosts == ("node-3",)
