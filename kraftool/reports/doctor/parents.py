"""PATHs that hold data directories below them, as the folder of all nodes of a test cluster.

Owns which directories are taken instead of such a PATH. It refuses to read anything but names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from kraftool.decoders.dataclass import dataclass
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.storage.directory import (
    data_directories_below,
    looks_like_data_directory,
    looks_like_partition,
)


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
        found, is_whole = _below(path)
        if not found:
            expanded.append(path)
            continue
        expanded += [each for each in found if each not in expanded]
        parents.append(Parent(path=path, directories=found))
        if not is_whole:
            findings.append(
                kinds.PASSED_OVER.at(
                    path,
                    f"only {len(found)} data directories below it were read; there may be more",
                    severity=Severity.WARNING,
                    advice="name the data directories themselves",
                )
            )
    return expanded, tuple(parents), tuple(findings)


def _below(path: str) -> tuple[tuple[str, ...], bool]:
    if path == "-" or not os.path.isdir(path):
        return (), True
    if looks_like_data_directory(path) or looks_like_partition(path):
        return (), True
    return data_directories_below(path)
