"""The result of a case for one directory.

Owns the value. Which cases are asked, and in which order, is `mending.py`'s.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.repair.plan import Edit, LostRecords, RequiredSetting, Risk
from kraftool.repair.ranking import Host


@dataclass(frozen=True, slots=True, kw_only=True)
class Mend:
    """A problem of a directory, and the edits that repair it; no edits where Kafka does it."""

    case: str
    host: Host
    text: str
    edits: tuple[Edit, ...] = ()
    settings: tuple[RequiredSetting, ...] = ()
    commands: tuple[str, ...] = ()
    """What a person runs: in a directory that has only topics there is no place for a backup."""
    source: Host | None = None
    """The other directory that files are taken from."""
    lost: LostRecords | None = None
    risks: tuple[Risk, ...] = ()
    stops_all: bool = False
    """True if nobody may run meanwhile."""
    replaces_log: bool = False
    """True if log and snapshots are new, so that nothing else about them is to be mended."""
    is_note: bool = False
    """True if nothing is to be done about it."""
