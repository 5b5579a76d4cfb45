"""What is watched: a live quorum, data directories, or both.

Owns no reading.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.client.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Whom to ask and where to look."""

    target: Target | None = None
    """A live quorum: whom to ask first, and how nodes are reached."""
    directories: tuple[str, ...] = ()
    """PATHs of data directories, as they were given."""
