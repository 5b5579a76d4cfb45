"""The bench of a controller measures what it says: new partitions, heartbeats, new leaders."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import controller
from tests.interop import kafka

pytestmark = pytest.mark.interop


def test_partitions_are_created_and_leaders_moved(tmp_path: Path) -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    load = controller.Load(partitions=90, brokers=5, moved=30, seconds=3.0)
    measured = controller.measure(tmp_path / "ours", kafka.TOOLS_VERSION, load, are_ours=True)
    assert len(measured.alone_ms) >= 2 * load.brokers * 0.5, "every two seconds each"
    assert measured.fenced_ms > 0
    assert measured.created_s > 0
    assert 20 < measured.memory < 300
