"""Sources read from files: a PATH becomes one `VoterSourceReport` for each node that it holds.

Owns what of a directory's findings matters for voters: damage that may hide a change, and files
that say who the node is. A source that cannot be opened is a source with a finding. It refuses to
compare sources.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.files.directory_summary import summarize_directory
from kraftool.reports.files.file_report import FileReport
from kraftool.reports.files.metadata_summary import MetadataSummary
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.voters.alone import TOLD_ALONE, source_of
from kraftool.reports.voters.history import VoterHistory
from kraftool.reports.voters.model import QuorumSettings, VoterSourceReport
from kraftool.reports.voters.settings import settings_of
from kraftool.reports.voters.settings_rules import unusable_settings
from kraftool.storage import witness_marker
from kraftool.storage.paths import Location, LocationKind, open_path

_ASIDE = TOLD_ALONE | frozenset(
    kind.code
    for kind in (
        # Told between sources, in the light of all of them.
        kinds.CLUSTER_ID, kinds.SAME_DIRECTORY_ID,
        # Nothing about voters.
        kinds.PASSED_OVER, kinds.UNKNOWN_FILE, kinds.META_V0, kinds.EPOCHS, kinds.EPOCHS_DIFFER,
        kinds.EPOCHS_EMPTY, kinds.EPOCHS_MISSING,
        kinds.TOPIC_ID, kinds.OFFSETS, kinds.TEXT, kinds.LEFTOVER, log_kinds.INDEX,
        log_kinds.INDEX_DIFFERS,
        log_kinds.PRODUCER_STATE, log_kinds.TXN_OPEN, log_kinds.NOT_METADATA,
        kinds.QUORUM_STATE_MISSING,
    )
)  # fmt: skip
_DAMAGE = frozenset(
    kind.code
    for kind in (
        log_kinds.CRC,
        log_kinds.DAMAGE,
        log_kinds.MAGIC,
        log_kinds.GAP,
        snap_kinds.DAMAGE,
        snap_kinds.FORM,
    )
)

Progress = Callable[[str, int], None]


def read_sources(
    paths: Sequence[str], progress: Progress = lambda name, position: None
) -> tuple[VoterSourceReport, ...]:
    """Read every PATH. One directory that two of them lead to is one source."""
    sources: list[VoterSourceReport] = []
    for path in paths:
        for source in read_source(path, progress):
            same = next((one for one in sources if _is_same(one, source)), None)
            if same is None:
                sources.append(source)
            elif same.settings is None and source.settings is not None:
                sources[sources.index(same)] = source
    return tuple(sources)


def _is_same(one: VoterSourceReport, other: VoterSourceReport) -> bool:
    """True if both are one directory on this machine, however its name was written."""
    return bool(one.directory) and one.directory == other.directory


def read_source(
    path: str, progress: Progress = lambda name, position: None
) -> Iterator[VoterSourceReport]:
    """The sources in one PATH: one, or as many nodes as a tar stream has."""
    try:
        location = open_path(path, settings_alone=True)
    except KraftoolError as error:
        finding = kinds.UNREADABLE.at(path, error.message, advice=error.hint)
        yield VoterSourceReport(name=path, kind="unreadable", findings=(finding,))
        return
    settings = settings_of(path, location.server) if location.server is not None else None
    if location.kind is LocationKind.PROPERTIES and not location.directory:
        yield VoterSourceReport(
            name=path,
            kind="settings",
            missing=location.missing,
            settings=settings,
            seen_voters=summarize_directory((), settings.static_voters).voters
            if settings
            else None,
        )
        return
    yield from read_sources_of(location, progress, settings)


def read_sources_of(
    location: Location,
    progress: Progress = lambda name, position: None,
    settings: QuorumSettings | None = None,
) -> Iterator[VoterSourceReport]:
    """The sources in what is there to be read."""
    report = read_location(location, progress=progress)
    yield from sources_of(location, report, settings)


def sources_of(
    location: Location, report: DumpReport, settings: QuorumSettings | None
) -> Iterator[VoterSourceReport]:
    """The sources of what was read already: those of its directories come first, in their order."""
    rest = _relevant(report.findings)
    for directory in report.directories:
        name = report.path if len(report.directories) == 1 else directory.path
        where = os.path.realpath(directory.path) if location.is_on_disk else ""
        yield _source(
            VoterSourceReport(
                name=name,
                kind=location.kind.value,
                directory=where,
                is_live=location.kind is LocationKind.LIVE,
                high_watermark=location.high_watermark,
                settings=settings,
                findings=(*rest, *_relevant(directory.findings)),
                keeps_from_starting=_first_obstacle(directory.findings, settings),
            ),
            directory.files,
            directory.summary,
            directory.history,
        )
        rest = ()
    if report.files:
        whole = location.kind is LocationKind.FILE and len(report.files) == 1
        yield _source(
            VoterSourceReport(
                name=report.path,
                kind=report.files[0].kind.value if whole else location.kind.value,
                findings=rest,
            ),
            report.files,
            summarize_directory(report.files),
            report.history,
        )
    elif rest:
        yield VoterSourceReport(name=report.path, kind=location.kind.value, findings=rest)


def _first_obstacle(findings: Sequence[Finding], settings: QuorumSettings | None) -> Finding | None:
    """Return the first finding on which Kafka exits: of the directory, else of its settings."""
    of_settings = unusable_settings(settings) if settings is not None else ()
    return next((one for one in (*findings, *of_settings) if one.keeps_from_starting), None)


def _source(
    begun: VoterSourceReport,
    files: Sequence[FileReport],
    summary: MetadataSummary,
    history: VoterHistory,
) -> VoterSourceReport:
    findings = [_told(finding, history.entries != ()) for finding in begun.findings]
    source = _marked(source_of(begun, files, summary, history))
    findings += (finding for finding in history.findings if finding not in begun.findings)
    source = replace(source, findings=tuple(findings))
    if source.tells_nothing and not source.findings:
        nothing = kinds.NOTHING.at(source.name, "there is nothing about voters here")
        return replace(source, findings=(nothing,))
    return source


def _marked(source: VoterSourceReport) -> VoterSourceReport:
    """The source with what the file kraftool-witness of its directory says, if that counts."""
    if not source.directory:
        return source
    node = source.node
    marker = witness_marker.read(
        source.directory, node_id=node.node_id, directory_id=node.directory_id
    )
    return source if marker is None else replace(source, marker=marker, is_witness=True)


def _told(finding: Finding, has_history: bool) -> Finding:
    """Damage, with what it means for the history."""
    if finding.code not in _DAMAGE or not has_history:
        return finding
    words = "a change of voters may be missing from the history here"
    return finding.saying(f"{finding.text}; {words}")


def _relevant(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.code not in _ASIDE)
