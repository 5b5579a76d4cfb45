"""No step of a plan starts what another step forbids.

Owns the check of every plan, whoever made it: no step starts a node that another step keeps stopped
or that the quarantine wants wiped first, and none starts a node before the plan is applied to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.repair.plan import Action, Plan
from kraftool.repair.refusal import PlanRefused

_STARTS = frozenset({Action.START, Action.RESTART})


def refuse_contradiction(plan: Plan) -> None:
    """Raise PlanRefused if steps of a plan contradict each other."""
    for contradiction in contradictions(plan):
        raise PlanRefused(
            f"kraftool makes no plan: {contradiction}",
            hint="this is an error of kraftool, so do not follow the steps. Report it, with the"
            " output of kraftool recover collect for each directory",
        )


def contradictions(plan: Plan) -> Iterator[str]:
    """Yield each step that starts what another step, or the quarantine, keeps from starting."""
    kept = {node: f"the quarantine keeps {node} stopped" for node in _quarantined(plan)}
    for number, step in enumerate(plan.steps, 1):
        if step.action is Action.KEEP_STOPPED:
            kept |= {node: f"step {number} keeps {node} stopped" for node in step.hosts}
    for number, step in enumerate(plan.steps, 1):
        if step.action not in _STARTS:
            continue
        applied_later = {
            node: later
            for later, other in enumerate(plan.steps[number:], number + 1)
            if other.action is Action.APPLY
            for node in other.hosts
        }
        for node in step.hosts:
            if node in kept:
                yield f"step {number} starts {node}, but {kept[node]}"
            if node in applied_later:
                yield f"step {number} starts {node} before step {applied_later[node]} applies to it"


def _quarantined(plan: Plan) -> Iterator[str]:
    for old in plan.quarantine:
        if (name := f"node-{old.node_id}") != plan.seed:
            yield name
