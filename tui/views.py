"""Which views there are, in the order of their tabs.

A view is one line here, and one file in `screens/`. They are imported when they are first seen, as
some bring much with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from kraftool.tui.view import View


@dataclass(frozen=True, slots=True)
class Registered:
    """A view by name."""

    name: str
    title: str
    module: str
    cls: str

    def load(self) -> type[View]:
        found: object = getattr(import_module(f"kraftool.tui.screens.{self.module}"), self.cls)
        assert isinstance(found, type), f"{self.cls} is no class"
        assert issubclass(found, View), f"{self.cls} is no View"
        return found


VIEWS = (
    Registered("quorum", "Quorum", "quorum", "QuorumScreen"),
    Registered("log", "Log", "log", "LogScreen"),
    Registered("state", "State", "state", "StateScreen"),
    Registered("timeline", "Timeline", "timeline", "TimelineScreen"),
    Registered("files", "Files", "files", "FilesScreen"),
    Registered("health", "Health", "health", "HealthScreen"),
    Registered("voters", "Voters", "voters", "VotersScreen"),
    Registered("what_if", "What if", "what_if", "WhatIfScreen"),
)  # fmt: skip


def named(name: str) -> Registered | None:
    return next((each for each in VIEWS if each.name == name), None)
