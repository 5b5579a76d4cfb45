"""No plan starts what it forbids, and every broker of a combined quorum is accounted for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.repair.plan import Action, Plan, PlanStep, Quarantined
from kraftool.repair.plan_check import contradictions, refuse_contradiction
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.request import PlanRequest, with_settings
from tests.repair.directories import EQUAL, NOW, Quorum
from tests.repair.plan_cases import a_plan

BROKERS = (1, 2, 3, 11)


def combined(quorum: Quorum, *settings: str, kraft_version: int = 1, fence: bool = False) -> Plan:
    """The plan of a quorum in which the voters are registered as brokers too."""
    paths = [str(path) for path in quorum.directories.values()]
    surveys = tuple(
        replace(
            survey,
            kraft_version=kraft_version,
            state=replace(survey.state, brokers=BROKERS) if survey.state is not None else None,
        )
        for survey in read_quorum(paths, now_ms=NOW).surveys
    )
    cluster_id = "AAAAAAAAAAAAAAAAAAAAAg" if fence else ""
    request = PlanRequest(surveys=surveys, now_ms=NOW, fence=fence, cluster_id=cluster_id)
    return plan_for(with_settings(request, settings))


def hosts_of(plan: Plan, *actions: Action) -> set[str]:
    return {host for step in plan.steps if step.action in actions for host in step.hosts}


@pytest.mark.parametrize("fence", [False, True])
@pytest.mark.parametrize("nodes", [(1, 11), (1, 2, 11)], ids=["lost", "one directory left"])
def test_an_old_voter_that_is_a_broker_is_listed_and_not_started(
    nodes: tuple[int, ...], fence: bool, tmp_path: Path
) -> None:
    lost = ",".join(str(voter) for voter in (2, 3) if voter not in nodes)
    quorum = Quorum(tmp_path, EQUAL, nodes)
    plan = combined(quorum, f"lost={lost}", "seed=1", fence=fence)
    assert hosts_of(plan, Action.START, Action.RESTART) == {"node-1", "node-11"}
    assert hosts_of(plan, Action.KEEP_STOPPED) == {"node-2", "node-3"}
    (moving,) = (
        step for step in plan.steps if step.hosts == ("node-2", "node-3") and step.commands
    )
    unknown = "# replace data-directory: mv data-directory/__cluster_metadata-0"
    known = f"mv {tmp_path}/node-2/__cluster_metadata-0 {tmp_path}/node-2-old-metadata"
    assert moving.action is Action.RUN
    assert (known in moving.commands) is (2 in nodes)
    assert any(command.startswith(unknown) for command in moving.commands)
    for old in plan.quarantine:
        assert "do not format it. Keep meta.properties" in old.returns
        assert ("Write cluster.id=AAAA" in old.returns) is fence


def test_an_old_voter_that_is_no_broker_is_formatted_as_before(tmp_path: Path) -> None:
    plan = Quorum(tmp_path, EQUAL, [1, 11]).plan("lost=2,3")
    assert all("format an empty directory" in old.returns for old in plan.quarantine)
    assert hosts_of(plan, Action.START, Action.RESTART) == {"node-1", "node-11"}


def step(action: Action, *hosts: str) -> PlanStep:
    return PlanStep(action=action, hosts=hosts, text="A step.")


OLD = Quarantined(node_id=2, why="an old voter", returns="wiped")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([(Action.KEEP_STOPPED, "node-3"), (Action.START, "node-3")], "but step 1 keeps node-3"),
        ([(Action.START, "node-3"), (Action.KEEP_STOPPED, "node-3")], "but step 2 keeps node-3"),
        ([(Action.RESTART, "node-2")], "but the quarantine keeps node-2 stopped"),
        ([(Action.START, "node-1"), (Action.APPLY, "node-1")], "before step 2 applies to it"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(
    steps: list[tuple[Action, str]], words: str
) -> None:
    made = tuple(step(action, host) for action, host in steps)
    plan = replace(a_plan(), steps=made, quarantine=(OLD,))
    (found,) = contradictions(plan)
    assert words in found
    with pytest.raises(PlanRefused, match="kraftool makes no plan"):
        refuse_contradiction(plan)


def test_the_seed_may_be_an_old_voter_with_another_directory() -> None:
    own = replace(OLD, node_id=1)
    refuse_contradiction(
        replace(a_plan(), steps=(step(Action.START, "node-1"),), quarantine=(own,))
    )
