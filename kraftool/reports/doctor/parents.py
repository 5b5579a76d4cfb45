"""PATHs that have data directories below them, such as the folder of a test cluster's nodes.

Owns which directories are taken instead of such a PATH. It refuses to read anything but names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.text.words import many
from kraftool.storage.directory import (
    DirectoriesBelow,
    data_directories_below,
    looks_like_data_directory,
    looks_like_partition,
)

_MOST_NAMED = 3
"""Links that a finding names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """A PATH and the data directories below it."""

    path: str
    directories: tuple[str, ...]


def with_directories_below(
    paths: Sequence[str],
) -> tuple[list[str], tuple[Parent, ...], tuple[Finding, ...]]:
    """Return the PATHs with data directories in the place of their parents, and those parents.

    If directories may be missing, a finding says so.
    """
    expanded: list[str] = []
    parents: list[Parent] = []
    findings: list[Finding] = []
    for path in paths:
        below = _below(path)
        if below is None or not below.directories:
            expanded.append(path)
            continue
        expanded += [directory for directory in below.directories if directory not in expanded]
        parents.append(Parent(path=path, directories=below.directories))
        findings += _passed_over(path, below)
    return expanded, tuple(parents), tuple(findings)


def _below(path: str) -> DirectoriesBelow | None:
    """Return the data directories below a PATH; None if it is a file or a data directory itself."""
    if path == "-" or not os.path.isdir(path):
        return None
    if looks_like_data_directory(path) or looks_like_partition(path):
        return None
    return data_directories_below(path)


def _passed_over(path: str, below: DirectoriesBelow) -> Iterator[Finding]:
    if not below.is_whole:
        yield kinds.PASSED_OVER.at(
            path,
            f"kraftool read only {many(len(below.directories), 'data directory')} below it."
            " There may be more",
            severity=Severity.WARNING,
            advice="name the data directories themselves",
        )
    if below.links:
        names = ", ".join(below.links[:_MOST_NAMED])
        more = ", …" if len(below.links) > _MOST_NAMED else ""
        yield kinds.PASSED_OVER.at(
            path,
            f"kraftool did not follow {many(len(below.links), 'link')} below it: {names}{more}",
            advice="if a link leads to data directories, name them",
        )
