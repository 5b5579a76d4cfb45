"""Partitions that the broker found no metadata for, and renamed.

A few are left of topics that were deleted while the broker was down. More of them than partitions
that are still known look like metadata that was lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "STRAY",
    Severity.WARNING,
    "The broker renamed partitions to -stray: the metadata that it loaded does not have them,"
    " as after a recovery that lost topics.",
    "copy these folders elsewhere before anything deletes them",
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        folders = examined.source.folders
        if not folders.stray:
            continue
        stray, known = folders.stray, folders.topics
        few = stray <= known
        yield Diagnosis(
            finding=KIND.at(
                examined.path,
                f"{stray} partitions are renamed to -stray, {known} are not"
                + (": their topics may have been deleted while the broker was down" if few else ""),
                found=str(stray),
                severity=Severity.INFO if few else None,
                advice="" if few else None,
            ),
            directory=examined.path,
            evidence=(Evidence(file=examined.path, found=f"{stray} folders named …-stray"),),
            commands=(
                shell_text.line("find", examined.path, "-maxdepth", "1", "-name", "*-stray"),
                shell_text.on(examined.path, "dump"),
            ),
        )
