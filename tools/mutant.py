"""One error that can be put into the product: an edit of its source, and what has to notice it.

Owns the form. `mutant_table.py` has the errors of the raft core that the simulator notices,
`mutant_transcripts.py` those that only a transcript can show, and `mutant_rooms.py` errors of all
rooms, for the unit tests.
"""

from __future__ import annotations

from dataclasses import dataclass

TRANSCRIPTS = "transcripts"
"""In place of an invariant: the transcripts below tests/raft notice, the simulator cannot."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text that occurs once in a module of kraftool, and what stands there instead."""

    module: str
    """Its name below kraftool, such as raft.vote."""
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One error. `caught_by` is an invariant of the simulator, TRANSCRIPTS, or a file of tests."""

    name: str
    caught_by: str
    edits: tuple[Edit, ...]
    faults: str = ""
    """Those that bring it to light soonest, between commas; all where empty."""

    @property
    def is_for_unit_tests(self) -> bool:
        return self.caught_by.startswith("tests/")


def mutant(name: str, caught_by: str, *edits: tuple[str, str, str], faults: str = "") -> Mutant:
    """Return an error of the raft core, with modules named as in kraftool/raft."""
    core = (Edit(f"raft.{module}", old, new) for module, old, new in edits)
    return Mutant(name, caught_by, tuple(core), faults)


def unit_mutant(name: str, module: str, old: str, new: str, *, caught_by: str) -> Mutant:
    """Return an error that tests of the module's own room notice: a file below tests/."""
    return Mutant(name, f"tests/{caught_by}", (Edit(module, old, new),))
