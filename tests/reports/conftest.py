"""Fixtures that several files have."""

from pathlib import Path

import pytest

from tests.reports.log_node import Node
from tests.reports.snapshot_cases import Snapshot
from tests.support.copies import writable
from tests.support.places import FIXTURES


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(writable(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data", tmp_path / "data"))


@pytest.fixture
def snapshot() -> Snapshot:
    return Snapshot()
