"""Sources read from files: a PATH becomes one `JudgedDirectory` for each node that it holds.

A source that cannot be opened is a source with a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from kraftool.decoders.errors import KraftoolError
from kraftool.directory.directory_summary import summarize_directory
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.reading import Progress, settings_alone
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.files.locations import problem_finding
from kraftool.reports.findings.finding import Finding
from kraftool.reports.voters.judged_directory import JudgedDirectory, relevant
from kraftool.reports.voters.settings_rules import unusable_settings
from kraftool.storage import witness_marker
from kraftool.storage.bundle_names import each_node
from kraftool.storage.entry import EntryProblem
from kraftool.storage.paths import Location, LocationKind, open_path

_Item = TypeVar("_Item")


def read_sources(
    paths: Sequence[str], progress: Progress = lambda name, position: None
) -> tuple[JudgedDirectory, ...]:
    """Read every PATH. One directory that two of them lead to is one source."""
    sources: list[JudgedDirectory] = []
    for path in each_node(paths):
        for source in read_source(path, progress):
            add_once(sources, source, lambda one: one.directory)
    return tuple(sources)


def add_once(
    items: list[_Item], item: _Item, directory_of: Callable[[_Item], NodeDirectory]
) -> None:
    """Add what was read of a directory. If it is among the items already, the one that was found
    through a server.properties stays."""
    added = directory_of(item)
    for number, other in enumerate(map(directory_of, items)):
        if other.real_path and other.real_path == added.real_path:
            if other.settings is None and added.settings is not None:
                items[number] = item
            return
    items.append(item)


def read_source(
    path: str, progress: Progress = lambda name, position: None
) -> Iterator[JudgedDirectory]:
    """The sources in one PATH: one, or as many nodes as a tar stream has."""
    try:
        location = open_path(path, settings_alone=True)
    except KraftoolError as error:
        problem = EntryProblem(name=path, reason=error.message, hint=error.hint)
        directory = NodeDirectory(name=path, kind="unreadable", problems=(problem,))
        yield JudgedDirectory(directory=directory, findings=(problem_finding(problem),))
        return
    if location.kind is LocationKind.PROPERTIES and not location.directory:
        alone = replace(settings_alone(location), missing=location.missing)
        yield JudgedDirectory(directory=alone)
        return
    yield from read_sources_of(location, progress)


def read_sources_of(
    location: Location, progress: Progress = lambda name, position: None
) -> Iterator[JudgedDirectory]:
    """The sources in what is there to be read."""
    yield from sources_of(location, read_location(location, progress=progress, is_compared=True))


def sources_of(location: Location, report: DumpReport) -> Iterator[JudgedDirectory]:
    """The sources of what was read already: those of its directories come first, in their order."""
    of_path, problems = report.findings, report.problems
    for judged in report.directories:
        directory = _marked(judged.directory)
        name = report.path if len(report.directories) == 1 else directory.path
        named = replace(directory, name=name, problems=problems)
        yield replace(
            judged,
            directory=named,
            of_path=of_path,
            keeps_from_starting=_first_obstacle(judged),
        )
        of_path, problems = (), ()
    if report.files:
        whole = location.kind is LocationKind.FILE and len(report.files) == 1
        loose = NodeDirectory(
            name=report.path,
            kind=report.files[0].kind.value if whole else location.kind.value,
            files=report.files,
            summary=summarize_directory(report.files),
            history=report.history,
            problems=problems,
        )
        yield JudgedDirectory(directory=loose, of_path=of_path)
    elif relevant(of_path):
        nothing = NodeDirectory(name=report.path, kind=location.kind.value, problems=problems)
        yield JudgedDirectory(directory=nothing, of_path=of_path)


def _first_obstacle(judged: JudgedDirectory) -> Finding | None:
    """Return the first finding on which Kafka exits: of the directory, else of its settings."""
    settings = judged.directory.settings
    of_settings = unusable_settings(settings) if settings is not None else ()
    found = (*judged.findings, *of_settings)
    return next((finding for finding in found if finding.keeps_from_starting), None)


def _marked(directory: NodeDirectory) -> NodeDirectory:
    """The directory with what its file kraftool-witness says, if that counts."""
    path, node = directory.real_path, directory.node
    if not path:
        return directory
    marker = witness_marker.read(path, node_id=node.node_id, directory_id=node.directory_id)
    return directory if marker is None else replace(directory, marker=marker, is_witness=True)
