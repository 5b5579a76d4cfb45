"""A leader with a part of a core goes on leading while its controller has much to decide.

Compared only where Kafka's leader goes on, too: on a busy machine a tenth of the time can be less
than either needs. How long it takes is `tests/bench/throttled.py`'s.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.throttled import measure
from tests.interop import kafka

pytestmark = [pytest.mark.interop, pytest.mark.soak]
TRIES = 20


@pytest.mark.parametrize(
    ("work", "partitions", "share", "tries"),
    [
        pytest.param("create", 5_000, 0.2, 1),
        pytest.param("create", 5_000, 0.1, TRIES),
        pytest.param("create", 5_000, 0.05, TRIES),
        pytest.param("create", 9_999, 0.1, TRIES),
        pytest.param("create", 9_999, 0.05, TRIES),
        pytest.param("fence", 27_000, 0.1, TRIES),
        pytest.param("fence", 27_000, 0.05, TRIES),
        pytest.param("snapshot", 1_000_000, 0.1, 1),
    ],
)
def test_a_throttled_leader_leads_on_where_kafkas_does(
    tmp_path: Path, work: str, partitions: int, share: float, tries: int
) -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    theirs, ours = (
        measure(
            tmp_path / side,
            kafka.TOOLS_VERSION,
            work=work,
            partitions=partitions,
            share=share,
            tries=tries,
            is_ours=side == "ours",
        ).trials
        for side in ("kafka", "ours")
    )
    assert all(trial.is_done for trial in ours), ours
    lost, theirs_lost = (sum(trial.elections > 0 for trial in side) for side in (ours, theirs))
    assert lost <= theirs_lost, f"{lost} of {tries} lost the leadership, and Kafka {theirs_lost}"
