"""A directory of a real controller, and the plan of a jump for it."""

from pathlib import Path

import pytest

from kraftool.repair.plan import Plan
from tests.repair.repair_cases import jump_directory, jump_plan


@pytest.fixture
def directory(fixtures_dir: Path, tmp_path: Path) -> Path:
    return jump_directory(fixtures_dir, tmp_path / "data")


@pytest.fixture
def plan(directory: Path) -> Plan:
    return jump_plan(directory)
