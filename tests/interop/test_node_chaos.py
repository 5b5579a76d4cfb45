"""Faults on quorums of Kafkas and ours: every round ends with a leader, and nothing committed is
lost or changed.

A few rounds by default; `make chaos` has 200 (KRAFTOOL_CHAOS_ROUNDS, KRAFTOOL_CHAOS_SEED).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interop import chaos, kafka

pytestmark = pytest.mark.interop
ROUNDS = int(os.environ.get("KRAFTOOL_CHAOS_ROUNDS", "6"))
SEED = int(os.environ.get("KRAFTOOL_CHAOS_SEED", "1"))


def test_nothing_committed_is_lost_whatever_fails(tmp_path: Path) -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    done = chaos.run(tmp_path / "nodes", rounds=ROUNDS, seed=SEED)
    assert len(done.told) >= ROUNDS
    assert len(done.ledger.committed) > ROUNDS
