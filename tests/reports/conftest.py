"""Fixtures that several files have."""

import shutil
from pathlib import Path

import pytest

from tests.reports.log_node import Node


@pytest.fixture
def node(fixtures_dir: Path, tmp_path: Path) -> Node:
    target = tmp_path / "data"
    source = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data"
    shutil.copytree(source, target)
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return Node(target)
