"""One error that can be put into the raft core: an edit of its source, and what has to notice it.

Owns the form. `mutant_table.py` has the errors that the simulator notices, `mutant_transcripts.py`
those that only a transcript can show.
"""

from __future__ import annotations

from dataclasses import dataclass

TRANSCRIPTS = "transcripts"
"""In place of an invariant: the transcripts below tests/raft notice, the simulator cannot."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text that occurs once in a module of kraftool.raft, and what stands there instead."""

    module: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One error. `caught_by` is an invariant of the simulator, or TRANSCRIPTS."""

    name: str
    caught_by: str
    edits: tuple[Edit, ...]
    faults: str = ""
    """Those that bring it to light soonest, between commas; all where empty."""


def mutant(name: str, caught_by: str, *edits: tuple[str, str, str], faults: str = "") -> Mutant:
    return Mutant(name, caught_by, tuple(Edit(*edit) for edit in edits), faults)
