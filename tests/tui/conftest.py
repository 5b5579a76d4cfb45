"""What tests of the dashboard share as fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.tui import app as app_module
from tests.tui.dashboards import ROOT


@pytest.fixture(autouse=True)
def no_doctor_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen looks the same however long a busy machine takes for it. Doctor runs when Health is
    opened, and in the test of the background."""
    monkeypatch.setattr(app_module, "_EXAMINE_AFTER_S", 3600.0)


@pytest.fixture
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Screens show paths as they were given, here below the root of the repository."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the directories of a test are; screens show paths as they were given."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
