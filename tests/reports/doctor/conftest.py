"""What the tests of doctor share: a real quorum that may be changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reports.voter_cases import copied
from tests.support.copies import writable

Copy = Callable[..., Path]


@pytest.fixture
def real(fixtures_dir: Path, tmp_path: Path) -> Copy:
    """A copy of a node of the fixtures with its settings: `real(2).parent / server.properties`."""

    def copy(id: int, scenario: str = "kafka-4.3.0/dynamic-quorum") -> Path:
        target = tmp_path / f"node-{id}"
        return copied(fixtures_dir / scenario / f"node-{id}", target) / "data"

    return copy


@pytest.fixture
def combined(fixtures_dir: Path, tmp_path: Path) -> Path:
    """The only node of a cluster, controller and broker, as Kafka left it."""
    return writable(fixtures_dir / "kafka-4.3.0/static-single/node-1/data", tmp_path / "data")
