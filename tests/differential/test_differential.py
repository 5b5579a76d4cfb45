"""kraftool's raft core and Kafka's own client do the same, whatever happens to them.

Four seconds of random trials with the newest release; `make soak` runs an hour of new seeds.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kraftool.raft.names import OffsetAndEpoch
from tests.differential import trial
from tests.differential.coverage import SITUATIONS
from tests.differential.fuzz import fuzz
from tests.differential.kafka_client import KafkaClient, available
from tests.interop.kafka import NEWEST

pytestmark = pytest.mark.interop
SECONDS = {"4.3.0": 6, "4.4.0": 4}
FEWEST_STEPS = 1_000
"""The trials go on after their seconds until there are as many steps. An idle machine does twice
as many in the time."""
RARE = {
    "epoch near the last one",
    "log truncated",
    "snapshot written",
    "snapshot slice served",
    "snapshot downloaded",
    "log start moved",
}
"""Situations that some seconds on a slow machine may miss; `make soak` has them all."""


@pytest.mark.parametrize(
    "version",
    [
        version if version == NEWEST else pytest.param(version, marks=pytest.mark.soak)
        for version in SECONDS
    ],
)
def test_random_trials_show_no_unexplained_difference(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if problem := available(version):
        pytest.skip(problem)
    with KafkaClient(version, tmp_path / "driver.log") as client:
        tally = fuzz(client, itertools.count(), seconds=SECONDS[version], fewest_steps=FEWEST_STEPS)
    assert not tally.failures, capsys.readouterr().out
    assert not {*SITUATIONS} - RARE - {*tally.seen}, tally.summary()


def test_a_vote_for_a_shorter_log_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if problem := available("4.3.0"):
        pytest.skip(problem)
    monkeypatch.setattr(trial, "SHRINKING_S", 3.0)
    monkeypatch.setattr(OffsetAndEpoch, "is_at_least", lambda place, other: True)
    with KafkaClient("4.3.0", tmp_path / "driver.log") as client:
        for seed in range(100):
            tally = fuzz(client, [seed], shown=1)
            if tally.failures:
                break
    assert tally.failures
    shown = capsys.readouterr().out
    assert f"make differential SEEDS={seed}" in shown
    assert "Vote request" in shown
