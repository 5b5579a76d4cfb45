"""PATHs opened for commands that take several: one that leads nowhere is a finding.

Owns that the rest is still read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.storage.bundle_names import each_node
from kraftool.storage.entry import EntryProblem
from kraftool.storage.paths import Location, open_path


def open_paths(
    paths: Sequence[str], *, settings_alone: bool = False
) -> tuple[list[Location], list[Finding]]:
    """The locations of those that can be opened, and what is wrong with the others."""
    locations: list[Location] = []
    findings: list[Finding] = []
    for path in _each_node(paths, findings):
        try:
            locations.append(open_path(path, settings_alone=settings_alone))
        except KraftoolError as error:
            findings.append(unopened(path, error))
    return locations, findings


def _each_node(paths: Sequence[str], findings: list[Finding]) -> Iterator[str]:
    """Yield the PATHs, with the nodes of a bundle in its place."""
    for path in paths:
        try:
            yield from each_node([path])
        except KraftoolError as error:
            findings.append(unopened(path, error))


def missing_directory(location: Location) -> Iterator[Finding]:
    """Yield what a server.properties leads to and is not there, as after a disk was not mounted."""
    if location.missing:
        yield dir_kinds.PASSED_OVER.at(
            location.path,
            f"only its settings are read: {location.missing} does not exist",
            severity=Severity.WARNING,
            advice="mount the disk, or name the data directory itself if it was moved. For another"
            " machine's settings nothing more is needed",
        )


def unopened(path: str, error: KraftoolError) -> Finding:
    """A PATH that cannot be read, as a finding."""
    return dir_kinds.UNREADABLE.at(path, error.message, advice=error.hint)


def problem_finding(problem: EntryProblem) -> Finding:
    """Return the finding of something that could not be read or was passed over."""
    kind = dir_kinds.PASSED_OVER if problem.severity is Severity.INFO else dir_kinds.UNREADABLE
    return kind.at(
        problem.name,
        problem.reason,
        position=problem.position,
        severity=problem.severity,
        advice=problem.hint,
    )
