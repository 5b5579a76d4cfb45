"""A data directory that was read, or is known from a collect file: its surveys, and its bytes.

Owns which survey counts where a restoration is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kraftool.repair.log_survey import SegmentFile
from kraftool.repair.plan import Edit
from kraftool.repair.plan_file import PlanFile
from kraftool.repair.restored_file import PieceOpener
from kraftool.repair.survey import Survey
from kraftool.storage.source import ByteSource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadDirectory:
    """A survey, the survey of what a restoration will leave, and the bytes to read once more."""

    survey: Survey
    restored: Survey | None = None
    """None if nothing is damaged that is known to be restored."""
    segments: Sequence[SegmentFile] = ()
    """With flipped bits put back. None of a collect file."""
    open: Callable[[PlanFile], ByteSource] | None = None
    """Opens a file of the metadata partition as it is on the disk. None for a collect file."""
    again: Callable[[Sequence[Edit], PieceOpener], Survey | None] | None = None
    """The survey of what restored files leave, with the flipped bits put back."""
    path: str = ""
    """The directory on this host; empty for a tar stream."""

    @property
    def best(self) -> Survey:
        return self.restored or self.survey
