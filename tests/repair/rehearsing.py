"""Rehearsals as the tests run and read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kraftool.repair.plan import Plan
from kraftool.repair.rehearsal import Rehearsal, RehearsalRequest, rehearse
from kraftool.repair.rehearsal_copies import workplace
from tests.repair.directories import (
    Quorum,
)

SEEDS = 1


def rehearsed(
    plan: Plan, quorum: Quorum, nodes: Sequence[int], keep: Path, seeds: int = SEEDS
) -> Rehearsal:
    directories = tuple(str(quorum[node]) for node in nodes)
    asked = RehearsalRequest(directories=directories, sources={}, seeds=seeds, with_nodes=False)
    with workplace(str(keep), directories) as folder:
        return rehearse(plan, asked, folder)
