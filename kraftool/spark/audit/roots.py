"""The directories that the ROOTs of an audit lead to, each once, and what could not be listed.

Owns which of them are the same one under two names. A ROOT that leads nowhere is a finding, and
the rest goes on.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kraftool.arrow.fleet import Empty, FleetFile, Unread
from kraftool.arrow.search import DEPTH, SearchJob, find_fleets
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.files.locations import unopened
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.fleet.model import AUDIT, FleetFinding
from kraftool.storage.entry import METADATA_PARTITION
from kraftool.storage.remote import is_url, shown_url

_WIPED = (
    "if it belongs to a node, its disk is new, or the copy was not made. A voter that starts"
    " without its log may elect a leader that lacks committed records"
)
FoundDirectory = tuple[FleetFile, ...]
"""All files of one directory, or those of it that were named by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDirectories:
    """The directories to examine, the largest first."""

    directories: tuple[FoundDirectory, ...]
    findings: tuple[FleetFinding, ...]


def find(
    roots: Sequence[str],
    *,
    depth: int = DEPTH,
    options: Mapping[str, Any] | None = None,
    job: SearchJob | None = None,
) -> FoundDirectories:
    """Find the directories below all ROOTs."""
    findings: list[Finding] = []
    directories: dict[str, FoundDirectory] = {}
    problems: list[Unread] = []
    empty: dict[str, Empty] = {}
    fleets = find_fleets(roots, depth=depth, options=options, job=job)
    for root, fleet in zip(roots, fleets, strict=True):
        if isinstance(fleet, KraftoolError):
            findings.append(unopened(shown_url(root), fleet))
            continue
        problems += fleet.problems
        empty |= {folder.name: folder for folder in fleet.empty}
        if not (fleet.files or fleet.problems or any(folder.is_data for folder in fleet.empty)):
            text = "no Kafka data directory was found here"
            findings.append(kinds.NOTHING.at(shown_url(root), text))
        for key, files in _by_directory(fleet.files).items():
            directories.setdefault(key, files)
    directories = _without_parts(directories)
    names = {files[0].directory.name for files in directories.values()}
    for problem in problems:
        # Below a directory that is examined, its own examination tells.
        if not any(problem.name == one or problem.name.startswith(f"{one}/") for one in names):
            unread = kinds.UNREADABLE.at(problem.name, problem.reason, advice=problem.hint)
            findings.append(unread)
    findings += _wiped(empty.values(), names)
    finding_at: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        finding_at.setdefault((finding.code, finding.file), finding)
    ordered = sorted(
        directories.values(), key=lambda files: (-size_of(files), files[0].directory.name)
    )
    fleet_findings = (FleetFinding(finding=found, by=(AUDIT,)) for found in finding_at.values())
    return FoundDirectories(directories=tuple(ordered), findings=tuple(fleet_findings))


def _wiped(empty: Iterable[Empty], directories: Collection[str]) -> Iterator[Finding]:
    """Folders without a file where a data directory should be, as after a disk was replaced. Of
    one that does not look like one, what lies around it has to tell."""
    beside = {os.path.dirname(directory) for directory in directories}
    alike = {_around(directory) for directory in directories}
    for folder in empty:
        if folder.is_data:
            yield kinds.NOTHING.at(folder.name, "this data directory has no file", advice=_WIPED)
        elif folder.is_named:
            yield kinds.NOTHING.at(folder.name, "this folder is empty", advice=_WIPED)
        elif os.path.dirname(folder.name) in beside or _around(folder.name) in alike:
            text = "this folder is empty, and there are data directories around it"
            yield kinds.NOTHING.at(folder.name, text, advice=_WIPED, severity=Severity.WARNING)


def _around(name: str) -> tuple[str, str]:
    """Return what `node-1/data` and `node-2/data` have in common."""
    above, last = os.path.split(name)
    return os.path.dirname(above), last


def size_of(files: FoundDirectory) -> int:
    """Return how much there is to read."""
    return sum(file.size for file in files)


def _by_directory(files: Sequence[FleetFile]) -> dict[str, FoundDirectory]:
    """The files by what is one and the same directory, whatever it is called."""
    files_at: dict[str, list[FleetFile]] = {}
    for file in files:
        name = file.directory.name
        where = name if is_url(name) else os.path.realpath(name)
        files_at.setdefault(where, []).append(file)
    return {
        f"{where}\0{','.join(sorted(file.basename for file in some))}"
        if all(file.is_named for file in some)
        else where: tuple(some)
        for where, some in files_at.items()
    }


def _without_parts(directories: dict[str, FoundDirectory]) -> dict[str, FoundDirectory]:
    """Without parts of another directory: a partition's folder, or a file named by itself."""

    def is_part(key: str) -> bool:
        where, single, _ = key.partition("\0")
        above, _, last = where.rpartition("/")
        inside = last == METADATA_PARTITION and above in directories
        return inside or (bool(single) and (where in directories or above in directories))

    return {key: files for key, files in directories.items() if not is_part(key)}
