"""The states that a log makes at the offsets of its snapshots, as hashes.

Owns the values that one replay of a log leaves for another comparison of the same directory. It
keeps no image, and no state that a replay reached with a finding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

_NEVER = 1 << 64


class StateHash(NamedTuple):
    """The state at an offset."""

    hash: str
    scram_removals: frozenset[int]
    """The mechanisms of which a credential was removed since replaying began."""


@dataclass(slots=True)
class LogStates:
    """The states of one log, replayed once."""

    base_offset: int = 0
    base_file: str = ""
    """The snapshot with which replaying began; empty for the log's beginning."""
    hashes: dict[int, StateHash] = field(default_factory=dict)
    """By offset."""
    _wanted: list[int] = field(default_factory=list)
    """Offsets that are still to come, in descending order."""

    def want(self, offsets: Iterable[int]) -> None:
        """Set the offsets of the snapshots."""
        self._wanted = sorted({offset for offset in offsets if offset > 0}, reverse=True)

    @property
    def due(self) -> int:
        """The next offset that is wanted."""
        return self._wanted[-1] if self._wanted else _NEVER

    def passed(self, offset: int) -> bool:
        """Drop the wanted offsets up to this one. True if this one was wanted."""
        is_wanted = False
        while self.due <= offset:
            is_wanted = self._wanted.pop() == offset
        return is_wanted
