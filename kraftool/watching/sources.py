"""The watched sources: a live quorum, data directories, or both.

Owns no reading.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.client.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The nodes to ask, and the directories to look at."""

    target: Target | None = None
    """A live quorum: whom to ask first, and how nodes are reached."""
    directories: tuple[str, ...] = ()
    """PATHs of data directories, as they were given."""
