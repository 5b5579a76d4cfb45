"""Copies of directories that a test may change: the files of the fixtures are read only."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.places import FIXTURES, fixture_name
from tests.support.proof import DIRECTORIES, saw


def writable(source: Path, target: Path) -> Path:
    """Copy a directory, and return the copy."""
    shutil.copytree(source, target)
    if source.is_relative_to(FIXTURES):
        saw(DIRECTORIES, fixture_name(source))
    return let_change(target)


def let_change(folder: Path) -> Path:
    """Let a test change a folder, and everything in it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder
