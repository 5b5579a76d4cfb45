"""Two Kafkas and a witness: after the leader is killed under load a Kafka leads again.

One round by default; `make chaos` has 20 (KRAFTOOL_WITNESS_ROUNDS, KRAFTOOL_CHAOS_SEED).
"""

from __future__ import annotations

import os
from pathlib import Path

import chaos_witness
import kafka
import pytest

pytestmark = pytest.mark.interop
ROUNDS = int(os.environ.get("KRAFTOOL_WITNESS_ROUNDS", "1"))
SEED = int(os.environ.get("KRAFTOOL_CHAOS_SEED", "1"))
LONGEST_S = 15.0


def test_a_kafka_leads_again_where_the_witness_alone_has_the_newest_records(
    tmp_path: Path,
) -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    done = chaos_witness.run(tmp_path / "nodes", rounds=ROUNDS, seed=SEED)
    print(chaos_witness.shown(done.rounds))
    assert any(each.has_witness_led for each in done.rounds), "no round had the stalemate"
    slow = [each for each in done.rounds if each.took_s > LONGEST_S]
    assert not slow, chaos_witness.shown(done.rounds)
