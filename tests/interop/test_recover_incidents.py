"""Incidents of real quorums from the first question to a leader: verdict, plan, apply, start.

In the end Kafka's own shell shows of every voter the copy that the incident names: the intact one,
or exactly what is announced. A quorum is made once, and each incident damages a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kraftool.repair.plan import Action, Plan
from tests.interop import our_commands
from tests.interop.clusters import Node
from tests.interop.incidents import AHEAD, INCIDENTS, Incident, Question
from tests.interop.past import PATIENCE, SNAPSHOTS, Past
from tests.interop.recovering import cluster_of

pytestmark = pytest.mark.interop
DYNAMIC, STATIC = "dynamic", "static"
QUORUMS = [(version, kind) for version in ("4.3.1", "4.3.0", "3.9.1") for kind in (DYNAMIC, STATIC)]
BY_NAME = {incident.name: incident for incident in INCIDENTS}


def on(*quorums: tuple[str, str]) -> pytest.MarkDecorator:
    """Each quorum is made once, for all incidents."""
    return pytest.mark.parametrize("past", quorums, indirect=True, scope="module", ids="-".join)


@pytest.fixture(scope="module")
def past(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Past]:
    version, kind = request.param
    with cluster_of(version, tmp_path_factory.mktemp("past")) as cluster:
        cluster.common |= SNAPSHOTS | PATIENCE
        yield Past(cluster, dynamic=kind == DYNAMIC)


@on(("4.3.0", DYNAMIC))
@pytest.mark.parametrize(
    "name",
    ["stale-majority", "flipped-bit"],
)
def test_an_incident_of_several_voters_and_one_of_bytes(past: Past, name: str) -> None:
    undo(past, BY_NAME[name])


@pytest.mark.soak
@on(*QUORUMS)
@pytest.mark.parametrize("incident", INCIDENTS, ids=str)
def test_every_incident(past: Past, incident: Incident) -> None:
    undo(past, incident)


def undo(past: Past, incident: Incident) -> None:
    """The quorum ends with what the verdict says."""
    past.put_back()
    wanted = past.tree(*incident.saved(past))
    incident.damage(past)
    for question in incident.questions:
        plan = answered(past, question)
        past.configure(plan)
        past.mount(plan)
        past.apply(plan)
    past.assert_tree(wanted, *started(past, plan))


def answered(past: Past, question: Question) -> Plan:
    """The plan, if the verdict is right."""
    options = question.options(past)
    nodes = question.given(past)
    if question.is_refused:
        paths = [node.directory / "server.properties" for node in nodes]
        version = ("--kafka-version", past.cluster.version)
        done = our_commands.kraftool("recover", "plan", *paths, *version, *options)
        assert done.returncode == 5, done.stdout
        assert "--accept ahead" in " ".join(done.stderr.split())
        options = (*options, *AHEAD)
    plan = past.plan(nodes, *options)
    assert plan.loss.verdict in question.losses
    assert plan.cases == question.cases
    return plan


def started(past: Past, plan: Plan) -> list[Node]:
    """The controllers that have a leader in the end, started in the order of the plan."""
    if plan.seed:
        seed = past.cluster.nodes[int(plan.seed.removeprefix("node-"))]
        past.cluster.start(seed)
        past.leads(seed)
        return [seed]
    names = [step.hosts for step in plan.steps if step.action is Action.START and step.hosts]
    groups = [[node for node in past.controllers if f"node-{node.id}" in name] for name in names]
    for group in (*groups, past.controllers):
        past.cluster.start(*(node for node in group if node.process is None))
        past.cluster.wait_leader()
        past.cluster.wait_caught_up(
            *(controller for controller in past.controllers if controller.process)
        )
    return past.controllers
