"""These tests lose no power: nothing has to be on the disk before they go on."""

from __future__ import annotations

import pytest

from kraftool.storage import files


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_sync", lambda _: None)
    monkeypatch.setattr(files.Files, "sync_folder", lambda *_: None)
