"""A reassignment that adds what it removes, as after a request back to the old replicas."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import found, one, partition, state, topic

CODE = "KT-SIG-STUCK-REASSIGNMENT"


def moving(adding: list[int], removing: list[int]) -> tuple[str, int, dict[str, object]]:
    return partition(
        replicas=[0, 1, 2, 3], isr=[0, 1], addingReplicas=adding, removingReplicas=removing
    )


def test_a_reassignment_back_is_named_with_the_cancellation(tmp_path: Path) -> None:
    diagnosis = one(CODE, state(tmp_path / "data", topic(), moving([2, 3], [2, 3])))
    assert (
        diagnosis.evidence[0].found
        == "foo-0: replicas [0, 1, 2, 3], adding [2, 3], removing [2, 3]"
    )
    assert '"topic":"foo","partition":0,"replicas":[0,1]' in diagnosis.commands[0]
    assert diagnosis.commands[1].endswith("--cancel --reassignment-json-file reassign.json")


def test_a_reassignment_under_way_is_fine(tmp_path: Path) -> None:
    assert not found(CODE, state(tmp_path / "data", topic(), moving([2, 3], [0, 1])))
