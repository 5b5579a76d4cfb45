"""Controllers in virtual time keep what they answered (more: `tools/simulate.py --controllers`)."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import pytest

from kraftool.controller import controller
from kraftool.controller.controller import ActiveController, Answered, ControllerRequest, Step
from tests.simulator import node
from tests.simulator.options import Options
from tests.simulator.runner import run

pytestmark = pytest.mark.slow

_PART = 20


@pytest.mark.parametrize("first", range(0, 80, _PART))
def test_nothing_that_was_answered_is_lost(first: int) -> None:
    created = activated = moved = 0
    for seed in range(first, first + _PART):
        verdict = run(seed, Options(controllers=True))
        assert verdict.is_fine, f"seed {seed}\n{verdict.text}"
        created += verdict.counts["topics created"]
        activated += verdict.counts["controllers activated"]
        moved += verdict.counts["reassignments ended"]
    assert created > _PART
    assert activated > _PART
    assert moved > _PART // 4


@pytest.mark.parametrize("first", range(0, 40, _PART))
def test_nothing_that_was_answered_is_lost_if_other_things_happen_during_a_turn(first: int) -> None:
    cut = dropped = 0
    for seed in range(first, first + _PART):
        verdict = run(seed, Options(controllers=True, cuts_turns=True))
        assert verdict.is_fine, f"seed {seed}\n{verdict.text}"
        cut += verdict.counts["turns that were cut"]
        dropped += verdict.counts["turns whose claim had ended"]
    assert cut > 10 * _PART
    assert dropped > _PART // 2


def test_an_append_during_a_turn_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "may_append", lambda event: False)
    verdicts = [run(seed, Options(controllers=True, cuts_turns=True)) for seed in range(5)]
    assert any("appended while a turn decided" in verdict.text for verdict in verdicts)


def test_an_answer_before_the_commit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    turn = ActiveController.turn

    def hasty(active: ActiveController, now_ms: int, queue: deque[ControllerRequest]) -> Step:
        step = turn(active, now_ms, queue)
        while active._parked:
            answer = active._parked.popleft().answer
            if isinstance(answer, Answered):
                step.answers.append(answer)
        return step

    monkeypatch.setattr(ActiveController, "turn", hasty)
    verdicts = [run(seed, Options(controllers=True)) for seed in range(5)]
    assert {verdict.invariant for verdict in verdicts} & {"controllers"}


@pytest.mark.parametrize(
    ("api", "noticed"),
    [
        ("DeleteTopics", "were deleted, but exist"),
        ("CreatePartitions", "partitions, but"),
        ("IncrementalAlterConfigs", "was acknowledged"),
        ("AlterPartitionReassignments", "as acknowledged"),
    ],
)
def test_an_answer_without_its_records_is_noticed(
    api: str, noticed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = controller._OPERATIONS[api]

    def forgetful(*arguments: Any) -> Any:
        return replace(decide(*arguments), records=[])

    monkeypatch.setitem(controller._OPERATIONS, api, forgetful)
    verdicts = (run(seed, Options(controllers=True)) for seed in range(20))
    assert any(not verdict.is_fine and noticed in verdict.text for verdict in verdicts)
