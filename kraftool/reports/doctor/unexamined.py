"""The parts of the PATHs that the rules could not look at, so that nobody takes them for right.

Owns the sentences. It refuses to judge: why a part is missing is a finding where it is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.reports.doctor.model import Examination, ExaminedDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexamined:
    """One part that no rule looked at."""

    path: str
    reason: str
    """Why no rule looked at it."""


def unexamined(examination: Examination) -> Iterator[Unexamined]:
    """Yield what was not looked at, directory by directory, then files that were named alone."""
    for examined in examination.directories:
        if words := _missing(examined):
            yield Unexamined(path=examined.path, reason=words)
    for file in examination.files:
        yield Unexamined(path=file.file, reason="the rules examine whole directories, not a file")


def _missing(examined: ExaminedDirectory) -> str:
    if not examined.is_read:
        return "" if examined.source.is_live else "its data directory was not read"
    state = examined.state
    if state is None:
        return "it has no metadata state that could be loaded"
    if not state.has_its_beginning:
        start = state.start_offset
        return f"its metadata state before offset {start} is missing or could not be read"
    return ""
