"""The result of one node's trial as a candidate: its chance, and the votes it is refused.

Values only: `chances.py` runs the trials, and `witnesses.py` corrects them where a witness leads.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.json_marks import Hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One vote that is not given."""

    voter_id: int
    to: Hidden[int]
    kind: str
    """log, epoch, vote, leader, replica, cluster, silent or other."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """The reach of one node by itself."""

    node: int
    wins: bool = False
    """True if it can be elected."""
    commits: bool = False
    """True if it can then commit, too."""
    granted: tuple[int, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    why_not: str = ""
    """One sentence, where it cannot lead."""
    via: int | None = None
    """The witness that leads first and hands over to it."""
