"""PATHs opened for commands that take several: one that leads nowhere is a finding.

Owns that the rest is still read. It refuses to read anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.findings import Finding
from kraftool.reports.kinds import directory as dir_kinds
from kraftool.storage.paths import Location, open_path


def open_paths(
    paths: Sequence[str], *, settings_alone: bool = False
) -> tuple[list[Location], list[Finding]]:
    """The locations of those that can be opened, and what is wrong with the others."""
    locations: list[Location] = []
    findings: list[Finding] = []
    for path in paths:
        try:
            locations.append(open_path(path, settings_alone=settings_alone))
        except KraftoolError as error:
            findings.append(unopened(path, error))
    return locations, findings


def unopened(path: str, error: KraftoolError) -> Finding:
    """A PATH that cannot be read, as a finding."""
    return dir_kinds.UNREADABLE.at(path, error.message, advice=error.hint)
