"""Unfinished snapshots that pile up."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.names import FileState
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "SNAPSHOT-ATTEMPTS",
    Severity.WARNING,
    "Several unfinished snapshots are left: writing or fetching one fails repeatedly, as on a"
    " full disk. Kafka removes them when it starts.",
    "check the free space and errors of the disk, then restart this node",
)

_SEVERAL = 3
"""One or two are left of a stop while a snapshot was written."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        parts = [file for file in examined.files if file.state is FileState.PART]
        if len(parts) < _SEVERAL:
            continue
        yield Diagnosis(
            finding=KIND.at(
                examined.path,
                f"{len(parts)} unfinished snapshots, {sum(part.size for part in parts)} bytes",
                found=str(len(parts)),
            ),
            directory=examined.path,
            evidence=tuple(
                Evidence(file=part.file, found=f"{part.size} bytes") for part in parts[:5]
            ),
            commands=(shell_text.line("df", "-h", examined.path),),
        )
