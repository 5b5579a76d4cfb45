"""The views in the order of their tabs.

A view is one line here, and one file in `screens/`. They are imported when they are first seen, as
some bring much with them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module

from kraftool.tui.view import View


@dataclass(frozen=True, slots=True)
class ViewEntry:
    """A view by name."""

    name: str
    title: str
    module: str
    cls: str

    @property
    def _path(self) -> str:
        return f"kraftool.tui.screens.{self.module}"

    @property
    def is_loaded(self) -> bool:
        """True if its module was imported before."""
        return self._path in sys.modules

    def load(self) -> type[View]:
        view_class: object = getattr(import_module(self._path), self.cls)
        assert isinstance(view_class, type), f"{self.cls} is no class"
        assert issubclass(view_class, View), f"{self.cls} is no View"
        return view_class


VIEWS = (
    ViewEntry("quorum", "Quorum", "quorum", "QuorumScreen"),
    ViewEntry("log", "Log", "log", "LogScreen"),
    ViewEntry("state", "State", "state", "StateScreen"),
    ViewEntry("timeline", "Timeline", "timeline", "TimelineScreen"),
    ViewEntry("files", "Files", "files", "FilesScreen"),
    ViewEntry("health", "Health", "health", "HealthScreen"),
    ViewEntry("voters", "Voters", "voters", "VotersScreen"),
    ViewEntry("what_if", "What if", "what_if", "WhatIfScreen"),
)  # fmt: skip


def named(name: str) -> ViewEntry | None:
    return next((view for view in VIEWS if view.name == name), None)
