"""Sources read from files: a PATH becomes one `NodeDirectory` for each node that it holds.

A source that cannot be opened is a source with a finding. It refuses to compare sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.files.directory_summary import summarize_directory
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.voters.about_voters import relevant
from kraftool.reports.voters.node_directory import NodeDirectory
from kraftool.reports.voters.settings import settings_of
from kraftool.reports.voters.settings_rules import unusable_settings
from kraftool.storage import witness_marker
from kraftool.storage.paths import Location, LocationKind, open_path

Progress = Callable[[str, int], None]
_Item = TypeVar("_Item")


def read_sources(
    paths: Sequence[str], progress: Progress = lambda name, position: None
) -> tuple[NodeDirectory, ...]:
    """Read every PATH. One directory that two of them lead to is one source."""
    sources: list[NodeDirectory] = []
    for path in paths:
        for source in read_source(path, progress):
            add_once(sources, source, lambda one: one)
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
) -> Iterator[NodeDirectory]:
    """The sources in one PATH: one, or as many nodes as a tar stream has."""
    try:
        location = open_path(path, settings_alone=True)
    except KraftoolError as error:
        finding = kinds.UNREADABLE.at(path, error.message, advice=error.hint)
        yield NodeDirectory(name=path, kind="unreadable", findings=(finding,))
        return
    if location.kind is LocationKind.PROPERTIES and not location.directory:
        yield replace(settings_alone(location), missing=location.missing)
        return
    yield from read_sources_of(location, progress)


def settings_alone(location: Location) -> NodeDirectory:
    """The source of a server.properties without its directory."""
    assert location.server is not None, "a location of settings has them"
    settings = settings_of(location.path, location.server)
    summary = summarize_directory((), settings.static_voters)
    return NodeDirectory(name=location.path, kind="settings", settings=settings, summary=summary)


def read_sources_of(
    location: Location, progress: Progress = lambda name, position: None
) -> Iterator[NodeDirectory]:
    """The sources in what is there to be read."""
    yield from sources_of(location, read_location(location, progress=progress, is_compared=True))


def sources_of(location: Location, report: DumpReport) -> Iterator[NodeDirectory]:
    """The sources of what was read already: those of its directories come first, in their order."""
    beside = report.findings
    for directory in report.directories:
        yield replace(
            _marked(directory),
            name=report.path if len(report.directories) == 1 else directory.path,
            beside=beside,
            keeps_from_starting=_first_obstacle(directory),
        )
        beside = ()
    if report.files:
        whole = location.kind is LocationKind.FILE and len(report.files) == 1
        yield NodeDirectory(
            name=report.path,
            kind=report.files[0].kind.value if whole else location.kind.value,
            files=report.files,
            summary=summarize_directory(report.files),
            history=report.history,
            beside=beside,
        )
    elif relevant(beside):
        yield NodeDirectory(name=report.path, kind=location.kind.value, beside=beside)


def _first_obstacle(directory: NodeDirectory) -> Finding | None:
    """Return the first finding on which Kafka exits: of the directory, else of its settings."""
    settings = directory.settings
    of_settings = unusable_settings(settings) if settings is not None else ()
    return next(
        (one for one in (*directory.findings, *of_settings) if one.keeps_from_starting), None
    )


def _marked(directory: NodeDirectory) -> NodeDirectory:
    """The directory with what its file kraftool-witness says, if that counts."""
    path, node = directory.real_path, directory.node
    if not path:
        return directory
    marker = witness_marker.read(path, node_id=node.node_id, directory_id=node.directory_id)
    return directory if marker is None else replace(directory, marker=marker, is_witness=True)
