"""Which directories a ROOT leads to, where links lead in circles or to the same place twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.arrow.search import find_fleet

NODE = "kafka-4.3.0/static-single/node-1"


@pytest.fixture
def root(fixtures_dir: Path, tmp_path: Path) -> Path:
    """A folder with one node's directory two folders below."""
    shutil.copytree(fixtures_dir / NODE, tmp_path / "fleet" / "site" / "node-1")
    return tmp_path / "fleet"


def _directories(*roots: Path) -> list[str]:
    fleet = find_fleet([str(path) for path in roots])
    return sorted({file.directory.name for file in fleet.files})


def test_a_link_that_leads_back_up_is_not_followed(root: Path) -> None:
    (root / "above").symlink_to(root.parent)
    (root / "site" / "again").symlink_to(root)
    (root / "site" / "here").symlink_to(root / "site")
    assert _directories(root) == [str(root / "site/node-1/data")]


def test_a_link_to_elsewhere_is_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "fleet").symlink_to(root)
    assert _directories(tmp_path / "links") == [str(tmp_path / "links/fleet/site/node-1/data")]


def test_a_directory_with_two_names_is_taken_once_by_that_which_is_no_link(root: Path) -> None:
    (root / "a-link").symlink_to(root / "site")
    assert _directories(root) == [str(root / "site/node-1/data")]
    assert _directories(root / "a-link", root) == [str(root / "a-link/node-1/data")]
