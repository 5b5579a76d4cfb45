"""Directories that tests repair, and the plan of a jump."""

from pathlib import Path

import pytest

from kraftool.repair.plan import Plan
from tests.repair.directories import EQUAL, Quorum
from tests.repair.repair_cases import jump_directory, jump_plan


@pytest.fixture
def directory(fixtures_dir: Path, tmp_path: Path) -> Path:
    return jump_directory(fixtures_dir, tmp_path / "data")


@pytest.fixture
def plan(directory: Path) -> Plan:
    return jump_plan(directory)


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, EQUAL, [1, 2, 3, 11])
