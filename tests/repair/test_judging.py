"""What recover says of a quorum that has a majority, and in which a start may lose records."""

from __future__ import annotations

from pathlib import Path

from kraftool.repair.plan import Action, Method
from tests.repair.directories import Quorum, cut_log


def lagging(tmp_path: Path) -> Quorum:
    """Static voters 1, 2 and 3: node 2 ends before node 1, and node 3 is gone."""
    quorum = Quorum(tmp_path, "kafka-3.7.2/static-quorum", [1, 2])
    cut_log(quorum, 2, 20)
    return quorum


def test_a_new_node_and_a_laggard_must_not_elect_each_other(tmp_path: Path) -> None:
    # The good node and the laggard start first; else the new, empty node votes for the laggard.
    plan = lagging(tmp_path).plan("lost=3")
    assert plan.method is Method.NONE
    assert not plan.summary[0].startswith("No action needed")
    assert "start 1 and 2 first" in plan.summary[0]
    assert plan.loss.text == "none, if the controllers start in the order of the steps"
    starts = [each.hosts for each in plan.steps if each.action is Action.START]
    assert starts[0] == ("node-1", "node-2")
