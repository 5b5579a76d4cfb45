"""What tests of the dashboard share as fixtures."""

from __future__ import annotations

import pytest

from tests.tui.dashboards import ROOT


@pytest.fixture
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Screens show paths as they were given, here below the root of the repository."""
    monkeypatch.chdir(ROOT)
